"""Creating the database and bringing an older one up to date: checked first, backed up before, one transaction a step."""

from __future__ import annotations

import contextlib
import os
import re
import sqlite3
import time
from collections.abc import Callable

from afl_core.files.private import check_private_file, ensure_private_dir
from afl_core.model.clock import Clock, now_ms
from afl_core.model.errors import StoreError
from afl_core.store import status, telemetry, wal
from afl_core.store.connection import check, write_ahead
from afl_core.store.mounts import refuse_unsafe_mount
from afl_core.store.schema import APPLICATION_ID, MEMORY_PAGE_BYTES, MIGRATIONS, PAGE_BYTES, SCHEMA_VERSION
from afl_core.store.trouble import HOMES, explain

MINIMUM_SQLITE = (3, 35, 0)
KEPT_BACKUPS = 3
ABANDONED_SECONDS = 3600


def create_or_migrate(
    path: str, backups: str, base: str, *, clock: Clock = now_ms, checkpoint: Callable[[str], None] = lambda _step: None
) -> list[str]:
    """Make sure the database at `path` exists with the current schema; return what was done, a line a step.

    Refuses foreign and newer files, links, other people's files and network mounts before anything is touched. `checkpoint` is told each step.
    """
    if sqlite3.sqlite_version_info < MINIMUM_SQLITE:
        raise StoreError(
            f"SQLite {sqlite3.sqlite_version} is too old; 3.35 or newer is needed",
            code="AFL-STORE-010",
            hint="use a Python built with a newer SQLite",
        )
    folder = os.path.dirname(path)
    refuse_unsafe_mount(folder)
    ensure_private_dir(folder, base)
    _sweep(folder)
    existed = check_private_file(path)
    done: list[str] = []
    if existed and os.path.getsize(path) == 0:
        _fill(path, PAGE_BYTES)
        done.append(f"filled the empty database with schema {SCHEMA_VERSION}")
    if not existed:
        _create(path, checkpoint)
        done.append(f"created the database with schema {SCHEMA_VERSION}")
        return done
    return done + _migrate(path, backups, base, clock, checkpoint)


def _migrate(path: str, backups: str, base: str, clock: Clock, checkpoint: Callable[[str], None]) -> list[str]:
    done: list[str] = []
    db = _open(path)
    try:
        version = _version(db, path)
        if version < SCHEMA_VERSION:
            if _holds_anything(db, version):  # otherwise somebody is filling it right now, or began to
                if version < _ALL_IS_GONE:
                    _forget_whole(db, path)
                saved = backup(db, path, backups, base, clock)
                done.append(f"saved a copy of the database as {saved}")
                checkpoint("backed-up")
            for number in range(version + 1, SCHEMA_VERSION + 1):
                _step(db, number, path)
                done.append(f"migrated the database to schema {number}")
                checkpoint(f"migrated-{number}")
            done.append(_given_back(db))
            write_ahead(db)
    finally:
        db.close()
    return done


def _holds_anything(db: sqlite3.Connection, version: int) -> bool:
    tables = ("meta", "grains", "sessions", "intake", "vault_keys") if version else ()
    return any(db.execute(f"SELECT 1 FROM {table} LIMIT 1").fetchone() for table in tables)  # noqa: S608 - fixed names


_ALL_IS_GONE = 6
"""The schema since which nothing that was forgotten leaves bytes between the rows of pages."""


def _forget_whole(db: sqlite3.Connection, path: str) -> None:
    """Make the file and its telemetry anew before they are copied, when something was forgotten. What is in the way leaves it to the next opening."""
    if not status.meta(db, status.FORGOT_LAST):
        return
    try:
        whole = wal.renew(db) and telemetry.renewed(path + telemetry.SIDECAR)
    except sqlite3.DatabaseError:  # no room, locked, or telemetry is damaged
        whole = False
    if not whole:
        status.set_meta(db, status.FORGET_ANEW, "1")


def _given_back(db: sqlite3.Connection) -> str:
    """Give back the room that a step left free: a table that was rebuilt leaves as much as it takes. Says what was done."""
    try:
        if wal.renew(db):
            return "gave back the room that was left free in the file"
        why = "somebody reads it"
    except sqlite3.OperationalError as bad:  # no room, or locked: all is migrated, and what is added next takes the free room
        why = str(bad)
    return f"left the free room in the file to what is added next ({why})"


def open_or_create(path: str, *, clock: Clock = now_ms) -> None:
    """Make sure a memory file of its own exists at `path` with the current schema; an older one is copied beside itself before it is migrated.

    Refuses foreign and newer files, links, other people's files and network mounts. The folder must be there; it may be anybody's and is left as it is.
    """
    folder = os.path.dirname(path)
    if not os.path.isdir(folder):
        raise StoreError(f"{folder} is no directory", code="AFL-STORE-001", hint=f"make it first: mkdir -p {folder}")
    there = check_private_file(path)
    if there and os.path.getsize(path) > 0:
        db = _open(path)
        try:
            version = _version(db, path)
        finally:
            db.close()
        if version < SCHEMA_VERSION:
            refuse_unsafe_mount(folder)
            _migrate(path, path + COPIES, folder, clock, lambda _step: None)
        return
    refuse_unsafe_mount(folder)
    if there:
        _fill(path, MEMORY_PAGE_BYTES)
    else:
        _create(path, lambda _step: None, MEMORY_PAGE_BYTES)


COPIES = ".backups"
"""Ending of the directory beside a memory file that holds copies of it from before a migration."""


