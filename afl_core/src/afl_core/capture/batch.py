"""What a pass over a transcript works with, and what its transactions stored: the words that `sync`, `adopt` and their callers share. Does nothing."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Sequence

import attrs

from afl_core.capture.drafts import Draft
from afl_core.model.clock import Clock
from afl_core.model.errors import CaptureError
from afl_core.model.event import Event, Signal
from afl_core.plugins.isolation import Guard, MemoryLedger
from afl_core.redaction.chain import Chain
from afl_core.store.transcripts import Stamp
from afl_core.vault.blobs import Blobs
from afl_core.vault.keys import Writer


@attrs.frozen
class Session:
    """Whose transcript it is."""

    session_id: str
    host: str
    project_id: str
    epoch: int


@attrs.frozen
class Tools:
    """What reading needs: redaction, sealing, time, isolation of the adapter, and where compressed transcripts are unpacked.

    `patient`: the transcript is given time to show what a hook saw.
    """

    chain: Chain
    writer: Writer
    blobs: Blobs
    clock: Clock
    window_ms: int
    oldest_ms: int
    guard: Guard = attrs.field(factory=lambda: Guard(MemoryLedger()))
    patient: bool = True
    scratch: str | None = None


@attrs.frozen
class Newborn:
    """One event as it was stored by this pass."""

    event: Event
    by_person: bool
    signal: Signal | None
    draft: Draft
    born: bool


@attrs.frozen
class Batch:
    """What one transaction stored; consumers get it inside that transaction."""

    newborn: tuple[Newborn, ...]
    shown: tuple[tuple[str, int | None], ...] = ()


Consumer = Callable[[sqlite3.Connection, Batch], None]
Announce = Callable[[Sequence[Event]], None]
"""Told of events after their transaction committed; never of ones that were rolled back."""


@attrs.define
class Stored:
    """What one transaction did; counts for nothing until it is committed."""

    born: int = 0
    joined: int = 0
    known: int = 0
    signals: int = 0
    newborn: list[Newborn] = attrs.field(factory=list)


@attrs.define
class Report:
    """What a pass did. `caught_up`: nothing complete is left unread. `stamp`: what the file was like when it was opened.

    `shortfall`: why there is no more in it, where there should be.
    """

    born: int = 0
    joined: int = 0
    known: int = 0
    signals: int = 0
    bytes_read: int = 0
    caught_up: bool = True
    stamp: Stamp | None = None
    shortfall: CaptureError | None = None
    gaps: list[dict[str, int | str]] = attrs.field(factory=list)

    def add(self, stored: Stored) -> None:
        """Count what a transaction committed."""
        self.born += stored.born
        self.joined += stored.joined
        self.known += stored.known
        self.signals += stored.signals
