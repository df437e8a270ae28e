"""What kind of file lies where the database belongs, told from its first bytes: nothing is opened, so nothing is made beside it."""

from __future__ import annotations

import enum
import os
import stat

import attrs

from afl_core.model.errors import PathError, StoreError
from afl_core.store.schema import APPLICATION_ID, SCHEMA_VERSION

_MAGIC = b"SQLite format 3\0"
_VERSION_AT = 60
_APPLICATION_AT = 68
_HEADER_BYTES = 100


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
