"""How a key without a form of its own is known: it stands where its vendor's name is given a value. Makes the whole pattern of such a rule."""

from __future__ import annotations

import re
from collections.abc import Iterable

_NO_KEY = r"(?i:(?<![a-z])ids?(?![a-z])|(?-i:(?<=[a-z])I[Dd]s?(?![a-z]))|sha\d|hash|commit|digest|checksum|version|revision|public|publishable|project|organi[sz]ation|deployment|image|trace|request|span)"
"""Words behind which a random value is no secret."""

_STEP = rf"(?:(?!{_NO_KEY})[^\n])"
_WORD = r"(?i:keys?|tokens?|secrets?|pass(?:word|wd)?|auth|login|credentials?|pat|pwd|hec)"
_BOUND = r"""(?<=[\s"'`=:(,>|\[{：，是])"""
_GIVEN = rf"""(?:(?!{_NO_KEY})[\w.-]){{0,32}}(?:["'`\])\\]{{0,4}}[ \t]{{0,2}}(?:[:=(,]{{1,2}}>?)[ \t]{{0,2}}(?:\w{{1,12}}=)?\\{{0,3}}["'`]|=)|(?::| is| {{0,3}}\|)[ ]|："""
_END = r"(?![\w/+-])"

_FARTHEST = 80
"""Characters between name and value. Whether there is a value at all is asked first: it is the cheapest question."""

LINKS = ("", "told", "near")
"""What stands between a vendor's name and a value: nothing that a pattern does not say itself; a word such as key, or the value is given in quotes;
or hardly anything, for values that are nothing else."""


def joined(keywords: Iterable[str], pattern: str, link: str) -> str:
    """The pattern of a whole match: that of the rule where it has no link, else one that begins with a keyword and holds the value in a group."""
    if not link:
        return pattern
    names = "|".join(re.escape(word) for word in keywords)
    value = rf"{pattern}{_END}"
    asked = rf"(?=[^\n]{{0,{_FARTHEST}}}?{_BOUND}{value})"
    between = {
        "told": rf"(?:{_GIVEN}|{_STEP}{{0,24}}?{_WORD}(?:{_STEP}{{0,32}}?{_BOUND}))",
        "near": rf"{_STEP}{{0,48}}?{_BOUND}",
    }[link]
    return rf"(?i:{names}){asked}{between}(?P<value>{pattern}){_END}"
