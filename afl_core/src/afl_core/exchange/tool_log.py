"""Tool calls that another program logged, one JSON object a line, as tool grains: one for each call.

Known rows: a call with its result (`tool_name`, `name` or `function.name`; `content`, `output` or `result`; `is_error`, or an `error`; `input` or
`arguments`; `tool_call_id`, `call_id` or `id`; `created_at` or `timestamp`; `session_id`, `thread_id` or `thread`), an assistant's message with
`tool_calls`, and the result of a call that stood before (`role: "tool"`, or one without a name). Other messages are passed over.
"""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Iterator, Mapping
from typing import Any

import attrs

from afl_core.exchange.access import Access, Progress, Redact, unchanged
from afl_core.exchange.errors import Unfit
from afl_core.exchange.files import Source
from afl_core.exchange.report import Report, Tally
from afl_core.exchange.rows import ALREADY, Draft, json_rows, store_drafts, told
from afl_core.exchange.times import time_of
from afl_core.memory import write
from afl_core.model.codec import canonical, compact
from afl_core.model.errors import AflError
from afl_core.model.grain import Grain, GrainType, make
from afl_core.model.json_values import DECODER
from afl_core.store import beside, grains

TOOL_LOG = "tool-log"
MAX_CONTENT = 32_768
"""Characters of a result, and of an input as JSON, that are kept."""
MAX_WAITING = 10_000
"""Calls whose results have not come yet; the oldest one of more is stored without."""


@attrs.frozen
class Call:
    """A call as a log tells it, so far. `content`: None while it is not known how it ended."""

    line: int
    name: str
    call_id: str | None
    session: str | None
    input: Any
    at_ms: int | None
    content: str | None
    is_error: bool | None
    ns: str | None


def import_tool_log(access: Access, source: Source, *, progress: Progress, redact: Redact = unchanged) -> Report:
    """Store the calls of a log. `redact`: what the fields of a call pass first; one that it refuses is not stored."""
    tally = Tally()
    drafts = _drafts(access, source, tally, redact)

    def judge(db: sqlite3.Connection, draft: Draft) -> str:
        fields, cover = draft.grain.fields, access.cover
        session = fields.get("session_id")
        there = beside.calls(db, draft.grain.ns, None if session is None else cover.name(session), cover.name(fields["tool_call_id"]))
        # Without a session an id may be another log's number of the line: then only an equal call is the same one.
        known = there if session is not None else [one for one in there if _alike(grains.get(db, one, cover), draft.grain)]
        return ALREADY if known else ""

    def put(db: sqlite3.Connection, draft: Draft) -> object:
        return write.record_call(db, draft.grain, cover=access.cover)

    store_drafts(access, drafts, lambda: source.done, tally, judge, put, told(source, progress))
    return tally.report(TOOL_LOG, source.path)


def _alike(there: grains.Stored | None, grain: Grain) -> bool:
    return there is not None and all(
        there.grain.fields.get(name) == grain.fields.get(name) for name in ("tool_name", "tool_content", "input")
    )


# ----------------------------------------------------------------------------------------------------------------------------------- reading


def _drafts(access: Access, source: Source, tally: Tally, redact: Redact) -> Iterator[Draft]:
    seen: dict[str, int] = {}
    for call in _calls(source, tally):
        try:
            yield _draft(access, call, seen, redact)
        except (AflError, Unfit) as bad:
            tally.skip(call.line, bad)


def _calls(source: Source, tally: Tally) -> Iterator[Call]:
    """The calls of a log, each when its result is known; those without one at the end."""
    waiting: dict[tuple[str | None, str], Call] = {}
    for number, row in json_rows(source, tally):
        try:
            found = list(_of_row(number, row, waiting))
        except Unfit as bad:
            tally.skip(number, bad)
            continue
        if not found:
            tally.ignored += 1
        for call in found:
            if call.content is not None or call.call_id is None:
                yield call
                continue
            unanswered = waiting.pop((call.session, call.call_id), None)
            waiting[call.session, call.call_id] = call
            if unanswered is not None:
                yield unanswered
        while len(waiting) > MAX_WAITING:
            yield waiting.pop(next(iter(waiting)))
    yield from waiting.values()


def _of_row(number: int, row: Mapping[str, Any], waiting: dict[tuple[str | None, str], Call]) -> Iterator[Call]:
    if isinstance(row.get("tool_calls"), list):
        for one in row["tool_calls"]:
            if isinstance(one, dict):
                yield _call(number, {**_shared(row), **one}, with_result=False)
        return
    role = row.get("role")
    if role is not None and role not in ("tool", "function"):
        return
    name, call_id, session = _name(row), _id(row), _session(row)
    if name is None or role in ("tool", "function"):
        before = waiting.pop((session, call_id), None) if call_id is not None else None
        if before is not None:
            yield _ended(before, row)
            return
        if name is None:
            if call_id is None and role is None:
                raise Unfit("it names no tool (tool_name, name or function.name)")
            raise Unfit("it is the result of a call that did not come before, and names no tool")
    yield _call(number, row, with_result=True)


_SHARED = ("created_at", "timestamp", "session_id", "thread_id", "thread", "namespace")


def _shared(row: Mapping[str, Any]) -> dict[str, Any]:
    """What a message says for all the calls in it."""
    return {name: row[name] for name in _SHARED if name in row}


