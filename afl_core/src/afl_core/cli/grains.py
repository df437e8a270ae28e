"""`afl add` and `afl record-tool-call`. What goes into the home's store is redacted; a file of its own is its owner's, and is when that is asked for."""

from __future__ import annotations

from typing import Any

import click

from afl_core.cli.grain_lines import SHORT, text
from afl_core.cli.opening import Asked, Opened, on_memory
from afl_core.cli.standard_input import standard_input
from afl_core.model.grain import DEFAULT_NS

REDACT = click.option("--redact", is_flag=True, help="Redact what is stored in a file of its own too; in the home's store it always is.")


class Field(click.ParamType):  # type: ignore[type-arg]  # generic since click 8.2 only
    """`name=value`; gives both. With `name:=value` the value is JSON."""

    name = "field"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[str, str]:
        """Refuses what has no name."""
        if isinstance(value, tuple):
            return value
        name, equals, rest = str(value).partition("=")
        if not equals or not name.removesuffix(":").strip():
            self.fail(f"{value!r} is not name=value", param, ctx)
        return name.strip(), rest


@click.command(
    help="Store a fact or another grain. A fact can be said in three words: `afl add fact acme deploy_target us-east-1`. A fact that the newest"
    " one of its subject and relation says already is not stored again."
)
@click.argument("type")
@click.argument("words", nargs=-1, metavar="[SUBJECT RELATION OBJECT]")
@click.option("--field", "given", type=Field(), multiple=True, metavar="NAME=VALUE", help="One field; NAME:=JSON for what is not text.")
@click.option("--json-fields", metavar="JSON", help="All fields as one JSON object; `-` reads it from standard input.")
@click.option("--confidence", type=click.FloatRange(0, 1), help="How sure it is, 0 to 1.")
@REDACT
@on_memory
def add(
    asked: Asked,
    type: str,
    words: tuple[str, ...],
    given: tuple[tuple[str, str], ...],
    json_fields: str | None,
    confidence: float | None,
    redact: bool,
) -> None:
    """Add."""
    from afl_core.api.by_hand import FACT, fields_of
    from afl_core.api.given import shaped

    if words and (type != "fact" or len(words) != len(FACT)):
        raise click.UsageError(
            "a fact is said as SUBJECT RELATION OBJECT; other types take --field or --json-fields", click.get_current_context()
        )
    whole = standard_input("give the fields as an argument, or through a pipe").read() if json_fields == "-" else json_fields
    said = {**dict(zip(FACT, words, strict=False)), **({} if confidence is None else {"confidence": confidence})}
    fields = fields_of(given, whole)
    if twice := next((name for name, value in said.items() if fields.get(name, value) != value), None):
        raise click.UsageError(f"{twice} is given twice, and not the same", click.get_current_context())
    fields |= said
    shaped(type, fields, 0, asked.ns or DEFAULT_NS)  # what is wrong is said before a file is made
    with asked.memory(makes=True, one_ns=True) as opened:
        kept, changed = redacted(opened, fields, redact)
        said_whole = type == "fact" and all(isinstance(kept.get(name), str) for name in FACT)
        address = opened.memory.add_fact(**kept) if said_whole else opened.memory.add(type, kept)
        one = opened.memory.get(address)
    asked.answer.give(
        {"command": "add", "hash": address, "type": one["type"], "redacted": changed, "fields": one["fields"]},
        [f"{address[:SHORT]}  {one['type']}: {text(one)}", *changed_line(changed)],
    )


@click.command("record-tool-call", help="Store one call of a tool. Every call is a grain of its own, also when it is like another.")
@click.option("--name", required=True, help="The tool.")
@click.option("--result", required=True, help="What it gave back.")
@click.option("--input", "input_json", metavar="JSON", help="What it was called with.")
@click.option("--is-error", is_flag=True, help="It failed.")
@click.option("--thread", metavar="ID", help="The session it belongs to.")
@click.option("--call-id", metavar="ID", help="The call's own id; made up without it.")
@REDACT
@on_memory
def record_tool_call(
    asked: Asked, name: str, result: str, input_json: str | None, is_error: bool, thread: str | None, call_id: str | None, redact: bool
) -> None:
    """Record."""
    from afl_core.model.codec import compact, loads

    given = None if input_json is None else loads(input_json, "what --input was given")
    with asked.memory(makes=True, one_ns=True) as opened:
        kept, changed = redacted(opened, {"result": result, "input": given}, redact)
        address = opened.memory.record_tool_call(
            name,
            kept["result"],
            is_error=is_error,
            thread=thread,
            call_id=call_id,
            input=None if given is None else compact(kept["input"]),
        )
        one = opened.memory.get(address)
    recorded = (one.get("tool_name"), one.get("tool_content"), one["is_error"]) == (name, kept["result"], is_error)
    stayed = [] if recorded else ["this call of the session is there already, with another outcome: the first one stays"]
    asked.answer.give(
        {
            "command": "record-tool-call",
            "hash": address,
            "call_id": one["tool_call_id"],
            "recorded": recorded,
            "redacted": changed,
            "fields": one["fields"],
        },
        [f"{address[:SHORT]}  {one['type']}: {text(one)}", *stayed, *changed_line(changed)],
    )


def redacted(opened: Opened, fields: dict[str, Any], redact: bool) -> tuple[dict[str, Any], int]:
    """Fields as they are stored where they go, and how many of their texts redaction changed."""
    from afl_core.api.by_hand import chain_of, safe

    if not (redact or opened.redacts):
        return fields, 0
    return safe(chain_of(opened.home), fields)


def changed_line(changed: int) -> list[str]:
    """What is said of redaction; nothing where it changed nothing."""
    return [f"redacted: {changed} of its texts held a secret or personal data"] if changed else []
