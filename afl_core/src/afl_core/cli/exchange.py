"""`afl import` and `afl export`: memory that comes from and goes to files."""

from __future__ import annotations

from collections.abc import Callable

import click

from afl_core.cli.grain_lines import counted
from afl_core.cli.opening import Asked, on_memory, on_memory_taking
from afl_core.cli.options import Answer

TOOL_LOG = "tool-log"
FORMATS = ("auto", "bundle", TOOL_LOG, "dejadb", "facts")


@click.command(
    "import",
    help="Take grains over from a file: a bundle, a tool log, facts as JSON lines, or a bundle of DejaDB. `-` reads standard input. The same file"
    " twice is the same as once; rows that cannot be taken are named.",
)
@click.argument("file")
@click.option("--dry-run", is_flag=True, help="Only say what would be taken over.")
@click.option(
    "--redact", is_flag=True, help="Redact the texts of a tool log in a file of its own too; in the home's store they always are."
)
@on_memory_taking(FORMATS)
def import_(asked: Asked, file: str, dry_run: bool, redact: bool, file_format: str | None) -> None:
    """Import."""
    from afl_core.api.by_hand import chain_of, safe_text

    with asked.memory(makes=not dry_run, tries=dry_run, one_ns=True) as opened:
        chain = chain_of(opened.home) if redact or opened.redacts else None
        report = opened.memory.import_(
            file,
            file_format or "auto",
            dry_run=dry_run,
            progress=_progress(asked.answer),
            redact=None if chain is None else lambda text: safe_text(chain, text),
        )
    lines = report.lines()
    if chain is not None and report.format != TOOL_LOG:
        lines.append("the texts are stored as they are: of what is imported only tool logs are redacted")
    asked.answer.give({"command": "import", **report.as_dict()}, lines)


@click.command(
    help="Write grains to a bundle, a file that `afl import` reads anywhere: all of them, or one namespace. Without a file, or with `-`, it goes to"
    " standard output. What is in a bundle is in clear."
)
@click.argument("file", default="-")
@on_memory
def export(asked: Asked, file: str) -> None:
    """Export."""
    if file == "-" and asked.answer.as_json:
        raise click.UsageError("the bundle itself goes to standard output: --json needs a FILE", click.get_current_context())
    with asked.memory() as opened:
        header = opened.memory.export(file, None if asked.ns == "*" else asked.ns, progress=_progress(asked.answer))
    if file != "-":
        asked.answer.give({"command": "export", "file": file, **header}, [f"{file}: {counted(int(header['grains']))}"])


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
