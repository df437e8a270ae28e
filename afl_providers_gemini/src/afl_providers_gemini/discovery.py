"""Where chat logs lie and whose they are, for sessions that no hook told of."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from afl_core.spec.host import HostPlace, Line
from afl_core.spec.transcripts import TranscriptIdentity, TranscriptRoot
from afl_providers_gemini.record import read
from afl_providers_gemini.reviewer_settings import FOLDER as REVIEW_FOLDER

PATTERN = "*/chats/session-*.jsonl"
"""Below `tmp`: one folder a project. A subagent's log lies one level deeper, in a folder named after its parent's session."""

FOLDER = "chats"
PROJECT_FILE = "../.project_root"
PERSONS_KINDS = (None, "main")
"""A log of an older version does not say its kind."""


def transcript_roots(place: HostPlace) -> tuple[TranscriptRoot, ...]:
    """The one place where the host keeps chat logs."""
    return (TranscriptRoot(place.config_dir / "tmp", PATTERN),)


def identify(path: Path, head: bytes, beside: Callable[[str], bytes | None]) -> TranscriptIdentity | None:
    """The session in the log's first record, and the project that the file beside the log names."""
    record = read(Line(0, head.split(b"\n", 1)[0]))
    session = record.text("sessionId") if record else None
    if record is None or session is None:
        return None
    directory = _directory(beside(PROJECT_FILE))
    by_person = record.text("kind") in PERSONS_KINDS and path.parent.name == FOLDER and os.path.basename(directory or "") != REVIEW_FOLDER
    return TranscriptIdentity(session, directory, by_person=by_person)


def _directory(content: bytes | None) -> str | None:
    try:
        named = (content or b"").decode("utf-8").strip()
    except UnicodeDecodeError:
        return None
    return named if named.startswith("/") and "\n" not in named else None