def drop_backups(path: str) -> int:
    """Delete the copies of a database that were made before its migrations: what was forgotten stands in them. Gives how many there were."""
    name, dropped = os.path.basename(path) + ".", 0
    place = os.path.join(os.path.dirname(os.path.dirname(path)), "backups") if path.endswith(HOMES) else path + COPIES
    try:
        copies = os.listdir(place)
    except (FileNotFoundError, NotADirectoryError):
        return 0
    for copy in copies:
        if copy.startswith(name) and _COPY.fullmatch(copy[len(name) :]):
            with contextlib.suppress(FileNotFoundError):  # somebody else was first
                os.unlink(os.path.join(place, copy))
                dropped += 1
    return dropped


def _sweep(folder: str) -> None:
    """Remove databases whose building was interrupted long ago."""
    for name in os.listdir(folder):
        part = os.path.join(folder, name)
        with contextlib.suppress(FileNotFoundError):
            if ".new" in name and time.time() - os.stat(part).st_mtime > ABANDONED_SECONDS:
                os.unlink(part)


def _open(path: str) -> sqlite3.Connection:
    db = sqlite3.connect(path, isolation_level=None, timeout=5)
    db.row_factory = sqlite3.Row
    return db


def _version(db: sqlite3.Connection, path: str) -> int:
    try:
        check(db, path)
    except StoreError as bad:
        if bad.code != "AFL-STORE-004":
            raise
    return int(db.execute("PRAGMA user_version").fetchone()[0])


def _fill(path: str, page_bytes: int) -> None:
    """Build a database in an empty file, where it is: another process may be filling it too, and whatever is in it by then stays."""
    db = _open(path)
    try:
        db.execute(f"PRAGMA page_size = {page_bytes}")
        db.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        for number in range(1, SCHEMA_VERSION + 1):
            _step(db, number, path)
        write_ahead(db)
    except sqlite3.OperationalError as bad:
        raise explain(bad, path) from bad
    finally:
        db.close()


def _create(path: str, checkpoint: Callable[[str], None], page_bytes: int = PAGE_BYTES) -> None:
    """Build the file beside its place and move it there whole, so that a crash leaves either nothing or a finished database."""
    building = f"{path}.{os.urandom(4).hex()}.new"
    os.close(os.open(building, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
    db = _open(building)
    try:
        db.execute(f"PRAGMA page_size = {page_bytes}")
        db.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        db.execute("PRAGMA secure_delete = ON")
        for number in range(1, SCHEMA_VERSION + 1):
            _step(db, number, path)
        db.execute("PRAGMA journal_mode = WAL")
    except sqlite3.OperationalError as bad:
        raise explain(bad, path) from bad
    finally:
        db.close()
    checkpoint("built")
    try:
        os.link(building, path)  # never over a file that another process finished first
    except FileExistsError:
        checkpoint("lost-race")
    os.unlink(building)
    checkpoint("created")


_NOT_BEHIND = "SELECT CASE WHEN (SELECT user_version FROM pragma_user_version) <> {} THEN json('another process was first') END;"
"""Breaks a script off in a file of another schema: what is no JSON is an error."""


def _step(db: sqlite3.Connection, number: int, path: str) -> None:
    statements = MIGRATIONS[number - 1]
    try:
        db.executescript(f"BEGIN IMMEDIATE;\n{_NOT_BEHIND.format(number - 1)}\n{statements}\nPRAGMA user_version = {number};\nCOMMIT;")
    except sqlite3.OperationalError as bad:
        if db.in_transaction:
            db.execute("ROLLBACK")
        if int(db.execute("PRAGMA user_version").fetchone()[0]) < number:
            raise explain(bad, path) from bad  # otherwise another process was first


def backup(db: sqlite3.Connection, path: str, backups: str, base: str, clock: Clock) -> str:
    """A whole copy of the open database in `backups`, 0600; the newest few are kept. Returns its path."""
    ensure_private_dir(backups, base)
    name = os.path.basename(path) + "."
    _drop_unfinished(backups, name)
    target = os.path.join(backups, f"{name}{clock()}")
    building = f"{target}.{os.urandom(4).hex()}{_UNFINISHED}"
    os.close(os.open(building, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
    copy = sqlite3.connect(building)
    try:
        copy.execute("PRAGMA journal_mode = OFF")  # a copy that is not finished is thrown away
        db.backup(copy)
    except sqlite3.OperationalError as bad:
        raise explain(bad, target) from bad
    finally:
        copy.close()
    os.replace(building, target)
    kept = sorted(
        (one for one in os.listdir(backups) if one.startswith(name) and one[len(name) :].isdecimal()), key=lambda one: int(one[len(name) :])
    )
    for one in kept[:-KEPT_BACKUPS]:
        os.unlink(os.path.join(backups, one))
    return target


_UNFINISHED = ".tmp"
_COPY = re.compile(r"\d+(\.([0-9a-f]{8}\.)?tmp(-journal)?)?")
"""How a copy is called behind the database's name: its time, and while it is made an ending. What people put beside them stays."""


def _drop_unfinished(backups: str, name: str) -> None:
    """Remove copies whose making was interrupted long ago, and the journals that SQLite kept beside them."""
    for one in os.listdir(backups):
        part = os.path.join(backups, one)
        with contextlib.suppress(FileNotFoundError):
            if one.startswith(name) and _UNFINISHED in one and time.time() - os.stat(part).st_mtime > ABANDONED_SECONDS:
                os.unlink(part)
