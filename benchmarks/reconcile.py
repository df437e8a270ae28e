"""How fast missed transcripts are read, and what a pass costs that finds nothing to do.

    python3 tools/dev.py bench reconcile [--megabytes 50] [--sizes 5,10,20,50,100,200] [--only NAME] [--json]

Every pass runs in a process of its own over an installed home; start-up is not counted. Judges nothing: docs/benchmarks.md says what is wanted.
"""

from __future__ import annotations

import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Callable
from typing import Any, Self

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))  # not there under PYTHONSAFEPATH

import _chat_log
import _rollout
import _transcript
from _home import BenchHome
from _processes import load

LONG_MB = 200
KNOWN = 1_000
"""Transcripts of the home in which nothing is to do."""

FOLDERS = {"claude": ".claude", "codex": ".codex", "gemini": ".gemini"}


def claude(root: pathlib.Path, session: str, size: int, *, chat: bool = False) -> pathlib.Path:
    """A transcript where Claude Code keeps it."""
    path = root / ".claude" / "projects" / "-bench" / f"{session}.jsonl"
    _transcript.write(path, session, str(root / "project"), size, chat=chat)
    return path


def codex(root: pathlib.Path, session: str, size: int, *, chat: bool = False) -> pathlib.Path:
    """A rollout where Codex keeps it."""
    path = root / ".codex" / _rollout.name(session, time.time())
    _rollout.write(path, session, str(root / "project"), size, chat=chat)
    return path


def gemini(root: pathlib.Path, session: str, size: int) -> pathlib.Path:
    """A log where Gemini CLI keeps it."""
    path = root / ".gemini" / "tmp" / "project" / "chats" / f"session-{time.strftime('%Y-%m-%dT%H-%M')}-{session[:8]}.jsonl"
    _chat_log.write(path, session, str(root / "project"), size)
    return path


Make = Callable[[pathlib.Path, str, int], pathlib.Path]

SHAPES: dict[str, tuple[str, Make]] = {
    "codex, tools": ("codex", codex),
    "codex, talk": ("codex", lambda root, session, size: codex(root, session, size, chat=True)),
    "claude, tools": ("claude", claude),
    "claude, talk": ("claude", lambda root, session, size: claude(root, session, size, chat=True)),
    "gemini": ("gemini", gemini),
}


class Passes:
    """A home of its own for each thing that is measured."""

    def __init__(self) -> None:
        self._name = tempfile.TemporaryDirectory(prefix="afl-bench-")
        self.root = pathlib.Path(self._name.name)
        self.home = BenchHome(self.root)
        current = pathlib.Path(self.home.paths.current)
        body = json.loads(current.read_text("utf-8"))
        body["hosts"] = {
            name: {"config_dir": str(self.root / folder), "settings_path": str(self.root / folder / "settings.json")}
            for name, folder in FOLDERS.items()
        }
        current.write_text(json.dumps(body), "utf-8")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_exc: object) -> None:
        self.home.stop()
        self._name.cleanup()

    def run(self, *options: str) -> dict[str, Any]:
        """One pass."""
        script = pathlib.Path(__file__).with_name("_pass.py")
        done = subprocess.run([sys.executable, "-P", str(script), str(self.root), *options], check=True, capture_output=True, text=True)
        return json.loads(done.stdout)


def measured(make: Make, size: int) -> dict[str, Any]:
    """The first pass over a transcript, an idle second one, and one after another message; what redaction takes of a first one, in another home."""
    session = str(uuid.uuid4())
    with Passes() as passes:
        make(passes.root, session, size)
        timed = passes.run("--timed")
    with Passes() as passes:
        path = make(passes.root, session, size)
        floor = parsing(path)
        first, idle = passes.run(), passes.run()
        lines = path.read_bytes().splitlines(keepends=True)
        last = next(line for line in reversed(lines) if b'"user"' in line[:200] or b"UserMessage" in line[:400])
        with path.open("ab") as file:
            file.write(last.replace(b'"uuid":"', b'"uuid":"x').replace(b'"id":"', b'"id":"x'))
        more = passes.run()
        megabytes = path.stat().st_size / 1e6
    kept = first["kept_bytes"] / 1e6
    return {
        "megabytes": megabytes,
        "events": first["eventsCaptured"],
        "cpu_s": first["cpu_s"],
        "wall_s": first["wall_s"],
        "mb_per_cpu_s": megabytes / first["cpu_s"],
        "kept_mb": kept,
        "kept_mb_per_cpu_s": kept / first["cpu_s"],
        "redaction_share": timed["redaction_s"] / timed["cpu_s"],
        "redacted_mb": timed["redacted_bytes"] / 1e6,
        "mb_per_cpu_s_without_redaction": megabytes / (timed["cpu_s"] - timed["redaction_s"]),
        "x_parsing": first["cpu_s"] / floor,
        "peak_mb": first["peak_mb"],
        "idle_ms": idle["wall_s"] * 1000,
        "one_more_ms": more["wall_s"] * 1000,
        "one_more_events": more["eventsCaptured"],
        "problems": [*first["errors"], *first["coverageGaps"]],
    }


