"""A strict JSON scanner that remembers where everything stands. It reads bytes and changes nothing.

Accepted beyond the grammar, because the hosts accept it: a UTF-8 byte order mark, duplicate keys, bytes inside strings that are
not UTF-8; where a host's settings may hold comments, `//` and `/* */` between any two tokens, but then no byte order mark. Refused: trailing
commas, control characters in strings and anything else a strict reader refuses.
"""

from __future__ import annotations

import json
import re
from typing import NoReturn

import attrs

from afl_core.model.errors import SetupError

BOM = b"\xef\xbb\xbf"
"""The UTF-8 byte order mark."""

MAX_DEPTH = 200
"""Levels of nesting; deeper documents are refused."""

WHITESPACE = b" \t\r\n"
"""The four bytes that may stand between tokens."""

_SPACE = re.compile(rb"[ \t\r\n]*")
_SPACE_OR_COMMENT = re.compile(rb"(?:[ \t\r\n]++|//[^\n]*+|/\*.*?\*/)*+", re.DOTALL)
_STRING_BODY = re.compile(rb'(?:[^"\\\x00-\x1f]++|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*+')
_NUMBER = re.compile(rb"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")
_WORD = re.compile(rb"true|false|null")


class JsonSyntaxError(SetupError):
    """A document that is not strict JSON; `line` and `column` count from 1, columns in characters."""

    code = "AFL-SETUP-010"

    def __init__(self, reason: str, line: int, column: int) -> None:
        super().__init__(
            f"line {line}, column {column}: {reason}",
            hint="correct the file by hand, then run the same command again",
        )
        self.reason = reason
        self.line = line
        self.column = column


@attrs.frozen
class Scalar:
    """A string, number, `true`, `false` or `null` at bytes `start` to `end`."""

    start: int
    end: int


@attrs.frozen
class Array:
    """A list, brackets included."""

    start: int
    end: int
    items: tuple[Node, ...]


@attrs.frozen
class Member:
    """A key and its value; `start` is the key's opening quote, `key_end` the byte after its closing quote."""

    key: str
    start: int
    key_end: int
    value: Node

    @property
    def end(self) -> int:
        """The byte after the value."""
        return self.value.end


@attrs.frozen
class Object:
    """An object, braces included; duplicate keys are kept in their order."""

    start: int
    end: int
    members: tuple[Member, ...]

    def last(self, key: str) -> Member | None:
        """The member a host sees under `key`: of duplicates, the last one."""
        return next((member for member in reversed(self.members) if member.key == key), None)


Node = Scalar | Array | Object


def scan(document: bytes, *, comments: bool = False) -> Node:
    """The tree of `document`; raises `JsonSyntaxError` with line and column for anything that is not strict JSON (with `comments`, if so told)."""
    scanner = _Scanner(document, comments=comments)
    if comments and document.startswith(BOM):
        raise JsonSyntaxError("the file begins with a byte order mark; the host does not start while it is there", 1, 1)
    start = scanner.skip(len(BOM) if document.startswith(BOM) else 0)
    root = scanner.value(start, 0)
    rest = scanner.skip(root.end)
    if rest < len(document):
        scanner.fail(rest, "there is more after the end of the document")
    return root


def is_blank(document: bytes) -> bool:
    """True when there is nothing but a byte order mark and white space."""
    return not document.removeprefix(BOM).strip(WHITESPACE)


def decode_string(token: bytes) -> str:
    """The text of a string token; a byte that is not UTF-8 becomes a lone surrogate."""
    text: str = json.loads(token.decode("utf-8", "surrogateescape"))
    return text


def position(document: bytes, at: int) -> tuple[int, int]:
    """Line and column (both from 1, columns in characters, the byte order mark not counted) of byte `at`."""
    before = document[:at].removeprefix(BOM)
    line_start = before.rfind(b"\n") + 1
    return before.count(b"\n") + 1, len(before[line_start:].decode("utf-8", "replace")) + 1


class _Scanner:
    """One pass over the bytes; every method takes an offset and hands back a node or the next offset."""

    def __init__(self, document: bytes, *, comments: bool) -> None:
        self.document = document
        self.comments = comments
        self.space = _SPACE_OR_COMMENT if comments else _SPACE

    def fail(self, at: int, reason: str) -> NoReturn:
        found, where = self.document[at : at + 2], position(self.document, at)
        if not self.comments and found.startswith((b"/", b"#")):
            raise JsonSyntaxError("a comment is not JSON; the host ignores the whole file while it is there", *where)
        if found.startswith(b"#"):
            raise JsonSyntaxError("a comment begins with // or /*, not with #", *where)
        if found == b"/*":
            raise JsonSyntaxError("a comment without an end; what stands behind it cannot be told from it", *where)
        raise JsonSyntaxError(reason, *where)

    def skip(self, at: int) -> int:
        found = self.space.match(self.document, at)
        return found.end() if found else at

    def value(self, at: int, depth: int) -> Node:
        if depth > MAX_DEPTH:
            self.fail(at, f"nested deeper than {MAX_DEPTH} levels")
        first = self.document[at : at + 1]
        if first == b"{":
            return self.object(at, depth)
        if first == b"[":
            return self.array(at, depth)
        if first == b'"':
            return Scalar(at, self.string(at))
        found = _WORD.match(self.document, at) or _NUMBER.match(self.document, at)
        if found is None:
            self.fail(at, "a value was expected" if first else "the document ends where a value was expected")
        return Scalar(at, found.end())

    def string(self, at: int) -> int:
        found = _STRING_BODY.match(self.document, at + 1)
        end = found.end() if found else at + 1
        stop = self.document[end : end + 1]
        if stop == b'"':
            return end + 1
        if not stop:
            self.fail(at, "a string without an end")
        raise JsonSyntaxError(
            "an escape that JSON does not know" if stop == b"\\" else "a control character inside a string", *position(self.document, end)
        )

    def array(self, start: int, depth: int) -> Array:
        items: list[Node] = []
        at = self.skip(start + 1)
        if self.document[at : at + 1] == b"]":
            return Array(start, at + 1, ())
        while True:
            items.append(self.value(at, depth + 1))
            at = self.skip(items[-1].end)
            if self.document[at : at + 1] == b"]":
                return Array(start, at + 1, tuple(items))
            at = self.after_comma(at, b"]")

    def object(self, start: int, depth: int) -> Object:
        members: list[Member] = []
        at = self.skip(start + 1)
        if self.document[at : at + 1] == b"}":
            return Object(start, at + 1, ())
        while True:
            members.append(self.member(at, depth))
            at = self.skip(members[-1].end)
            if self.document[at : at + 1] == b"}":
                return Object(start, at + 1, tuple(members))
            at = self.after_comma(at, b"}")

    def member(self, at: int, depth: int) -> Member:
        if self.document[at : at + 1] != b'"':
            self.fail(at, "a key in double quotes was expected")
        key_end = self.string(at)
        colon = self.skip(key_end)
        if self.document[colon : colon + 1] != b":":
            self.fail(colon, "a colon was expected after the key")
        return Member(decode_string(self.document[at:key_end]), at, key_end, self.value(self.skip(colon + 1), depth + 1))

    def after_comma(self, at: int, closing: bytes) -> int:
        if self.document[at : at + 1] != b",":
            self.fail(at, f"a comma or {closing.decode()} was expected")
        following = self.skip(at + 1)
        if self.document[following : following + 1] == closing:
            self.fail(at, "a comma after the last element")
        return following
