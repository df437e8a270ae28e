"""The one way to open the database and the one way to write to it. Creates and migrates nothing (`migrate.py` does).

The front runs through this file: it imports sqlite3 and nothing of the plug-in world.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
import stat
import time
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from afl_core.model.errors import StoreError
from afl_core.store.schema import APPLICATION_ID, SCHEMA_VERSION

if TYPE_CHECKING:
    from pathlib import Path

BUSY_MS = 5_000
"""How long jobs, the CLI and the library wait for another writer."""

FRONT_BUSY_MS = 200
"""How long the front waits: far below any host's kill limit for a hook."""


WAL_BYTES = 16 * 1024 * 1024
"""Written after which a commit also moves what it wrote into the database file: seldom enough that reading a long transcript, and a prompt beside it, hardly meet it."""


def connect(path: Path | str, *, busy_ms: int = BUSY_MS, readonly: bool = False, threads: bool = False) -> sqlite3.Connection:
    """Open an existing database of ours (`threads`: another thread may close it); raise `StoreError` when it is missing, a link, another person's, foreign, older or newer than this runtime."""
    _refuse_strange_file(path)
    try:
        db = sqlite3.connect(
            f"file:{_quoted(str(path))}?mode={'ro' if readonly else 'rw'}",
            uri=True,
            isolation_level=None,
            timeout=busy_ms / 1000,
            check_same_thread=not threads,
        )
    except sqlite3.OperationalError as bad:
        raise _explained(bad, path) from bad
    db.row_factory = sqlite3.Row
    try:
        check(db, path)
        db.execute("PRAGMA foreign_keys = ON")
        if not readonly:
            write_ahead(db, busy_ms)
            db.execute("PRAGMA synchronous = NORMAL")
            db.execute("PRAGMA secure_delete = ON")
            page_bytes = db.execute("PRAGMA page_size").fetchone()[0]
            db.execute(f"PRAGMA wal_autocheckpoint = {WAL_BYTES // page_bytes}")
    except sqlite3.DatabaseError as bad:
        db.close()
        raise _explained(bad, path) from bad
    except BaseException:
        db.close()
        raise
    return db


def write_ahead(db: sqlite3.Connection, busy_ms: int = BUSY_MS) -> None:
    """Use the write-ahead log. SQLite itself does not wait for who is using a file that has none yet, such as one that is being made."""
    until = time.monotonic() + busy_ms / 1000
    while True:
        try:
            db.execute("PRAGMA journal_mode = WAL")
        except sqlite3.OperationalError as bad:
            if "locked" not in str(bad) or time.monotonic() >= until:
                raise
            time.sleep(0.01)
        else:
            return


def _refuse_strange_file(path: Path | str) -> None:
    try:
        found = os.lstat(path)
    except OSError:
        return  # SQLite says what is wrong
    if not stat.S_ISREG(found.st_mode) or found.st_uid != os.geteuid():
        what = f"belongs to user {found.st_uid}" if stat.S_ISREG(found.st_mode) else "is not a regular file (a link is never followed)"
        raise StoreError(f"{path} {what}", code="AFL-STORE-013", hint=_next_step("AFL-STORE-013", path))


def _quoted(path: str) -> str:
    return path.replace("%", "%25").replace("?", "%3f").replace("#", "%23")


def check(db: sqlite3.Connection, path: Path | str) -> None:
    """Refuse a file that is not ours, is newer than this runtime, or still waits for its migration."""
    try:
        owner = db.execute("PRAGMA application_id").fetchone()[0]
        version = db.execute("PRAGMA user_version").fetchone()[0]
    except sqlite3.OperationalError as bad:
        raise _explained(bad, path) from bad
    except sqlite3.DatabaseError as bad:
        if "malformed" in str(bad):
            raise _explained(bad, path) from bad
        raise StoreError(
            f"{path} is not a database of this product ({bad})", code="AFL-STORE-002", hint=_next_step("AFL-STORE-002", path)
        ) from bad
    if owner != APPLICATION_ID:
        raise StoreError(
            f"{path} belongs to another program (application id {owner:#x})",
            code="AFL-STORE-002",
            hint=_next_step("AFL-STORE-002", path),
        )
    if version > SCHEMA_VERSION:
        raise StoreError(
            f"{path} was written by a newer version (schema {version}, this runtime knows {SCHEMA_VERSION})",
            code="AFL-STORE-003",
            hint="upgrade afl_core, then run: afl install",
        )
    if version < SCHEMA_VERSION:
        raise StoreError(f"{path} has schema {version}, this runtime needs {SCHEMA_VERSION}", code="AFL-STORE-004", hint="run: afl install")