def parsing(path: pathlib.Path) -> float:
    """Processor seconds that parsing every line as JSON takes, and nothing else: what a ratio of another machine is compared by."""
    began = time.process_time()
    with path.open("rb") as file:
        for line in file:
            json.loads(line)
    return time.process_time() - began


def known_idle() -> dict[str, Any]:
    """A pass over many known transcripts in which nothing changed."""
    with Passes() as passes:
        for _ in range(KNOWN):
            claude(passes.root, str(uuid.uuid4()), 1)
        first = passes.run()
        idle = [passes.run() for _ in range(5)]
    return {
        "transcripts": first["filesScanned"],
        "first_s": first["wall_s"],
        "idle_ms": sorted(one["wall_s"] * 1000 for one in idle)[2],
        "idle_cpu_ms": sorted(one["cpu_s"] * 1000 for one in idle)[2],
        "read_again": sum(one["filesScanned"] for one in idle),
    }


def shown(result: dict[str, Any]) -> str:
    """The result for a person."""
    heads = ("MB", "events", "cpu s", "MB/s", "kept MB", "share", "kept/s", "redact", "MB/s -r", "x json", "peak MB", "idle ms", "+1 ms")
    lines = [f"{'':<16}" + "".join(f"{head:>9}" for head in heads)]
    for name, one in {**result["shapes"], **result["sizes"]}.items():
        numbers = [f"{one['megabytes']:.1f}", f"{one['events']}", f"{one['cpu_s']:.2f}", f"{one['mb_per_cpu_s']:.1f}"]
        numbers += [f"{one['kept_mb']:.2f}", f"{one['kept_mb'] / one['megabytes']:.0%}"]
        numbers += [f"{one['kept_mb_per_cpu_s']:.2f}", f"{one['redaction_share']:.0%}"]
        numbers += [f"{one['mb_per_cpu_s_without_redaction']:.1f}", f"{one['x_parsing']:.1f}", f"{one['peak_mb']:.0f}"]
        numbers += [f"{one['idle_ms']:.1f}", f"{one['one_more_ms']:.1f}"]
        lines.append(f"{name:<16}" + "".join(f"{number:>9}" for number in numbers))
        lines += [f"  problem: {problem}" for problem in one["problems"]]
    if known := result["known"]:
        lines += [
            "",
            f"{known['transcripts']} known transcripts: first pass {known['first_s']:.2f} s, an idle one {known['idle_ms']:.1f} ms",
        ]
    machine = result["machine"]
    return "\n".join([*lines, f"Python {machine['python']}, {machine['processors']} processors, load {machine['load']:.1f}"])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--megabytes", type=int, default=50, help="size of each transcript")
    parser.add_argument(
        "--sizes", default=f"5,10,20,50,100,{LONG_MB}", help="sizes of the transcript by which it is seen whether time grows evenly"
    )
    parser.add_argument("--only", help="one shape, or `sizes`, or `known`")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    if options.only not in (None, "sizes", "known", *SHAPES):
        parser.error(f"there is no {options.only!r}; there are: {', '.join((*SHAPES, 'sizes', 'known'))}")
    busy, processors = load()
    result: dict[str, Any] = {"machine": {"python": sys.version.split()[0], "processors": processors, "load": busy}}
    wanted = [name for name in SHAPES if options.only in (None, name)]
    result["shapes"] = {name: measured(SHAPES[name][1], options.megabytes * 1_000_000) for name in wanted if provided(SHAPES[name][0])}
    sizes = [int(size) for size in options.sizes.split(",") if size] if options.only in (None, "sizes") else []
    result["sizes"] = {f"claude, {size} MB": measured(claude, size * 1_000_000) for size in sizes}
    result["known"] = known_idle() if options.only in (None, "known") else {}
    print(json.dumps(result, indent=2) if options.json else shown(result))
    return 0


def provided(host: str) -> bool:
    """Whether a plug-in provides the host."""
    from afl_core.plugins.discovery import read_entry_points
    from afl_core.plugins.isolation import Guard, MemoryLedger
    from afl_core.plugins.registry import Registry

    return host in Registry(read_entry_points(), Guard(MemoryLedger())).hosts()


if __name__ == "__main__":
    sys.exit(main())
