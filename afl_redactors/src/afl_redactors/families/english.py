"""Credentials told in English: "the password is X", "my API key was X", quoted values of several words included."""

from __future__ import annotations

import re
from collections.abc import Iterator

from afl_redactors import guesses, lookalikes
from afl_redactors.markers import already_redacted
from afl_redactors.rules import Rule, Span, matching
from afl_redactors.values import read_value
from afl_redactors.windows import Clip, View

_SAID = re.compile(
    r"""(?<![A-Za-z])(?P<word>pass(?:word|wd|code|phrase)|pass\ phrase|pwd?|(?:api|access|secret|private|encryption|master)[ _-]?key|token|secret|credentials?)s?[*_"'`]{0,2}
    (?:(?P<own>['’]s[ ])|(?P<new>[ ]to[ ])|(?P<after>(?:[ ][A-Za-z'’/-]{1,20}){1,8}:[ ]{1,2})|(?:[ ](?:for|to|of|on|in)[ ](?:[^\s.,;:!?]{1,40}[ ]){1,5}?|[ ])
    (?:is|was|are|were|equals|should[ ]be|must[ ]be|will[ ]be|has[ ]been[ ]changed[ ]to|changed[ ]to|set[ ]to|reset[ ]to)(?:[ ]?:)?[ ]{1,4})
    (?:(?:now|still|actually|currently|just|simply|really|probably|always|also|set[ ]to|changed[ ]to|reset[ ]to|literally|again|only)[ ]){0,2}
    \*{0,2}(?=\S)""",
    re.VERBOSE | re.IGNORECASE,
)
_CHANGED = re.compile(r"(?:chang|set|reset|updat|rotat|switch|mov)[a-z]{0,4}[ ](?:[^\s.,;:!?]{1,40}[ ]){0,5}$", re.IGNORECASE)
"""What stands before "the password to X"."""
_CALLED = re.compile(r"[A-Za-z_]\(")
_SURE = re.compile(r"pass|pw", re.IGNORECASE)
_ORDINARY = re.compile(r"[A-Za-z]{1,64}[.,;:?]{0,4}(?=[ \t\r\n]|$)")
"""One word of letters: behind the less sure words it is never taken for a value."""
_CLAUSE_END = re.compile(r"[ \t]{0,4}(?:[.,;!)\n\r]|$|(?:and|but|so|for|on|please|now)\b|[，。；！])", re.IGNORECASE)


def _told(view: View, found: re.Match[str]) -> Iterator[Span]:
    value = read_value(view, found.end())
    if value is None or already_redacted(value.text):
        return
    content = value.text.strip().strip("*")
    sure = _SURE.match(found["word"]) is not None
    if found["own"] or found["new"] or found["after"]:
        if (
            guesses.is_sure(content.rstrip("!"))
            and "=" not in content[:-2]
            and (not found["new"] or _CHANGED.search(view.text[max(0, found.start() - 80) : found.start()]))
        ):
            yield value.start, value.end
        return
    if len(content) <= lookalikes.LONG:
        if (
            lookalikes.is_placeholder(content)
            or lookalikes.is_type(content)
            or (lookalikes.is_known_shape(content) and not (sure and _digits(content)))
        ):
            return
        if value.quoted:
            if lookalikes.is_label(content) or (lookalikes.is_plain(content) and lookalikes.is_prose(content)):
                return
        elif not _bare_value(view, content.rstrip("!"), value.end, sure=sure):
            return
    yield value.start, value.end


def _bare_value(view: View, content: str, end: int, *, sure: bool) -> bool:
    if lookalikes.is_code(content) or _CALLED.search(content):
        return False
    if lookalikes.is_plain(content):
        if not sure and content.count("-") < 2:
            return False
        usual = lookalikes.is_prose(content) or lookalikes.names_a_credential(content) or content.count("-") == 1
        return not usual and len(content) >= 4 and _CLAUSE_END.match(view.text, end) is not None
    if _digits(content):
        return sure and not re.match(
            r"[ ](?:char|digit|letter|byte|bit|day|hour|minute|month|word|year|of|to|or|time)", view.text[end : end + 8]
        )
    return len(content) >= 4 and content[0] not in "(=<>"


def _digits(content: str) -> bool:
    return content.isdigit() and len(content) >= 4


TOLD = Rule(
    "credential",
    ("pass", "pw", "key", "token", "secret", "credential"),
    matching(_SAID, _told, named=True),
    before=16,
    after=320,
    clip=Clip.LINE,
)

RULES = (TOLD,)


def worth(text: str, start: int, behind: int) -> bool:
    """Say whether `TOLD` is worth running where a telling part stands at `start` and the rest of its name ends at `behind`."""
    said = _SAID.match(text, start) if text.startswith((" ", "*", '"', "'", "`"), behind) else None
    if said is None:
        return False
    return _SURE.match(said["word"]) is not None or _ORDINARY.match(text, said.end()) is None
