"""The plug-in ledger in the store: failures and quarantine survive the process."""

from __future__ import annotations

import sqlite3

import attrs


@attrs.frozen
class LedgerRow:
    """One row of `plugin_ledger`."""

    plugin: str
    call: str
    failures: int
    last_error: str
    last_ms: int
    quarantined_until_ms: int | None


def read(db: sqlite3.Connection, plugin: str, call: str) -> LedgerRow | None:
    """The row of one plug-in's one call."""
    row = db.execute(
        "SELECT plugin, call, failures, last_error, last_ms, quarantined_until_ms FROM plugin_ledger WHERE plugin = ? AND call = ?",
        (plugin, call),
    ).fetchone()
    return None if row is None else LedgerRow(*row)


def every(db: sqlite3.Connection) -> list[LedgerRow]:
    """All rows, by plug-in."""
    return [
        LedgerRow(*row)
        for row in db.execute(
            "SELECT plugin, call, failures, last_error, last_ms, quarantined_until_ms FROM plugin_ledger ORDER BY plugin, call"
        )
    ]


def write(db: sqlite3.Connection, row: LedgerRow) -> None:
    """Insert or replace, in the caller's transaction."""
    db.execute(
        "INSERT OR REPLACE INTO plugin_ledger (plugin, call, failures, last_error, last_ms, quarantined_until_ms) VALUES (?, ?, ?, ?, ?, ?)",
        attrs.astuple(row),
    )


def clear(db: sqlite3.Connection, plugin: str, call: str) -> None:
    """Delete the row, in the caller's transaction."""
    db.execute("DELETE FROM plugin_ledger WHERE plugin = ? AND call = ?", (plugin, call))
