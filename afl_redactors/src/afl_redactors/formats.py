"""Rules whose value's own form gives it away, made from the packs: keyword, pattern, and what the value must and must not be."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import cache

from afl_redactors import checks
from afl_redactors.packs import Spec
from afl_redactors.rules import Lead, Rule, Span
from afl_redactors.windows import Clip, View

_TAIL = re.compile(r"[A-Za-z0-9_\-+/=~%]*(?:\.[A-Za-z0-9_\-+/=~]{4,})*")
_STUB = re.compile(
    r"[xX]{6}|[*.]{3}|(?:^|[-_.<{/])(?:your|insert|replace|example|placeholder|redacted|dummy|fake|changeme)(?:[-_.>}/]|$)", re.IGNORECASE
)
"""What stands in documentation where a key has to be filled in."""
_LOOKED_AT = 256
"""Characters of a value that are looked through for a stub."""
_BEFORE = 64
"""Characters before a keyword that a window holds at least, for what looks behind."""


@cache
def _allowed(patterns: tuple[str, ...]) -> tuple[re.Pattern[str], ...]:
    """Compiled when a value is met for the first time: most never are."""
    return tuple(map(re.compile, patterns))


def values(one: Spec, view: View, found: re.Match[str]) -> Iterator[Span]:
    """The value of a match, whole; nothing where it fails a check or is allowed."""
    group = "value" if "value" in found.re.groupindex else 0
    start, end = found.span(group)
    if one.ends == "token" and not one.link and (tail := _TAIL.match(view.text, end)):
        end = tail.end()
    value = view.text[start:end]
    if _STUB.search(value, 0, _LOOKED_AT):
        return
    if one.entropy and checks.entropy(value) < one.entropy:
        return
    if one.checksum and not checks.CHECKSUMS[one.checksum](value):
        return
    if any(pattern.fullmatch(value) for pattern in _allowed(one.allow)):
        return
    yield start, end


PARTING = (*" \t\n\r\"'`=:,;()<>[]{}|/@&?", "\\n", "\\t", "\\r")
"""What may stand before a token."""
_STARTS = f"(?<![^{re.escape(''.join(one for one in PARTING if len(one) == 1))}])"


def rule_of(one: Spec) -> tuple[Rule, tuple[Lead, ...]]:
    """The rule that a specification with a pattern describes, and the leads to it."""
    token = one.starts == "token"

    @cache
    def pattern() -> re.Pattern[str]:
        return re.compile(_STARTS + one.whole if token else one.whole)

    def find(view: View, start: int, end: int) -> Iterator[Span]:
        at = start
        while at < end and (found := pattern().search(view.bare, at, end)) is not None:
            at = max(found.end(), found.start() + 1)
            for span in values(one, view, found):
                view.count(span[1] - span[0])
                yield span
                at = max(at, span[1])

    rule = Rule(
        one.id,
        one.keywords,
        find,
        before=max(_BEFORE, *one.begins),
        after=one.reach,
        clip=Clip.LINE if one.lines == "one" else Clip.NOTHING,
    )
    wanted: tuple[tuple[Rule, ...], tuple[Rule, ...]] = ((), (rule,))

    def asks(view: View, start: int, _end: int) -> tuple[Rule, ...]:
        return wanted[any(start >= back and pattern().match(view.bare, start - back) is not None for back in one.begins)]

    def behind(size: int) -> Callable[[View, int, int], tuple[Rule, ...]]:
        return lambda view, _start, end: wanted[pattern().match(view.bare, end - size) is not None]

    if token:
        return rule, tuple(Lead(tuple(before + word for before in PARTING), behind(len(word)), opens=(word,)) for word in one.keywords)
    return rule, (Lead(one.literals or one.keywords, asks),)
