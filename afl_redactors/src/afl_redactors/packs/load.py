"""Reads rule packs: TOML in, checked specifications of rules out. Knows no rule and runs none."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping
from importlib.resources import files
from itertools import chain
from typing import Any

import attrs

from afl_redactors import checks, identities
from afl_redactors.packs.linear import problem
from afl_redactors.packs.links import LINKS, joined

_ID = re.compile(r"[a-z0-9-]{1,64}")
_FIELDS = {
    "id": str,
    "keywords": list,
    "pattern": str,
    "link": str,
    "reader": str,
    "begins": list,
    "starts": str,
    "literals": list,
    "reach": int,
    "ends": str,
    "lines": str,
    "entropy": (int, float),
    "checksum": str,
    "allow": list,
    "option": str,
    "anchor": str,
    "told": dict,
    "positive": list,
    "negative": list,
}
"""What a rule may say, and as what."""

STARTS = ("anywhere", "token")
ENDS = ("token", "match")
LINES = ("one", "many")
ANCHORS = ("", "digits", "numbers", "text")
MAX_REACH = 16_384


class PackError(ValueError):
    """A rule pack that cannot be used; names file, rule and what to mend."""


@attrs.frozen
class Spec:
    """One rule as its pack gives it.

    `keywords`: lower-case literals, one of which stands in every match. `begins`: how many characters before its keyword a match may begin.
    `starts`: "token" for a keyword that many ordinary words hold inside: it counts only where a token begins, and a match begins with it.
    `literals`: what is looked for instead of the keywords, where these stand in too many ordinary words. `reach`: characters behind a keyword
    within which a match lies. `ends`: "token" widens the value to the end of the token it stands in, "match" does not. `lines`: whether a match
    stands in "one" line or may go across "many". `link`: the keywords are a vendor's names and the pattern is that of a value alone, which is known
    by what stands between (see `links`). `entropy`: bits a character that the value has at least. `checksum`: the name of a check the value must pass. `allow`: patterns of values that are none.
    `option`: the rule runs only where this family is switched on. `reader`: the rule is read by code of that name, without a pattern.
    `anchor`: how a rule that has no keyword in every match is found: "digits", near 13 digits and more; "numbers", near nine; or anywhere in
    the "text", near its keywords if it has any. The last two cost more and are for what is switched on.
    `told`: for the reader of that name, lists of the words by which a language tells a credential.
    `positive`: texts in which `⟦` and `⟧` enclose what must go; `negative`: texts that stay as they are. Both are run as tests, without each `¦`,
    which only keeps made-up keys from looking real to scanners of a repository.
    """

    family: str
    id: str
    keywords: tuple[str, ...]
    pattern: str = ""
    link: str = ""
    reader: str = ""
    begins: tuple[int, ...] = (0,)
    starts: str = "anywhere"
    literals: tuple[str, ...] = ()
    reach: int = 160
    ends: str = "token"
    lines: str = "one"
    entropy: float = 0.0
    checksum: str = ""
    allow: tuple[str, ...] = ()
    option: str = ""
    anchor: str = ""
    told: Mapping[str, list[str]] = attrs.field(factory=dict, hash=False)
    positive: tuple[str, ...] = ()
    negative: tuple[str, ...] = ()

    @property
    def whole(self) -> str:
        """The pattern of a whole match, with what links the keyword to the value."""
        return joined(self.keywords, self.pattern, self.link)


def read_pack(family: str, text: str, *, tested: bool = False) -> tuple[Spec, ...]:
    """The rules of one pack, in order; raise `PackError` for whatever they must not be. `family` is the file's name without its ending.

    Of a pack that a test has read before (`tested`), what takes as long as compiling its patterns is not checked again.
    """
    try:
        body = tomllib.loads(text)
    except tomllib.TOMLDecodeError as bad:
        raise PackError(f"{family}.toml is no TOML: {bad}") from bad
    if unknown := body.keys() - {"rule"}:
        raise PackError(f"{family}.toml has an unknown table {min(unknown)!r}: a pack holds [[rule]] tables only")
    rules = body.get("rule", [])
    if not isinstance(rules, list) or not rules:
        raise PackError(f"{family}.toml holds no [[rule]]")
    return tuple(_spec(family, number, rule, tested=tested) for number, rule in enumerate(rules, 1))


def _spec(family: str, number: int, given: Mapping[str, Any], *, tested: bool) -> Spec:
    where = f"{family}.toml, rule {given.get('id', number)!r}"
    for name, value in given.items():
        if name not in _FIELDS:
            raise PackError(f"{where}: unknown field {name!r}")
        if not isinstance(value, _FIELDS[name]) or isinstance(value, bool):  # type: ignore[arg-type]
            raise PackError(f"{where}: {name} is {type(value).__name__}")
    fields: dict[str, Any] = {name: tuple(value) if isinstance(value, list) else value for name, value in given.items()}
    if "id" not in fields or not fields.keys() & {"keywords", "anchor"}:
        raise PackError(f"{where}: id and keywords are needed")
    made = Spec(family, **{"keywords": (), **fields})
    for wrong in chain(_wrong(made), () if tested else _slow(made)):
        raise PackError(f"{where}: {wrong}")
    return made


def _wrong(one: Spec) -> Iterable[str]:
    """What is wrong with a rule; the first is enough."""
    if not _ID.fullmatch(one.id):
        yield "an id has 1 to 64 of the characters a-z, 0-9 and -"
    if not (one.keywords or one.anchor) or not all(map(_is_folded, (*one.keywords, *one.literals))):
        yield "keywords and literals are lower-case and not empty"
    if bool(one.pattern) == bool(one.reader):
        yield "it has either a pattern or a reader"
    yield from _wrong_reach(one)
    yield from _misplaced(one)
    known = identities.CHECKSUMS if one.anchor else checks.CHECKSUMS
    if one.checksum and one.checksum not in known:
        yield f"checksum is one of {', '.join(sorted(known))}"
    if any(text.count("⟦") != text.count("⟧") or "⟦" not in text for text in one.positive):
        yield "each positive example encloses what must go in ⟦ and ⟧"


def _wrong_reach(one: Spec) -> Iterable[str]:
    """What is wrong with how far a match goes and where it may begin."""
    if one.starts not in STARTS:
        yield f"starts is one of {', '.join(STARTS)}"
    if one.starts == "token" and (one.begins != (0,) or one.literals):
        yield "what starts with a token needs neither begins nor literals"
    if one.ends not in ENDS:
        yield f"ends is one of {', '.join(ENDS)}"
    if one.lines not in LINES:
        yield f"lines is one of {', '.join(LINES)}"
    if one.link not in LINKS or (one.link and not one.pattern):
        yield f"link is one of {', '.join(filter(None, LINKS))} and stands beside a pattern"
    if not 0 < one.reach <= MAX_REACH:
        yield f"reach is between 1 and {MAX_REACH}"
    if not all(_is_within(back, one.reach) for back in one.begins) or not one.begins:
        yield "begins holds numbers of characters within the reach"


def _is_folded(word: object) -> bool:
    return isinstance(word, str) and word != "" and word == word.lower()


def _is_within(back: object, reach: int) -> bool:
    return isinstance(back, int) and 0 <= back <= reach


def _misplaced(one: Spec) -> Iterable[str]:
    """Which field is there and belongs to another kind of rule, or is missing."""
    if one.anchor not in ANCHORS or (one.anchor in {"numbers", "text"} and not one.option):
        yield "an anchor is digits or, for what is an option, numbers or text"
    if one.option and not one.anchor:
        yield "an option has an anchor"
    if bool(one.told) != (one.reader == "told"):
        yield "a table told is there for the reader told, and only there"


def _slow(one: Spec) -> Iterable[str]:
    """What keeps a pattern from being run on whatever text there is."""
    for pattern in (one.whole, *one.allow):
        if pattern and (why := problem(pattern)):
            yield f"{pattern!r} {why}"


def load() -> tuple[Spec, ...]:
    """The rules of every pack of this distribution, packs by name."""
    packs = sorted((found for found in files(__package__).iterdir() if found.name.endswith(".toml")), key=lambda found: found.name)
    return tuple(one for found in packs for one in read_pack(found.name.removesuffix(".toml"), found.read_text("utf-8"), tested=True))


PACKS = load()
"""Every rule of the shipped packs."""

_BY_ID = {one.id: one for one in PACKS}


def spec(rule: str) -> Spec:
    """The rule of that id."""
    return _BY_ID[rule]
