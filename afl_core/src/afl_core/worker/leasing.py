"""Holding a named lease while something bounded is done: taken without waiting, renewed as the work goes on, given back at its end."""

from __future__ import annotations

import contextlib
import sqlite3
from types import TracebackType
from typing import Self

from afl_core.model.clock import Clock
from afl_core.model.errors import StoreError
from afl_core.model.ids import new_id
from afl_core.store import leases
from afl_core.store.connection import writing
from afl_core.store.leases import LEASE_MS, RENEW_MS

RECONCILE = "reconcile"
"""Looking through the hosts' directories and reading what was missed: `afl reconcile` and the jobs process take turns."""


class Leased:
    """Use as a context manager; `until_ms` tells how long another process holds the lease, None when it is ours."""

    def __init__(self, db: sqlite3.Connection, name: str, clock: Clock) -> None:
        self._db, self._name, self._clock = db, name, clock
        self._lease: leases.Lease | None = None
        self.until_ms: int | None = None

    def __enter__(self) -> Self:
        with writing(self._db):
            now = self._clock()
            self._lease = leases.take(self._db, self._name, new_id(), now)
            if self._lease is None:
                other = leases.held(self._db, self._name, now)
                self.until_ms = other.until_ms if other else now
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None) -> None:
        if self._lease is not None:
            with contextlib.suppress(StoreError), writing(self._db):  # what cannot be given back ends by itself
                leases.release(self._db, self._lease)

    @property
    def is_held(self) -> bool:
        """Whether it is ours."""
        return self._lease is not None

    def keep(self) -> None:
        """Renew it when a part of it has passed. Raises `StoreError` AFL-STORE-014 when another process has taken it over meanwhile."""
        now = self._clock()
        if self._lease is None or 0 <= now - (self._lease.until_ms - LEASE_MS) < RENEW_MS:
            return
        with writing(self._db):
            self._lease = leases.renew(self._db, self._lease, now)
