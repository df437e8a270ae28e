"""What one hook costs, as ratios to a bare interpreter of the same run. Prints medians; judges only when asked to (`--check`).

    python benchmarks/hooks.py [--rounds 40] [--check]

Kinds are interleaved, so that whatever else the machine does falls on all of them alike. `busy` runs beside a process that parses 50 MB of
transcript; `--busy MODULE:FUNCTION` replaces what that process calls.
"""

from __future__ import annotations

import argparse
import json
import os
import pathlib
import shlex
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time

import cryptography

import afl_core
from afl_core.settings.paths import Paths
from afl_core.store.migrate import create_or_migrate
from afl_core.vault.seal import public_of
from afl_core.worker.client import ask

PACKAGE = pathlib.Path(afl_core.__file__).parent
SITE = (str(PACKAGE.parent), str(pathlib.Path(cryptography.__file__).parent.parent))
PYTHON = os.path.join(sys.base_prefix, "bin", f"python{sys.version_info[0]}.{sys.version_info[1]}")
TARGETS = {"warm": 1.0, "warm, busy": 1.0, "stop, no worker": 1.6}
COLD_MS = 250
RSS_MB = 35
BUSY_BYTES = 50_000_000

BUSY = """
import json, sys, time
line = json.dumps({"type": "user", "uuid": "0" * 36, "message": {"content": "words " * 60}})
lines = [line] * (int(sys.argv[1]) // len(line))
while True:
    for one in lines:
        json.loads(one)
"""
BUSY_CALL = (
    "import sys\nsys.path[:0] = sys.argv[3:]\nm, _, f = sys.argv[2].partition(':')\nwhile True: getattr(__import__(m, fromlist=[f]), f)()"
)


def make_home(home: pathlib.Path) -> Paths:
    """A home as install leaves it, with one host and one card."""
    paths = Paths(home)
    for directory in (paths.run, paths.spool, paths.keys):
        os.makedirs(directory, 0o700)
    create_or_migrate(paths.database, paths.backups, paths.data)
    pathlib.Path(paths.public_key).write_bytes(public_of(os.urandom(32)))
    pathlib.Path(paths.name_key).write_bytes(os.urandom(32))
    shutil.copytree(PACKAGE / "hook", paths.hook_dir, ignore=shutil.ignore_patterns("__pycache__", "__init__.py"))
    kinds = {"UserPromptSubmit": "prompt", "Stop": "stop"}
    # Nothing here measures the jobs process: `true` takes its place.
    stand_in = home / "python"
    stand_in.write_text(f'#!/bin/sh\ncase "$*" in *worker.jobs*) exit 0;; *) exec {shlex.quote(PYTHON)} "$@";; esac\n', "utf-8")
    stand_in.chmod(0o700)
    constants = {
        "HOME": str(home), "DATA": paths.data, "RUN": paths.run, "SPOOL": paths.spool, "SITE": SITE, "PYTHON": str(stand_in), "BUILD": "bench",
        "NOOPS": {"claude": b"{}"}, "KINDS": {"claude": kinds}, "FORWARD": {"claude": ("CLAUDE_CONFIG_DIR", "ANTHROPIC_BASE_URL")}, "ALLOW": (),
    }  # fmt: skip
    pathlib.Path(paths.hook_dir, "constants.py").write_text("".join(f"{k} = {v!r}\n" for k, v in constants.items()), "utf-8")
    template = {"hookSpecificOutput": {"hookEventName": "UserPromptSubmit", "additionalContext": "{context}"}}
    host = {
        "events": [{"name": n, "kind": k, "injects": k == "prompt"} for n, k in kinds.items()],
        "fields": {"session": "session_id", "cwd": "cwd", "prompt": "prompt", "answer": "last_assistant_message"},
        "envelope": {"UserPromptSubmit": template}, "noop": "{}", "limit_chars": 10_000,
    }  # fmt: skip
    pathlib.Path(paths.front_file).write_text(json.dumps({"hosts": {"claude": host}}), "utf-8")
    pathlib.Path(paths.current).write_text('{"build": "bench"}', "utf-8")
    return paths


def payload(event: str) -> bytes:
    body = {"session_id": "bench", "cwd": "/tmp", "hook_event_name": event, "prompt": "please rename the function and run the tests " * 8}
    return json.dumps(body).encode()


def timed(arguments: list[str], data: bytes) -> tuple[float, float]:
    """Wall and CPU milliseconds of one process, from fork to exit."""
    read_end, write_end = os.pipe()
    null = os.open(os.devnull, os.O_WRONLY)
    began = time.perf_counter()
    pid = os.posix_spawn(
        arguments[0], arguments, {"HOME": "/nonexistent", "PATH": "/usr/bin:/bin"},
        file_actions=[(os.POSIX_SPAWN_DUP2, read_end, 0), (os.POSIX_SPAWN_DUP2, null, 1), (os.POSIX_SPAWN_DUP2, null, 2)],
    )  # fmt: skip
    os.close(read_end)
    os.write(write_end, data)
    os.close(write_end)
    _, _, used = os.wait4(pid, 0)
    wall = time.perf_counter() - began
    os.close(null)
    return wall * 1000, (used.ru_utime + used.ru_stime) * 1000


