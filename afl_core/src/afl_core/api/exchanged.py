"""How a memory leaves its file and others come in, and the audit of what is erased on the way."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from sqlite3 import Connection
from typing import Any

from attrs import asdict

from afl_core.api.connections import is_open_here
from afl_core.api.given import checked, file_named, used
from afl_core.api.opened import Opened
from afl_core.api.reserved import demand, refuse_reserved
from afl_core.api.told import Value
from afl_core.exchange.access import Access, Progress, Redact, silent, unchanged
from afl_core.exchange.errors import ExchangeError
from afl_core.exchange.report import Report
from afl_core.store.under_way import forgetting


class Taking:
    """Tells how far an import is whose grains are indexed afterwards."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress
        self._whole = self._waiting = 0

    def rows(self, done: int, whole: int) -> None:
        """So much of the file is done."""
        self._whole = whole
        self._progress(done, whole + whole // 2)

    def index(self, left: int) -> None:
        """So many grains are still to be indexed."""
        self._waiting = max(self._waiting, left)
        rest = self._whole // 2
        self._progress(self._whole + rest - (rest * left // self._waiting if self._waiting else 0), self._whole + rest)

    def end(self) -> None:
        """Everything is done."""
        self._progress(self._whole + self._whole // 2, self._whole + self._whole // 2)


class Exchanged(Opened):
    """What `Memory` exports and imports with."""

    @checked
    def export(self, path: str | os.PathLike[str], ns: str | None = None, *, progress: Progress = silent) -> Value:
        """Write the memory, or one namespace, as a bundle (`-`: standard output), in clear; gives its header. Equal memories give equal bytes."""
        demand(self.scopes, "read")
        from afl_core.exchange.export import export_bundle

        named = file_named(path)
        _refuse_open(named)
        return asdict(export_bundle(self._access(), named, ns=ns, progress=progress))

    @used
    def import_(
        self,
        path: str | os.PathLike[str],
        format: str = "auto",
        *,
        dry_run: bool = False,
        progress: Progress = silent,
        redact: Redact = unchanged,
    ) -> Report:
        """Take in a bundle, a tool log, facts or a bundle of DejaDB; twice is the same as once. `redact`: what the fields of a fact or a call pass first.

        `progress` is told how much is done and how much there is; what the text index catches up with counts as the last third.
        """
        demand(self.scopes, "read" if dry_run else "write")
        from afl_core.exchange.imports import import_file

        named = file_named(path)
        _refuse_open(named)
        if dry_run:
            return import_file(self._access(), named, format, dry_run=True, progress=progress, redact=redact)
        taking = Taking(progress) if self.index_text else None
        report = import_file(self._access(), named, format, progress=taking.rows if taking else progress, redact=redact)
        if taking:
            self._index_later(report.added, taking.index)
            taking.end()
        return report

    def _access(self) -> Access:
        return Access(
            reader=self._files.reader,
            writer=self._writing,
            cover=self._cover,
            clock=self._clock,
            ns=self.ns,
            refuse_reserved=refuse_reserved,
            note_erased=lambda db, address: self._audit(db, "forget", address, {"grains_erased": 1}, "import", self._clock()),
            finish_forgetting=self._finish_forgetting,
            forgetting=lambda: forgetting(self.path),
            may_forget="forget" in self.scopes,
        )

    def _audit(self, db: Connection, verb: str, named: str, body: Mapping[str, Any], because: str, now: int) -> None:
        """A row of the audit chain about a grain or a subject: never its name, only a fingerprint of it."""
        from afl_core.changes.audit import record

        record(db, actor=self.actor, action=f"grain.{verb}", target=fingerprint(named), body=body, reason=because, now=now)


def _refuse_open(path: str) -> None:
    if is_open_here(path):
        raise ExchangeError(
            f"{path} is a file of a memory that is open", code="AFL-EXCHANGE-010", hint="name another file, or export the memory"
        )


def fingerprint(named: str) -> str:
    """What the audit calls a grain or a subject that is gone: the first 8 bytes of its SHA-256, in hexadecimal digits."""
    return hashlib.sha256(named.encode("utf-8", "surrogatepass")).hexdigest()[:16]
