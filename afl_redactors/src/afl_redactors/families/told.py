"""Credentials told in a sentence, in the languages whose packs hold the words for it. One reader for all of them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from afl_redactors.families.told_grammar import CJK, Grammar, grammar
from afl_redactors.families.told_values import Place, Said, is_value
from afl_redactors.markers import already_redacted
from afl_redactors.packs import PACKS, Spec
from afl_redactors.rules import Lead, Rule, Span
from afl_redactors.values import Value, read_value
from afl_redactors.windows import Clip, View

_REACH = 48
"""Characters, more than the longest word has."""
_BEFORE = 64
"""Characters before a word in which a value may be joined to it, and a verb say that it is changed."""
_FARTHEST = 4096
"""Characters within which text in a script without spaces ends an unquoted value."""
_LONGEST = 160
"""Characters of a value before its word, or in quotes that only prose has."""

_CLOSING = {"„": '“”"', "‚": "‘’'", "»": "«", "‹": "›", "【": "】", "《": "》", "〈": "〉", "”": "”", "’": "’", "«": "»"}
_PLAIN = {quote: quote for quote in "\"'`"}
"""Quotes behind which a letter follows at once where words are not spaced."""
_OPENING = {
    "“": "„“", "”": "“„”", "’": "‘‚’", "‘": "‚", "»": "«", "«": "»", "」": "「", "』": "『", "】": "【", "》": "《", "›": "‹", '"': '"', "'": "'", "`": "`",
}  # fmt: skip
_BEFORE_IT = re.compile(rf"[^\s,;(){{}}\[\]<>\"'`«»„“”「」『』、。，：]{{1,{_LONGEST}}}$")
_TOGETHER = re.compile(f"[{CJK}]")
_CLAUSE_END = re.compile(r"[\"'`“”»«」』*_]{0,3}[ \t]{0,4}(?:[.,;!)）\]\n\r，。；！、…]|$|(?:[-–—(（]|//|#))")
_SENTENCE_END = re.compile(r"[.!?;][ ]|[\n。！？；]")


def _worth(language: Grammar, view: View, start: int) -> bool:
    """Whether a word of the language stands at `start`, and beside it what may join it to a value."""
    found = language.word.match(view.folded, start)
    if found is None:
        return False
    return language.said.match(view.folded, found.end()) is not None or _joined_before(language, view, found) is not None


def _find(language: Grammar, view: View, start: int, end: int) -> Iterator[Span]:
    at = start
    while found := language.word.search(view.folded, at, end):
        at = found.end()
        for value in _values(language, view, found):
            view.count(value[1] - value[0])
            yield value
            at = max(at, value[1])


def _values(language: Grammar, view: View, found: re.Match[str]) -> Iterator[Span]:
    """The value behind the word or else the one before it."""
    value = _behind(language, view, found) or _before(language, view, found)
    if value is not None:
        yield value.start, value.end


def _behind(language: Grammar, view: View, found: re.Match[str]) -> Value | None:
    said = language.said.match(view.folded, found.end())
    if said is None:
        return None
    view.count(said.end() - said.start())
    value = _read(view, said.end(), spaced=language.spaced)
    if value is None:
        return None
    tail = language.tail.match(view.folded, value.end + (1 if value.quoted else 0)) is not None
    how = _how(language, view, found, said, tail=tail)
    if found.group() in language.shared and (how is Said.LOOSE or (said["colon"] and not language.starts_with_kind(said.group()))):
        return None  # what other rules read
    doubtful = said["resumed"] or said.groupdict().get("other")
    if doubtful and not any(letter.isdigit() for letter in value.text):
        return None
    return value if _is_told(language, view, found.group(), value, how, tail=tail) else None


def _how(language: Grammar, view: View, found: re.Match[str], said: re.Match[str], *, tail: bool) -> Said:
    """By what the value is joined to the word."""
    if said["firm"] or (said["colon"] and not said["line"]):
        return Said.FIRM
    if said["joint"] or said["resumed"] or tail:
        return Said.JOINT
    changed = said["link"] is not None and language.changed.search(_sentence_before(view, found.start())) is not None
    return Said.JOINT if changed else Said.LOOSE


def _is_told(language: Grammar, view: View, word: str, value: Value, how: Said, *, tail: bool) -> bool:
    if already_redacted(value.text):
        return False
    place = Place(
        language.trust(word),
        how,
        value.quoted,
        ends=tail or _CLAUSE_END.match(view.text, value.end) is not None,
        counts=language.unit.match(view.folded, value.end) is not None,
    )
    return is_value(value.text, place, language)


def _read(view: View, start: int, *, spaced: bool) -> Value | None:
    """The value at `start`, trimmed; where words are not spaced, one without quotes ends with its script."""
    text = view.text
    opening = text[start : start + 1]
    if closing := _CLOSING.get(opening) or ("" if spaced else _PLAIN.get(opening)):
        ends = [end for quote in closing if (end := text.find(quote, start + 1, start + _LONGEST)) > start + 1]
        if ends and "\n" not in text[start : min(ends)]:
            return _trimmed(text, start + 1, min(ends))
    limit = None
    if not spaced and (goes_on := _TOGETHER.search(text, start, start + _FARTHEST)):
        limit = goes_on.start()
    value = read_value(view, start, limit) if limit != start else None
    return _trimmed(text, value.start, value.end) if value and value.quoted else value


def _trimmed(text: str, start: int, end: int) -> Value | None:
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    return Value(start, end, text[start:end], quoted=True) if start < end else None


def _sentence_before(view: View, start: int) -> str:
    """What stands before `start` in its sentence, as far as it is read."""
    near = view.folded[max(0, start - _BEFORE) : start]
    view.count(len(near))
    ends = [found.end() for found in _SENTENCE_END.finditer(near)]
    return near[ends[-1] if ends else 0 :]


def _joined_before(language: Grammar, view: View, found: re.Match[str]) -> int | None:
    """Where what joins a value to the word after it begins; None where nothing does."""
    low = max(0, found.start() - _BEFORE)
    link = language.before.search(view.folded[low : found.start()])
    if link is None or not any(view.folded.startswith(more, found.end()) for more in language.after(link["link"])):
        return None
    return low + link.start()


def _before(language: Grammar, view: View, found: re.Match[str]) -> Value | None:
    end = _joined_before(language, view, found)
    value = _read_back(view.text, end, spaced=language.spaced) if end else None
    if value is None:
        return None
    view.count(found.start() - value.start)
    used = language.used.search(view.folded[max(0, value.start - _BEFORE) : value.start]) is not None
    how = Said.JOINT if used else Said.LOOSE
    return value if _is_told(language, view, found.group(), value, how, tail=False) else None


def _read_back(text: str, end: int, *, spaced: bool) -> Value | None:
    """The value that ends at `end`."""
    low = max(0, end - _LONGEST)
    if opening := _OPENING.get(text[end - 1]):
        start = max(text.rfind(quote, low, end - 1) for quote in opening)
        return _trimmed(text, start + 1, end - 1) if start >= 0 and "\n" not in text[start:end] else None
    if not spaced:
        breaks = [found.end() for found in _TOGETHER.finditer(text, low, end)]
        low = breaks[-1] if breaks else low
    value = _BEFORE_IT.search(text[low:end])
    if value is None:
        return None
    word = value.group().rstrip(".,;:?").lstrip("*_:")
    start = low + value.end() - len(value.group().lstrip("*_:"))
    return Value(start, start + len(word), word, quoted=False) if word else None


def _rule(one: Spec) -> tuple[Rule, Lead]:
    language = grammar(one)
    rule = Rule(one.id, one.keywords, lambda view, start, end: _find(language, view, start, end), before=0, after=_REACH, clip=Clip.NOTHING)
    found, nothing = (rule,), ()

    def asks(view: View, start: int, _end: int) -> Sequence[Rule]:
        return found if _worth(language, view, start) else nothing

    return rule, Lead(language.literals, asks)


_LANGUAGES = tuple(_rule(one) for one in PACKS if one.reader == "told")
RULES: tuple[Rule, ...] = tuple(rule for rule, _ in _LANGUAGES)
LEADS: tuple[Lead, ...] = tuple(lead for _, lead in _LANGUAGES)
