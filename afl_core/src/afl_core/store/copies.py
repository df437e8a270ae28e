"""A whole copy of a database, to try something in that is not to happen."""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Iterator

from afl_core.model.errors import StoreError
from afl_core.store.connection import name_of


@contextlib.contextmanager
def copied(db: sqlite3.Connection) -> Iterator[sqlite3.Connection]:
    """The whole database as it is now, to try something in: in a file without a name in the directory of temporary files, gone when this process ends.

    Raises `StoreError` (AFL-STORE-039) when there is no room for it.
    """
    with contextlib.closing(sqlite3.connect("", isolation_level=None)) as copy:
        copy.row_factory = sqlite3.Row
        try:
            db.backup(copy)
            yield copy
        except (sqlite3.OperationalError, StoreError) as bad:
            if "full" not in str(bad):
                raise
            raise StoreError(
                f"there is no room for a copy of {name_of(db)} where temporary files are",
                code="AFL-STORE-039",
                hint="free its size there, or name another directory with SQLITE_TMPDIR; nothing was changed",
            ) from bad
