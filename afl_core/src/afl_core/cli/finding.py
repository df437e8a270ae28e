"""`afl search`, `recall`, `history`, `forks` and `verify`: reading a memory."""

from __future__ import annotations

from shlex import quote
from typing import Any

import click

from afl_core.cli.grain_lines import counted, line, lines
from afl_core.cli.opening import Asked, on_memory, on_memory_taking
from afl_core.model.grain import DEFAULT_NS, GrainType

K = click.option("-k", "--limit", "k", type=click.IntRange(1, 512), default=16, show_default=True, help="Grains at most.")
TYPE = click.option("--type", "type_", type=click.Choice([one.value for one in GrainType]), help="Only grains of this type.")


@click.command(help="Find grains by free text: those that hold a telling word of the query, the best first.")
@click.argument("query", nargs=-1, required=True, metavar="QUERY...")
@K
@TYPE
@on_memory
def search(asked: Asked, query: tuple[str, ...], k: int, type_: str | None) -> None:
    """Search."""
    words = " ".join(query)
    with asked.memory() as opened:
        found = opened.memory.search(words, k, type=type_, ns=asked.ns)
        now = opened.now()
    asked.answer.give({"command": "search", "query": words, "grains": found}, lines(found, now) or [_nothing(asked)])


@click.command(help="Find grains about a subject, or of a relation, or all: sure and recent ones before others.")
@click.argument("subject", required=False)
@click.argument("relation", required=False)
@K
@TYPE
@on_memory
def recall(asked: Asked, subject: str | None, relation: str | None, k: int, type_: str | None) -> None:
    """Recall."""
    with asked.memory() as opened:
        found = opened.memory.recall(subject, relation, k, type=type_, ns=asked.ns)
        now = opened.now()
    asked.answer.give(
        {"command": "recall", "subject": subject, "relation": relation, "grains": found}, lines(found, now) or [_nothing(asked)]
    )


@click.command(help="Show what was said of a thing before: every fact of a subject and relation, the newest first.")
@click.argument("subject")
@click.argument("relation")
@on_memory
def history(asked: Asked, subject: str, relation: str) -> None:
    """List."""
    with asked.memory(one_ns=True) as opened:
        found = opened.memory.history(subject, relation)
        now = opened.now()
    shown = [line(one, now, state(one)) for one in found]
    asked.answer.give(
        {"command": "history", "subject": subject, "relation": relation, "grains": [_grain(one) for one in found]},
        shown or [_nothing(asked)],
    )


@click.command(help="Show things that copies disagree about: several newest facts of one subject and relation, after an import.")
@on_memory
def forks(asked: Asked) -> None:
    """List."""
    with asked.memory() as opened:
        found = opened.memory.forks(asked.ns)
        now = opened.now()
    told = [{**one, "heads": [_grain(head) for head in one["heads"]]} for one in found]
    shown: list[str] = []
    for one in found:
        shown.append(f"{one['subject']} {one['relation']} (in {one['namespace']}): {len(one['heads'])} heads")
        shown += [f"  {line(head, now)}" for head in one["heads"]]
    if found:
        first = found[0]
        where = "" if first["namespace"] == DEFAULT_NS else f" --ns {first['namespace']}"
        told_by = f"afl merge {quote(first['subject'])} {quote(first['relation'])} OBJECT{where}{asked.same_memory}"
        shown.append(f"next: say what is right: {told_by}")
    asked.answer.give({"command": "forks", "forks": told}, shown or ["nothing is forked"])


@click.command(help="Check that a memory is whole: the file, every address against its content, every link and every entry of the index.")
@on_memory_taking((), ns_help=None)
def verify(asked: Asked) -> int:
    """Verify."""
    with asked.memory() as opened:
        found = opened.memory.verify(progress=lambda seen: asked.answer.progress(counted(seen)))
    lines = [f"whole: {counted(found['grains'])}"] if found["ok"] else [f"problem: {one}" for one in found["problems"]]
    if not found["ok"]:
        lines.append(
            "next: keep a copy of the file; then erase a damaged grain with `afl forget ADDRESS`, or put a copy or an export from before in its place"
        )
    asked.answer.give({"command": "verify", **found}, lines)
    return 0 if found["ok"] else 1


def _grain(one: dict[str, Any]) -> dict[str, Any]:
    """A grain with its fields once."""
    return {name: one[name] for name in ("hash", "type", "superseded_by", "derived_from", "fields")}


def state(one: dict[str, Any]) -> str:
    """Why a grain is not live; '' for one that is."""
    by = one["superseded_by"]
    return "" if by is None else "taken back" if by == "withdrawn" else f"superseded by {by[:12]}"


def _nothing(asked: Asked) -> str:
    where = "any namespace" if asked.ns == "*" else f"the namespace {asked.ns or 'shared'!r}"
    return f"nothing was found in {where}"
