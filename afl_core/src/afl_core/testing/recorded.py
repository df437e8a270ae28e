"""Payloads, hook sequences and transcripts recorded from a real host, and playing them again in a scratch home.

Ids, times and order are the host's own; the project is `/home/dev/project`, the home `/home/dev`, and the vendor's long texts
are elided.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, ClassVar

import attrs

from afl_core.testing.failure import KitError

FIXTURES = Path(__file__).resolve().parent / "fixtures"
RECORDED_HOME, RECORDED_PROJECT = Path("/home/dev"), Path("/home/dev/project")


class Recorded:
    """What was recorded from one host; every method raises KitError for a name that does not exist."""

    host: ClassVar[str] = "claude"

    @classmethod
    def names(cls, kind: str) -> list[str]:
        """The names of one kind: hooks, sequences, transcripts, requests or reviewer."""
        found = (re.sub(r"(\.hooks)?\.jsonl?$", "", path.name) for path in (FIXTURES / cls.host / kind).iterdir())
        return sorted(name for name in found if not name.startswith("_"))

    @classmethod
    def transcript(cls, name: str) -> bytes:
        """A whole transcript as it was on disk: JSON lines."""
        return cls._read("transcripts", name, ".jsonl")

    @classmethod
    def hook(cls, name: str) -> dict[str, Any]:
        """One hook payload, as the host wrote it to the hook's stdin."""
        payload: dict[str, Any] = json.loads(cls._read("hooks", name, ".json"))
        return payload

    @classmethod
    def hook_context(cls, name: str) -> dict[str, Any]:
        """How that hook was run: `env_names`, `env`, `cwd`, `transcript_existed`, `transcript_lines`."""
        known: dict[str, dict[str, Any]] = json.loads(cls._read("hooks", "_meta", ".json"))
        if name not in known:
            raise KitError(f"no context was recorded for the hook {name!r}")
        return known[name]

    @classmethod
    def sequence(cls, name: str) -> list[dict[str, Any]]:
        """Every hook of one case in order: `t` (epoch seconds), `transcript_lines` at that moment, `stdin` (the payload)."""
        return [json.loads(line) for line in cls._read("sequences", name, ".hooks.jsonl").splitlines()]

    @classmethod
    def requests(cls, name: str) -> list[dict[str, Any]]:
        """What the model was sent in one case."""
        sent: list[dict[str, Any]] = json.loads(cls._read("requests", name, ".json"))
        return sent

    @classmethod
    def reviewer(cls, name: str) -> dict[str, Any]:
        """One isolated reviewer run: `args`, `rc`, `seconds`, `stdout` (the envelope) and `stderr`."""
        run: dict[str, Any] = json.loads(cls._read("reviewer", name, ".json"))
        return run

    @classmethod
    def _read(cls, kind: str, name: str, ending: str) -> bytes:
        path = FIXTURES / cls.host / kind / f"{name}{ending}"
        if not path.is_file():
            raise KitError(f"no {kind} recording of {cls.host} is called {name!r}", hint=f"one of {', '.join(cls.names(kind))}")
        return path.read_bytes()


def project_slug(project: Path) -> str:
    """The folder name the CLI gives a project's transcripts: every character but ASCII letters and digits becomes '-'."""
    return re.sub(r"[^A-Za-z0-9]", "-", str(project))


@attrs.frozen
class Moment:
    """One hook of the case, at the moment it ran: `lines` of `transcript` existed then (0: the file may not exist)."""

    event: str
    payload: dict[str, Any]
    transcript: Path
    lines: int
    at: float


@attrs.frozen
class Place:
    """Where a replay happens: the scratch `home` (its `.claude` is the host's folder) and the `project`."""

    home: Path
    project: Path

    def moved(self, recorded: bytes) -> bytes:
        """JSON text with the recorded home, project and project folder replaced by this place's."""
        pairs = (
            (str(RECORDED_PROJECT), str(self.project)),
            (project_slug(RECORDED_PROJECT), project_slug(self.project)),
            (str(RECORDED_HOME), str(self.home)),
        )
        swaps = {old.encode(): json.dumps(new, ensure_ascii=False)[1:-1].encode() for old, new in pairs}
        return re.sub(b"|".join(map(re.escape, swaps)), lambda found: swaps[found[0]], recorded)

    def transcript_path(self, lines: list[bytes]) -> Path:
        """Where the host would keep the transcript that starts with these (moved) lines."""
        records = [json.loads(line) for line in lines]
        session = next(record["sessionId"] for record in records if record.get("sessionId"))
        folder = self.home / ".claude" / "projects" / project_slug(self.project)
        agent = next((record["agentId"] for record in records if record.get("agentId")), None)
        return folder / session / "subagents" / f"agent-{agent}.jsonl" if agent else folder / f"{session}.jsonl"


def install(name: str, home: Path, project: Path) -> Path:
    """Put one whole transcript where the host would keep it; returns its path."""
    place = Place(home, project)
    lines = place.moved(Recorded.transcript(name)).splitlines(keepends=True)
    path = place.transcript_path(lines)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"".join(lines))
    return path


def replay(name: str, home: Path, project: Path) -> Iterator[Moment]:
    """The hooks of a recorded case in order; before each, the transcripts have grown (only by appending) to what existed then.

    A subagent's transcript is written whole when the first hook names it. What the host wrote after the last hook is appended
    when the iteration ends. KitError when there is no sequence of that name (then see `install`).
    """
    place = Place(home, project)
    growing = {}
    for part in Recorded.names("transcripts"):
        if part.split(".")[0] == name:
            lines = place.moved(Recorded.transcript(part)).splitlines(keepends=True)
            growing[place.transcript_path(lines)] = lines
    written = dict.fromkeys(growing, 0)
    for step in (json.loads(place.moved(json.dumps(step, ensure_ascii=False).encode())) for step in Recorded.sequence(name)):
        payload = step["stdin"]
        transcript = Path(payload["transcript_path"])
        grow(transcript, growing[transcript], written, step["transcript_lines"])
        agent = payload.get("agent_transcript_path")
        if agent and Path(agent) in growing:
            grow(Path(agent), growing[Path(agent)], written, len(growing[Path(agent)]))
        yield Moment(payload["hook_event_name"], payload, transcript, written[transcript], step["t"])
    for path, lines in growing.items():
        grow(path, lines, written, len(lines))


def grow(path: Path, lines: list[bytes], written: dict[Path, int], upto: int) -> None:
    """Append the lines between what is written and `upto`; never shrinks, and makes no file for nothing."""
    if upto <= written[path]:
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("ab") as transcript:
        transcript.writelines(lines[written[path] : upto])
    written[path] = upto
