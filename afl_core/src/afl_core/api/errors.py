"""Errors that come from below without words of ours: the database's and the operating system's, turned into a sentence with a next step."""

from __future__ import annotations

import errno
import sqlite3

from afl_core.model.errors import AflError, PathError
from afl_core.store.trouble import explain


def understood(bad: sqlite3.Error | OSError) -> AflError:
    """The same as an error of this product's family."""
    if isinstance(bad, sqlite3.Error):
        return explain(bad, "the database")
    where = f"{bad.filename}: " if bad.filename else ""
    if bad.errno in (errno.EROFS, errno.EACCES, errno.EPERM):
        return PathError(
            f"{where}{bad.strerror}",
            code="AFL-PATH-008",
            hint="an agent's sandbox may not write memory; run the command outside of it or fix the permissions",
        )
    return PathError(
        f"{where}{bad.strerror or type(bad).__name__}",
        code="AFL-PATH-008",
        hint="check the path and who may use it; for a home, run: afl doctor",
    )
