"""Private keys in PEM and PuTTY form, with their line breaks real or escaped, whole or cut off."""

from __future__ import annotations

import re
from collections.abc import Iterator

from afl_redactors.rules import Lead, Rule, Span, leading, matching
from afl_redactors.windows import Clip, View

_BEGIN = re.compile(r"-{4,6} ?BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)? ?-{4,6}")
_END = re.compile(r"---(?: ?)END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?(?: ?)-{0,6}")
_BODY = re.compile(r"(?:\\{1,4}[rn]|[\s\"'+]){0,8}(?:[A-Za-z0-9+/=]{16}|(?:Proc-Type|DEK-Info|Version|Comment|Charset):)")
_FAR_BODY = re.compile(
    r"(?:[^\nA-Za-z0-9]{0,4}\r?\n|\\{1,4}[rn]|<br ?/?>|&#10;|%0A)[^\n]{0,80}?(?:[A-Za-z0-9+/=]{32}|(?:Proc-Type|DEK-Info|Version|Comment|Charset):)",
    re.IGNORECASE,
)
"""The first line of a key that something stands before, as numbers of lines, quotes and names of containers do."""
_BODY_LINE = re.compile(
    r"[^\n]{0,80}?(?<![A-Za-z0-9+/=_-])[A-Za-z0-9+/]{32,76}={0,2}(?![A-Za-z0-9+/=_-])[^\n]{0,8}(?:\n|$)|[^\n]{0,80}?(?:Proc-Type|DEK-Info|Version|Comment|Charset|Hash):[^\n]{0,200}\n|[^A-Za-z0-9\n]{0,24}\d{0,6}[^A-Za-z0-9\n]{0,8}\n"
)
"""A whole line of such a key, a header of it, or one that holds nothing but what stands before each line."""
_LAST_LINE = re.compile(r"[^\n]{0,80}?(?<![A-Za-z0-9+/=_-])[A-Za-z0-9+/]{1,75}={0,2}(?=[^\nA-Za-z0-9]{0,8}(?:\n|$))")
_FARTHEST = 16_384
"""Characters between the beginning and the end of a key of which each line has something before it."""
_CUT = re.compile(r"\r?\n[ \t]{0,64}\r?(?:\n|$)|\"|'|`|<")
_HEADER_LINE = re.compile(r"\n(?:Proc-Type|DEK-Info|Version|Comment|Charset|Hash):[^\n]{0,200}$")
_PUTTY = re.compile(r"PuTTY-User-Key-File-\d:(?:[^\n]{0,200}\n){1,80}?Private-Lines:[ ]?(?P<lines>\d{1,3})\r?\n")
_LINE = re.compile(r"[^\n]{0,256}\n?")


def _block(view: View, found: re.Match[str]) -> Iterator[Span]:
    text, start = view.text, found.start()
    if _BODY.match(text, found.end()) is None:
        yield from _with_something_before(view, found)
        return
    end, following = (_nearest(view, found.end(), word) for word in ("end", "begin"))
    if end >= 0 and (following < 0 or end < following):
        closing = _END.match(text, end)
        if closing:
            yield start, closing.end()
            return
    limit = following if following >= 0 else len(text)
    view.count(limit - found.end())
    at = found.end()
    while True:
        cut = _CUT.search(text, at, limit)
        if cut is None:
            break
        before = text[max(start, cut.start() - 240) : cut.start()]
        if cut.start() == found.end() or (cut.group() in "\"'`<" and cut.start() <= found.end() + 2) or _HEADER_LINE.search(before):
            at = cut.end()
            continue
        limit = cut.start()
        break
    while limit > found.end() and (text[limit - 1].isspace() or text[limit - 1] == "-"):
        limit -= 1
    yield start, limit


def _nearest(view: View, start: int, word: str) -> int:
    """The next place where three dashes and the word stand, -1 for none."""
    return min((at for at in (view.next_hit(f"---{word} ", start), view.next_hit(f"--- {word} ", start)) if at >= 0), default=-1)


def _with_something_before(view: View, found: re.Match[str]) -> Iterator[Span]:
    """A key each of whose lines has something before it: to its end where that stands near, else as many lines as can be of it."""
    text = view.text
    if _FAR_BODY.match(text, found.end()) is None:
        return
    end, following = view.next_hit("end ", found.end()), view.next_hit("begin ", found.end())
    near = found.end() + _FARTHEST
    while 0 <= end < near and (following < 0 or end < following):
        closing = _END.search(text, max(found.end(), end - 4), end + 64)
        if closing:
            view.count(closing.end() - found.start())
            yield found.start(), closing.end()
            return
        end = view.next_hit("end ", end + 1)
    line = text.find("\n", found.end())
    at = line + 1 if line >= 0 else len(text)
    while at < min(near, len(text)) and (whole := _BODY_LINE.match(text, at)) and whole.end() > at:
        at = whole.end()
    last = _LAST_LINE.match(text, at)
    view.count(at - found.start())
    yield found.start(), last.end() if last else at


def _putty(view: View, found: re.Match[str]) -> Iterator[Span]:
    end = found.end()
    for _ in range(int(found["lines"])):
        line = _LINE.match(view.text, end)
        end = line.end() if line else end
    yield found.end(), max(found.end(), end - 1) if view.text[end - 1 : end] == "\n" else end


_PEM = Rule("private-key", ("private key",), matching(_BEGIN, _block), before=64, after=32, clip=Clip.LINE)
_PPK = Rule("private-key", ("putty-user-key-file-",), matching(_PUTTY, _putty), before=0, after=8192, clip=Clip.NOTHING)

RULES = (_PEM, _PPK)
LEADS: tuple[Lead, ...] = (
    leading(_PEM, lambda text, at: text.startswith("PRIVATE KEY", at)),
    leading(_PPK, lambda text, at: text.startswith("PuTTY-User-Key-File-", at)),
)
