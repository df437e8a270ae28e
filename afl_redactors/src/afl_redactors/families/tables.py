"""Values that stand below or beside a credential's name: on the next line, in a column of a table, in the next cell."""

from __future__ import annotations

import re
from collections.abc import Iterator

from afl_redactors import guesses, lookalikes
from afl_redactors.keys import CHINESE, CREDENTIAL_NAME, GUESSED, WORDS, Trust, is_sure, judge, left_of
from afl_redactors.markers import already_redacted
from afl_redactors.rules import Lead, Rule, Span, leading, matching
from afl_redactors.values import read_value
from afl_redactors.windows import Clip, View

_FLAGS = re.VERBOSE | re.IGNORECASE
_NAME = rf"(?P<word>{CREDENTIAL_NAME}|{'|'.join(CHINESE)})(?P<suffix>[A-Za-z0-9_-]{{0,24}})"
_BELOW = re.compile(
    rf"""{_NAME}[*"'`]{{0,3}}[ \t]{{0,4}}(?P<asks>[:：?？]?)[*]{{0,2}}[ \t]{{0,4}}(?:\r?\n[ \t]{{0,8}}){{1,2}}(?:[>$][ ]|[*+-][ ])?(?P<quote>["'`]?)(?![\#@/-])
    (?P<value>[^\s"'`<>|]{{4,511}}[^\s"'`<>|:=,{{(;\[])(?P=quote)[ \t]{{0,8}}(?=\r?\n|$)""",
    _FLAGS,
)
_CELL = re.compile(
    rf"{_NAME}[*`]{{0,3}}[ \t]{{0,40}}\|[ \t]{{0,8}}[*`]{{0,3}}(?P<value>[^\s|*`]{{4,256}})[*`]{{0,3}}[ \t]{{0,40}}(?=[|\r\n]|$)", _FLAGS
)
_COLUMN = re.compile(rf"{_NAME}[*\"'`]{{0,3}}[ \t]{{0,40}}(?=[|,;\t\r\n]|$)", _FLAGS)
_RULER = re.compile(r"[|:\- \t+]{3,400}")
_HEADING = re.compile(r"[A-Za-z_][\w .\-/#*]{0,40}|\"[A-Za-z_][\w .-]{0,40}\"")
_CODE_AT_LEFT = re.compile(r"[=(\[{};]")
_LONGEST_ROW = 1024
_MOST_ROWS = 64


def _below(view: View, found: re.Match[str]) -> Iterator[Span]:
    text = view.text
    line = text.rfind("\n", max(0, found.start() - 120), found.start()) + 1
    before, value = text[line or max(0, found.start() - 120) : found.start()], found["value"]
    trust = judge(left_of(text, found.start()), found["word"], found["suffix"])
    if trust is not Trust.STRONG and not (trust is Trust.WEAK and found["asks"] and guesses.is_random(value)):
        return
    if _CODE_AT_LEFT.search(before) or len(before.split()) > 6:
        return
    if not found["asks"] and ":" in before:
        return
    if already_redacted(value) or (lookalikes.is_name_shape(value) and not _is_more(value, asked=bool(found["asks"]))):
        return
    if guesses.is_sure(value) or (found["asks"] and is_sure(found["word"]) and guesses.is_chosen(value)):
        yield found.span("value")


def _is_more(value: str, *, asked: bool) -> bool:
    return guesses.is_random(value) or (asked and guesses.is_mixed(value))


def _beside(view: View, found: re.Match[str]) -> Iterator[Span]:
    text, value = view.text, found["value"]
    line = text.rfind("\n", max(0, found.start() - 200), found.start()) + 1
    if "|" not in text[line : found.start()] or judge(left_of(text, found.start()), found["word"], found["suffix"]) is not Trust.STRONG:
        return
    end = text.find("\n", found.end())
    if end >= 0 and _RULER.match(text, end + 1) and text.count("|", line, end) > 3:
        return  # the heading of a table
    if not already_redacted(value) and (guesses.is_sure(value) or (is_sure(found["word"]) and guesses.is_chosen(value))):
        yield found.span("value")


