"""Started by a shell script in place of Python: a front or a jobs process in which a test set constants, moved the clock or chose where it dies.

`stand_in.py HOME front|jobs ARGUMENTS...`; what the test wants lies in HOME/faults. The product itself knows nothing of this.
"""

import functools
import importlib
import json
import os
import signal
import sys
import time

HOME, ROLE = sys.argv[1:3]
FAULTS = os.path.join(HOME, "faults")

POINTS = {
    "front": (
        "afl_core.worker.turn:keep",
        "afl_core.worker.serve:take",
        "afl_core.worker.drain:keep_spooled",
        "afl_core.worker.drain:_keep",
        "afl_core.worker.keyring:Keyring.rotate_spool_key",
        "afl_core.lessons.delivery:emit",
    ),
    "jobs": (
        "afl_core.worker.jobs:drain_spool",
        "afl_core.worker.spool:drain",
        "afl_core.worker.due:_write",
        "afl_core.capture.adopt:_bear",
        "afl_core.lessons.delivery:settle",
        "afl_core.review.run:_Work.review",
        "afl_core.review.operator:command",
        "afl_core.review.run:commit_review",
        "afl_core.store.receipts:insert_report",
        "afl_core.store.receipts:insert_receipt",
        "afl_core.worker.upkeep:expire_events",
        "afl_core.worker.upkeep:sweep_blobs",
    ),
}
"""Functions before and after which a process can be killed."""

calls = {"point": "", "count": 0}


def reach(point: str) -> None:
    """Die here when the test said so: each line of `faults/crash` holds a point and which time it is reached; the first one counts."""
    try:
        with open(os.path.join(FAULTS, "crash"), encoding="utf-8") as handle:
            first, *others = handle.read().splitlines()
    except FileNotFoundError:
        return
    wanted, nth = first.split()
    if wanted != point:
        return
    calls["count"] = calls["count"] + 1 if calls["point"] == point else 1
    calls["point"] = point
    if calls["count"] < int(nth):
        return
    with open(os.path.join(FAULTS, "crashed"), "a", encoding="utf-8") as crashed:
        crashed.write(f"{first}\n")
    os.unlink(os.path.join(FAULTS, "crash"))
    if others:
        with open(os.path.join(FAULTS, "crash.new"), "w", encoding="utf-8") as handle:
            handle.write("\n".join(others))
        os.rename(os.path.join(FAULTS, "crash.new"), os.path.join(FAULTS, "crash"))
    if os.getpgrp() == os.getpid():
        os.killpg(0, signal.SIGKILL)
    os.kill(os.getpid(), signal.SIGKILL)


def owner_of(name: str):
    module, _, path = name.partition(":")
    owner = importlib.import_module(module)
    *parents, last = path.split(".")
    for parent in parents:
        owner = getattr(owner, parent)
    return owner, last


def mine(name: str) -> bool:
    """Constants of the front's own files do not concern the jobs, and importing what only jobs use would change what a front is."""
    return ROLE == "jobs" or name.startswith(("afl_core.worker.serve", "afl_core.worker.launch", "afl_core.worker.leaving"))


def prepare() -> None:
    with open(os.path.join(FAULTS, "constants.json"), encoding="utf-8") as handle:
        constants = json.load(handle)
    for name, value in constants.items():
        if mine(name):
            owner, last = owner_of(name)
            setattr(owner, last, tuple(value) if isinstance(value, list) else value)
    for point in POINTS[ROLE]:
        owner, last = owner_of(point)
        setattr(owner, last, wrapped(point, getattr(owner, last)))


def wrapped(point: str, function):
    @functools.wraps(function)
    def call(*arguments, **named):
        reach(f"{point}:before")
        result = function(*arguments, **named)
        reach(f"{point}:after")
        return result

    return call


def move_clock() -> None:
    """`faults/clock` holds how many milliseconds the wall clock of these processes is ahead; it may change while they run."""
    real = time.time_ns

    def moved() -> int:
        try:
            with open(os.path.join(FAULTS, "clock"), encoding="ascii") as handle:
                return real() + int(handle.read() or 0) * 1_000_000
        except FileNotFoundError:
            return real()

    time.time_ns = moved


def front() -> int:
    folder = sys.argv[-1].rpartition("/")[0]
    sys.path.insert(0, folder)
    import constants

    del sys.path[0]
    sys.path.extend(constants.SITE)
    move_clock()
    prepare()
    return importlib.import_module("afl_core.worker.front").main(constants)


def jobs() -> int:
    if os.path.isdir(plugins := os.path.join(HOME, "plugins")):
        sys.path.insert(0, plugins)
    move_clock()
    prepare()
    module = importlib.import_module("afl_core.worker.jobs")
    module.absorb = functools.partial(module.absorb, checkpoint=lambda step: reach(f"absorb:{step}"))
    return module.main(sys.argv[-1:])


if __name__ == "__main__":
    with open(os.path.join(FAULTS, f"{ROLE}.starts"), "a", encoding="utf-8") as starts:
        starts.write(f"{os.getpid()}\n")
    sys.exit({"front": front, "jobs": jobs}[ROLE]())
