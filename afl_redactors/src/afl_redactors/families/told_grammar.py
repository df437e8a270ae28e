"""How credentials are told in one language: the words of its pack made into patterns. Decides nothing about values."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from enum import IntEnum
from functools import cached_property

import attrs

from afl_redactors.packs import Spec
from afl_redactors.packs.load import PackError

CJK = r"\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af"
_CLOSE = r"[*_\"'`»”’」』)\]】]{0,3}"
_BRACKET = r"(?:[ ]?[(（][^()（）\n]{1,40}[)）])?"
_COLON = r"[ ]?(?:[:：=＝]|[ ][—–-](?=[ ])|->|→|=>)"
_QUOTE = r"\"'`«»„“”‚‘‹›「『【《〈"
_STRONG = rf"(?=\\{{0,3}}[{_QUOTE}]|[^\s{_QUOTE}]{{0,64}}?[\d!@#$%^&*+_])"
"""What follows looks like a value: it is quoted, or holds a digit or a sign before the next space."""
_GAP = r"[^\n。！？；，、,:：=A-Za-z0-9「『“\"]"
"""One of the characters that may stand between word and joint where words are not spaced."""


class Word(IntEnum):
    """How surely a word speaks of a credential."""

    VAGUE = 0
    NAMED = 1
    SURE = 2


def _any(words: Iterable[str]) -> str:
    """One of the words, the longest first; never, where there is none."""
    return "|".join(re.escape(word) for word in sorted(set(words), key=lambda word: (-len(word), word))) or "(?!)"


def _some(words: Iterable[str], before: str) -> str:
    """One of the words and the space behind it; a word that ends in an apostrophe has none."""
    listed = set(words)
    elided = _any(word[:-1] for word in listed if word.endswith("'"))
    apart = _any(word for word in listed if not word.endswith("'"))
    return rf"(?:{before}(?:(?:{apart})(?!\w)|(?:{elided})['’](?=\w)))"


@attrs.frozen(eq=False)
class Grammar:
    """The words of one language, lower case, as the table `told` of its pack gives them.

    `named`: keywords that name a credential and no password; `vague`: keywords with other meanings too; all other keywords are sure.
    `shared`: keywords that are English as well, led to only where a word of this language follows.
    `kinds`: adjectives behind the word; `of`: what opens a phrase between word and joint; `breaks`: what never stands in such a phrase.
    `joints`: copulas, behind which a sentence may go on without a value; `firm`: joints behind which a value comes.
    `resumes`: what goes on about the word behind a comma. `links`: prepositions and particles behind which only a value that looks like one counts; `fillers`: between joint and value.
    `changes`: verbs before the word, and `tails` right behind the value, that make a link as good as a joint.
    `behind`: what joins a value to the word after it, with "…" for that word, and `between`: what may precede the word there; `uses`: verbs
    right before such a value. `ordinary` words and words with one of the `endings` continue a sentence; `units` follow a number that is none.
    `forms`: "spaced" where words stand apart, "compound" where the word may be the end of a longer one.
    """

    words: tuple[str, ...]
    named: tuple[str, ...] = ()
    vague: tuple[str, ...] = ()
    shared: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    of: tuple[str, ...] = ()
    breaks: tuple[str, ...] = ()
    joints: tuple[str, ...] = ()
    firm: tuple[str, ...] = ()
    resumes: tuple[str, ...] = ()
    links: tuple[str, ...] = ()
    fillers: tuple[str, ...] = ()
    changes: tuple[str, ...] = ()
    tails: tuple[str, ...] = ()
    behind: tuple[str, ...] = ()
    between: tuple[str, ...] = ()
    uses: tuple[str, ...] = ()
    ordinary: tuple[str, ...] = ()
    endings: tuple[str, ...] = ()
    units: tuple[str, ...] = ()
    forms: tuple[str, ...] = ()

    @property
    def spaced(self) -> bool:
        """Whether words stand apart, by spaces."""
        return "spaced" in self.forms

    def trust(self, word: str) -> Word:
        """How surely the word speaks of a credential."""
        return Word.NAMED if word in self.named else Word.VAGUE if word in self.vague else Word.SURE

    @cached_property
    def word(self) -> re.Pattern[str]:
        """A word that this language tells credentials by; a shared one only where the language goes on behind it."""
        own = _any(word for word in self.words if word not in self.shared)
        left = "" if "compound" in self.forms or not self.spaced else r"(?<!\w)"
        right = r"(?![\w-])" if self.spaced else ""
        if not self.shared:
            return re.compile(f"{left}(?:{own}){right}")
        goes_on = rf"[ ]{'' if self.spaced else '?'}(?:{_any(self._behind_shared)})"
        return re.compile(rf"{left}(?:(?:{own}){right}|(?<![A-Za-z0-9_])(?:{_any(self.shared)})(?={goes_on}))")

    @cached_property
    def _behind_shared(self) -> tuple[str, ...]:
        joined = (*self.joints, *self.firm, *self.of)
        if not self.spaced:
            return (*joined, *self.links)
        firsts = (f"{word.split()[0]} " for word in joined if not word.endswith("'"))
        return tuple(dict.fromkeys((*firsts, *(word.split()[0] for word in self.kinds))))

    def starts_with_kind(self, said: str) -> bool:
        """Say whether an adjective of this language stands right behind the word."""
        return said.lstrip().startswith(self.kinds or "\n")

    @cached_property
    def literals(self) -> tuple[str, ...]:
        """What is looked for: each word; a shared one with what may follow it."""
        apart = (" ",) if self.spaced else ("", " ")
        followed = (f"{word}{space}{more}" for word in self.shared for space in apart for more in self._behind_shared)
        return (*(word for word in self.words if word not in self.shared), *dict.fromkeys(followed))

    @cached_property
    def said(self) -> re.Pattern[str]:
        """From behind the word to the beginning of its value; the groups say by what the two are joined."""
        return re.compile(self._said_apart() if self.spaced else self._said_together())

    def _said_apart(self) -> str:
        token = rf"(?!(?:{_any(self.breaks)})[ ])[^\s.,;:!?=]{{1,40}}"
        phrase = rf"(?:{_some(self.of, '[ ]')}[ ]?{token}(?:[ ]{token}){{0,4}}?)?"
        gap = rf"{_some(self.kinds, '[ ]')}{{0,2}}{phrase}?"
        fillers = rf"(?:(?:{_any(self.fillers)})[ ]{{1,2}}){{0,2}}"
        joined = "|".join(
            (
                rf"(?:[ ](?P<other>{token}))??(?P<colon>{_COLON}[ \t]{{0,4}}(?P<line>\r?\n[ \t>*•-]{{0,6}})?)",
                rf"(?:[ ]{token})??,?[ ](?P<firm>{_any(self.firm)})(?!\w)[ ]?:?[ ]{{0,2}}{fillers}",
                rf"(?:[ ]{token})??,?[ ](?P<joint>{_any(self.joints)})(?!\w)[ ]?:?[ ]{{0,2}}{fillers}",
                rf"[ ](?P<link>{_any(self.links)})(?!\w)[ ]?:?[ ]{{0,2}}{fillers}{_STRONG}",
                rf"(?:[ ]{token}){{0,4}}?,[ ](?P<resumed>{_any(self.resumes)})(?!\w)[ ]?:?[ ]{{0,2}}{fillers}{_STRONG}",
                rf"[ ]{fillers}{_STRONG}",
            )
        )
        return rf"{_CLOSE}{_BRACKET}{gap}(?:{joined})\*{{0,2}}(?=\S)"

    def _said_together(self) -> str:
        fillers = rf"(?:(?:{_any(self.fillers)})[ 、，,]{{0,2}}){{0,2}}"
        gap = rf"(?:(?!{_any(self.breaks)}){_GAP}){{0,8}}?"
        joined = "|".join(
            (
                rf"{gap}(?P<firm>{_any(self.firm)})[ ]{{0,2}}[:：]?[ ]{{0,2}}{fillers}",
                rf"{gap}(?P<colon>{_COLON}[ \t]{{0,4}}(?P<line>\r?\n[ \t>*•-]{{0,6}})?)",
                rf"{gap}(?P<joint>{_any(self.joints)})[ ]{{0,2}}[:：、，]?[ ]{{0,2}}{fillers}",
                rf"{gap}(?P<link>{_any(self.links)})[ ]{{0,2}}{fillers}{_STRONG}",
                rf"[^\n。！？；]{{0,10}}?[，,、][ ]?(?P<resumed>{_any(self.resumes)})[ ]{{0,2}}[:：]?[ ]{{0,2}}{fillers}{_STRONG}",
                rf"[ ]{{0,2}}{_STRONG}",
            )
        )
        return rf"{_CLOSE}{_BRACKET}(?:{joined})\*{{0,2}}(?=\S)"

    @cached_property
    def before(self) -> re.Pattern[str]:
        """What stands between a value and a word behind it, up to that word."""
        links = _any(link.partition("…")[0].strip() for link in self.behind)
        if self.spaced:
            return re.compile(rf"[ ](?P<link>{links})[ ](?:(?:{_any(self.between)})[ ]){{0,3}}$")
        return re.compile(rf"[ ]?(?P<link>{links})[ ]?(?:[{CJK}]{{0,5}}|(?:{_any(self.between)}))[ ]?$")

    def after(self, link: str) -> tuple[str, ...]:
        """What one of has to follow the word that a value is joined to by that link."""
        return tuple(more for found, _, more in (one.partition("…") for one in self.behind) if found.strip() == link)

    @cached_property
    def changed(self) -> re.Pattern[str]:
        """A verb of changing before a word."""
        return re.compile(rf"(?:{_any(self.changes)})")

    @cached_property
    def used(self) -> re.Pattern[str]:
        """A verb of using right before a value."""
        return re.compile(rf"(?:{_any(self.uses)})[ ]{{0,2}}[{_QUOTE}]{{0,1}}$")

    @cached_property
    def tail(self) -> re.Pattern[str]:
        """What right behind a value says that it was one."""
        return re.compile(rf"[ ]?(?:{_any(self.tails)})")

    @cached_property
    def unit(self) -> re.Pattern[str]:
        """What behind a number says what it counts."""
        return re.compile(rf"[ -]?(?:{_any(self.units)})")

    def is_ordinary(self, word: str) -> bool:
        """Say whether the word continues a sentence about a credential."""
        folded = word.casefold()
        return folded in self.ordinary or (len(folded) > 4 and folded.endswith(self.endings))


def grammar(one: Spec) -> Grammar:
    """The grammar that a pack's rule holds; raise `PackError` where it holds something else."""
    known = {field.name for field in attrs.fields(Grammar)} - {"words"}
    given: Mapping[str, object] = one.told
    for name, words in given.items():
        if name not in known or not isinstance(words, list) or any(not isinstance(word, str) or word != word.lower() for word in words):
            raise PackError(f"{one.family}.toml, rule {one.id!r}: told.{name} is no list of lower-case words that the reader knows")
    made = Grammar(one.keywords, **{name: tuple(words) for name, words in one.told.items()})
    for word in (*made.named, *made.vague, *made.shared):
        if word not in made.words:
            raise PackError(f"{one.family}.toml, rule {one.id!r}: {word!r} is not among its keywords")
    return made
