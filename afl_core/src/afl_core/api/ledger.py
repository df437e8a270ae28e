"""The plug-in ledger kept in the store: the face `plugins.isolation` asks for over the rows of `store.ledger`."""

from __future__ import annotations

import sqlite3

import attrs

from afl_core.plugins.isolation import LedgerEntry
from afl_core.store import ledger
from afl_core.store.connection import writing


class StoreLedger:
    """Failures and quarantine that survive the process."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db

    def read(self, plugin: str, call: str) -> LedgerEntry | None:
        """The entry, or None when it never failed."""
        row = ledger.read(self._db, plugin, call)
        return None if row is None else LedgerEntry(**attrs.asdict(row))

    def write(self, entry: LedgerEntry) -> None:
        """Keep the entry."""
        with writing(self._db):
            ledger.write(self._db, ledger.LedgerRow(**attrs.asdict(entry)))

    def clear(self, plugin: str, call: str) -> None:
        """Forget it: the call worked."""
        with writing(self._db):
            ledger.clear(self._db, plugin, call)

    def all(self) -> list[LedgerEntry]:
        """Every entry."""
        return [LedgerEntry(**attrs.asdict(row)) for row in ledger.every(self._db)]
