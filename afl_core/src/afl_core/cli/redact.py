"""`afl redact explain|scan|purge|options`."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import click

from afl_core.cli.options import Answer, HelpfulGroup, common, one_line
from afl_core.cli.standard_input import standard_input
from afl_core.model.errors import AflError

if TYPE_CHECKING:
    from afl_core.api.purge import Purged
    from afl_core.api.redaction import Scanned, Totals

CANNOT = 2
"""Exit code of a scan that could not be made, or not whole; 1 says that something was found."""

EVERY_SECONDS = 1.0
"""How often long work says how far it is."""


LEFT_OUT = {"huge": "too large", "special": "a pipe, a device or the like"}
"""In words, why a file was left out."""


@click.group(cls=HelpfulGroup, help="Show what is hidden before anything is kept, look for it in files, and clean the index.")
def redact(**_options: object) -> None:
    """Group."""


@redact.command("explain", help="Show a text as it would be kept, and which rule replaced what where. `-` reads standard input.")
@click.argument("text")
@common
def explain(answer: Answer, text: str) -> None:
    """Explain."""
    from afl_core.api import redaction as api
    from afl_core.api.home import Home

    if text == "-":
        text = (
            standard_input("give the text as an argument, or through a pipe").buffer.read(api.EXPLAIN_BYTES + 1).decode("utf-8", "replace")
        )
    with Home(answer.home) as home:
        done = api.explain(home, text)
    lines = [one.told() for one in done.spots] or ["nothing is replaced"]
    body = {"text": done.text, "replacements": [_spot(one) for one in done.spots]}
    answer.give({"command": "redact", "action": "explain", **body}, [done.text.removesuffix("\n"), *lines])


@redact.command("options", help="Show what redactors can be asked for with the setting redact_options.")
@common
def options(answer: Answer) -> None:
    """List."""
    from afl_core.api import redaction as api
    from afl_core.api.home import Home

    with Home(answer.home) as home:
        found = api.options(home)
    lines = [f"{one['name']} ({'on' if one['on'] else 'off'}): {one['adds']}" for one in found] or [
        "the redactors installed have no options"
    ]
    answer.give({"command": "redact", "action": "options", "options": found}, lines)


@redact.command("scan", help="Look for secrets in files and folders (default: this directory), with the installed redactors.")
@click.argument("paths", nargs=-1, metavar="[PATH...]")
@click.option("--store", is_flag=True, help="Look through every stored text of this home; without paths, through nothing else.")
@common
def scan(answer: Answer, paths: tuple[str, ...], store: bool) -> int:
    """Exit 0 when nothing was found, 1 when something was, 2 when it could not be told."""
    from afl_core.api import redaction as api
    from afl_core.api.home import Home

    totals = api.Totals()
    where = paths or (() if store else (".",))
    try:
        with Home(answer.home) as home:
            found = _watched(answer, api.scan(home, where, totals, store=store), totals)
            if answer.as_json:
                files = [_scanned(one) for one in found]
                answer.give({"command": "redact", "action": "scan", "files": files, "totals": totals.as_json()}, [])
            else:
                answer.give({}, (line for one in found for line in _lines(one)))
                answer.give({}, _summary(totals))
    except AflError as bad:
        bad.exit_code = CANNOT
        raise
    return int(totals.verdict.value)


def _watched(answer: Answer, found: Iterator[Scanned], totals: Totals) -> Iterator[Scanned]:
    """What is worth telling, while progress is told."""
    told = time.monotonic()
    for one in found:
        if time.monotonic() - told >= EVERY_SECONDS:
            told = time.monotonic()
            answer.progress(f"{totals.looked_at} looked at, {totals.findings} found ...")
        if one.spots or one.more or one.problem or one.is_missed:
            yield one


def _lines(one: Scanned) -> Iterator[str]:
    path = one_line(one.path)
    if one.problem:
        yield f"{path}: not looked through: {one.problem}"
    if one.skip is not None:
        yield f"{path}: left out: {LEFT_OUT.get(one.skip.value, one.skip.value)}"
    for spot in one.spots:
        yield f"{path}:{spot.line}:{spot.column}: {spot.rule}"
    if one.more:
        yield f"{path}: and {one.more} more"


def _summary(totals: Totals) -> list[str]:
    lines = [f"{totals.findings} found in {totals.with_findings} of {totals.looked_at} texts"]
    lines += [f"  {rule}: {count}" for rule, count in sorted(totals.rules.items(), key=lambda pair: (-pair[1], pair[0]))]
    if totals.skipped:
        lines.append("left out: " + ", ".join(f"{count} {why}" for why, count in sorted(totals.skipped.items())))
    if totals.problems:
        lines.append(f"not looked through: {totals.problems}")
    return lines


def _scanned(one: Scanned) -> dict[str, Any]:
    body: dict[str, Any] = {"path": one.path, "findings": [_spot(spot) for spot in one.spots], "more": one.more}
    return {**body, "left_out": one.skip.value if one.skip is not None else None, "problem": one.problem or None}


def _spot(spot: Any) -> dict[str, Any]:
    return {"rule": spot.rule, "line": spot.line, "column": spot.column}


@redact.command("purge", help="Take out of the index what an older rule set let in. Asks first, where there is something.")
@click.option("--dry-run", is_flag=True, help="Count what would be rewritten; change nothing.")
@click.option("--yes", is_flag=True, help="Do not ask.")
@common
def purge(answer: Answer, dry_run: bool, yes: bool) -> None:
    """Count, ask, rewrite."""
    from afl_core.api import purge as api
    from afl_core.api.home import Home

    with Home(answer.home) as home:
        if not dry_run and not yes:
            would = api.purge(home, dry_run=True, progress=answer.progress)
            if would.texts or would.copies:
                for line in _purged(would, dry_run=True):
                    click.echo(line, err=True)
                standard_input("look at what --dry-run shows, then give --yes")
                click.confirm("Rewrite them? What is taken out cannot be brought back.", abort=True, err=True)
        done = api.purge(home, dry_run=dry_run, progress=answer.progress)
    answer.give({"command": "redact", "action": "purge", "dry_run": dry_run, **done.as_json()}, _purged(done, dry_run=dry_run))


def _purged(done: Purged, *, dry_run: bool) -> list[str]:
    would = "would be " if dry_run else ""
    if not done.texts:
        lines = ["nothing is in the index that the rules of now would not let in"]
    else:
        count = sum(done.texts.values())
        lines = [
            f"{count} {'text' if count == 1 else 'texts'} {would}rewritten in {done.projects} {'project' if done.projects == 1 else 'projects'}"
        ]
        lines += [f"  {place}: {number}" for place, number in sorted(done.texts.items())]
        lines += ["by rule"] + [f"  {rule}: {number}" for rule, number in sorted(done.rules.items())]
    if done.copies:
        what = "copy of the database that was made" if done.copies == 1 else "copies of the database that were made"
        lines.append(f"{done.copies} {what} before a migration {would}removed: older text is in it")
    return lines
