"""A secret that was found in a text and stands in it again, where no rule sees it. Decides which found values are worth looking for."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from afl_redactors import lookalikes
from afl_redactors.rules import Span

MOST = 32
"""Distinct values of one text that are looked for: each costs a pass over it."""
SHORTEST, LONGEST = 8, 256
"""Characters of a value that is looked for: a shorter one may be a word, a longer one is no word somebody repeats."""

_WORD_WITH_NUMBER = re.compile(r"[A-Za-z]{1,24}[-_]?\d{1,4}|[a-z_]{3,40}\d{1,2}[a-z_]{3,40}")


def worth_looking_for(value: str) -> bool:
    """Say whether a found value is so much its own that it means the same wherever it stands: a word of letters with digits."""
    if not SHORTEST <= len(value) <= LONGEST or value.split() != [value]:
        return False
    if not any(letter.isdigit() for letter in value) or not any(letter.isalpha() for letter in value):
        return False
    return (
        _WORD_WITH_NUMBER.fullmatch(value) is None
        and not lookalikes.is_known_shape(value)
        and not lookalikes.is_path(value)
        and not lookalikes.is_code(value)
        and not lookalikes.is_file_of_a_secret(value)
    )


def echoes(text: str, values: Iterable[tuple[str, str]]) -> Iterator[tuple[Span, str]]:
    """Yield where the `values`, each with the rule that found it, stand in `text` as words of their own."""
    sought: dict[str, str] = {}
    for value, rule in values:
        if value not in sought and len(sought) < MOST and worth_looking_for(value):
            sought[value] = rule
    for value, rule in sought.items():
        at = text.find(value)
        while at >= 0:
            end = at + len(value)
            if not (text[at - 1 : at].isalnum() or text[end : end + 1].isalnum()):
                yield (at, end), rule
            at = text.find(value, end)
