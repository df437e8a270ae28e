"""Recall, precision and over-redaction of a redactor over labelled and ordinary texts, with 95 % intervals."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from math import sqrt

import attrs
from _labelled import Example

from afl_core.redaction.chain import Redacted

Redact = Callable[[str], Redacted]
RUN = 8
"""Characters in a row of a secret that may not survive."""
Z = 1.959964
"""Of a normal distribution 95 % lie within so many deviations."""


@attrs.frozen
class Share:
    """A count out of many, with its Wilson interval."""

    count: int
    of: int

    @property
    def value(self) -> float:
        """The share; 1 of nothing."""
        return self.count / self.of if self.of else 1.0

    @property
    def interval(self) -> tuple[float, float]:
        """Where the true share lies in 95 of 100 such samples."""
        if not self.of:
            return 0.0, 1.0
        p, n = self.value, self.of
        middle, around = p + Z * Z / (2 * n), Z * sqrt(p * (1 - p) / n + Z * Z / (4 * n * n))
        return (middle - around) / (1 + Z * Z / n), (middle + around) / (1 + Z * Z / n)


@attrs.define
class Accuracy:
    """What a redactor did to some examples. `found`: by kind; `touched`: examples without a secret that it changed."""

    found: dict[str, list[bool]] = attrs.field(factory=dict)
    missed: list[tuple[Example, str]] = attrs.field(factory=list)
    touched: list[tuple[Example, Redacted]] = attrs.field(factory=list)
    without: int = 0
    changed: int = 0
    characters: int = 0

    def recall(self, kind: str | None = None) -> Share:
        """Of the secrets, those that went whole."""
        all_of = [one for name, many in self.found.items() if kind in (None, name) for one in many]
        return Share(sum(all_of), len(all_of))

    @property
    def negatives(self) -> Share:
        """Of the texts without a secret, those that were changed."""
        return Share(len(self.touched), self.without)

    @property
    def precision(self) -> Share:
        """Of what was taken for a secret, what is one."""
        hits = sum(sum(many) for many in self.found.values())
        return Share(hits, hits + len(self.touched))

    @property
    def over(self) -> Share:
        """Of the characters of texts without a secret, those that were replaced."""
        return Share(self.changed, self.characters)


def measured(examples: Iterable[Example], redact: Redact) -> Accuracy:
    """Run the redactor over all examples."""
    result = Accuracy()
    for one in examples:
        done = redact(one.text)
        if not one.holds:
            result.without += 1
            result.characters += len(one.text)
            result.changed += replaced(done)
            if done.findings:
                result.touched.append((one, done))
            continue
        outcomes = [(secret, gone(secret, one.text, done)) for secret in one.secrets] or [("", bool(done.findings))]
        result.found.setdefault(one.kind, []).extend(went for _, went in outcomes)
        result.missed += [(one, secret) for secret, went in outcomes if not went]
    return result


def replaced(done: Redacted) -> int:
    """Characters of the text that were replaced."""
    return sum(found.end - found.start for found in done.findings)


def gone(secret: str, text: str, done: Redacted) -> bool:
    """Whether no run of the secret is left where it stood."""
    run = min(RUN, len(secret))
    spans = [(found.start, found.end) for found in done.findings]
    at = text.find(secret)
    while at >= 0:
        kept = [True] * len(secret)
        for start, end in spans:
            for place in range(max(start, at), min(end, at + len(secret))):
                kept[place - at] = False
        if _longest(kept) >= run:
            return False
        at = text.find(secret, at + 1)
    return True


def _longest(kept: Sequence[bool]) -> int:
    longest = length = 0
    for one in kept:
        length = length + 1 if one else 0
        longest = max(longest, length)
    return longest


def ordinary(texts: Iterable[str], redact: Redact) -> Share:
    """Of the characters of texts that hold no secret, those that were replaced."""
    changed = characters = 0
    for text in texts:
        characters += len(text)
        changed += replaced(redact(text))
    return Share(changed, characters)
