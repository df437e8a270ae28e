"""Files that hold credentials in their lines: `.pgpass`, and a `.netrc` whose password stands first."""

from __future__ import annotations

import re
from collections.abc import Iterator

from afl_redactors import lookalikes
from afl_redactors.markers import already_redacted
from afl_redactors.rules import Lead, Rule, Span, leading, matching
from afl_redactors.values import read_value
from afl_redactors.windows import Clip, View

_PORTS = ("5432", "5433", "5434", "5439", "6432", "6543", "25060", "26257", "*")
"""Ports of PostgreSQL and what speaks like it; the star stands for any."""
_FIELD = r"(?:\\[:\\]|[^\s\\:\"'`/]){1,64}"
_REST = rf"{_FIELD}:{_FIELD}:(?P<value>(?:\\[:\\]|[^\s\\\"'`]){{1,256}})"
_LISTED = "|".join(map(re.escape, _PORTS))


def _line(port: str) -> re.Pattern[str]:
    return re.compile(rf"(?<![^\s\"'`>=])[\w.*\[\]-]{{1,128}}:(?:{port}):{_REST}")


_OF_A_PORT, _OF_ANY_PORT = _line(_LISTED), _line(r"\d{1,5}|\*")
_BEHIND = re.compile(rf":(?:{_LISTED}):{_REST}")
_NUMBERS = re.compile(r"[0-9a-fA-F]{0,4}(?::[0-9a-fA-F]{0,4}){1,4}|[\d:*!]{1,64}")
"""The rest of an address, or fields that another file has."""
_MACHINE = re.compile(
    r"machine[ ](?:\w[\w-]{0,62}\.[^\s\\]{1,120}|[\w.-]{1,64}(?=\s{0,8}\n|\\n))(?:\s|\\[nt]){1,40}password(?:[ \t]{1,8})(?=\S)"
)


def _entry(_view: View, found: re.Match[str]) -> Iterator[Span]:
    value = found["value"]
    fields = found.group().split(":", 2)[2]
    if already_redacted(value) or lookalikes.is_placeholder(value) or value[0] in "$<{%":
        return
    if ".*" in value or "[0-9]" in value or "[^" in value:
        return  # a pattern of such lines
    if _NUMBERS.fullmatch(fields) or _NUMBERS.fullmatch(value):
        return
    yield found.span("value")


def _first(view: View, found: re.Match[str]) -> Iterator[Span]:
    value = read_value(view, found.end())
    if value is not None and not (already_redacted(value.text) or lookalikes.is_placeholder(value.text) or value.text[0] in "$<{%"):
        yield value.start, value.end


_WORDS = tuple(f":{port}:" for port in _PORTS)
_PORT = Rule("password-file", _WORDS, matching(_OF_A_PORT, _entry), before=140, after=420)
_NAMED = Rule("password-file", ("pgpass",), matching(_OF_ANY_PORT, _entry), before=240, after=1600, clip=Clip.NOTHING)
_NETRC = Rule("password-file", ("machine ",), matching(_MACHINE, _first), before=0, after=320, clip=Clip.NOTHING)

RULES = (_PORT, _NAMED, _NETRC)
LEADS: tuple[Lead, ...] = (
    leading(_PORT, _BEHIND.match),
    leading(_NAMED, lambda _text, _at: True),
    leading(_NETRC, _MACHINE.match),
)
