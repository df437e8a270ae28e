"""Stored texts judged again: what is found anew is replaced, so are repeats of it in other texts, and a quote of a text changes as that text does.

Knows no store. Values are held as long as one project is worked on, never kept.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import attrs

from afl_core.redaction.chain import Chain, Redacted
from afl_core.redaction.places import Places
from afl_core.redaction.repeats import spans_of, words
from afl_core.redaction.strings import mapped
from afl_core.spec.redactor import Finding

QUOTES = {"feedback_quote": "feedback_event_id", "referent_quote": "referent_event_ids"}
"""Members of evidence that quote an event, and the member that names it."""


TextOf = Callable[[str], str | None]
"""The text of an event by its id, as it is stored now; None for one that is gone."""


class _Quoted(str):
    """A quote that is a part of its event's text as that will be: judged with it, and not once more without what stands around it."""

    __slots__ = ()


@attrs.frozen
class Rewritten:
    """A text with what was found in it replaced, and how often each rule did."""

    text: str
    rules: Mapping[str, int]


class Rewriter:
    """First every text is read, then every text is rewritten with what was learnt from all of them."""

    def __init__(self, chain: Chain) -> None:
        self._chain = chain
        self._known: dict[str, str] = {}
        self._quotes: dict[str, str] = {}

    @property
    def knows(self) -> bool:
        """Whether anything was found so far."""
        return bool(self._known)

    def read(self, text: str) -> Redacted:
        """Judge a text and learn what it shows. Raises `RedactionError`."""
        done = self._chain.redact(text)
        for found in done.findings:
            for word in words(text[found.start : found.end]):
                self._known.setdefault(word, found.rule)
        return done

    def places(self, text: str, findings: Iterable[Finding]) -> Places | None:
        """A text that was read before, with its findings and the repeats of others; None when nothing is to change."""
        places = Places(text, findings)
        self._repeats(places)
        return places if places.findings else None

    def _repeats(self, places: Places) -> None:
        if self._known and not self._known.keys().isdisjoint(words(places.text)):
            spans = spans_of(places.text, self._known)
            places.add([Finding(self._known[places.text[start:end]], start, end) for start, end in spans])

    def quoted(self, quote: str, original: str, places: Places) -> str:
        """A quote of an event's text as it stands in the text that takes its place."""
        at = original.find(quote)
        if not quote or at < 0:
            return self.rewrite(quote).text
        start, end = places.after(at, at + len(quote))
        new = places.text[start:end]
        if new != quote:
            self._quotes[quote] = new
        return new

    def rewrite(self, text: str) -> Rewritten:
        """Any other text: quotes in it change as their events did, then it is judged itself."""
        rules: Counter[str] = Counter()
        for old in sorted(self._quotes, key=len, reverse=True):
            if old in text:
                text = text.replace(old, self._quotes[old])
                rules["quote"] += 1
        places = Places(text, self._chain.redact(text).findings)
        self._repeats(places)
        rules.update(found.rule for found in places.findings)
        return Rewritten(places.text, rules)

    def evidence(self, value: Any, events: Mapping[str, tuple[str, Places]], text_of: TextOf, rules: Counter[str]) -> Any:
        """JSON with its quotes and its other strings rewritten. `events`: those that change, by id, with their texts of before."""

        def change(text: str) -> str:
            if isinstance(text, _Quoted):
                return str(text)
            done = self.rewrite(text)
            rules.update(done.rules)
            return done.text

        return mapped(self._quoting(value, events, text_of, rules), change)

    def _quoting(self, value: Any, events: Mapping[str, tuple[str, Places]], text_of: TextOf, rules: Counter[str]) -> Any:
        if isinstance(value, list):
            return [self._quoting(one, events, text_of, rules) for one in value]
        if not isinstance(value, dict):
            return value
        changed = {name: self._quoting(member, events, text_of, rules) for name, member in value.items()}
        for quote, source in QUOTES.items():
            told, ids = changed.get(quote), changed.get(source)
            if not isinstance(told, str) or not told:
                continue
            for event_id in (ids,) if isinstance(ids, str) else ids if isinstance(ids, list) else ():
                if told in (text_of(event_id) or ""):
                    new = self.quoted(told, *events[event_id]) if event_id in events else told
                    rules["quote"] += new != told
                    changed[quote] = _Quoted(new)
                    break
        return changed
