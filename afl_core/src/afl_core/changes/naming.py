"""How people and errors call a lesson: its short id and the first words of its `when`."""

from __future__ import annotations

import sqlite3

from afl_core.changes import history
from afl_core.model.card_text import short_id
from afl_core.store import lessons

GIST_CHARS = 60
"""Characters of the first words by which a lesson is recognised."""


def brief(text: str, limit: int = GIST_CHARS) -> str:
    """The first words of a text in one line of at most `limit` characters; an ellipsis says that it was cut."""
    line = " ".join(text.split())
    if len(line) <= limit:
        return line
    kept = line[: limit - 1]
    whole = kept.rpartition(" ")[0]
    return (whole if len(whole) > limit // 2 else kept).rstrip() + "…"


def gist(db: sqlite3.Connection, lesson_id: str) -> str:
    """The first words of a lesson's `when`, a retracted one's too; '' when nothing of it is left."""
    fields = lessons.fields_of(db, lesson_id)
    if fields is None:
        gone = history.retraction(db, lesson_id)
        fields = lessons.text_of(db, gone.row.grain_hash) if gone else None
    return brief(str(fields["card"]["when"])) if fields else ""


def called(db: sqlite3.Connection, lesson_id: str) -> str:
    """The short id, and the first words in brackets."""
    words = gist(db, lesson_id)
    return f"{short_id(lesson_id)} ({words})" if words else short_id(lesson_id)
