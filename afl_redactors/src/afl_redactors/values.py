"""Where a value ends: quoted, unquoted, block and list values are read whole. Decides nothing about what the value is worth."""

from __future__ import annotations

import re
from collections.abc import Iterator

import attrs

from afl_redactors.windows import View

_OPENER = re.compile(r"[bBrRfFuUN@]{0,2}(?P<escape>\\{0,7})(?P<quote>\"\"\"|'''|[\"'`“‘「『«])")
_CLOSING = {"“": "”", "‘": "’", "「": "」", "『": "』", "«": "»"}
_QUOTE_OR_LINE_END = {quote: re.compile(f"[{re.escape(quote)}\n]") for quote in ('"', "'", "`", "”", "’", "」", "』", "»")}
_STOP = re.compile(
    r"""[\s，。；、！？（）【】「」『』“”‘’]
    | \\{0,8}["'`](?=[\s,;:)\]}>\\"'`]|\.(?:\s|$)|$)
    | (?<=\ue000)\\{1,8}[rnt]
    | \\[rnt](?=[\\"'`\s]|$|[A-Za-z_][\w.-]{0,40}[ ]?[=:])
    | ,(?=[\s"'`]|$|[A-Za-z_][\w.-]{0,40}[ ]?[=:])
    | ;(?=\s|$|[A-Za-z_][\w.\ -]{0,40}=)
    | &(?=[A-Za-z_][\w.\[\]-]{0,40}=|amp;)
    | [)\]}>](?=[\s,;:)\]}>"'`.\\，。；、！？）]|$)
    | &(?:quot|[lr][ds]quo|lt|gt|nbsp|apos|\#x?[0-9a-fA-F]{1,6});
    | <(?=[/!A-Za-z])""",
    re.VERBOSE,
)
_OPENING_OF = {")": "(", "]": "[", "}": "{", ">": "<"}
_BALANCE_WITHIN = 512
_CONTINUED = 16
"""Lines that a value goes on over at most, behind a backslash at the end of each: every name on them may read them again."""
LONGEST_TAIL = 1024
"""Characters that may follow a closing quote and still belong to a value that has to be quoted: a longer rest is not read again and again."""
_SPLICES = 16
"""Places in one quoted value where it is closed and opened again, at most."""
_PIECES = 16
"""Pieces that one string is put together of at most."""
_FOLDED = {
    quote: re.compile(rf"(?:\r?\n[ \t]{{0,64}}[\w+/=.~-]{{6,512}}){{1,8}}\\{{0,7}}{quote}(?=[\s,;)\]}}]|$)") for quote in ('"', "'", "`")
}
"""The lines on which a quoted value of one word goes on, up to its closing quote."""
_TRAILING = ".,;:?"
_BLOCK = re.compile(r"[|>][-+0-9]{0,2}[ \t]{0,8}(?:\#[^\n]{0,80})?\r?\n(?P<indent>[+-]?[ \t]{1,64})(?=\S)")
_SPLICE = re.compile(r"""'"'"'|'\\''|''(?=\w)|""(?=\w)""")
_NEXT_PIECE = re.compile(
    r"\\{0,7}[\"'`][ \t]{0,8}(?:[+.&_\\][ \t]{0,8})?(?:\\?\r?\n[+ \t]{0,64}(?:[.&][ \t]{0,4})?|(?<=[+&.])|(?<=[+&.][ ]))(?=[bBrRfFuU]?[\"'`][^\s\"'`,;:)\]}])"
)
"""From the closing quote of one piece of a string to the opening quote of the next, on the next line or behind a plus."""
_NAMES = re.compile(r"\\{0,7}[\"'`]\]?[ \t]{0,4}[:=]")
_GOES_ON = re.compile(r"\\\r?\n[A-Za-z0-9+/_]")
"""A backslash at the end of a line behind which an unquoted value goes on."""
_BREAK = re.compile(r"(?<!\\)(?:\\\\){0,8}(?P<sign>\\[rnt])")
"""A line break or tab as JSON writes it; a backslash that belongs to a value stands there twice."""
_NEAR = 512
"""Characters before and behind a value in which a quote says that it stands in a JSON string."""
_ITEM = re.compile(r"[\s,]{0,64}(?=[\"'`])")


@attrs.frozen
class Value:
    """A value as read: `start` and `end` are offsets of the part to replace, `text` that part, `quoted` whether quotes surround it."""

    start: int
    end: int
    text: str
    quoted: bool


def read_value(view: View, start: int, limit: int | None = None, *, tail: int | None = None) -> Value | None:
    """Read the value that begins at `start`, quoted or not; None when there is nothing. An unquoted one ends at `limit` at the latest.

    A rest behind a closing quote that has no end within `tail` characters belongs to no value.
    """
    opener = _OPENER.match(view.text, start)
    value = _quoted(view, opener, tail) if opener else _unquoted(view, start, limit)
    if value is None or value.start >= value.end:
        return None
    view.count(value.end - value.start)
    return value


def read_inside(view: View, start: int, quote: str) -> Value | None:
    """Read the value from `start` to the closing `quote`, whose opening one stands earlier."""
    end, _ = _closing(view.text, start, quote, 0)
    view.count(end - start)
    return Value(start, end, view.text[start:end], quoted=True) if end > start else None


