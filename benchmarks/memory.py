"""How fast typed memory writes, recalls, searches and forgets, how much it needs, and the same of the peer where it can be had.

    python3 tools/dev.py bench memory [--large] [--sizes 1000,10000,100000] [--rounds 3] [--without-peer] [--only NAME] [--folder PATH] [--json]

Every measurement runs in a process of its own, by turns; of several runs the best is told. Judges nothing: docs/benchmarks.md says what is wanted.
"""

from __future__ import annotations

import argparse
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))  # not there under PYTHONSAFEPATH

from _memory_peer import PIN, PeerError, interpreter
from _processes import load

STEP = pathlib.Path(__file__).with_name("_memory_step.py")
SIZES, LARGE = (1_000, 10_000, 100_000), 1_000_000
SINGLES_MOST = 10_000
"""Single adds do not depend on the size enough to wait for more of them."""
LOADED_ONCE = 10_000
"""Larger files are made once, whatever `--rounds` says."""
PEER_MOST = {True: 1_000, False: 10_000}
"""Grains of the peer's files, with its text index and without: it takes minutes for more."""
QUESTIONS = {
    "rare": "a rare word",
    "natural": "eight words, one rare",
    "common": "eight common words",
    "spaceless": "Chinese, Japanese, Korean",
}
Numbers = dict[str, float]


class Row(NamedTuple):
    """One line of the table: which number of which step, and whether more of it is better."""

    name: str
    step: str
    number: str
    form: str
    more: bool = False


ROWS = (
    Row("single adds a CPU second", "singles", "a_cpu_s", ",.0f", more=True),
    Row("single adds a second", "singles", "a_second", ",.0f", more=True),
    Row("batches of 500, grains a CPU second", "load", "a_cpu_s", ",.0f", more=True),
    Row("bytes a grain, mixed", "load", "bytes_a_grain", ",.0f"),
    Row("bytes a fact, facts only", "load facts", "bytes_a_grain", ",.0f"),
    Row("open, ms", "open", "open_ms", ",.1f"),
    Row("structural recall p50, us", "recall", "cpu_p50_us", ",.1f"),
    Row("structural recall p95, us", "recall", "cpu_p95_us", ",.1f"),
    *(Row(f"search p95, us: {told}", f"search {kind}", "cpu_p95_us", ",.0f") for kind, told in QUESTIONS.items()),
    *(Row(f"answered of a hundred: {told}", f"search {kind}", "answered", ",.0f", more=True) for kind, told in QUESTIONS.items()),
    Row("forget one, CPU ms", "forget", "cpu_ms", ",.1f"),
    Row("verify, grains a CPU second", "verify", "a_cpu_s", ",.0f", more=True),
    Row("peak MB of all of these", "all", "peak_mb", ",.0f"),
)


class Side(NamedTuple):
    """One of the two, with the interpreter that runs it."""

    name: str
    python: str

    def measure(self, step: str, path: pathlib.Path, grains: int, *options: str) -> Numbers:
        """One step in one process."""
        arguments = [self.python, "-P", str(STEP), self.name, step, str(path), "--grains", str(grains), *options]
        done = subprocess.run(arguments, check=False, capture_output=True, text=True)
        if done.returncode:
            raise SystemExit(f"{self.name}, {step} of {grains}, ended with status {done.returncode}:\n{done.stderr}")
        told: Numbers = json.loads(done.stdout)
        spent = {"a_cpu_s": "cpu_s", "a_second": "wall_s"}
        return {**told, **{name: grains / told[of] for name, of in spent.items() if of in told}}


class Plan(NamedTuple):
    """Which step of which file: `make` builds the file anew each time, other steps read the one that is there."""

    step: str
    file: str
    options: tuple[str, ...]

    @property
    def make(self) -> bool:
        """Whether it makes its file."""
        return self.step in ("singles", "load")


def plans(*, index: bool) -> dict[str, Plan]:
    """Everything that is measured of one size, in order."""
    on = ("--index",) if index else ()
    found = {
        "singles": Plan("singles", "singles", on),
        "load": Plan("load", "mixed", on),
        "load facts": Plan("load", "facts", (*on, "--workload", "facts")),
        "open": Plan("open", "mixed", on),
        "recall": Plan("recall", "mixed", on),
    }
    if index:
        found |= {f"search {kind}": Plan("search", "mixed", (*on, "--questions", kind)) for kind in ("rare", "natural", "common")}
        found["load spaceless"] = Plan("load", "spaceless", (*on, "--workload", "spaceless"))
        found["search spaceless"] = Plan("search", "spaceless", (*on, "--questions", "spaceless"))
    return {**found, "verify": Plan("verify", "mixed", on), "forget": Plan("forget", "mixed", on)}


def best(runs: Sequence[Numbers]) -> Numbers:
    """Of each number the one that the machine disturbed least; of the peak the highest."""
    chosen = {name: max if name in ("a_cpu_s", "a_second", "peak_mb", "answered") else min for name in runs[0]}
    return {name: choose(run[name] for run in runs) for name, choose in chosen.items()}


