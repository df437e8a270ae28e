"""Text as terms: content words of spaced scripts, runs and 4-grams of CJK. Pure; the front uses it, so it imports re and unicodedata only."""

from __future__ import annotations

import re
import unicodedata
from typing import NamedTuple

CJK = (
    "\u1100-\u11ff\u2e80-\u2e99\u2e9b-\u2ef3\u2f00-\u2fd5\u3005\u3007\u3021-\u3029\u302e\u302f\u3038-\u303b\u3041-\u3096\u309d-\u309f"
    "\u30a1-\u30fa\u30fd-\u30ff\u3131-\u318e\u31f0-\u31ff\u3200-\u321e\u3260-\u327e\u32d0-\u32fe\u3300-\u3357\u3400-\u4dbf\u4e00-\u9fff"
    "\ua960-\ua97c\uac00-\ud7a3\ud7b0-\ud7fb\uf900-\ufad9\uff66-\uff6f\uff71-\uff9d\uffa0-\uffdc\U00016ff0\U00016ff1"
    "\U0001b000-\U0001b167\U00020000-\U0003ffff"
)
"""Han, Hiragana, Katakana and Hangul, as the inside of a character class."""

GRAM = 4
"""Characters of a CJK gram."""

MAX_TEXT = 16_000
"""Characters of a text that are looked at: three quarters from its head, the rest from its tail."""

MAX_TERMS = 64
"""Words, and grams, that are kept of one card."""

_TERM = re.compile(rf"(?P<cjk>[{CJK}\u30fc]+)|(?P<word>[^\W_{CJK}\u30fc]+(?:['\u2019][^\W\d_{CJK}]+)*)")

_STOP = frozenset(
    """
    a about above after again all already also although always am an and another any anyone anything are aren't around as ask at away back be because
    been before being below between both but by came can can't cannot could couldn't did didn't do does doesn't doing don't done down during
    each either else enough etc even ever every everything few first for from further get gets getting give given go goes going gone good got had
    has hasn't have haven't having he her here hers him his how however i i'd i'll i'm i've if in instead into is isn't it it's its itself just keep
    know last least less let let's like look made make makes making many may maybe me mean might more most much must my myself need needs never new
    next no nor not nothing now of off often ok okay on once one only onto or other otherwise our ours out over own per please put quite rather
    really right said same say says see seem seems several shall she should shouldn't since so some something soon still such sure take than thank
    thanks that that's the their them then there there's these they they're thing things think this those though through thus time to today too
    toward try trying two under until up upon us use used uses using very via want wants was wasn't way we we're we've well went were weren't what
    what's when whenever where whether which while who whom whose why will with within without won't would wouldn't yes yet you you'd you'll you're
    you've your yours
    """.split()  # noqa: SIM905 - a list literal of two hundred words is not readable
)


class Terms(NamedTuple):
    """`words`: content words, folded; `grams`: CJK 4-grams; `cjk`: whole CJK runs. Each in the order of the text, without repeats."""

    words: tuple[str, ...]
    grams: tuple[str, ...]
    cjk: tuple[str, ...]


def fold(text: str) -> str:
    """The form in which texts are compared: NFKC, case-folded, white space single; only the head and tail of a very long text."""
    if len(text) > MAX_TEXT:
        text = text[: MAX_TEXT * 3 // 4] + " " + text[-MAX_TEXT // 4 :]
    return folded(text)


def folded(text: str) -> str:
    """The same form of a whole text, however long it is."""
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


def terms(text: str) -> Terms:
    """The terms of a text; stop words, single letters and plain numbers are none."""
    words: dict[str, None] = {}
    grams: dict[str, None] = {}
    runs: dict[str, None] = {}
    for found in _TERM.finditer(fold(text)):
        run = found["cjk"]
        if run:
            runs[run] = None
            for start in range(len(run) - GRAM + 1):
                grams[run[start : start + GRAM]] = None
        else:
            word = found["word"].replace("\u2019", "'")
            if len(word) > 1 and word not in _STOP and not word.isdigit():
                words[_singular(word)] = None
    return Terms(tuple(words), tuple(grams), tuple(runs))


def _singular(word: str) -> str:
    """Fold an English plural or third person, so that `tests` and `test` are one term."""
    word = word.removesuffix("'s")
    return word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is")) else word


def sequence(text: str) -> list[str]:
    """All terms of a text in order, stop words and repeats included: for finding a phrase at word borders."""
    return [found.group().replace("\u2019", "'") for found in _TERM.finditer(fold(text))]
