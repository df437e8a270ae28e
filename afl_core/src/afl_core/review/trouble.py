"""What stopped a review, whatever it was, as a reason code and a detail. Pure; the text of a foreign error is never told, it may quote evidence."""

from __future__ import annotations

import sqlite3

from afl_core.model.errors import AflError, PathError, ProcessError, RedactionError, ReviewError, SettingsError, StoreError
from afl_core.plugins.isolation import describe


def cause(bad: Exception) -> tuple[str, str]:
    """The reason code of `reasons.py` and the detail, not redacted. What is not known is `reviewer_broken`, with the error's type and place."""
    if isinstance(bad, ReviewError):
        return bad.reason, bad.sentence
    if isinstance(bad, RedactionError):
        return "redaction_failed", type(bad).__name__
    if isinstance(bad, ProcessError):
        return "reviewer_missing", bad.sentence
    if isinstance(bad, SettingsError):
        return "reviewer_settings", bad.sentence
    if _is_local(bad):
        return "store_failed", _local(bad)
    return "reviewer_broken", describe(bad, verbatim=False)


def _is_local(bad: BaseException) -> bool:
    """Whether it is trouble of this machine's disk or store, which says nothing about the evidence or the reviewer.

    A constraint that does not hold, or a value that SQLite does not take, is a fault of a program and no trouble of the machine.
    """
    return isinstance(bad, StoreError | PathError | OSError | sqlite3.OperationalError) or type(bad) is sqlite3.DatabaseError


def _local(bad: Exception) -> str:
    if isinstance(bad, AflError):
        return bad.sentence
    if isinstance(bad, OSError) and bad.strerror:
        return f"{bad.strerror}: {bad.filename}" if bad.filename else bad.strerror
    return describe(bad, verbatim=False)
