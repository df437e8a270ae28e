"""The recorded sessions of Claude Code as recordings of the scenario suite."""

from __future__ import annotations

from pathlib import PurePosixPath

from afl_core.testing.conformance.recording import Hook, Recording, Texts, Thread
from afl_core.testing.recorded import RECORDED_HOME, RECORDED_PROJECT, Place, Recorded


def claude_recording(name: str, **words: Texts) -> Recording:
    """The case `name` of the fixtures: its hooks and all of its transcripts; `words` as the scenario's rule asks. KitError for an unknown name."""
    place = Place(RECORDED_HOME, RECORDED_PROJECT)
    transcripts = {}
    for part in Recorded.names("transcripts"):
        if part.split(".")[0] == name:
            data = Recorded.transcript(part)
            transcripts[_below_home(str(place.transcript_path(data.splitlines(keepends=True))))] = data
    hooks: list[Hook] = []
    sizes: dict[str, int] = {}
    threads: dict[Thread, None] = {}
    for step in Recorded.sequence(name):
        payload = step["stdin"]
        path = _below_home(payload["transcript_path"])
        if path in transcripts:  # a session without a prompt leaves none
            threads[Thread(payload["session_id"], path)] = None
            sizes[path] = max(sizes.get(path, 0), _bytes_of(transcripts[path], step["transcript_lines"]))
        agent = _below_home(payload.get("agent_transcript_path") or payload["transcript_path"])
        if agent != path and agent in transcripts:
            sizes[agent] = len(transcripts[agent])
        hooks.append(Hook(payload["hook_event_name"], payload, int(step["t"] * 1000), dict(sizes)))
    return Recording(str(RECORDED_HOME), transcripts, tuple(threads), tuple(hooks), words)


def _below_home(path: str) -> str:
    return str(PurePosixPath(path).relative_to(RECORDED_HOME.as_posix()))


def _bytes_of(data: bytes, lines: int) -> int:
    return len(b"".join(data.splitlines(keepends=True)[:lines]))
