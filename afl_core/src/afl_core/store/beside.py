"""What an import keeps beside the store while it runs: turns and forgettings that are known, heads for want of a better one, names of elsewhere.

Temporary tables of its connection, in the transactions of the import; they hold addresses only.
"""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Iterator

from afl_core.model.errors import StoreError
from afl_core.store.address import AT
from afl_core.store.bundles import TOLD
from afl_core.store.connection import name_of as path_of
from afl_core.store.connection import refuse_in_a_read

_BESIDE = ("known_turns", "known_forgotten", "known_upto", "forgotten_there", "stand_ins", "foreign_names")


def begin(db: sqlite3.Connection) -> None:
    """Make the tables an import keeps beside the store: turns and forgettings known here, and heads for want of a better one.

    Raises `StoreError` (AFL-STORE-038) inside of another import of this connection.
    """
    refuse_in_a_read(db)
    if db.execute("SELECT 1 FROM temp.sqlite_master WHERE name = 'known_turns'").fetchone():
        raise StoreError(
            f"something is being imported into {path_of(db)}: from inside of that nothing else can be",
            code="AFL-STORE-038",
            hint="do it afterwards, in another thread or through another handle",
        )
    db.execute("CREATE TEMP TABLE known_turns (hash TEXT PRIMARY KEY, turns INTEGER NOT NULL) WITHOUT ROWID")
    db.execute("CREATE TEMP TABLE known_forgotten (hash TEXT PRIMARY KEY) WITHOUT ROWID")
    db.execute("CREATE TEMP TABLE known_upto (n INTEGER NOT NULL)")
    db.execute("CREATE TEMP TABLE forgotten_there (hash TEXT PRIMARY KEY) WITHOUT ROWID")
    db.execute("CREATE TEMP TABLE stand_ins (hash TEXT PRIMARY KEY) WITHOUT ROWID")
    db.execute("INSERT INTO known_upto VALUES (0)")
    _learn(db)


@contextlib.contextmanager
def step(writer: contextlib.AbstractContextManager[sqlite3.Connection]) -> Iterator[sqlite3.Connection]:
    """One transaction of an import: what others did between it and the one before is known in it, and what it does is not taken for theirs."""
    with writer as db:
        _learn(db)
        yield db
        db.execute("UPDATE temp.known_upto SET n = (SELECT coalesce(max(n), 0) FROM operations)")


def _learn(db: sqlite3.Connection) -> None:
    """Note the turns and forgettings behind the last operation that is known."""
    upto = db.execute("SELECT n FROM temp.known_upto").fetchone()[0]
    last = db.execute("SELECT coalesce(max(n), 0) FROM operations").fetchone()[0]
    if last == upto:
        return
    db.execute(
        f"INSERT INTO known_turns SELECT hash, count(*) FROM ({TOLD}) WHERE n > ? AND n <= ? GROUP BY hash"  # noqa: S608 - fixed text
        " ON CONFLICT (hash) DO UPDATE SET turns = turns + excluded.turns",
        (upto, last),
    )
    db.execute("INSERT OR IGNORE INTO known_forgotten SELECT hash FROM operations WHERE op = 'forget' AND n > ? AND n <= ?", (upto, last))
    db.execute("UPDATE temp.known_upto SET n = ?", (last,))


def end(db: sqlite3.Connection) -> None:
    """Remove them."""
    for table in _BESIDE:
        db.execute(f"DROP TABLE IF EXISTS temp.{table}")


def turns(db: sqlite3.Connection, hash: str, *, live: bool) -> int:
    """How often a grain turned, as far as is known here."""
    row = db.execute("SELECT turns FROM temp.known_turns WHERE hash = ?", (hash,)).fetchone()
    noted = row[0] if row else 0
    return int(noted) + ((noted % 2 == 0) != live)


def set_turns(db: sqlite3.Connection, hash: str, count: int) -> None:
    """Note it."""
    db.execute("INSERT OR REPLACE INTO temp.known_turns VALUES (?, ?)", (hash, count))


def was_forgotten(db: sqlite3.Connection, hash: str) -> bool:
    """Whether a grain was forgotten here."""
    return db.execute("SELECT 1 FROM temp.known_forgotten WHERE hash = ?", (hash,)).fetchone() is not None


def set_forgotten(db: sqlite3.Connection, hash: str) -> None:
    """Note it."""
    db.execute("INSERT OR IGNORE INTO temp.known_forgotten VALUES (?)", (hash,))


def is_forgotten_there(db: sqlite3.Connection, hash: str) -> bool:
    """Whether the bundle says of a grain that it was forgotten."""
    return db.execute("SELECT 1 FROM temp.forgotten_there WHERE hash = ?", (hash,)).fetchone() is not None


def set_forgotten_there(db: sqlite3.Connection, hash: str) -> None:
    """Note it."""
    db.execute("INSERT OR IGNORE INTO temp.forgotten_there VALUES (?)", (hash,))


def stands_in(db: sqlite3.Connection, hash: str) -> bool:
    """Whether a grain is a head only because its thing has no better one yet."""
    return db.execute("SELECT 1 FROM temp.stand_ins WHERE hash = ?", (hash,)).fetchone() is not None


def set_stand_in(db: sqlite3.Connection, hash: str) -> None:
    """Note it."""
    db.execute("INSERT OR IGNORE INTO temp.stand_ins VALUES (?)", (hash,))


def stand_ins(db: sqlite3.Connection) -> list[str]:
    """Some of them, in order; `drop_stand_ins` when they are settled."""
    return [row[0] for row in db.execute("SELECT hash FROM temp.stand_ins ORDER BY hash LIMIT 250")]


def drop_stand_in(db: sqlite3.Connection, hash: str) -> None:
    """It is settled."""
    db.execute("DELETE FROM temp.stand_ins WHERE hash = ?", (hash,))


def ns_of(db: sqlite3.Connection, hash: str) -> str | None:
    """The namespace of a grain that is here."""
    row = db.execute(f"SELECT ns FROM grains WHERE {AT}", (hash, hash)).fetchone()  # noqa: S608 - a fixed text
    return row[0] if row else None


def is_blank(db: sqlite3.Connection) -> bool:
    """Whether nothing was ever stored."""
    return db.execute("SELECT 1 FROM grains UNION ALL SELECT 1 FROM operations LIMIT 1").fetchone() is None


def calls(db: sqlite3.Connection, ns: str, session: str | None, call: str) -> list[str]:
    """The addresses of a tool call of a session (names as they are stored)."""
    rows = db.execute("SELECT hash FROM grains WHERE type = 'tool' AND call_id = ? AND +session_id IS ? AND +ns = ?", (call, session, ns))
    return [row[0] for row in rows]


def begin_names(db: sqlite3.Connection) -> None:
    """Make the table of addresses that grains had in another store; `end` removes it."""
    db.execute("CREATE TEMP TABLE foreign_names (theirs TEXT PRIMARY KEY, ours TEXT NOT NULL) WITHOUT ROWID")


def set_name(db: sqlite3.Connection, theirs: str, ours: str) -> None:
    """A grain of another store is here, under this address."""
    db.execute("INSERT OR REPLACE INTO temp.foreign_names VALUES (?, ?)", (theirs, ours))


def name_of(db: sqlite3.Connection, theirs: str) -> str | None:
    """Its address here."""
    row = db.execute("SELECT ours FROM temp.foreign_names WHERE theirs = ?", (theirs,)).fetchone()
    return row[0] if row else None