@contextlib.contextmanager
def writing(db: sqlite3.Connection, *, durable: bool = False) -> Iterator[sqlite3.Connection]:
    """One immediate transaction: committed on success, rolled back on any exception. Inside another one it joins it.

    `durable` makes this commit wait for the disk (review commit, apply, forget, key changes, before a spool file is unlinked).
    """
    refuse_in_a_read(db)
    if db.in_transaction:
        yield db
        return
    if durable:
        db.execute("PRAGMA synchronous = FULL")
    try:
        try:
            db.execute("BEGIN IMMEDIATE")
        except sqlite3.OperationalError as bad:
            raise _explained(bad, name_of(db)) from bad
        try:
            _refuse_another_schema(db)
            yield db
            db.execute("COMMIT")
        except sqlite3.DatabaseError as bad:
            _rollback(db)
            if isinstance(bad, (sqlite3.IntegrityError, sqlite3.ProgrammingError)):
                raise  # ours: the caller knows which row, or the statement is wrong
            raise _explained(bad, name_of(db)) from bad
        except BaseException:
            _rollback(db)
            raise
    finally:
        if durable:
            db.execute("PRAGMA synchronous = NORMAL")


_READ: set[int] = set()
"""Connections (their `id`) in the middle of `reading`."""


@contextlib.contextmanager
def reading(db: sqlite3.Connection, *, nested: bool = True) -> Iterator[None]:
    """The file as it is at one moment, however long it is looked at. Inside a transaction it is a part of that, unless it may not be `nested`.

    Who is told how far it is may ask the same connection meanwhile, and is refused when he writes: it would be taken back with the end of the reading.
    """
    if not nested:
        refuse_in_a_read(db)
    if db.in_transaction:
        yield
        return
    db.execute("BEGIN")
    _READ.add(id(db))
    try:
        yield
    finally:
        _READ.discard(id(db))
        _rollback(db)


def is_in_a_read(db: sqlite3.Connection) -> bool:
    """Whether somebody is in the middle of `reading`."""
    return id(db) in _READ


def refuse_in_a_read(db: sqlite3.Connection) -> None:
    """Raise `StoreError` (AFL-STORE-038) in the middle of `reading`: what is written then would go with its end."""
    if is_in_a_read(db):
        raise StoreError(
            f"{name_of(db)} is being read from end to end: from inside of that nothing can be written or exported",
            code="AFL-STORE-038",
            hint="do it afterwards, in another thread or through another handle",
        )


SAME_SCHEMA = f"(SELECT unused FROM schema_{SCHEMA_VERSION})"  # noqa: S608 - a number
"""What a statement that is `written_alone` has to name, as a value that is always NULL: in another schema that table is not there, and looking at it
costs nothing where its value is not needed."""


def written_alone(db: sqlite3.Connection, statement: str, values: Sequence[object]) -> int:
    """Run one statement that is a transaction of its own, for the writes that are made one by one; gives how many rows it wrote.

    It costs half of what `writing` does, and nobody sees it halfway. The statement names `SAME_SCHEMA` itself.
    """
    refuse_in_a_read(db)
    try:
        return db.execute(statement, values).rowcount
    except sqlite3.DatabaseError as bad:
        if isinstance(bad, (sqlite3.IntegrityError, sqlite3.ProgrammingError)):
            raise
        with contextlib.suppress(sqlite3.Error):
            _refuse_another_schema(db)  # which may lack a column that the statement names
        raise _explained(bad, name_of(db)) from bad


def _refuse_another_schema(db: sqlite3.Connection) -> None:
    version = db.execute("PRAGMA user_version").fetchone()[0]
    if version != SCHEMA_VERSION:
        raise StoreError(
            f"the database was upgraded to schema {version} while this process ran",
            code="AFL-STORE-003",
            hint="start the command again with the new version",
        )


def _rollback(db: sqlite3.Connection) -> None:
    if db.in_transaction:
        db.execute("ROLLBACK")


def name_of(db: sqlite3.Connection) -> str:
    """The path of its file."""
    row = db.execute("PRAGMA database_list").fetchone()
    return str(row[2]) if row else "the database"


def _explained(bad: sqlite3.Error, path: Path | str) -> StoreError:
    from afl_core.store.trouble import explain  # the front meets trouble seldom

    return explain(bad, path)


def _next_step(code: str, path: Path | str) -> str:
    from afl_core.store.trouble import next_step

    return next_step(code, path)
