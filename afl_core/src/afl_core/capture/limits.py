"""How much of a text is kept, and how it is cut: on white space, so that no half of a secret stays where redaction cannot see it."""

from __future__ import annotations

MESSAGE_CHARS = 131_072
"""Of a message in the index."""

TOOL_INPUT_CHARS = 2_048
"""Of a tool's input in the index."""

TOOL_ERROR_CHARS = 4_096
"""Of a failed tool's text in the index; a successful result keeps none."""

WATCHED_CHARS = 8_192
"""Of a tool's result, read for credentials it showed; what is not kept is not stored either."""

NAME_CHARS = 512
"""Of a tool's name and of a host's ids."""

MARGIN_CHARS = 8_192
"""Read beyond a cut, so that a secret that the cut would halve (a private key) is still seen whole."""

CUT_MARK = "\n[... {dropped} characters left out ...]\n"


def storable(text: str) -> str:
    """Text that the database and every reader of it can hold: halves of surrogate pairs and NUL become replacement characters."""
    if not text.isascii():
        try:
            text.encode("utf-8")
        except UnicodeEncodeError:
            text = text.encode("utf-8", "replace").decode("utf-8")
    return text.replace("\0", "\ufffd")


def name(value: str | None) -> str | None:
    """An id or a name from a host, bounded; None for none."""
    return storable(value[:NAME_CHARS]) if value else None


def head(text: str, size: int) -> str:
    """At most `size` characters, cut back to the last white space; of a single longer word, nothing."""
    if len(text) <= size:
        return text
    return text[: max(0, *(text.rfind(mark, 0, size) for mark in (" ", "\n", "\t")))]


def tail_start(text: str, size: int) -> int:
    """Where the last `size` characters begin, moved forward to the next white space."""
    start = max(0, len(text) - size)
    if start == 0:
        return 0
    spots = [spot for mark in (" ", "\n", "\t") if (spot := text.find(mark, start)) >= 0]
    return min(spots) if spots else len(text)
