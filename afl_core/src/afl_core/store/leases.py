"""Named leases: work that only one process may do at a time and that a killed process must not block for long. Writers take an open transaction."""

from __future__ import annotations

import sqlite3

import attrs

from afl_core.model.errors import StoreError

LEASE_MS = 60_000
"""How long a lease holds unless it is renewed; a killed holder blocks others no longer than this."""

RENEW_MS = 15_000
"""A lease is renewed when this much of it has passed."""


@attrs.frozen
class Lease:
    """Held by `owner` until `until_ms`."""

    name: str
    owner: str
    until_ms: int


def held(db: sqlite3.Connection, name: str, now: int) -> Lease | None:
    """The lease as somebody holds it now. One that reaches further than a lease can was written by another clock and holds nothing."""
    row = db.execute("SELECT name, owner, until_ms FROM worker_leases WHERE name = ?", (name,)).fetchone()
    return Lease(*row) if row is not None and now < row[2] <= now + LEASE_MS else None


def take(db: sqlite3.Connection, name: str, owner: str, now: int) -> Lease | None:
    """Take the lease; None when another owner holds it."""
    there = held(db, name, now)
    if there is not None and there.owner != owner:
        return None
    db.execute(
        "INSERT INTO worker_leases (name, owner, until_ms) VALUES (?, ?, ?)"
        " ON CONFLICT (name) DO UPDATE SET owner = excluded.owner, until_ms = excluded.until_ms",
        (name, owner, now + LEASE_MS),
    )
    return Lease(name, owner, now + LEASE_MS)


def renew(db: sqlite3.Connection, lease: Lease, now: int) -> Lease:
    """Extend it; raises `StoreError` AFL-STORE-014 when another owner has taken it meanwhile."""
    changed = db.execute("UPDATE worker_leases SET until_ms = ? WHERE name = ? AND owner = ?", (now + LEASE_MS, lease.name, lease.owner))
    if changed.rowcount != 1:
        raise StoreError(
            f"another process has taken over the lease {lease.name!r}", code="AFL-STORE-014", hint="nothing to do: the other one goes on"
        )
    return attrs.evolve(lease, until_ms=now + LEASE_MS)


def release(db: sqlite3.Connection, lease: Lease) -> None:
    """Give it back; one that another owner has taken stays theirs."""
    db.execute("DELETE FROM worker_leases WHERE name = ? AND owner = ?", (lease.name, lease.owner))
