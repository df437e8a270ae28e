"""Comments in a settings document (`//` to the end of the line, `/* */`): where they stand, and how an edit leaves every one of them in place.

A document without comments gives none, so strict and commented documents go the same way. Only documents that were scanned come here.
"""

from __future__ import annotations

import re

import attrs

_TOKENS = re.compile(rb'"(?:[^"\\]|\\.)*+"|(?P<comment>//[^\n]*+|/\*.*?\*/)', re.DOTALL)
_NOTHING_MORE = re.compile(rb"[ \t]*(?:\r?\n|$)")
_INK = re.compile(rb"[^\r\n]")
_BLANK = b" \t\r\n"


@attrs.frozen
class Comment:
    """One comment at bytes `start` to `end`; that of a line ends before the line's end."""

    start: int
    end: int
    line: bool


def comments_in(document: bytes, start: int = 0, end: int | None = None) -> tuple[Comment, ...]:
    """The comments between two places, neither of which is inside a string or a comment; in their order."""
    found = []
    for token in _TOKENS.finditer(document, start, len(document) if end is None else end):
        text = token["comment"]
        if text is not None:
            line = text.startswith(b"//")
            length = len(text.removesuffix(b"\r")) if line else len(text)
            found.append(Comment(token.start(), token.start() + length, line))
    return tuple(found)


def texts_of(document: bytes) -> tuple[bytes, ...]:
    """Every comment as it is written, in order."""
    return tuple(document[one.start : one.end] for one in comments_in(document))


def blanked(document: bytes) -> bytes:
    """The document with spaces for comments: a strict reader can read it, and everything stands where it stood. Line ends stay."""
    return _TOKENS.sub(lambda token: token[0] if token["comment"] is None else _INK.sub(b" ", token["comment"]), document)


def after_same_line(document: bytes, at: int, end: int) -> int:
    """The end of the last comment that begins on the line of `at`, with nothing but white space and comments between; `at` without one."""
    here = at
    for one in comments_in(document, at, end):
        between = document[here : one.start]
        if between.strip(b" \t,") or b"\n" in between:
            break
        here = one.end
    return here


def without(document: bytes, start: int, end: int, *, trim: bool = False) -> bytes:
    """`document` without the bytes from `start` to `end`; comments among them stay. `trim`: nor the white space before them, back to a comment.

    Where that comment ends with its line, this happens only if another line's end follows: nothing may come to stand in the comment.
    """
    kept = comments_in(document, start, end)
    head, tail = document[:start], document[end:]
    before = comments_in(head)[-1:] if trim and not kept else ()
    if before and not head[before[0].end :].strip(_BLANK) and (not before[0].line or _NOTHING_MORE.match(tail)):
        head = head[: before[0].end]
    if not kept:
        return head + tail
    newline = b"\r\n" if b"\r\n" in document else b"\n"
    inside = newline.join(document[one.start : one.end] for one in kept)
    apart = b"" if head.endswith((b" ", b"\t", b"\n", b"\r")) else b" "
    return head + apart + inside + (newline if kept[-1].line and not _NOTHING_MORE.match(tail) else b"") + tail
