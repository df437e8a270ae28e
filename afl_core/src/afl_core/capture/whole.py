"""A transcript read from its beginning to its end, for a memory that keeps no cursor. The same reader and the same drafts as `sync`; stores nothing."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from afl_core.capture.drafts import Drafts, Frame, draft
from afl_core.capture.read import Transcript
from afl_core.capture.sync import parsed, wants_of
from afl_core.capture.thread import Thread
from afl_core.plugins.isolation import Guard
from afl_core.spec.host import HostAdapter


def whole(adapter: HostAdapter, guard: Guard, path: str, frame: Frame, scratch: str | None = None) -> Iterator[Drafts]:
    """What was said and done in it, redacted, a stretch at a time. Raises `CaptureError` and `RedactionError` as `sync` does."""
    thread, state = Thread(), dict[str, Any]()
    with Transcript(path, scratch) as transcript:
        for chunk in transcript.chunks(0, False, wants_of(adapter), limit=transcript.size):
            observations, state = parsed(adapter, chunk.lines, state, guard)
            drafts = draft(observations, thread, frame)
            thread = drafts.thread
            yield drafts
