"""`afl import` and `afl export`: memory that comes from and goes to files."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import click

from afl_core.cli.grain_lines import counted
from afl_core.cli.grains import changed_line
from afl_core.cli.opening import Asked, on_memory_taking
from afl_core.cli.options import Answer
from afl_core.exchange.errors import ExchangeError

REDACTED = ("facts", "tool-log")
"""Formats whose rows somebody wrote; in the others a grain has its address."""
_HEADER_BYTES = 1_024
"""Of a file, to see whether it is a bundle."""
FORMATS = ("auto", "bundle", "dejadb", *REDACTED)


@click.command(
    "import",
    help="Take grains over from a file: a bundle, a tool log, facts as JSON lines, or a bundle of DejaDB. `-` reads standard input. The same file"
    " twice is the same as once; rows that cannot be taken are named.",
)
@click.argument("file")
@click.option("--dry-run", is_flag=True, help="Only say what would be taken over.")
@click.option(
    "--redact", is_flag=True, help="Redact facts and the calls of a tool log in a file of its own too; in the home's store they always are."
)
@on_memory_taking(FORMATS)
def import_(asked: Asked, file: str, dry_run: bool, redact: bool, file_format: str | None) -> None:
    """Import."""
    from afl_core.api.by_hand import chain_of, safe
    from afl_core.exchange.imports import look_at

    look_at(file, file_format or "auto")  # what is wrong is said before a file is made

    with asked.memory(makes=not dry_run, tries=dry_run, one_ns=True) as opened:
        chain = chain_of(opened.home) if redact or opened.redacts else None
        redacted = 0

        def safely(fields: dict[str, Any]) -> dict[str, Any]:
            nonlocal redacted
            kept, changed = safe(chain, fields) if chain is not None else (fields, 0)
            redacted += changed
            return kept

        report = opened.memory.import_(
            file,
            file_format or "auto",
            dry_run=dry_run,
            progress=_progress(asked.answer),
            redact=safely,
        )
    lines = report.lines()
    if chain is not None and report.format not in REDACTED:
        lines.append(
            "the texts are stored as they are: what comes in a bundle is not redacted: with another text it would be another grain"
        )
    lines += changed_line(redacted)
    asked.answer.give({"command": "import", **report.as_dict(), "redacted": redacted}, lines)


@click.command(
    help="Write grains to a bundle, a file that `afl import` reads anywhere: all of them, or one namespace. Without a file, or with `-`, it goes to"
    " standard output. What is in a bundle is in clear."
)
@click.argument("file", default="-", metavar="[FILE]")
@click.option("--force", is_flag=True, help="Also take the place of a file that is no bundle.")
@on_memory_taking((), ns_help="Only the grains of this namespace; default: all.")
def export(asked: Asked, file: str, force: bool) -> None:
    """Export."""
    if file == "-" and asked.answer.as_json:
        raise click.UsageError("the bundle itself goes to standard output: --json needs a FILE", click.get_current_context())
    if not force and _is_something_else(file):
        raise ExchangeError(f"{file} is there and is no bundle", code="AFL-EXCHANGE-011", hint="name another file, or give --force")
    with asked.memory() as opened:
        header = opened.memory.export(file, None if asked.ns == "*" else asked.ns, progress=_progress(asked.answer))
    if file != "-":
        nothing = [] if header["grains"] or header["ns"] is None else [f"there is nothing in the namespace {header['ns']!r}"]
        asked.answer.give({"command": "export", "file": file, **header}, [f"{file}: {counted(int(header['grains']))}", *nothing])


def _is_something_else(path: str) -> bool:
    """Whether an ordinary file with something in it would be lost that nobody exported."""
    try:
        if not os.path.isfile(path) or not os.path.getsize(path):
            return False
        with open(path, "rb") as file:
            return b'"format":"afl-bundle/' not in file.read(_HEADER_BYTES)
    except (OSError, ValueError):
        return False  # writing it says what is wrong


def _progress(answer: Answer) -> Callable[[int, int], None]:
    """Says every tenth part once."""
    told = 0

    def progress(done: int, whole: int) -> None:
        nonlocal told
        part = 10 * done // whole if whole else 10
        if part > told:
            told = part
            answer.progress(f"{10 * part} %")

    return progress
