"""The bundle `afl-bundle/1`: a header line, then one operation a line, canonical JSON, UTF-8. Pure.

Header: `{"count": lines that follow, "format": "afl-bundle/1", "grains": adds among them, "ns": the only namespace or null, "sha256": of all bytes
behind the header line}`. Lines, in the order things happened:

- `add`: `type`, `fields` and `hash`; `derived_from` where the fields do not say it; `head` (of a live grain of a thing: whether it is a head);
  `turns` (how often it stopped or started being live, when it did).
- `supersede`, `link`, `merge`, `retract`, `unlink`, `restore`: `hash` and `turn` (the how-manyth of this grain), `at` (ms), `other` (what took its
  place), `last` with the last turn, and then `head` as above.
- `forget`: `hash` of a grain that was erased, and `at`.
"""

from __future__ import annotations

from typing import Any

import attrs

from afl_core.exchange.errors import ExchangeError
from afl_core.model.codec import canonical, loads
from afl_core.model.errors import ModelError
from afl_core.model.grain import MAX_BYTES, Grain, GrainType, formed, unfit
from afl_core.store import operations
from afl_core.store.bundles import Event, Row

BUNDLE = "afl-bundle/1"
FAMILY = "afl-bundle/"
MAX_LINE_BYTES = MAX_BYTES + 4_096
"""A line holds one grain and little else."""
MAX_HEADER_BYTES = 4_096

LIVE_AFTER = frozenset({operations.RESTORE, operations.UNLINK})
DEAD_AFTER = frozenset({operations.SUPERSEDE, operations.LINK, operations.MERGE, operations.RETRACT})


@attrs.frozen
class Header:
    """`sha256` of everything behind the header line."""

    count: int
    grains: int
    ns: str | None
    sha256: str


@attrs.frozen
class Add:
    """A grain. `unfit`: which rule of its type it breaks, '' for none; a grain that was stored before there was the rule may."""

    grain: Grain
    derived_from: str | None
    head: bool | None
    turns: int
    unfit: str = ""


@attrs.frozen
class Turn:
    """A grain stopped or started being live."""

    op: str
    hash: str
    other: str | None
    at_ms: int
    turn: int
    last: bool
    head: bool | None


@attrs.frozen
class Forget:
    """A grain was erased."""

    hash: str
    at_ms: int


Line = Add | Turn | Forget

# ----------------------------------------------------------------------------------------------------------------------------------- writing


def header_line(header: Header) -> bytes:
    """The first line."""
    return (canonical({"format": BUNDLE, **attrs.asdict(header)}) + "\n").encode()


def add_line(row: Row, body: str, own_derived: bool) -> bytes:
    """A grain's line around its body, which is canonical already. `own_derived`: its fields say themselves what it is derived from."""
    derived = "" if own_derived or row.derived_from is None else f'"derived_from":{canonical(row.derived_from)},'
    head = "" if row.head is None else f'"head":{canonical(row.head)},'
    turns = f'"turns":{row.turns},' if row.turns else ""
    return f'{{{derived}"fields":{body},"hash":"{row.hash}",{head}"op":"add",{turns}"type":"{row.type}"}}\n'.encode()


def event_line(event: Event) -> bytes:
    """What happened to a grain, as a line."""
    told: dict[str, Any] = {"op": event.op, "hash": event.hash, "at": event.at_ms}
    if event.op != operations.FORGET:
        told["turn"] = event.turn
        if event.other is not None:
            told["other"] = event.other
        if event.last:
            told["last"] = True
            if event.head is not None:
                told["head"] = event.head
    return (canonical(told) + "\n").encode()


# ----------------------------------------------------------------------------------------------------------------------------------- reading


def read_header(line: bytes, path: str) -> Header:
    """The header. Raises `ExchangeError` for another format, a newer version and a damaged line."""
    damaged = ExchangeError(f"{path} has a damaged header", code="AFL-EXCHANGE-004", hint="export the memory again")
    try:
        body = loads(line, "the header")
    except (ModelError, UnicodeDecodeError) as bad:
        raise damaged from bad
    if not isinstance(body, dict) or not str(body.get("format", "")).startswith(FAMILY):
        raise damaged
    if body["format"] != BUNDLE:
        raise ExchangeError(
            f"{path} is a bundle of another version, {body['format']}", code="AFL-EXCHANGE-005", hint="upgrade afl_core and import it again"
        )
    if not (_is_count(body.get("count")) and _is_count(body.get("grains")) and _is_address(body.get("sha256"))):
        raise damaged
    ns = body.get("ns")
    return Header(body["count"], body["grains"], ns if isinstance(ns, str) else None, body["sha256"])


def read_line(line: bytes) -> Line:
    """One operation. Raises `ModelError` saying what is wrong with it; the address of a grain is computed anew and compared."""
    body = loads(line, "the line")
    _must(isinstance(body, dict), "it is not a JSON object")
    op, address = body.get("op"), body.get("hash")
    _must(_is_address(address), "hash is not 64 hexadecimal digits")
    if op == "add":
        return _read_add(body)
    _must(_is_time(body.get("at")), "at is not a time")
    if op == operations.FORGET:
        return Forget(address, body["at"])
    _must(op in LIVE_AFTER or op in DEAD_AFTER, f"op {op!r} is not known")
    turn, other, last = body.get("turn"), body.get("other"), body.get("last") is True
    _must(_is_count(turn) and turn > 0 and turn % 2 == (op in DEAD_AFTER), "turn does not fit")
    _must(other is None or (_is_address(other) and other != address), "other is not another address")
    return Turn(op, address, other, body["at"], turn, last, _head_of(body) if last and op in LIVE_AFTER else None)


def _read_add(body: dict[str, Any]) -> Add:
    _must(isinstance(body.get("fields"), dict) and "created_at" in body["fields"], "fields are missing")
    _must(body.get("type") in _TYPES, f"type {body.get('type')!r} is not known")
    grain = formed(GrainType(body["type"]), body["fields"], 0)
    _must(grain.hash == body["hash"], f"the address of what it says is {grain.hash[:12]}, not {body['hash'][:12]}")
    turns, derived = body.get("turns", 0), body.get("derived_from")
    _must(_is_count(turns), "turns is not a count")
    _must(derived is None or isinstance(derived, str), "derived_from is not text")
    return Add(grain, derived, _head_of(body), turns, unfit(grain))


_TYPES = {one.value for one in GrainType}


def _head_of(body: dict[str, Any]) -> bool | None:
    head = body.get("head")
    return head if isinstance(head, bool) else None


def _must(holds: bool, sentence: str) -> None:
    if not holds:
        raise ModelError(sentence, code="AFL-MODEL-003")


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**62


def _is_time(value: Any) -> bool:
    """As any grain may say when it was made."""
    return isinstance(value, int) and not isinstance(value, bool) and -(2**63) <= value < 2**63


def _is_address(value: Any) -> bool:
    return isinstance(value, str) and len(value) == 64 and all(digit in "0123456789abcdef" for digit in value)
