"""A stand-in for the host in the demo: it runs the hook commands found in its settings file, as the real one does, and writes its transcript."""

from __future__ import annotations

import datetime as dt
import json
import re
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import attrs

from afl_core.testing.recorded import Moment, Recorded, project_slug, replay

STAMP = re.compile(rb'"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z)"')


@attrs.frozen
class ReplayedHost:
    """Claude Code as it was recorded: `environment` is what its hooks get."""

    home: Path
    project: Path
    environment: Mapping[str, str]

    @property
    def settings(self) -> Path:
        """The settings file the product was installed into."""
        return self.home / ".claude" / "settings.json"

    def commands(self, event: str) -> list[str]:
        """The hook commands configured for an event."""
        configured = json.loads(self.settings.read_bytes()).get("hooks", {}).get(event, [])
        return [hook["command"] for group in configured for hook in group["hooks"]]

    def run_hooks(self, payload: Mapping[str, Any]) -> list[str]:
        """Run every command of the payload's event with it on standard input; what each printed."""
        printed = []
        for command in self.commands(str(payload["hook_event_name"])):
            done = subprocess.run(
                ["/bin/sh", "-c", command],
                input=json.dumps(payload).encode(),
                capture_output=True,
                cwd=self.project,
                env=dict(self.environment),
                check=True,
                timeout=60,
            )
            printed.append(done.stdout.decode())
        return printed

    def replayed(self, name: str, now_ms: int) -> Iterator[Moment]:
        """The moments of a recorded case as if its last hook ran at `now_ms`."""
        last = max(step["t"] for step in Recorded.sequence(name))
        delta = dt.timedelta(milliseconds=now_ms - last * 1000)
        transcripts: dict[Path, None] = {}
        for moment in replay(name, self.home, self.project):
            transcripts[moment.transcript] = None
            self.shift(moment.transcript, delta)
            yield moment
        for transcript in transcripts:
            self.shift(transcript, delta)  # what the host wrote after its last hook

    def shift(self, transcript: Path, delta: dt.timedelta) -> None:
        """Move the recorded times of lines that were appended since the last call. Same width, so offsets stay."""
        if not transcript.exists():
            return
        done = transcript.with_suffix(".shifted")
        start = int(done.read_text("ascii")) if done.exists() else 0
        data = transcript.read_bytes()

        def moved(found: re.Match[bytes]) -> bytes:
            at = dt.datetime.fromisoformat(found.group(1).decode()) + delta
            return b'"' + at.strftime("%Y-%m-%dT%H:%M:%S.").encode() + b"%03dZ" % (at.microsecond // 1000) + b'"'

        with transcript.open("r+b") as handle:
            handle.seek(start)
            handle.write(STAMP.sub(moved, data[start:]))
        done.write_text(str(len(data)), "ascii")

    def transcript_of(self, session: str) -> Path:
        """Where this host keeps the transcript of a session."""
        return self.home / ".claude" / "projects" / project_slug(self.project) / f"{session}.jsonl"

    def write(self, session: str, *records: Mapping[str, Any]) -> Path:
        """Append records to a session's transcript, with the fields every record has."""
        path = self.transcript_of(session)
        path.parent.mkdir(parents=True, exist_ok=True)
        stamp = dt.datetime.now(tz=dt.UTC).strftime("%Y-%m-%dT%H:%M:%S.%f")[:-3] + "Z"
        with path.open("a", encoding="utf-8") as handle:
            for number, record in enumerate(records):
                common = {
                    "uuid": f"{session}-{path.stat().st_size}-{number}",
                    "parentUuid": None,
                    "isSidechain": False,
                    "timestamp": stamp,
                    "sessionId": session,
                    "cwd": str(self.project),
                    "version": "2.1.332",
                }
                handle.write(json.dumps({**common, **record}) + "\n")
        return path
