"""The one way to open the database and the one way to write to it. Creates and migrates nothing (`migrate.py` does).

The front runs through this file: it imports sqlite3 and nothing of the plug-in world.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
import stat
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
        raise explain(bad, path) from bad
    db.row_factory = sqlite3.Row
    try:
        check(db, path)
        db.execute("PRAGMA foreign_keys = ON")
        if not readonly:
            db.execute("PRAGMA journal_mode = WAL")
            db.execute("PRAGMA synchronous = NORMAL")
            db.execute("PRAGMA secure_delete = ON")
            page_bytes = db.execute("PRAGMA page_size").fetchone()[0]
            db.execute(f"PRAGMA wal_autocheckpoint = {WAL_BYTES // page_bytes}")
    except sqlite3.DatabaseError as bad:
        db.close()
        raise explain(bad, path) from bad
    except BaseException:
        db.close()
        raise
    return db


def _refuse_strange_file(path: Path | str) -> None:
    try:
        found = os.lstat(path)
    except OSError:
        return  # SQLite says what is wrong
    if not stat.S_ISREG(found.st_mode) or found.st_uid != os.geteuid():
        what = f"belongs to user {found.st_uid}" if stat.S_ISREG(found.st_mode) else "is not a regular file (a link is never followed)"
        raise StoreError(f"{path} {what}", code="AFL-STORE-013", hint=f"move {path} away, or set AFL_DATA_ROOT")


def _quoted(path: str) -> str:
    return path.replace("%", "%25").replace("?", "%3f").replace("#", "%23")


def check(db: sqlite3.Connection, path: Path | str) -> None:
    """Refuse a file that is not ours, is newer than this runtime, or still waits for its migration."""
    try:
        owner = db.execute("PRAGMA application_id").fetchone()[0]
        version = db.execute("PRAGMA user_version").fetchone()[0]
    except sqlite3.OperationalError as bad:
        raise explain(bad, path) from bad
    except sqlite3.DatabaseError as bad:
        if "malformed" in str(bad):
            raise explain(bad, path) from bad
        raise StoreError(
            f"{path} is not a database of this product ({bad})", code="AFL-STORE-002", hint="move the file away, then run: afl doctor"
        ) from bad
    if owner != APPLICATION_ID:
        raise StoreError(
            f"{path} belongs to another program (application id {owner:#x})",
            code="AFL-STORE-002",
            hint="move the file away or set AFL_DATA_ROOT, then run: afl doctor",
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


@contextlib.contextmanager
def writing(db: sqlite3.Connection, *, durable: bool = False) -> Iterator[sqlite3.Connection]:
    """One immediate transaction: committed on success, rolled back on any exception. Inside another one it joins it.

    `durable` makes this commit wait for the disk (review commit, apply, forget, key changes, before a spool file is unlinked).
    """
    _refuse_in_a_read(db)
    if db.in_transaction:
        yield db
        return
    if durable:
        db.execute("PRAGMA synchronous = FULL")
    try:
        try:
            db.execute("BEGIN IMMEDIATE")
        except sqlite3.OperationalError as bad:
            raise explain(bad, name_of(db)) from bad
        try:
            _refuse_another_schema(db)
            yield db
            db.execute("COMMIT")
        except sqlite3.DatabaseError as bad:
            _rollback(db)
            if isinstance(bad, (sqlite3.IntegrityError, sqlite3.ProgrammingError)):
                raise  # ours: the caller knows which row, or the statement is wrong
            raise explain(bad, name_of(db)) from bad
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
        _refuse_in_a_read(db)
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


def _refuse_in_a_read(db: sqlite3.Connection) -> None:
    if id(db) in _READ:
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
    _refuse_in_a_read(db)
    try:
        return db.execute(statement, values).rowcount
    except sqlite3.DatabaseError as bad:
        if isinstance(bad, (sqlite3.IntegrityError, sqlite3.ProgrammingError)):
            raise
        with contextlib.suppress(sqlite3.Error):
            _refuse_another_schema(db)  # which may lack a column that the statement names
        raise explain(bad, name_of(db)) from bad


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


def _locked(path: str) -> StoreError:
    from afl_core.store.holder import advice, command, holders

    if held := holders(path):
        return StoreError(f"{path} is locked by {', '.join(held)}", code="AFL-STORE-005", hint=advice(held))
    return StoreError(f"{path} is locked by another process", code="AFL-STORE-005", hint=f"try again; {command(path)}")


def explain(bad: sqlite3.Error, path: Path | str) -> StoreError:
    """Turn SQLite's own words into an error that says what to do."""
    text = str(bad)
    if "malformed" in text or "not a database" in text:
        return StoreError(
            f"{path} is damaged ({text})",
            code="AFL-STORE-012",
            hint="move it away with its -wal and -shm files, copy the newest file of the backups directory to its place or run: afl install",
        )
    if "locked" in text or "busy" in text:
        return _locked(str(path))
    if "full" in text:
        return StoreError(
            f"the disk that holds {path} is full",
            code="AFL-STORE-006",
            hint="free some space; nothing was lost: what waits is in the spool and in the host's transcripts",
        )
    if "readonly" in text or ("unable to open" in text and os.path.isfile(path)):
        return StoreError(
            f"{path} cannot be written (read-only file, directory or sandbox)",
            code="AFL-STORE-007",
            hint="an agent's sandbox may not write memory; run the command outside of it or fix the permissions",
        )
    if "unable to open" in text:
        return StoreError(f"{path} is missing or cannot be opened", code="AFL-STORE-001", hint="run: afl install")
    return StoreError(f"{path}: {text}", code="AFL-STORE-008", hint="run: afl doctor")
