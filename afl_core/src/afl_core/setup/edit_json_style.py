"""How a JSON document is laid out, and how a new value is written in the same hand. Decides bytes, edits nothing."""

from __future__ import annotations

import json
from itertools import pairwise

import attrs

from afl_core.model.errors import SetupError
from afl_core.setup.edit_json_comments import blanked
from afl_core.setup.edit_json_scan import Array, Member, Node, Object

DEFAULT_INDENT = b"  "
"""One level where the document shows none."""


@attrs.frozen
class Style:
    """The hand a document is written in: all fields are bytes as they stand between tokens."""

    newline: bytes = b"\n"
    indent: bytes = DEFAULT_INDENT
    colon: bytes = b": "
    comma: bytes = b", "
    """Between two elements on one line."""
    lines: bool = True
    """False when the whole document stands on one line."""


def detect_style(document: bytes, root: Object) -> Style:
    """The style of `document`; what it does not show is taken from the defaults (two spaces, one element a line)."""
    plain, feed = blanked(document), document.find(b"\n")
    newline = b"\r\n" if feed > 0 and document[feed - 1 : feed] == b"\r" else b"\n"
    if not root.members:
        return Style(newline=newline)
    first = root.members[0]
    colon = document[first.key_end : first.value.start]
    if b"\n" in colon or b"\r" in colon or colon.strip(b" \t") != b":":
        colon = b": "
    own_line = next((member for member in root.members if starts_line(plain, member)), None)
    indent = DEFAULT_INDENT
    if own_line is not None:
        base, inner = line_indent(document, root.start), line_indent(document, own_line.start)
        indent = (inner.removeprefix(base) if inner.startswith(base) else inner) or DEFAULT_INDENT
    comma = _comma(document, root) or (b", " if colon.endswith((b" ", b"\t")) else b",")
    return Style(newline, indent, colon, comma, lines=own_line is not None)


def line_indent(document: bytes, at: int) -> bytes:
    """The white space at the beginning of the line that holds byte `at`."""
    line = document[document.rfind(b"\n", 0, at) + 1 : at]
    return line[: len(line) - len(line.lstrip(b" \t"))]


def starts_line(plain: bytes, element: Node | Member) -> bool:
    """True when only white space stands before `element` on its line, and there is a line before it. `plain`: the document, comments blanked."""
    feed = plain.rfind(b"\n", 0, element.start)
    return feed >= 0 and not plain[feed + 1 : element.start].strip(b" \t")


def render(value: object, style: Style, indent: bytes) -> bytes:
    """`value` as JSON in `style`; `indent` is that of the line the value begins on. Raises `SetupError` for text that is not Unicode."""
    if isinstance(value, dict) and value:
        return _wrap(
            b"{",
            [render_key(key, style) + render(inner, style, indent + style.indent) for key, inner in value.items()],
            b"}",
            style,
            indent,
        )
    if isinstance(value, (list, tuple)) and value:
        return _wrap(b"[", [render(inner, style, indent + style.indent) for inner in value], b"]", style, indent)
    try:
        return json.dumps(value, ensure_ascii=False, allow_nan=False).encode("utf-8")
    except UnicodeEncodeError as bad:
        raise SetupError(
            f"{value!r} holds bytes that are not Unicode and cannot be written as JSON",
            code="AFL-SETUP-011",
            hint="use a home directory whose path is plain Unicode",
        ) from bad


def render_key(key: str, style: Style) -> bytes:
    """A key and its colon."""
    return render(key, style, b"") + style.colon


def _wrap(opening: bytes, elements: list[bytes], closing: bytes, style: Style, indent: bytes) -> bytes:
    if not style.lines:
        return opening + style.comma.join(elements) + closing
    start = style.newline + indent + style.indent
    return opening + start + (b"," + start).join(elements) + style.newline + indent + closing


def _comma(document: bytes, node: Node) -> bytes | None:
    """The comma between the first two elements that stand on one line, or None where no such pair exists."""
    elements: tuple[Node | Member, ...] = node.members if isinstance(node, Object) else node.items if isinstance(node, Array) else ()
    for earlier, later in pairwise(elements):
        between = document[earlier.end : later.start]
        if b"\n" not in between and b"\r" not in between and between.strip(b" \t") == b",":
            return between
    for element in elements:
        found = _comma(document, element.value if isinstance(element, Member) else element)
        if found is not None:
            return found
    return None