class Bench:
    """One home, the processes that are measured in it, and what was found."""

    def __init__(self, paths: Paths, busy: str) -> None:
        self.paths = paths
        self.busy = busy
        # Other packages' .pth files cost tens of milliseconds at every start: bare is an environment that has none.
        subprocess.run([PYTHON, "-m", "venv", "--without-pip", f"{paths.home}/bare"], check=True)
        self.bare = f"{paths.home}/bare/bin/python"
        self.found: dict[str, list[tuple[float, float]]] = {}

    def add(self, name: str, arguments: list[str], data: bytes) -> None:
        """Measure one process once."""
        self.found.setdefault(name, []).append(timed(arguments, data))

    def hook(self, event: str) -> list[str]:
        """The command of one hook, without the shell around it."""
        return [PYTHON, "-I", "-S", self.paths.hook, "claude", event]

    def front(self) -> int | None:
        """The process id of the front, if one runs."""
        reply = ask(self.paths, "claude", "health", b"", 1.0)
        return json.loads(reply)["pid"] if reply else None

    def stop_front(self) -> None:
        """Send the front home and wait until it is gone."""
        pid = self.front()
        if pid is None:
            return
        os.kill(pid, signal.SIGTERM)
        while os.path.exists(f"/proc/{pid}") or self.front():
            time.sleep(0.01)

    def warm_up(self) -> None:
        """Have a front that has settled: it serves, and hooks have their spool key."""
        timed(self.hook("UserPromptSubmit"), payload("UserPromptSubmit"))
        while self.front() is None or not os.path.exists(self.paths.spool_key):
            time.sleep(0.05)

    def rss_mb(self) -> float:
        """Resident memory of the front."""
        status = pathlib.Path(f"/proc/{self.front()}/status").read_text("utf-8")
        return int(status.split("VmRSS:")[1].split()[0]) / 1024

    def measure(self, rounds: int) -> float:
        """Run every kind; give the front's resident memory after the warm prompts."""
        bare = [self.bare, "-I", "-c", "pass"]
        self.warm_up()
        for _ in range(rounds):
            self.add("bare", bare, b"")
            self.add("warm", self.hook("UserPromptSubmit"), payload("UserPromptSubmit"))
        rss = self.rss_mb()
        call = [PYTHON, "-I", "-c", BUSY_CALL if self.busy else BUSY, str(BUSY_BYTES), self.busy, *SITE]
        load = subprocess.Popen(call, env={})
        try:
            time.sleep(1.0)
            for _ in range(rounds):
                self.add("bare, busy", bare, b"")
                self.add("warm, busy", self.hook("UserPromptSubmit"), payload("UserPromptSubmit"))
        finally:
            load.kill()
            load.wait()
        for _ in range(max(rounds // 4, 5)):
            self.stop_front()
            self.add("bare, cold", bare, b"")
            self.add("cold", self.hook("UserPromptSubmit"), payload("UserPromptSubmit"))
        self.stop_front()
        mark = pathlib.Path(self.paths.run, "woken")
        for _ in range(rounds):
            mark.touch()  # a front was just asked for: none is started
            self.add("bare, no worker", bare, b"")
            self.add("stop, no worker", self.hook("Stop"), payload("Stop"))
        mark.unlink()
        return rss

    def report(self, rss: float) -> list[str]:
        """Print the table; return what misses its target."""
        middle = {name: tuple(statistics.median(column) for column in zip(*rows, strict=True)) for name, rows in self.found.items()}
        missed = []
        print(f"{'':<20}{'wall ms':>9}{'cpu ms':>9}{'x wall':>9}{'x cpu':>9}")
        for name, (wall, cpu) in middle.items():
            base = next((middle[b] for b in (f"bare, {name.rpartition(', ')[2]}", f"bare, {name}", "bare") if b in middle), (wall, cpu))
            print(f"{name:<20}{wall:>9.2f}{cpu:>9.2f}{wall / base[0]:>9.2f}{cpu / base[1]:>9.2f}")
            if name in TARGETS and cpu / base[1] > TARGETS[name]:
                missed.append(f"{name}: {cpu / base[1]:.2f} x bare (CPU), wanted {TARGETS[name]}")
        late = middle["cold"][0] - middle["warm"][0]
        print(f"cold first answer: {late:.0f} ms beyond a warm hook; front {rss:.1f} MB resident")
        if late > COLD_MS:
            missed.append(f"cold: {late:.0f} ms beyond the hook, wanted {COLD_MS}")
        if rss > RSS_MB:
            missed.append(f"front: {rss:.1f} MB, wanted {RSS_MB}")
        return missed


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=40)
    parser.add_argument("--busy", default="", metavar="MODULE:FUNCTION")
    parser.add_argument("--check", action="store_true", help="exit 1 when a target is missed")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="afl-bench-", dir="/tmp") as name:
        bench = Bench(make_home(pathlib.Path(name)), options.busy)
        try:
            missed = bench.report(bench.measure(options.rounds))
        finally:
            bench.stop_front()
    for line in missed:
        print("missed:", line)
    return 1 if missed and options.check else 0


if __name__ == "__main__":
    sys.exit(main())