def measured(
    sides: Sequence[Side], grains: int, folder: pathlib.Path, options: argparse.Namespace
) -> dict[str, dict[str, dict[str, Numbers]]]:
    """(index on or off) -> side -> step -> numbers, for one size."""
    found: dict[str, dict[str, dict[str, Numbers]]] = {}
    for index in (True, False):
        here = found[f"index {'on' if index else 'off'}"] = {side.name: {} for side in sides}
        for name, plan in plans(index=index).items():
            if options.only not in (None, plan.step) and not (plan.step == "load" and options.only != "singles"):
                continue  # files are made for whatever reads them
            if plan.step == "singles" and grains > SINGLES_MOST:
                continue
            able = [side for side in sides if side.name == "ours" or grains <= PEER_MOST[index]]
            for side, numbers in rounds(able, plan, grains, folder / f"{index}", options):
                here[side.name].setdefault(name, numbers)
            print(f"measured: {grains:,} grains, index {'on' if index else 'off'}, {name}", file=sys.stderr, flush=True)
        shutil.rmtree(folder / f"{index}", ignore_errors=True)
        for steps in here.values():
            if steps:
                steps["all"] = {"peak_mb": max(numbers["peak_mb"] for numbers in steps.values())}
    return found


def rounds(
    sides: Sequence[Side], plan: Plan, grains: int, folder: pathlib.Path, options: argparse.Namespace
) -> Iterator[tuple[Side, Numbers]]:
    """The best of the rounds of one step. The sides take turns, so that whatever else the machine does falls on both."""
    many = 1 if plan.make and grains > LOADED_ONCE else options.rounds
    runs: dict[Side, list[Numbers]] = {side: [] for side in sides}
    for _ in range(many):
        for side in sides:
            place = folder / side.name / plan.file
            if plan.make:
                shutil.rmtree(place, ignore_errors=True)
                place.mkdir(parents=True)
            runs[side].append(side.measure(plan.step, place / "memory.afl", grains, *plan.options))
    yield from ((side, best(told)) for side, told in runs.items())


def shown(result: dict[str, Any]) -> str:
    """The result for a person: a line for each number and size; `x` says how many times better ours is."""
    lines = [f"{'':<52}{'grains':>10}{'index':>7}{'ours':>12}{'peer':>12}{'x':>8}"]
    for row in ROWS:
        for grains, found in result["sizes"].items():
            for index, sides in found.items():
                ours, peer = (sides.get(name, {}).get(row.step, {}).get(row.number) for name in ("ours", "peer"))
                if ours is None:
                    continue
                found_none = sides.get("peer", {}).get(row.step, {}).get("answered") == 0
                theirs = "-" if peer is None else "found none" if found_none else f"{peer:{row.form}}"
                ratio = "" if not peer or not ours or found_none else f"{ours / peer if row.more else peer / ours:.1f}"
                lines.append(f"{row.name:<52}{int(grains):>10,}{index.split()[1]:>7}{ours:>12{row.form}}{theirs:>12}{ratio:>8}")
    machine = result["machine"]
    lines.append(f"\npeer: {result['peer']}")
    return "\n".join(
        [
            *lines,
            f"Python {machine['python']}, {machine['processors']} processors, load {machine['load']:.1f}, files in {machine['folder']}",
        ]
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sizes", default=",".join(map(str, SIZES)), help="grains of the files")
    parser.add_argument("--large", action="store_true", help=f"also {LARGE:,} grains")
    parser.add_argument("--rounds", type=int, default=3, help="runs of each measurement; the best is told")
    parser.add_argument("--without-peer", action="store_true", help="leave the peer out")
    parser.add_argument(
        "--only",
        choices=("singles", "load", "open", "recall", "search", "verify", "forget"),
        help="one kind of measurement; files are made for it",
    )
    parser.add_argument(
        "--folder", type=pathlib.Path, help="where the files are made and removed again; a disk and a memory file system differ"
    )
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    sizes = [*(int(one) for one in options.sizes.split(",") if one), *([LARGE] if options.large else [])]
    busy, processors = load()
    sides, peer = [Side("ours", sys.executable)], "left out"
    if not options.without_peer:
        try:
            sides.append(Side("peer", interpreter()))
            peer = PIN
        except PeerError as bad:
            peer = f"left out: {bad}"
    with tempfile.TemporaryDirectory(prefix="afl-bench-", dir=options.folder) as name:
        machine = {"python": sys.version.split()[0], "processors": processors, "load": busy, "folder": os.path.dirname(name)}
        found = {str(size): measured(sides, size, pathlib.Path(name), options) for size in sizes}
    result = {"machine": machine, "peer": peer, "sizes": found}
    print(json.dumps(result, indent=2) if options.json else shown(result))
    return 0


if __name__ == "__main__":
    sys.exit(main())
