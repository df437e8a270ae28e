"""Bring what hooks sealed into the spool into the store: a batch at a time, one durable commit before its files are unlinked."""

from __future__ import annotations

import contextlib
import os
import sqlite3
import stat
import time
from collections.abc import Callable
from typing import NamedTuple

from afl_core.model.clock import now_ms
from afl_core.model.errors import VaultError, WorkerError
from afl_core.store import intake
from afl_core.store.connection import writing
from afl_core.vault.seal import key_id_of, unseal
from afl_core.worker.frames import ENV_BYTES, PAYLOAD_BYTES, Frame, spool_body, spool_head
from afl_core.worker.turn import Desk, keep_spooled

BATCH_FILES = 32
BATCH_BYTES = 4 << 20
RECORD_BYTES = PAYLOAD_BYTES + ENV_BYTES + 4096
"""A larger file is no record."""

HALF_WRITTEN_S = 60.0
"""A `.tmp` file this old belongs to a hook that was killed."""

FindKey = Callable[[str], bytes | None]
"""From a key id to the key; None when it is not known here."""


class Drained(NamedTuple):
    """What one batch did. `is_more`: call again; `sessions`: what was kept; `left`: names of records that stay, because their key is not
    known here or they could not be kept.
    """

    is_more: bool
    sessions: tuple[str, ...]
    left: frozenset[str]


NOTHING = Drained(is_more=False, sessions=(), left=frozenset())


class Opened(NamedTuple):
    """A record's file name and its frame; a frame of None: it can never be opened."""

    name: str
    frame: Frame | None
    received_ms: int


def drain(desk: Desk, spool: str, find_key: FindKey, passing: frozenset[str] = frozenset()) -> Drained:
    """Keep one batch of records, passing over the names in `passing`. Raises `StoreError`; then every file is still there.

    The jobs process calls this with the vault's keys, the front with those it has in memory.
    """
    if not desk.manifests.current().hosts:  # nothing says what the records mean; they wait
        return NOTHING
    names = [name for name in _records(spool) if name not in passing]
    batch: list[Opened] = []
    left: set[str] = set()
    seen = size = 0
    for name in names:
        if seen >= BATCH_FILES or size >= BATCH_BYTES:
            break
        seen += 1
        record = _read(os.path.join(spool, name))
        opened = None if record is None else _open(name, record, find_key)
        if opened is None:
            left.add(name)
        else:
            batch.append(opened)
        size += len(record or b"")
    sessions = _keep(desk, batch, left) if batch else ()
    for opened in batch:
        if opened.name not in left:
            _unlink(os.path.join(spool, opened.name))
    return Drained(seen < len(names), sessions, frozenset(left))


def _keep(desk: Desk, batch: list[Opened], left: set[str]) -> tuple[str, ...]:
    kept: dict[str, None] = {}
    with writing(desk.db, durable=True) as db:
        for opened in batch:
            if opened.frame is None:
                intake.count(db, "bad_spool_record", now_ms())
                continue
            db.execute("SAVEPOINT record")
            try:
                if session := keep_spooled(desk, opened.frame, opened.received_ms):
                    kept[session] = None
            except sqlite3.Error:  # the disk, not the record
                raise
            except Exception as bad:  # noqa: BLE001 - one record must not keep the others waiting
                db.execute("ROLLBACK TO record")
                left.add(opened.name)
                desk.say(f"spool record {opened.name} cannot be kept: {type(bad).__name__}")
            db.execute("RELEASE record")
    return tuple(kept)


def _unlink(path: str) -> None:
    with contextlib.suppress(FileNotFoundError):
        os.unlink(path)


def _open(name: str, record: bytes, find_key: FindKey) -> Opened | None:
    try:
        head, sealed = spool_head(record)
        key = find_key(key_id_of(sealed))
        if key is None:
            return None
        return Opened(name, spool_body(head, unseal(key, head.line, sealed)), head.received_ms)
    except (VaultError, WorkerError):
        return Opened(name, None, 0)


def _records(spool: str) -> list[str]:
    """Names of records, oldest first (ids sort by birth). Half-written files of killed hooks are removed on the way."""
    try:
        names = sorted(os.listdir(spool))
    except FileNotFoundError:
        return []
    for name in names:
        if name.endswith(".tmp"):
            path = os.path.join(spool, name)
            with contextlib.suppress(FileNotFoundError):
                if abs(time.time() - os.lstat(path).st_mtime) > HALF_WRITTEN_S:
                    os.unlink(path)
    return [name for name in names if name.endswith(".rec")]


def _read(path: str) -> bytes | None:
    """The bytes of a record; empty for what is no record of ours; None when it is gone or cannot be read now."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        return None
    except OSError:
        return b"" if os.path.islink(path) else None
    try:
        found = os.fstat(handle)
        if not stat.S_ISREG(found.st_mode) or found.st_uid != os.geteuid() or found.st_size > RECORD_BYTES:
            return b""
        with open(handle, "rb", closefd=False) as source:
            return source.read(RECORD_BYTES)
    finally:
        os.close(handle)
