"""What leads to the rules about names of credentials: the places where a name may begin are looked at once, for all of them."""

from __future__ import annotations

import re
from collections.abc import Sequence

from afl_redactors.families import assignments, backward, chinese, context, english, pairs, tables
from afl_redactors.keys import BARE_KEYS, BEFORE_PASSE, FRENCH, NAME_LITERALS
from afl_redactors.rules import Lead, Rule
from afl_redactors.windows import View


def _named(view: View, start: int, end: int) -> list[Rule]:
    text = view.text
    view.names.append(start)
    if text[end : end + 1] in _GOES_ON and text[end - 1].isascii() and text[end - 2 : end + 1] not in _ABBREVIATED:
        return []
    rest = assignments.BEHIND.match(text, end)
    assert rest is not None  # noqa: S101 - it matches nothing as well
    behind = rest.start("behind")
    rules = assignments.worth(view, start, end, rest)
    following = text[behind : behind + 1]
    if following != " " or not text[behind + 1 : behind + 2].isalpha():  # else a sentence goes on
        rules += tables.worth(view, start, behind)
        if following in _ENDS and backward.worth(view, start):
            rules.append(backward.BEFORE)
    if english.worth(text, start, behind):
        rules.append(english.TOLD)
    if context.worth(text, start):
        rules.append(context.BESIDE)
    if view.seen.endswith(FRENCH, 0, start):
        view.names.append(start - len(FRENCH))
        rules += tables.worth(view, start - len(FRENCH), behind)
        if context.worth(text, start - len(FRENCH)):
            rules.append(context.BESIDE)
    return rules


def _pass(view: View, start: int, end: int) -> Sequence[Rule]:
    text = view.text
    following = text[end : end + 1]
    if following == "\n" and (text.endswith("        ", 0, start) or text[max(0, start - 8) : start].rstrip(" \t")[-1:] in _LINE_BEGINS):
        view.names.append(start)
        return ()  # a statement alone on its line
    folded = view.seen[end : end + 1]
    if folded in _ORDINARY and (following == folded or text[start:end].isupper()):
        return _named(view, start, end + (following == "e")) if view.seen.endswith(BEFORE_PASSE, 0, start) else ()
    rules = _named(view, start, end + _REST_OF_PASS.get(view.seen[end : end + 2], 0))
    if following == " " and not text[end + 1 : end + 65].partition(" ")[0].isalpha() and pairs.worth(view, start):
        rules.append(pairs.PASSED)
    return rules


def _any_key(view: View, start: int, _end: int) -> Sequence[Rule]:
    if _OF_A_KEY.match(view.text, start + (4 if view.seen[start] in "_-" else 3)) is None:
        return ()
    view.names.append(start)
    return _ASSIGNED


def _chinese(view: View, start: int, end: int) -> Sequence[Rule]:
    view.names.append(start)
    rules = tables.worth(view, start, end)
    return [*rules, context.BESIDE] if context.worth(view.text, start) else rules


_ASSIGNED = (assignments.ASSIGNED,)
_ANY_KEY = ("_key", "-key", *BARE_KEYS)
_OF_A_KEY = re.compile(
    r"""[A-Za-z0-9_.\-]{0,48}\\{0,7}["'`]{0,2}\]?\)?[ \t]{0,8}\*{0,3}\??(?:[:=：＝|?!,]|or[ ]){1,3}[^\n]{0,48}?[A-Za-z0-9+/_.=~-]{16}"""
)
"""What has to follow the name of a key of any kind: a value so long that it may be random."""

_ENDS = backward.ENDS
_GOES_ON = frozenset("acdefghijklmnopqrtuvwxyz")
"""Letters behind a telling part that make another word of it: "tokenize". An "s" makes it a plural, and a "b" may begin "base64"."""
_LINE_BEGINS = frozenset({"", "\n"})
_ABBREVIATED = frozenset({"pwd", "PWd", "Pwd"})
_ORDINARY = frozenset("abdefghijklmnoqrstuvxyz")
"""Letters behind "pass" that make it an ordinary word: "passed", "passing". What says more is "password", "passcode", "passphrase"."""
_PASS = "pass"
_REST_OF_PASS = {"wo": 4, "wd": 2, "co": 4, "ph": 6, "wr": 3}
"""How much farther the telling part goes: "password", "passwd", "passcode", "passphrase"."""

LEADS = (
    Lead(tuple(literal for literal in NAME_LITERALS if literal != _PASS and literal not in _ANY_KEY), _named),
    Lead(_ANY_KEY, _any_key),
    Lead((_PASS,), _pass),
    Lead(chinese.WORDS, _chinese),
)
