"""Any file that can be imported: which format it is, and who reads it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

import attrs

from afl_core.exchange.access import Access, Progress, Redact, silent, unchanged
from afl_core.exchange.bundle import BUNDLE, FAMILY
from afl_core.exchange.bundle_import import import_bundle
from afl_core.exchange.dejadb import MAGIC, import_dejadb
from afl_core.exchange.errors import ExchangeError
from afl_core.exchange.facts import FACTS, import_facts
from afl_core.exchange.files import PIECE_BYTES, SQLITE, STDIO, Source, text_of
from afl_core.exchange.report import Report
from afl_core.exchange.tool_log import TOOL_LOG, import_tool_log
from afl_core.exchange.trial import trial
from afl_core.model.errors import ModelError
from afl_core.model.json_values import DECODER

AUTO, DEJADB = "auto", "dejadb"
FORMATS = (AUTO, "bundle", DEJADB, FACTS, TOOL_LOG)


def import_file(
    access: Access,
    path: str | os.PathLike[str],
    format: str = AUTO,
    *,
    dry_run: bool = False,
    progress: Progress = silent,
    redact: Redact = unchanged,
) -> Report:
    """Take a file in (`-`: standard input); gives what that did. `redact`: what rows of facts and of a tool log pass first. `dry_run`: into a copy.

    Raises `ExchangeError` when the file cannot be read, is in no known format, or is a bundle and damaged.
    """
    if format not in FORMATS:
        raise ExchangeError(
            f"{format!r} is no format that can be imported", code="AFL-EXCHANGE-002", hint=f"choose one of {', '.join(FORMATS)}"
        )
    with Source(path) as source:
        kind = format_of(source) if format == AUTO else format
        if not dry_run:
            return _taken(access, source, kind, progress, redact)
        with trial(access) as copy:
            return attrs.evolve(_taken(copy, source, kind, progress, redact), dry_run=True)


def _taken(access: Access, source: Source, kind: str, progress: Progress, redact: Redact) -> Report:
    if kind == "bundle":
        return import_bundle(access, source, progress=progress)
    if kind == DEJADB:
        return import_dejadb(access, source, progress=progress)
    if kind == FACTS:
        return import_facts(access, source, progress=progress, redact=_fields_by(redact))
    return import_tool_log(access, source, progress=progress, redact=_fields_by(redact))


def _fields_by(redact: Redact) -> Redact:
    """What it gives back has to be fields: a row that it gives back as anything else is skipped."""

    def redacted(fields: dict[str, Any]) -> Mapping[str, Any]:
        kept: Any = redact(fields)
        if not isinstance(kept, Mapping):
            raise ModelError(f"redact gave back {type(kept).__name__}, no fields", code="AFL-MODEL-010", hint="correct the argument")
        return kept

    return redacted


def look_at(path: str, format: str = AUTO) -> None:
    """Raise `ExchangeError` for what cannot be read, or is in no known format. Standard input is left as it is."""
    if path == STDIO:
        return
    with Source(path) as source:
        if format == AUTO:
            format_of(source)


def format_of(source: Source) -> str:
    """The format a file is in, by its beginning. Raises `ExchangeError` when it is none that is known."""
    begun = source.start()
    if begun.startswith(MAGIC):
        return DEJADB
    if begun.startswith(SQLITE):
        raise ExchangeError(
            f"{source.path} is a database; a memory is exported first",
            code="AFL-EXCHANGE-002",
            hint=f"run: afl export BUNDLE --db {source.path}",
        )
    for number, line in enumerate(begun.split(b"\n"), 1):
        text = text_of(line.strip(), number, source.path)
        try:
            row = DECODER.decode(text) if text else None
        except (ValueError, RecursionError):
            continue  # another row says more
        if not isinstance(row, dict):
            continue
        if str(row.get("format", "")).startswith(FAMILY):
            return "bundle"
        if row.keys() >= {"subject", "relation", "object"}:
            return FACTS
        if row.keys() & {"tool_name", "tool_calls", "tool_call_id", "call_id", "function", "role"} or (
            row.keys() & {"name"} and row.keys() & {"content", "output", "result", "error"}
        ):
            return TOOL_LOG
    raise ExchangeError(
        f"the format of {source.path} is not known: the first {PIECE_BYTES // 1024} KiB hold no row of a bundle, a tool log or facts",
        code="AFL-EXCHANGE-002",
        hint="name it with --format; docs/memory-import.md shows each",
    )


__all__ = ["BUNDLE", "FORMATS", "format_of", "import_file"]
