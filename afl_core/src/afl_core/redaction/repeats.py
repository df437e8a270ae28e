"""Words of a text that may be a secret said again: the same words are named by keyed hash when a rule finds a secret. Keeps nothing."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator
from itertools import filterfalse

MIN_CHARS = 6
MAX_CHARS = 256
_LENGTH = 15

_PARTING = "\"'`,;:=(){}[]<>|\\"
"""What parts words in ASCII text, beside white space."""
_RUN = re.compile(r"[^\s\"'`,;:=(){}\[\]<>|\\，。；：、（）「」！？【】《》“”‘’]{6,256}")
_ESCAPES = ("\\n", "\\t", "\\r")
"""White space as it stands in JSON inside a text."""
_CLOSING = ".!?"

_TELLING, _SPACE = 1, 32
_KINDS = bytes(
    _SPACE if chr(code).isspace() or chr(code) in _PARTING else code if chr(code).isalpha() or chr(code) == "." else _TELLING
    for code in range(256)
)
"""ASCII: what parts words is a space; what no word of letters holds is `_TELLING`."""
_FLAG = bytes([_TELLING])
_BLANKS = str.maketrans(dict.fromkeys(_PARTING, " "))
_PLAIN = bytes(code for code in range(256) if _KINDS[code] != _TELLING)
_SAMPLE, _DENSE = 1024, 24
"""Where in its beginning one of every so many characters is telling, parting the whole text costs less."""


def words(text: str) -> set[str]:
    """Every run of 6 to 256 characters that are neither white space nor brackets, quotes and the like, unless it is all letters; once.

    A run that ends like a sentence is given without its last full stops, and also without `!` and `?`.
    """
    return {form for run in filterfalse(str.isalpha, _all_runs(text)) for form in _forms(run)}


def name_of(word: str, hasher: Callable[[str], str]) -> str:
    """What is kept of a secret: its keyed hash, and of its length the last four bits, so that most other words need no hash."""
    return f"{hasher(word)}.{len(word) & _LENGTH:x}"


class Blocked:
    """Names of secrets that must not be said again, and what is known of their lengths."""

    def __init__(self, names: Iterable[str] = ()) -> None:
        self.names = frozenset(names)
        self.lengths = frozenset(int(name.rpartition(".")[2], 16) for name in self.names)


def repeated(text: str, blocked: Blocked, hasher: Callable[[str], str]) -> set[str]:
    """The words of the text whose name is among the blocked ones."""
    lengths = blocked.lengths
    if not lengths:
        return set()
    alike = (run for run in _all_runs(text) if len(run) & _LENGTH in lengths or run[-1] in _CLOSING)
    likely = (form for run in filterfalse(str.isalpha, alike) for form in _forms(run) if len(form) & _LENGTH in lengths)
    return {word for word in likely if name_of(word, hasher) in blocked.names}


def without(text: str, secret: Collection[str], marker: str) -> tuple[str, int]:
    """The text with every run replaced that is one of the `secret` words, and how many were."""
    parts: list[str] = []
    at = 0
    spans = spans_of(text, secret)
    for start, end in spans:
        parts += (text[at:start], marker)
        at = end
    return ("".join((*parts, text[at:])), len(spans)) if spans else (text, 0)


def spans_of(text: str, secret: Collection[str]) -> list[tuple[int, int]]:
    """Where the `secret` words stand as runs of the text, in order."""
    return [(start, start + len(form)) for start, form in _standing(text, secret)]


def _standing(text: str, secret: Collection[str]) -> Iterator[tuple[int, str]]:
    for run in _RUN.finditer(_without_escapes(text)):
        for form in _forms(run.group()):
            if form in secret:
                yield run.start(), form
                break


def _all_runs(text: str) -> set[str]:
    text = _without_escapes(text)
    return set(_runs(text) if text.isascii() else _RUN.findall(text))


def _forms(run: str) -> list[str]:
    """The words that a run, which is not all letters, may stand for."""
    forms = [run.rstrip(".")]
    if forms[0][-1:] in _CLOSING:
        forms += (forms[0][:-1], forms[0][:-2].rstrip("."), forms[0].rstrip(_CLOSING))
    return [form for form in forms if len(form) >= MIN_CHARS and not form.isalpha()]


def _without_escapes(text: str) -> str:
    """The same length, with escaped white space blanked."""
    if "\\" in text:
        for escape in _ESCAPES:
            text = text.replace(escape, "  ")
    return text


def _runs(text: str) -> Iterable[str]:
    """The runs of ASCII text that are not all letters, and perhaps more; in prose it looks only at those, as nearly all words are of letters."""
    data = text.encode("ascii")
    beginning = data[:_SAMPLE]
    if len(beginning.translate(None, _PLAIN)) * _DENSE > len(beginning):
        return _cut(text.translate(_BLANKS).split())
    kinds = data.translate(_KINDS).replace(b". ", b"  ").replace(b".", _FLAG)
    find, rfind, size = kinds.find, kinds.rfind, len(kinds)
    runs: list[str] = []
    end, spot = 0, find(_FLAG)
    while spot >= 0:
        start = max(rfind(b" ", end, spot) + 1, end)
        end = find(b" ", spot)
        if end < 0:
            end = size
        if end - start >= MIN_CHARS:
            runs.append(text[start:end])
        spot = find(_FLAG, end)
    return _cut(runs)


def _cut(runs: list[str]) -> Iterable[str]:
    """The runs, the longest in pieces as the pattern gives them."""
    if max(map(len, runs), default=0) <= MAX_CHARS:
        return runs
    return [piece for run in runs for piece in (_RUN.findall(run) if len(run) > MAX_CHARS else (run,))]
