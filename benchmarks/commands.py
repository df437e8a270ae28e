"""How long the commands that people wait for take to answer, as ratios to a bare interpreter of the same run.

    python3 tools/dev.py bench commands [--rounds 15] [--json]

Runs the installed `afl` in a temporary home with a few cards in it. Judges nothing.
"""

from __future__ import annotations

import argparse
import json
import os
import pathlib
import statistics
import sys
import tempfile
from typing import Any

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))  # not there under PYTHONSAFEPATH

from _home import BenchHome
from _processes import Cost, timed

COMMANDS = (("--help",), ("--version",), ("memory", "list"), ("review", "list"), ("capture", "status"), ("doctor",))


def measured(home: BenchHome, rounds: int) -> dict[str, Any]:
    """Medians of every command beside those of the bare interpreters that ran between them."""
    afl = os.path.join(os.path.dirname(sys.executable), "afl")
    bare: list[Cost] = []
    found: dict[str, list[Cost]] = {}
    for _ in range(rounds):
        for words in COMMANDS:
            bare.append(timed([home.bare, "-I", "-c", "pass"], home.environ))
            found.setdefault(f"afl {' '.join(words)}", []).append(timed([afl, *words], home.environ))
    floor = median(bare)
    costs = {name: median(runs) for name, runs in found.items()}
    return {
        "bare": floor._asdict(),
        "commands": {name: {**one._asdict(), "x_cpu": one.cpu / floor.cpu, "x_wall": one.wall / floor.wall} for name, one in costs.items()},
    }


def median(runs: list[Cost]) -> Cost:
    """Of wall and of processor time, each by itself."""
    return Cost(*(statistics.median(column) for column in zip(*runs, strict=True)))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=15, help="runs of each command")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="afl-bench-") as name:
        home = BenchHome(pathlib.Path(name))
        try:
            result = measured(home, options.rounds)
        finally:
            home.stop()
    if options.json:
        print(json.dumps(result, indent=2))
        return 0
    print(f"{'':<20}{'wall ms':>9}{'cpu ms':>9}{'x wall':>8}{'x cpu':>8}")
    print(f"{'bare':<20}{result['bare']['wall']:>9.1f}{result['bare']['cpu']:>9.1f}{1:>8.1f}{1:>8.1f}")
    for name, one in result["commands"].items():
        print(f"{name:<20}{one['wall']:>9.1f}{one['cpu']:>9.1f}{one['x_wall']:>8.1f}{one['x_cpu']:>8.1f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
