"""What kind of file lies where the database belongs, and whether it is whole. Reads only: the kind is told from the first bytes, without opening it."""

from __future__ import annotations

import contextlib
import enum
import os
import sqlite3
import stat
import time
from collections.abc import Iterator

import attrs

from afl_core.model.errors import PathError, StoreError
from afl_core.settings.paths import Paths
from afl_core.store.index_state import needs_purge
from afl_core.store.schema import APPLICATION_ID, SCHEMA_VERSION
from afl_core.store.trouble import explain

CHECK_SECONDS = 10.0
"""A database that takes longer to look through is not looked through to its end."""

_MAGIC = b"SQLite format 3\0"
_VERSION_AT = 60
_APPLICATION_AT = 68
_HEADER_BYTES = 100
_STEPS = 10_000
"""Instructions of SQLite between two looks at the clock."""


class Kind(enum.Enum):
    """What is there."""

    MISSING = "missing"
    CURRENT = "current"
    OLDER = "older"
    NEWER = "newer"
    FOREIGN = "foreign"


@attrs.frozen
class Database:
    """`version` is the schema's, where the file is ours; `application_id` where it is an SQLite file at all."""

    kind: Kind
    version: int | None = None
    application_id: int | None = None


def look_at_database(path: str) -> Database:
    """Read the header (SQLite file format, "The Database Header"). Raises `PathError` for a link or another kind of file."""
    try:
        found = os.lstat(path)
    except (FileNotFoundError, NotADirectoryError):
        return Database(Kind.MISSING)
    if not stat.S_ISREG(found.st_mode):
        raise PathError(f"{path} is not a regular file", code="AFL-PATH-006", hint=f"move {path} away")
    try:
        with open(path, "rb") as handle:
            head = handle.read(_HEADER_BYTES)
    except OSError as bad:
        raise StoreError(f"{path} cannot be read: {bad.strerror}", code="AFL-STORE-001", hint=f"fix the permissions of {path}") from bad
    if not head:
        return Database(Kind.MISSING)  # made but never filled by an interrupted start
    if len(head) < _HEADER_BYTES or not head.startswith(_MAGIC):
        return Database(Kind.FOREIGN)
    version = int.from_bytes(head[_VERSION_AT : _VERSION_AT + 4], "big")
    application = int.from_bytes(head[_APPLICATION_AT : _APPLICATION_AT + 4], "big")
    if application != APPLICATION_ID:
        return Database(Kind.FOREIGN, application_id=application)
    kind = Kind.CURRENT if version == SCHEMA_VERSION else Kind.OLDER if version < SCHEMA_VERSION else Kind.NEWER
    return Database(kind, version, application)


def foreign(paths: Paths) -> StoreError:
    """The error for a file that is no database of this product: another program's, or ours with a damaged header."""
    return StoreError(
        f"{paths.database} is not a database of this product, or its first bytes are damaged",
        code="AFL-STORE-002",
        hint=f"move it away with its -wal and -shm files, copy the newest database from {paths.backups} to its place if there is one, then run: afl install",
    )


def damage_of(path: str) -> StoreError | None:
    """What `PRAGMA quick_check` finds within `CHECK_SECONDS`, with what to do; None for a database that is whole, locked or too large to tell."""
    problem = _checked(path, in_log=False)
    if problem is not None:  # another process may have been writing just now
        problem = _checked(path, in_log=True)
    return None if problem is None else explain(sqlite3.DatabaseError(f"malformed: {problem}"), path)


def table_names(path: str) -> set[str]:
    """The tables of an SQLite file, whoever made it; none for a file that cannot be read as one."""
    try:
        with _reading(path, in_log=False) as db:
            return {str(row[0]) for row in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    except sqlite3.Error:
        return set()


def index_needs_purge(path: str, versions: str) -> str:
    """Why the stored texts should be judged again, in half a sentence; '' when they need not, or it cannot be told."""
    try:
        with _reading(path, in_log=False) as db:
            return needs_purge(db, versions)
    except sqlite3.Error:
        return ""


def _checked(path: str, *, in_log: bool) -> str | None:
    end = time.monotonic() + CHECK_SECONDS
    try:
        with _reading(path, in_log=in_log) as db:
            db.set_progress_handler(lambda: time.monotonic() > end, _STEPS)
            [problem] = db.execute("PRAGMA quick_check(1)").fetchone()
    except sqlite3.OperationalError:  # locked, interrupted, unreadable: no proof of damage
        return None
    except sqlite3.DatabaseError as bad:
        return str(bad)
    return None if problem == "ok" else " ".join(str(problem).split())


@contextlib.contextmanager
def _reading(path: str, *, in_log: bool) -> Iterator[sqlite3.Connection]:
    """Open it so that nothing is made beside it: without its log unless there is one (SQLite's own index of it may then be renewed)."""
    with contextlib.suppress(OSError):
        in_log = in_log or os.path.getsize(path + "-wal") > 0
    how = "mode=ro" if in_log else "mode=ro&immutable=1"
    quoted = path.replace("%", "%25").replace("?", "%3f").replace("#", "%23")
    db = sqlite3.connect(f"file:{quoted}?{how}", uri=True, isolation_level=None)
    try:
        yield db
    finally:
        db.close()
