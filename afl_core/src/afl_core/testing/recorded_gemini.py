"""Payloads, hook sequences and chat logs recorded from a real Gemini CLI, and playing them again in a scratch home.

As in `recorded`, the project is `/home/dev/project` and the home `/home/dev`. Nothing was recorded of how far a log had come when a hook ran: the times
in its records tell.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any, ClassVar

from afl_core.testing.recorded import Moment, Place, Recorded, grow

PROJECT_FILE = ".project_root"


class RecordedGemini(Recorded):
    """What was recorded from Gemini CLI: hooks, sequences, chats and logs."""

    host: ClassVar[str] = "gemini"

    @classmethod
    def chat(cls, name: str) -> bytes:
        """A whole chat log as it was on disk: JSON lines."""
        return cls._read("chats", name, ".jsonl")

    @classmethod
    def sequence(cls, name: str) -> list[dict[str, Any]]:
        """The payloads of every hook of one case, in order."""
        return [json.loads(line) for line in cls._read("sequences", name, ".jsonl").splitlines()]


def install(name: str, home: Path, project: Path) -> Path:
    """Put one whole chat log where the host would keep it, with the file that names its project; returns the log's path."""
    lines = Place(home, project).moved(RecordedGemini.chat(name)).splitlines(keepends=True)
    header = json.loads(lines[0])
    path = _folder(home, project) / f"session-{header['startTime'][:16].replace(':', '-')}-{header['sessionId'][:8]}.jsonl"
    path.write_bytes(b"".join(lines))
    return path


def replay(name: str, home: Path, project: Path) -> Iterator[Moment]:
    """The hooks of a recorded case in order; before each, the logs have grown (only by appending) to what existed then.

    What the host wrote after the last hook is appended when the iteration ends. KitError when there is no sequence of that name.
    """
    place = Place(home, project)
    steps = [json.loads(place.moved(json.dumps(step, ensure_ascii=False).encode())) for step in RecordedGemini.sequence(name)]
    _folder(home, project)
    paths = {step["session_id"]: Path(step["transcript_path"]) for step in steps}
    growing = {}
    for chat in RecordedGemini.names("chats"):
        lines = place.moved(RecordedGemini.chat(chat)).splitlines(keepends=True)
        if path := paths.get(json.loads(lines[0])["sessionId"]):
            growing[path] = lines
    written = dict.fromkeys(growing, 0)
    for step in steps:
        path, at = paths[step["session_id"]], seconds(step["timestamp"])
        if path in growing:
            grow(path, growing[path], written, lines_until(growing[path], at))
        yield Moment(step["hook_event_name"], step, path, written.get(path, 0), at)
    for path, lines in growing.items():
        grow(path, lines, written, len(lines))


def _folder(home: Path, project: Path) -> Path:
    folder = home / ".gemini" / "tmp" / "project" / "chats"
    folder.mkdir(parents=True, exist_ok=True)
    (folder.parent / PROJECT_FILE).write_text(str(project), encoding="utf-8")
    return folder


def lines_until(lines: list[bytes], at: float) -> int:
    """How many lines existed at that time; a line without a time came with the next one."""
    found = 0
    for number, line in enumerate(lines, 1):
        record = json.loads(line)
        told = record.get("timestamp") or record.get("startTime") or record.get("$set", {}).get("lastUpdated")
        if told is None:
            continue
        if seconds(told) > at:
            break
        found = number
    return found


def seconds(told: str) -> float:
    """A time as the host writes it, as seconds since the epoch."""
    return datetime.fromisoformat(told).timestamp()
