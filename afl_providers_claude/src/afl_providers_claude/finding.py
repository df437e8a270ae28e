"""Transcripts whose hooks were all missed: where they lie, and whose one is, by its first records. A subagent's lies one directory deeper and is not named."""

from __future__ import annotations

import json
from typing import Any

from afl_core.spec.host import HostPlace
from afl_core.spec.transcripts import HEAD_LIMIT_BYTES, TranscriptIdentity, TranscriptRoot

PATTERN = "*/*.jsonl"
"""One directory for each working directory, one file for each session."""


def transcript_roots(place: HostPlace) -> tuple[TranscriptRoot, ...]:
    """The directory of all projects."""
    return (TranscriptRoot(place.config_dir / "projects", PATTERN),)


def identify(head: bytes) -> TranscriptIdentity | None:
    """By the first record that names a session and a directory; None while none does.

    The records before it may name the session alone, and the first that has both can be longer than what is read of a file.
    """
    complete, _, _ = head.rpartition(b"\n")
    session: str | None = None
    for line in complete.split(b"\n"):
        record = _record(line)
        found = record.get("sessionId")
        if not isinstance(found, str) or not found:
            continue
        session = session or found
        cwd = record.get("cwd")
        if isinstance(cwd, str) and cwd:
            return TranscriptIdentity(found, cwd, by_person=record.get("isSidechain") is not True)
    return TranscriptIdentity(session, None) if session and len(head) >= HEAD_LIMIT_BYTES else None


def _record(line: bytes) -> dict[str, Any]:
    try:
        record = json.loads(line)
    except (ValueError, RecursionError):  # no record, or one whose end is not there yet
        return {}
    return record if isinstance(record, dict) else {}