def _in_columns(view: View, found: re.Match[str]) -> Iterator[Span]:
    text = view.text
    line = text.rfind("\n", max(0, found.start() - _LONGEST_ROW), found.start()) + 1
    end = _end_of(text, found.end())
    heading = text[line:end]
    if len(heading) > _LONGEST_ROW or "\n" in heading:
        return
    if text[found.end() : found.end() + 1] != "|" and not _may_head_a_table(text, found.start(), found.end()):
        return
    if judge(left_of(text, found.start()), found["word"], found["suffix"]) is not Trust.STRONG:
        return
    for mark in "|,;\t":
        if mark in heading:
            yield from _column(view, (line, end), found.start(), mark)
            return


def _column(view: View, heading: Span, at: int, mark: str) -> Iterator[Span]:
    """Read the cells below the heading cell that holds `at`."""
    text, (line, end) = view.text, heading
    heading_text = text[line:end]
    cells = [cell.strip() for cell in heading_text.split(mark)]
    column = text.count(mark, line, at)
    named = [cell for cell in cells if cell]
    if len(named) < 2 or not all(_HEADING.fullmatch(cell) or not cell.isascii() for cell in named) or any(len(cell) > 44 for cell in named):
        return
    below = end + 1
    if mark != "|" and (
        not cells[-1] or not cells[0] or ('"' in heading_text and not (heading_text.startswith('"') and text.startswith('"', below)))
    ):
        return
    if mark == "|":
        ruler = _RULER.match(text, below)
        if ruler is None or "-" not in ruler.group():
            return
        below = _end_of(text, below) + 1
    for _ in range(_MOST_ROWS):
        stop = _end_of(text, below)
        if below >= len(text) or stop - below > _LONGEST_ROW or text.count(mark, below, stop) != len(cells) - 1:
            return
        view.count(stop - below)
        start = below
        for _ in range(column):
            start = text.find(mark, start, stop) + 1
        last = text.find(mark, start, stop)
        yield from _cell(text, start, last if last >= 0 else stop)
        below = stop + 1


def _cell(text: str, start: int, end: int) -> Iterator[Span]:
    value = text[start:end]
    start += len(value) - len(value.lstrip(" \t\"'`*"))
    end -= len(value) - len(value.rstrip(" \t\r\"'`*"))
    value = text[start:end]
    if start < end and guesses.is_chosen(value) and not already_redacted(value):
        yield start, end


def _end_of(text: str, at: int) -> int:
    end = text.find("\n", at)
    return len(text) if end < 0 else end


_VARIABLE = re.compile(
    rf"{_NAME}[\"'][ ]?\{{[^{{}}]{{0,400}}?\bdefault[ \t]{{0,16}}=[ \t]{{0,4}}(?=\")",
    _FLAGS,
)


def _default(view: View, found: re.Match[str]) -> Iterator[Span]:
    if judge(left_of(view.text, found.start()), found["word"], found["suffix"]) in {Trust.NONE, *GUESSED}:
        return
    value = read_value(view, found.end())
    if value is None or already_redacted(value.text) or lookalikes.is_placeholder(value.text) or lookalikes.is_reference(value.text):
        return
    if not (lookalikes.is_label(value.text) or lookalikes.names_itself(value.text) or guesses.is_measure(value.text)):
        yield value.start, value.end


_SPLIT = re.compile(
    rf"""{_NAME}(?P<close>\\{{0,3}}["']?)(?:[ \t]{{0,8}}(?::=|=|:)[ \t]{{0,8}}\r?\n\s{{0,64}}|[ \t]{{0,8}}\r?\n\s{{0,64}}:\s{{0,64}})(?=\\{{0,3}}[bBrRfFuU]?["'])""",
    _FLAGS,
)
_KEY_BELOW = re.compile(r"\\{0,3}[\"'][ \t]{0,4}[:=]")


def _on_the_next_line(view: View, found: re.Match[str]) -> Iterator[Span]:
    trust = judge(left_of(view.text, found.start()), found["word"], found["suffix"])
    if trust not in {Trust.WEAK, Trust.STRONG}:
        return
    value = read_value(view, found.end())
    if value is None or not value.quoted or already_redacted(value.text) or _KEY_BELOW.match(view.text, value.end):
        return
    if guesses.is_chosen(value.text) if found["close"] or trust is Trust.STRONG else guesses.is_sure(value.text):
        yield value.start, value.end