def _call(number: int, row: Mapping[str, Any], *, with_result: bool) -> Call:
    name = _name(row)
    if name is None:
        raise Unfit("it names no tool (tool_name, name or function.name)")
    inside = row.get("function")
    given = _first({**(inside if isinstance(inside, dict) else {}), **row}, "input", "arguments")
    content = _content(row) if with_result else None
    ns = row.get("namespace")
    return Call(
        number,
        name,
        _id(row),
        _session(row),
        _parsed(given),
        _time(row),
        content,
        _is_error(row) if content is not None else None,
        ns if isinstance(ns, str) else None,
    )


def _ended(before: Call, row: Mapping[str, Any]) -> Call:
    at = _time(row)
    return attrs.evolve(before, content=_content(row) or "", is_error=_is_error(row), at_ms=before.at_ms if at is None else at)


def _first(row: Mapping[str, Any], *names: str) -> Any:
    return next((row[name] for name in names if row.get(name) is not None), None)


def _name(row: Mapping[str, Any]) -> str | None:
    inside = row.get("function")
    found = _first({**row, "function.name": inside.get("name") if isinstance(inside, dict) else None}, "tool_name", "name", "function.name")
    return found if isinstance(found, str) and found.strip() else None


def _id(row: Mapping[str, Any]) -> str | None:
    found = _first(row, "tool_call_id", "call_id", "id")
    return None if found is None or found == "" or isinstance(found, dict | list) else str(found)


def _session(row: Mapping[str, Any]) -> str | None:
    found = _first(row, "session_id", "thread_id", "thread")
    return found if isinstance(found, str) and found else None


def _time(row: Mapping[str, Any]) -> int | None:
    value = _first(row, "created_at", "timestamp")
    if value is None:
        return None
    found = time_of(value)
    if found is None:
        raise Unfit(f"its time cannot be read: {str(value)[:60]!r}")
    return found


def _content(row: Mapping[str, Any]) -> str | None:
    """The text of a result; None when the row has none. Of an error without a result, what the error says."""
    found = _first(row, "content", "output", "result")
    return _words(row.get("error") if found is None and row.get("error") else found)


def _words(value: Any) -> str | None:
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, list) and value and all(isinstance(one, dict) and isinstance(one.get("text"), str) for one in value):
        return "\n".join(one["text"] for one in value)
    return compact(value)


def _is_error(row: Mapping[str, Any]) -> bool:
    told = row.get("is_error")
    if isinstance(told, str):
        return told.strip().lower() in ("true", "1", "yes")
    return bool(told) if isinstance(told, bool | int) else bool(row.get("error"))


def _parsed(value: Any) -> Any:
    """Arguments are often JSON in a string."""
    if not isinstance(value, str):
        return value
    try:
        return DECODER.decode(value)
    except (ValueError, RecursionError):
        return value


# ------------------------------------------------------------------------------------------------------------------------------------ grains


def _draft(access: Access, call: Call, seen: dict[str, int], redact: Redact) -> Draft:
    fields: dict[str, Any] = {
        "namespace": call.ns or access.ns,
        "tool_name": _plain(call.name),
        "tool_content": None if call.content is None else _plain(call.content),
        "is_error": call.is_error,
        "input": _plain_in(call.input),
        "session_id": None if call.session is None else _plain(call.session),
        "tool_call_id": _call_id(call, seen),
        "created_at": call.at_ms,
    }
    kept = dict(redact(fields))  # whole: half of a secret is not known for one
    if kept["tool_content"] is not None:
        kept["tool_content"] = _short(kept["tool_content"])
    kept["input"] = _short_input(kept["input"])
    return Draft(call.line, make(GrainType.TOOL, kept, access.clock()), call.at_ms is not None)


def _call_id(call: Call, seen: dict[str, int]) -> str:
    """The call's own id; else one made of what the row says and how often it was said before, so that the same log gives the same ids."""
    if call.call_id is not None:
        return _plain(call.call_id)
    said = canonical([call.name, call.input, call.content, call.is_error, call.at_ms])
    mark = hashlib.sha256(said.encode("utf-8", "surrogatepass")).hexdigest()[:24]
    seen[mark] = seen.get(mark, 0) + 1
    return f"row:{mark}-{seen[mark]}"


def _plain(text: str) -> str:
    """Logs may hold what no grain can: NUL and halves of surrogate pairs become the replacement character."""
    text = text.replace("\0", "\ufffd")
    return text if text.isascii() else text.encode("utf-8", "replace").decode()


def _plain_in(value: Any) -> Any:
    """The same for every text in a value."""
    if isinstance(value, str):
        return _plain(value)
    if isinstance(value, list):
        return [_plain_in(one) for one in value]
    if isinstance(value, dict):
        return {_plain(key): _plain_in(one) for key, one in value.items()}
    return value


def _short(text: str) -> str:
    if len(text) <= MAX_CONTENT:
        return text
    return f"{text[:MAX_CONTENT]}\n[{len(text) - MAX_CONTENT} more characters were left out]"


def _short_input(value: Any) -> Any:
    if value is None:
        return None
    text = value if isinstance(value, str) else compact(value)
    return value if len(text) <= MAX_CONTENT else _short(text)
