"""Private keys in PEM and PuTTY form, with their line breaks real or escaped, whole or cut off."""

from __future__ import annotations

import re
from collections.abc import Iterator

from afl_redactors.rules import Lead, Rule, Span, leading, matching
from afl_redactors.windows import Clip, View

_BEGIN = re.compile(r"-{5}BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-{5}")
_END = re.compile(r"---END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-{0,5}")
_BODY = re.compile(r"(?:\\{1,4}[rn]|[\s\"'+]){0,8}(?:[A-Za-z0-9+/=]{16}|(?:Proc-Type|DEK-Info|Version|Comment|Charset):)")
_CUT = re.compile(r"\r?\n[ \t]{0,64}\r?(?:\n|$)|\"|'|`|<")
_HEADER_LINE = re.compile(r"\n(?:Proc-Type|DEK-Info|Version|Comment|Charset|Hash):[^\n]{0,200}$")
_PUTTY = re.compile(r"PuTTY-User-Key-File-\d:(?:[^\n]{0,200}\n){1,80}?Private-Lines:[ ]?(?P<lines>\d{1,3})\r?\n")
_LINE = re.compile(r"[^\n]{0,256}\n?")


def _block(view: View, found: re.Match[str]) -> Iterator[Span]:
    text, start = view.text, found.start()
    if _BODY.match(text, found.end()) is None:
        return
    end = view.next_hit("---end ", found.end())
    following = view.next_hit("---begin ", found.end())
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
