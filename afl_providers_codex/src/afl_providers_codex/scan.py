"""The strings at the beginning of a JSON object of which only the first bytes are at hand."""

from __future__ import annotations

import re
from collections.abc import Iterator

_PIECE = re.compile(rb'\s*(?:"((?:[^"\\]++|\\.)*+)"|([{}\[\]:,])|([^\s"{}\[\]:,]+))', re.DOTALL)


def strings(head: bytes) -> Iterator[tuple[tuple[bytes, ...], bytes]]:
    """Each string value with the keys that lead to it, as they stand (escapes included), up to the first byte that cannot be read.

    Inside a list the key is that of the list.
    """
    path: list[bytes] = []
    key, last, at = b"", b"", 0
    while piece := _PIECE.match(head, at):
        at = piece.end()
        text, mark, _other = piece.groups()
        if text is not None:
            last = text
            if key:
                yield (*path[1:], key), text
        elif mark in (b"{", b"["):
            path.append(key)
            key = key if mark == b"[" else b""
        elif mark in (b"}", b"]"):
            key = path.pop() if path else b""
        elif mark == b":":
            key = last
        elif mark == b",":
            key = b""
