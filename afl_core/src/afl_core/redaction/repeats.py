"""Words of a text that may be a secret said again: the same words are named by keyed hash when a rule finds a secret. Keeps nothing."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator
from itertools import filterfalse

MIN_CHARS = 6
MAX_CHARS = 256
_LENGTH = 15
CLEARED = 65_536
"""Runs that are remembered as no secret of a session."""

_PARTING = "\"'`,;:=(){}[]<>|\\"
"""What parts words in ASCII text, beside white space."""
_RUN = re.compile(r"[^\s\"'`,;:=(){}\[\]<>|\\，。；：、（）「」！？【】《》“”‘’]{6,256}")
_ESCAPES = ("\\n", "\\t", "\\r")
"""White space as it stands in JSON inside a text."""
_CLOSING = ".!?"

_TELLING, _SPACE = 1, 32
_BLANKS = bytes(_SPACE if chr(code).isspace() or chr(code) in _PARTING else code for code in range(256))
"""ASCII: what parts words is a space."""
_KINDS = bytes(code if code == _SPACE or chr(code).isalpha() else _TELLING for code in _BLANKS)
"""The same, and what no word of letters holds is `_TELLING`."""
_FLAG = bytes([_TELLING])
_PLAIN = bytes(code for code in range(256) if _KINDS[code] != _TELLING or code == ord("."))
_SAMPLE, _DENSE = 1024, 24
"""Where in its beginning one of every so many characters is telling, parting the whole text costs less."""


def words(text: str) -> set[str]:
    """Every run of 6 to 256 characters that are neither white space nor brackets, quotes and the like, unless it is all letters; once.

    A run that ends like a sentence is given without its last full stops, and also without `!` and `?`.
    """
    return {form for run in filterfalse(str.isalpha, _read(_all_runs(text))) for form in _forms(run)}


def name_of(word: str, hasher: Callable[[str], str]) -> str:
    """What is kept of a secret: its keyed hash, and of its length the last four bits, so that most other words need no hash."""
    return f"{hasher(word)}.{len(word) & _LENGTH:x}"


class Blocked:
    """Names of secrets that must not be said again. `cleared`: runs that were found to be none of them, for in a session the same ones come again."""

    def __init__(self, names: Iterable[str] = ()) -> None:
        self.names = frozenset(names)
        self.lengths = frozenset(int(name.rpartition(".")[2], 16) for name in self.names)
        self.cleared: set[Run] = set()


def repeated(text: str, blocked: Blocked, hasher: Callable[[str], str]) -> set[str]:
    """The words of the text whose name is among the blocked ones."""
    if not blocked.names:
        return set()
    left = _all_runs(text) - blocked.cleared
    if not left:
        return set()
    forms = {form for run in filterfalse(str.isalpha, _read(left)) for form in _forms(run) if len(form) & _LENGTH in blocked.lengths}
    found = {word for word in forms if name_of(word, hasher) in blocked.names}
    if not found:
        if len(blocked.cleared) > CLEARED:
            blocked.cleared.clear()
        blocked.cleared |= left
    return found


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


Run = str | bytes
"""Of ASCII text the bytes: they are told apart by the interpreter's own loops."""


def _all_runs(text: str) -> set[Run]:
    text = _without_escapes(text)
    return set(_runs(text.encode("ascii")) if text.isascii() else _RUN.findall(text))


def _read(runs: Iterable[Run]) -> Iterator[str]:
    """The runs as text, the longest in pieces as the pattern gives them."""
    for run in runs:
        text = run if isinstance(run, str) else run.decode("ascii")
        if len(text) <= MAX_CHARS:
            yield text
        else:
            yield from _RUN.findall(text)


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


def _runs(data: bytes) -> list[bytes]:
    """The runs of ASCII text that are not all letters, and perhaps more; in prose it looks only at those, as nearly all words are of letters."""
    beginning = data[:_SAMPLE]
    if len(beginning.translate(None, _PLAIN)) * _DENSE > len(beginning):
        return data.translate(_BLANKS).split()
    kinds = data.replace(b". ", b"  ").translate(_KINDS)
    find, rfind, size = kinds.find, kinds.rfind, len(kinds)
    runs: list[bytes] = []
    end, spot = 0, find(_FLAG)
    while spot >= 0:
        start = max(rfind(b" ", end, spot) + 1, end)
        end = find(b" ", spot)
        if end < 0:
            end = size
        if end - start >= MIN_CHARS:
            runs.append(data[start:end])
        spot = find(_FLAG, end)
    return runs