def read_list(view: View, start: int) -> Iterator[Value]:
    """Read the quoted items of a list whose opening bracket is at `start`."""
    at = start + 1
    while item := _ITEM.match(view.text, at):
        value = read_value(view, item.end())
        if value is None or not value.quoted:
            return
        yield value
        at = value.end + 1


def read_pieces(view: View, first: Value) -> Iterator[Value]:
    """Read the pieces that a quoted string goes on in: behind a plus, or on the lines below."""
    value = first
    for _ in range(_PIECES):
        following = _NEXT_PIECE.match(view.text, value.end) if value.quoted else None
        piece = read_value(view, following.end()) if following else None
        if piece is None or not piece.quoted or " " in piece.text or _NAMES.match(view.text, piece.end):
            return
        yield piece
        value = piece


def read_block(view: View, start: int) -> Value | None:
    """Read an indented block announced by `|` or `>` at `start`; None when there is no block."""
    block = _BLOCK.match(view.text, start)
    if block is None:
        return None
    text, indent = view.text, block.group("indent")
    first = end = block.end()
    while True:
        line_end = text.find("\n", end)
        end = len(text) if line_end < 0 else line_end
        if line_end < 0 or not text.startswith(indent, line_end + 1):
            break
        end = line_end + 1
    view.count(end - first)
    return Value(first, end, text[first:end], quoted=True)


def _quoted(view: View, opener: re.Match[str], longest: int | None) -> Value | None:
    text, quote, start = view.text, opener.group("quote"), opener.end()
    if len(quote) == 3:
        end = view.next_hit(quote, start)
        end = end if end >= 0 else len(text)
        return Value(start, end, text[start:end], quoted=True)
    closing = _CLOSING.get(quote, quote)
    end, after = _closing(text, start, closing, len(opener.group("escape")))
    if after < len(text) and closing in "\"'`" and (text[after].isalnum() or text[after] in "\"'`"):
        limit = len(text) if longest is None else min(len(text), after + longest)
        tail = _unquoted(view, after, limit)
        if (
            tail is not None
            and (longest is None or limit - after < longest or tail.end < limit - len(_TRAILING))
            and not (start == end and text[after] == closing)
        ):
            whole = opener.start()
            return Value(whole, tail.end, text[whole : tail.end], quoted=False)
    return Value(start, end, text[start:end], quoted=True)


def _closing(text: str, start: int, closing: str, escape: int) -> tuple[int, int]:
    """Return where the value ends and where the text behind its closing quote begins; an open quote ends with its line."""
    search = _QUOTE_OR_LINE_END[closing].search
    at, lines, splices = start, 0, 0
    while found := search(text, at):
        where = found.start()
        if text[where] == "\n":
            if lines < _CONTINUED and where > start and text[where - 1] == "\\" and text[where - 2] != "\\":
                at, lines = where + 1, lines + 1
                continue
            if folded := _folded(text, start, where, closing):
                return folded - 1 - escape, folded
            return _without_trailing_space(text, start, where)
        slashes = where
        while slashes > start and text[slashes - 1] == "\\":
            slashes -= 1
        spliced = _SPLICE.match(text, where) if escape == 0 and splices < _SPLICES else None
        if spliced:
            at, splices = spliced.end(), splices + 1
            continue
        if (where - slashes) % (2 * (escape + 1)) == escape:
            return where - escape, where + 1
        at = where + 1
    return _without_trailing_space(text, start, len(text))


def _folded(text: str, start: int, line_end: int, closing: str) -> int:
    """Return where a value that is open at the end of its line ends on a line below; 0 where it does not."""
    lines = _FOLDED.get(closing)
    line_end -= text[line_end - 1] == "\r"
    if lines is None or line_end - start < 6 or " " in text[start : min(line_end, start + 64)]:
        return 0
    found = lines.match(text, line_end)
    return found.end() if found else 0


def _without_trailing_space(text: str, start: int, end: int) -> tuple[int, int]:
    while end > start and text[end - 1].isspace():
        end -= 1
    return end, len(text)


def _unquoted(view: View, start: int, limit: int | None = None) -> Value | None:
    text, at = view.text, start
    limit, lines = len(text) if limit is None else limit, 0
    while True:
        stop = _STOP.search(text, at, limit)
        if stop is None:
            end = limit
            break
        end = stop.start()
        if text[end] in "\r\n" and end > start and lines < _CONTINUED and (goes_on := _GOES_ON.match(text, end - 1)):
            at, lines = goes_on.end(), lines + 1
            continue
        opening = _OPENING_OF.get(text[end])
        if opening is None or end - start > _BALANCE_WITHIN or text.count(opening, start, end) <= text.count(text[end], start, end):
            break
        at = end + 1
    found = _BREAK.search(text, start, end)
    if found and found.start("sign") > start and _is_in_json(view, start):
        end = found.start("sign")
    while end > start and text[end - 1] in _TRAILING:
        end -= 1
    return Value(start, end, text[start:end], quoted=False) if end > start else None


def _is_in_json(view: View, start: int) -> bool:
    """Say whether an unquoted value stands in a string with escapes: its line holds an escaped quote, or an open one before the value."""
    text = view.text
    low = max(text.rfind("\n", max(0, start - _NEAR), start) + 1, start - _NEAR, 0)
    high = text.find("\n", start, start + _NEAR)
    high = high if high >= 0 else min(len(text), start + _NEAR)
    view.count(high - low)
    if text.find('\\"', low, high) >= 0:
        return True
    return text.count('"', low, start) % 2 == 1
