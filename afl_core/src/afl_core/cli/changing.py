"""`afl supersede`, `retract`, `undo` and `merge`: what is true now takes the place of what was, and every one of these can be taken back."""

from __future__ import annotations

from typing import Any

import click

from afl_core.cli.finding import state
from afl_core.cli.grain_lines import line
from afl_core.cli.grains import REDACT, Field, changed_line, redacted
from afl_core.cli.opening import Asked, Opened, on_memory, on_memory_taking


@click.command(
    help="Put something new in the place of a grain: another OBJECT of a fact, or other fields; what is not given is taken over. With --by another"
    " grain that is there already takes its place. The old one stays in its history; `afl undo` brings it back."
)
@click.argument("hash")
@click.argument("object", required=False)
@click.option("--field", "given", type=Field(), multiple=True, metavar="NAME=VALUE", help="One field; NAME:=JSON for what is not text.")
@click.option("--json-fields", metavar="JSON", help="Fields as one JSON object.")
@click.option("--by", metavar="HASH", help="The grain that takes its place.")
@REDACT
@on_memory_taking((), ns_help=None)
def supersede(
    asked: Asked, hash: str, object: str | None, given: tuple[tuple[str, str], ...], json_fields: str | None, by: str | None, redact: bool
) -> None:
    """Supersede."""
    from afl_core.api.by_hand import fields_of

    fields = fields_of(given, json_fields)
    if object is not None:
        fields["object"] = object
    if bool(fields) == (by is not None):
        said = "one of them, not both" if fields else "an OBJECT, --field, --json-fields or --by"
        raise click.UsageError(f"say what takes its place: {said}", click.get_current_context())
    with asked.memory() as opened:
        memory, changed = opened.memory, 0
        before = memory.get(hash)
        there = before["hash"]
        if object is not None and before["type"] != "fact":
            raise click.UsageError(
                f"an OBJECT is said of a fact, and this is one: {before['type']}; give --field", click.get_current_context()
            )
        if by is None:
            kept, changed = _redacted(opened, before, fields, redact)
            address = memory.supersede(there, kept)
        else:
            address = memory.get(by)["hash"]
            memory.supersede_by(there, address)
        one, old, now = memory.get(address), memory.get(there), opened.now()
    asked.answer.give(
        {"command": "supersede", "hash": address, "superseded": old["hash"], "redacted": changed, "fields": one["fields"]},
        [line(one, now), line(old, now, state(old)), *changed_line(changed)],
    )


@click.command(help="Take a grain back: it is recalled no more and stays in its history. `afl undo` brings it back.")
@click.argument("hash")
@on_memory_taking((), ns_help=None)
def retract(asked: Asked, hash: str) -> None:
    """Retract."""
    with asked.memory() as opened:
        there = opened.memory.get(hash)["hash"]
        opened.memory.retract(there)
        one, now = opened.memory.get(there), opened.now()
    asked.answer.give({"command": "retract", "hash": one["hash"]}, [line(one, now, state(one))])


@click.command(
    help="Bring a grain back by undoing what hid it: a supersession, a merge, or that it was taken back. What was made to take its place is"
    " withdrawn. What was forgotten is never brought back."
)
@click.argument("hash")
@on_memory_taking((), ns_help=None)
def undo(asked: Asked, hash: str) -> None:
    """Undo."""
    with asked.memory() as opened:
        there = opened.memory.get(hash)["hash"]
        undone = opened.memory.undo(there)
        one, now = opened.memory.get(there), opened.now()
    asked.answer.give({"command": "undo", "hash": one["hash"], "undone": undone}, [f"{line(one, now)}: undid {undone}"])


@click.command(
    help="End a fork: one fact takes the place of all newest ones of a subject and relation that `afl forks` shows. `afl undo` brings them back."
)
@click.argument("subject")
@click.argument("relation")
@click.argument("object")
@REDACT
@on_memory
def merge(asked: Asked, subject: str, relation: str, object: str, redact: bool) -> None:
    """Merge."""
    with asked.memory(one_ns=True) as opened:
        kept, changed = redacted(opened, {"relation": relation, "object": object}, redact)
        address = opened.memory.merge_heads(subject, relation, kept["object"])
        one, now = opened.memory.get(address), opened.now()
    asked.answer.give(
        {"command": "merge", "hash": address, "redacted": changed, "fields": one["fields"]}, [line(one, now), *changed_line(changed)]
    )


def _redacted(opened: Opened, old: dict[str, Any], fields: dict[str, Any], redact: bool) -> tuple[dict[str, Any], int]:
    """What is stored of new fields: an object is read together with the relation that it keeps."""
    keeps = {"relation": old["relation"]} if "relation" in old and "relation" not in fields else {}
    kept, changed = redacted(opened, {**keeps, **fields}, redact)
    return {name: value for name, value in kept.items() if name in fields}, changed