_INSERT = re.compile(
    r"insert[ ]into\s{1,8}[\w.\"`\[\]]{1,120}\s{0,8}\((?P<columns>[^()]{1,600})\)\s{0,8}values\s{0,8}(?=\()", re.IGNORECASE
)
_ROW = re.compile(r"[\s,]{0,16}\(")
_FIELD = re.compile(r"\s{0,8}(?:[NE]?'(?P<value>(?:[^'\n]|''){0,512})'|[^,()']{1,200}|[A-Za-z_]{1,40}\([^()]{0,200}\))\s{0,8}")
_TELLING_COLUMN = re.compile(rf"{CREDENTIAL_NAME}", _FLAGS)


def _inserted(view: View, found: re.Match[str]) -> Iterator[Span]:
    columns = [_is_of_a_credential(column.strip(' \t\r\n"`[]')) for column in found["columns"].split(",")]
    at = found.end()
    for _ in range(_MOST_ROWS if any(columns) else 0):
        row = _ROW.match(view.text, at)
        if row is None:
            return
        at = row.end()
        for told in columns:
            field = _FIELD.match(view.text, at)
            if field is None:
                return
            view.count(field.end() - at)
            value = field["value"]
            if told and value and guesses.is_chosen(value) and not already_redacted(value):
                yield field.span("value")
            at = field.end() + 1


def _is_of_a_credential(column: str) -> bool:
    told = _TELLING_COLUMN.search(column)
    return told is not None and judge(column[: told.start()], told.group(), column[told.end() :]) is Trust.STRONG


INSERTED = Rule("assignment", ("insert into",), matching(_INSERT, _inserted), before=0, after=1200, clip=Clip.NOTHING)
SPLIT = Rule("assignment", WORDS, matching(_SPLIT, _on_the_next_line, named=True), before=16, after=320, clip=Clip.NOTHING)
BELOW = Rule("assignment", WORDS, matching(_BELOW, _below, named=True), before=16, after=640, clip=Clip.NOTHING)
CELL = Rule("assignment", WORDS, matching(_CELL, _beside, named=True), before=16, after=400)
COLUMN = Rule("assignment", WORDS, matching(_COLUMN, _in_columns, named=True), before=16, after=128)
VARIABLE = Rule("assignment", WORDS, matching(_VARIABLE, _default, named=True), before=16, after=520, clip=Clip.NOTHING)

RULES = (BELOW, CELL, COLUMN, VARIABLE, SPLIT, INSERTED)
LEADS: tuple[Lead, ...] = (leading(INSERTED, _INSERT.match),)

_ENDS = re.compile(r"\\{0,3}[*\"'`]{0,3}[ \t]{0,8}(?::=|[:=：?？]?)[*]{0,2}[ \t]{0,8}\r?\n")
_ENDS_CELL = re.compile(r"[*\"'`]{0,3}[ \t]{0,40}(?:(?P<mark>[|,;\t\r\n])|$)")
_NEITHER = frozenset("=().[]{}+/<>&")
_HEADINGS = re.compile(r"[ \t]{0,4}[^()\[\]{}=<>:\n]{4,1024}")
_OPENS = re.compile(r"[\"'][ ]?\{")


def worth(view: View, start: int, behind: int) -> list[Rule]:
    """Return which of these rules are worth running where a telling part stands at `start` and the rest of its name ends at `behind`."""
    text = view.text
    rules: list[Rule] = []
    if text[behind : behind + 1] in _NEITHER:
        return rules
    ends = _ENDS.match(text, behind)
    if ends and _BELOW.match(text, start):
        rules.append(BELOW)
    if ends and _SPLIT.match(text, start):
        rules.append(SPLIT)
    cell = _ENDS_CELL.match(text, behind)
    if cell:
        if cell["mark"] == "|":
            rules += (CELL, COLUMN)
        elif _may_head_a_table(text, start, behind):
            rules.append(COLUMN)
    if text.startswith(('"', "'"), behind) and _OPENS.match(text, behind):
        rules.append(VARIABLE)
    return rules


def _may_head_a_table(text: str, start: int, behind: int) -> bool:
    """Say whether the line has nothing but names in it, and the line below as many fields."""
    line = text.rfind("\n", max(0, start - _LONGEST_ROW), start) + 1
    end = _end_of(text, behind)
    if line == end or end + 1 >= len(text) or end - line > _LONGEST_ROW or _HEADINGS.fullmatch(text, line, end) is None:
        return False
    mark = next((mark for mark in "|,;\t" if text.find(mark, line, end) >= 0), "")
    below = _end_of(text, end + 1)
    return bool(mark) and (mark == "|" or text.count(mark, line, end) == text.count(mark, end + 1, min(below, end + 1 + _LONGEST_ROW)))
