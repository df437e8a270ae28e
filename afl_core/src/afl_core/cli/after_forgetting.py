"""`afl allow` lets a value in again that was forgotten for good; `afl sweep` ends a forget that broke off or met a reader."""

from __future__ import annotations

from typing import Any

import click

from afl_core.cli.grains import Field, redacted
from afl_core.cli.opening import Asked, on_memory, on_memory_taking


@click.command(
    help="Let a value in again that was forgotten and stays out, in whatever spelling: `afl allow fact acme deploy_target us-east-1`, or field by"
    " field, `afl allow observation content=...`. Of a captured call give its tool_name, session_id and tool_call_id."
)
@click.argument("type")
@click.argument("words", nargs=-1, metavar="[NAME=VALUE]...")
@click.option("--json-fields", metavar="JSON", help="All fields as one JSON object.")
@on_memory
def allow(asked: Asked, type: str, words: tuple[str, ...], json_fields: str | None) -> None:
    """Allow."""
    fields = _fields(type, words, json_fields)
    with asked.memory(one_ns=True) as opened:
        kept, _ = redacted(opened, fields, redact=False)
        allowed = opened.memory.allow(type, kept)
    said = "it may be added again" if allowed else "it was not kept out"
    asked.answer.give({"command": "allow", "type": type, "fields": kept, "allowed": allowed}, [said])


@click.command(
    help="End a forget that broke off, or that met a reader who kept the bytes: what was forgotten is then in no file of the memory. The next forget"
    " and the next opening do the same."
)
@on_memory_taking((), ns_help=None)
def sweep(asked: Asked) -> None:
    """Sweep."""
    with asked.memory() as opened:
        opened.memory.sweep()  # opening tried it; this says why when it could not
    asked.answer.give({"command": "sweep", "unswept": 0}, ["nothing is left of what was forgotten"])


def _fields(type: str, words: tuple[str, ...], json_fields: str | None) -> dict[str, Any]:
    """A fact can be said in three words, as `afl add` takes it."""
    from afl_core.api.by_hand import FACT, fields_of

    said = dict(zip(FACT, words, strict=False)) if type == "fact" and len(words) == len(FACT) else {}
    if said and not all(word.partition("=")[0].removesuffix(":") in FACT for word in words):
        return {**fields_of((), json_fields), **said}
    return fields_of([Field().convert(word, None, click.get_current_context()) for word in words], json_fields)
