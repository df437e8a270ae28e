"""What the hooks of an installed product cost a person, as ratios to a bare interpreter of the same run, and what stands behind them holds in memory.

    python3 tools/dev.py bench hooks [--rounds 40] [--megabytes 50] [--until-gone] [--json]

Installs into a temporary home and runs the very commands that a host would. Every measured hook is paired with a bare interpreter started right
beside it, so that whatever else the machine does falls on both alike. Judges nothing: docs/benchmarks.md says what is wanted.
"""

from __future__ import annotations

import argparse
import json
import os
import pathlib
import statistics
import sys
import tempfile
import time
import uuid
from typing import Any

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))  # not there under PYTHONSAFEPATH

import _transcript
from _home import BenchHome
from _processes import Cost, cpu_seconds, forget_peak, load, memory, timed

SETTLE_S = 3.0
GONE_S = 300.0
"""Two idle minutes, and before them two in which hook rows without a transcript wait for one."""

REVIEW_S = 30.0


class Bench:
    """Measures one thing after the other in one home; `found` holds what was measured beside its bare interpreters, `told` everything else."""

    def __init__(self, home: BenchHome, rounds: int, size: int) -> None:
        self.home = home
        self.rounds = rounds
        self.size = size
        self.found: dict[str, list[tuple[Cost, Cost]]] = {}
        self.told: dict[str, dict[str, Any]] = {"memory_mb": {}}
        self.prompts = self.given = 0

    def pair(self, name: str, event: str, **more: Any) -> None:
        """A bare interpreter, then one hook."""
        bare = timed([self.home.bare, "-I", "-c", "pass"], self.home.environ)
        self.found.setdefault(name, []).append((bare, self.home.fire(event, **more)))
        if event == "UserPromptSubmit":
            self.prompts += 1
            self.given += self.home.gave_cards

    def warm(self) -> None:
        """Prompts and stops with a front that serves and nothing else to do."""
        self.home.warm_up()
        time.sleep(SETTLE_S)
        for _ in range(self.rounds):
            self.pair("prompt, warm", "UserPromptSubmit")
        for _ in range(self.rounds):
            self.pair("stop, warm", "Stop")

    def syncing(self) -> None:
        """Prompts while the jobs process reads a long transcript for the first time."""
        session = str(uuid.uuid4())
        path = self.home.root / "transcripts" / f"{session}.jsonl"
        records = _transcript.write(path, session, str(self.home.project), self.size)
        size = path.stat().st_size
        jobs = self._settled_jobs()
        before, began = cpu_seconds(jobs), time.perf_counter()
        self.home.fire("UserPromptSubmit", session, path)
        seconds = 0.0
        while not seconds:
            self.pair("prompt, syncing", "UserPromptSubmit")
            if self.home.scalar("SELECT offset FROM cursors WHERE path = ?", str(path)) >= size:
                seconds = time.perf_counter() - began
        cpu = cpu_seconds(jobs) - before
        events = self.home.scalar("SELECT count(*) FROM events WHERE session_id = ?", f"claude:{session}")
        self.told["sync"] = {
            "megabytes": size / 1e6,
            "records": records,
            "events": events,
            "seconds": seconds,
            "cpu_seconds": cpu,
            "mb_per_second": size / 1e6 / seconds,
            "mb_per_cpu_second": size / 1e6 / cpu,
        }
        self._note("jobs, syncing", jobs)

    def reviewing(self) -> None:
        """What a review adds: the transcript's interruptions ask for one at once."""
        jobs = self._settled_jobs()
        forget_peak(jobs)
        end = time.monotonic() + REVIEW_S
        done = "SELECT count(*) FROM reviews WHERE status = 'completed'"
        while not self.home.scalar(done) and time.monotonic() < end:
            time.sleep(0.1)
        self.told["reviews"] = {"completed": self.home.scalar(done)}
        self._note("jobs, reviewing", jobs)
        time.sleep(SETTLE_S)
        self._note("jobs, idle", jobs)
        self._note("front", self.home.front() or 0)

    def gone(self) -> None:
        """How long the jobs process stays when there is nothing to do."""
        jobs, began = self._settled_jobs(), time.monotonic()
        self.home.wait("the jobs process to leave by itself", lambda: memory(jobs) is None, GONE_S)
        self.told["jobs_left"] = {"after_seconds": time.monotonic() - began}

    def cold(self) -> None:
        """Prompts that have to start the front first."""
        for _ in range(max(5, self.rounds // 4)):
            self.home.stop()
            self.pair("prompt, cold", "UserPromptSubmit")

    def alone(self) -> None:
        """Stops without a front: first those that also start one, then those that come right after it was asked for."""
        for _ in range(max(5, self.rounds // 4)):
            self.home.stop()
            self.pair("stop, no worker, starts one", "Stop")
        self.home.stop()
        mark = pathlib.Path(self.home.paths.run, "woken")
        for _ in range(self.rounds):
            mark.touch()
            self.pair("stop, no worker", "Stop")
        mark.unlink()

    def _settled_jobs(self) -> int:
        self.home.wait("a jobs process", self.home.jobs)
        return self.home.jobs() or 0

    def _note(self, name: str, pid: int) -> None:
        held = memory(pid)
        if held is not None:
            self.told["memory_mb"][name] = {"now": held.now, "peak": held.peak}

    def result(self) -> dict[str, Any]:
        """Everything, as plain data: medians of all runs; a ratio is the median hook over the median of its own bare interpreters."""
        hooks = {}
        for name, pairs in self.found.items():
            bare, hook = (Cost(*(statistics.median(column) for column in zip(*side, strict=True))) for side in zip(*pairs, strict=True))
            hooks[name] = {
                "runs": len(pairs),
                "wall_ms": hook.wall,
                "wall_ms_95": quantile(pairs, 0.95),
                "cpu_ms": hook.cpu,
                "bare_wall_ms": bare.wall,
                "bare_cpu_ms": bare.cpu,
                "x_wall": hook.wall / bare.wall,
                "x_cpu": hook.cpu / bare.cpu,
            }
        late = hooks["prompt, cold"]["wall_ms"] - hooks["prompt, warm"]["wall_ms"]
        busy, processors = load()
        machine = {"python": sys.version.split()[0], "processors": processors, "load": busy}
        given = {"prompts": self.prompts, "with_cards": self.given}
        return {"machine": machine, "hooks": hooks, "cold_first_answer": {"ms_beyond_warm": late}, "cards": given, **self.told}


def quantile(pairs: list[tuple[Cost, Cost]], share: float) -> float:
    """Wall milliseconds that this share of the hooks did not exceed."""
    walls = sorted(hook.wall for _bare, hook in pairs)
    return walls[min(len(walls) - 1, int(share * len(walls)))]


def shown(result: dict[str, Any]) -> str:
    """The result for a person."""
    lines = [f"{'':<30}{'runs':>5}{'wall ms':>9}{'95 %':>9}{'cpu ms':>9}{'x wall':>8}{'x cpu':>8}{'bare ms':>9}"]
    for name, one in result["hooks"].items():
        times = "".join(f"{one[key]:>9.2f}" for key in ("wall_ms", "wall_ms_95", "cpu_ms"))
        lines.append(f"{name:<30}{one['runs']:>5}{times}{one['x_wall']:>8.2f}{one['x_cpu']:>8.2f}{one['bare_wall_ms']:>9.2f}")
    sync, cards, machine = result["sync"], result["cards"], result["machine"]
    lines += ["", f"cold first answer: {result['cold_first_answer']['ms_beyond_warm']:.0f} ms beyond a warm prompt"]
    lines += [f"cards were given to {cards['with_cards']} of {cards['prompts']} prompts", ""]
    lines += [f"{'memory, MB':<30}{'now':>9}{'peak':>9}"]
    lines += [f"{name:<30}{one['now']:>9.1f}{one['peak']:>9.1f}" for name, one in result["memory_mb"].items()]
    lines += [
        "",
        f"sync: {sync['megabytes']:.1f} MB, {sync['records']} records, {sync['events']} events",
        f"  {sync['seconds']:.1f} s beside the prompts ({sync['mb_per_second']:.1f} MB/s)",
        f"  {sync['cpu_seconds']:.1f} s of processor time ({sync['mb_per_cpu_second']:.1f} MB/s)",
        f"reviews completed: {result['reviews']['completed']}",
    ]
    if "jobs_left" in result:
        lines.append(f"jobs left by itself {result['jobs_left']['after_seconds']:.0f} s later")
    return "\n".join([*lines, f"Python {machine['python']}, {machine['processors']} processors, load {machine['load']:.1f}"])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=40, help="runs of each kind; those that start a front get a quarter of it")
    parser.add_argument("--megabytes", type=int, default=50, help="size of the transcript that is read meanwhile")
    parser.add_argument("--until-gone", action="store_true", help="wait until the idle jobs process leaves by itself (up to five minutes)")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    if not os.path.isdir("/proc/self"):
        sys.exit("this benchmark reads /proc and runs on Linux only")
    with tempfile.TemporaryDirectory(prefix="afl-bench-") as name:
        home = BenchHome(pathlib.Path(name))
        bench = Bench(home, options.rounds, options.megabytes * 1_000_000)
        try:
            bench.warm()
            bench.syncing()
            bench.reviewing()
            if options.until_gone:
                bench.gone()
            bench.cold()
            bench.alone()
        finally:
            home.stop()
    print(json.dumps(bench.result(), indent=2) if options.json else shown(bench.result()))
    return 0


if __name__ == "__main__":
    sys.exit(main())
