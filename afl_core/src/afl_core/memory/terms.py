"""Text to the terms it is found by, for every script: whole words, pieces of identifiers and paths, pairs of characters where words are not parted.

Terms are stored; whoever changes what this file or `grain_text.searchable` gives raises `VERSION`, and every index is made anew.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from itertools import pairwise

VERSION = 1
MAX_TERM = 64
"""Characters of one term; a longer word is found by its beginning."""

_ASCII = re.compile(r"[a-z0-9]+(?:[_./:@#+-]+[a-z0-9]+)*")
_PIECE = re.compile(r"[a-z0-9]+")
_CAMEL = re.compile(r"[A-Z]?[a-z]{2,}|[A-Z]{2,}(?![a-z])|[0-9]{2,}")
_HAS_CAMEL = re.compile(r"[a-z][A-Z]|[A-Za-z][0-9]")
_JOINERS = "_./:@#+-"
_SPACELESS = (
    "\u0e00-\u0e7f\u0e80-\u0eff\u1000-\u109f\u1780-\u17ff"  # Thai, Lao, Myanmar, Khmer
    "\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uac00-\ud7af\U00020000-\U0003134f"  # kana, Han, Hangul
)
"""Scripts that do not part words by spaces, or glue particles to them."""
_RUN = re.compile(f"[{_SPACELESS}]+")
_MARKS = ("Mn", "Mc", "Nd", "Nl")
_TATWEEL = "\u0640"


def terms(text: str) -> list[str]:
    """The terms of a text in order, repeated ones as often as they occur."""
    if not text.isascii():
        return list(_of_any_script(text))
    found: list[str] = []
    for word in _ASCII.findall(text.lower()):
        found.append(word[:MAX_TERM])
        if not word.isalnum():
            found += [piece[:MAX_TERM] for piece in _PIECE.findall(word)]
    if _HAS_CAMEL.search(text) is not None:
        found += _camel(text)
    return found


def _camel(text: str) -> Iterable[str]:
    """Pieces of words in mixed case or with digits in them, where there is more than one."""
    for word in re.findall(r"[A-Za-z0-9]+", text):
        if (not word.islower() and not word.isdigit()) or any(letter.isdigit() for letter in word):
            pieces = _CAMEL.findall(word)
            if len(pieces) > 1 or (pieces and pieces[0] != word):
                yield from (piece.lower()[:MAX_TERM] for piece in pieces)


def _of_any_script(text: str) -> Iterable[str]:
    yield from _camel(text)
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
    for run in _RUN.findall(folded):
        yield from _pairs(run)
    for word in _words(_RUN.sub(" ", folded)):
        yield word[:MAX_TERM]
        if not word.isascii() and (bare := _bare(word)) != word:
            yield bare[:MAX_TERM]
        if not word.isalnum():
            yield from (piece[:MAX_TERM] for piece in re.split(r"[_./:@#+-]+", word) if piece and piece != word)


def _pairs(run: str) -> Iterable[str]:
    """Neighbouring characters two by two, and each alone, so that a single one is found too."""
    if len(run) == 1:
        yield run
        return
    for left, right in pairwise(run):
        yield left + right
    yield from run


def _bare(word: str) -> str:
    """A word as many people write it: without accents, and without the vowel points of Arabic and Hebrew. Vowel signs of Indic scripts stay."""
    apart = unicodedata.normalize("NFD", word.replace(_TATWEEL, ""))
    return unicodedata.normalize("NFC", "".join(letter for letter in apart if not _is_accent(letter)))


def _is_accent(letter: str) -> bool:
    place = unicodedata.combining(letter)
    return 10 <= place <= 36 or place >= 200


def _words(text: str) -> Iterable[str]:
    """Words of scripts that part them: letters, digits and the marks that belong to letters, joined by what joins identifiers."""
    word: list[str] = []
    for letter in text + " ":
        if letter.isalnum() or unicodedata.category(letter) in _MARKS or (letter in _JOINERS and word and word[-1] not in _JOINERS):
            word.append(letter)
        elif word:
            made = "".join(word).rstrip(_JOINERS)
            if made:
                yield made
            word = []
