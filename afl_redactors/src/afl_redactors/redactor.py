"""The redactor: runs every rule over its windows until nothing is left to find, and tells where each value stood. Keeps no text."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Collection, Iterable, Mapping
from types import MappingProxyType

from afl_core.spec.redactor import Finding, Redaction
from afl_redactors.echoes import echoes
from afl_redactors.families import (
    assignments,
    backward,
    calls,
    codes,
    commands,
    context,
    english,
    files,
    headers,
    names,
    pairs,
    pem,
    phrases,
    redirects,
    salts,
    structures,
    tables,
    told,
    urls,
)
from afl_redactors.formats import rule_of
from afl_redactors.markers import MARKER, MASK, marker, masked
from afl_redactors.matcher import matcher
from afl_redactors.packs import PACKS
from afl_redactors.personal import OPTIONS, personal
from afl_redactors.rules import Lead, Rule, Span
from afl_redactors.version import sources, version_of
from afl_redactors.windows import View

FORMATS: tuple[tuple[Rule, tuple[Lead, ...]], ...] = tuple(rule_of(one) for one in PACKS if one.pattern and not one.anchor)
"""The rules that the packs describe whole, each with its leads."""

RULES: tuple[Rule, ...] = (
    *pem.RULES,
    *(rule for rule, _ in FORMATS),
    *urls.RULES,
    *redirects.RULES,
    *headers.RULES,
    *structures.RULES,
    *files.RULES,
    *phrases.RULES,
    *codes.RULES,
    *assignments.RULES,
    *backward.RULES,
    *commands.RULES,
    *calls.RULES,
    *told.RULES,
    *tables.RULES,
    *pairs.RULES,
    *salts.RULES,
    *english.RULES,
    *context.RULES,
)
"""In order of precedence: of two rules that find the same value the earlier one names it."""

WORDS: tuple[str, ...] = tuple(dict.fromkeys(word for rule in RULES for word in rule.words))
"""Every word of every rule, once."""

LEADS: tuple[Lead, ...] = (
    *pem.LEADS,
    *(lead for _, leads in FORMATS for lead in leads),
    *urls.LEADS,
    *redirects.LEADS,
    *headers.LEADS,
    *structures.LEADS,
    *files.LEADS,
    *phrases.LEADS,
    *codes.LEADS,
    *pairs.LEADS,
    *salts.LEADS,
    *commands.LEADS,
    *calls.LEADS,
    *tables.LEADS,
    *told.LEADS,
    *names.LEADS,
)

LITERALS: tuple[str, ...] = tuple(dict.fromkeys(literal for lead in LEADS for literal in lead.literals))
"""Every literal of every lead, once."""

_PLAIN_LITERALS = frozenset(literal for literal in LITERALS if not any(literal.startswith(literal[at:]) for at in range(1, len(literal))))
"""Those that cannot overlap themselves."""

_LEADS_BY: dict[str, list[Lead]] = {literal: [] for literal in LITERALS}
for _lead in LEADS:
    for _literal in dict.fromkeys(_lead.literals):
        _LEADS_BY[_literal].append(_lead)
_LEADS_OF = tuple(tuple(_LEADS_BY[literal]) for literal in LITERALS)
_OPENING = tuple(word for lead in LEADS for word in lead.opens)
_PLACE_OF = {rule: place for place, rule in enumerate(RULES)}
_find_literals = matcher(LITERALS)

MAX_ROUNDS = 8
"""Rounds after which a text that still changes is replaced as a whole; ordinary text needs one or two."""

UNSTABLE = "unstable"
"""The rule that names a text replaced as a whole because it never settled."""


class CredentialRedactor:
    """Finds secrets and credentials by their form, their name, or the sentence they stand in.

    The result is a fixed point of the rules, so redacting it again changes nothing.
    """

    name: str = "credentials"
    version: str = version_of(sources())
    options: Mapping[str, str] = MappingProxyType(OPTIONS)

    def __init__(self, options: Collection[str] = ()) -> None:
        """With `options`, look for these kinds of personal data as well; raise ValueError for names that are none."""
        if unknown := set(options) - self.options.keys():
            raise ValueError(f"no option of the redactor {self.name!r}: {', '.join(sorted(unknown))}; there are: {', '.join(self.options)}")
        self._options = frozenset(options)
        self.version = "+".join((CredentialRedactor.version, *sorted(self._options)))

    def with_options(self, names: Collection[str]) -> CredentialRedactor:
        """The redactor that looks for these kinds of personal data as well, and for no other ones."""
        return CredentialRedactor(names)

    def redact(self, text: str) -> Redaction:
        """Replace every credential in `text`; the findings' offsets are in the text as given."""
        redaction, _ = redact_counting(text, options=self._options)
        return redaction


def redact_counting(text: str, *, everywhere: bool = False, options: Collection[str] = ()) -> tuple[Redaction, int]:
    """Redact, and say how many steps it took: characters handed to rules or read as values, and hits of words and literals.

    With `everywhere`, each rule is run wherever a word of it stands and not only where a lead points: the result is the same.
    `options`: the kinds of personal data to look for as well.
    """
    spans, view = _found(text, options, everywhere=everywhere)
    steps = view.steps
    if not spans:
        return Redaction(text), steps
    findings = _merged(Finding(name, start, end) for (start, end), name in _whole_markers(text, spans, view.text))
    if not findings:
        return Redaction(text), steps
    for _ in range(MAX_ROUNDS - 1):
        draft = _Draft(text, findings)
        spans, view = _found(draft.text, options, everywhere=everywhere)
        steps += view.steps
        merged = _merged(draft.original(span, name) for span, name in _whole_markers(draft.text, spans, view.text)) if spans else []
        if not merged:
            again = list(echoes(view.text, ((text[one.start : one.end], one.rule) for one in findings)))
            steps += len(again)
            merged = _merged(draft.original(span, name) for span, name in again)
        if not merged:
            return Redaction(draft.text, tuple(findings)), steps
        findings = _merged([*merged, *findings])
    whole = Finding(UNSTABLE, 0, len(text))
    return Redaction(marker(UNSTABLE), (whole,)), steps


Named = tuple[Span, str]
"""Where a value stands, and the rule that found it."""


def _found(text: str, options: Collection[str], *, everywhere: bool) -> tuple[list[Named], View]:
    """What the rules find in a text as it is, in order of precedence, and the view they found it in."""
    view = View(masked(text), everywhere=everywhere)
    spans: list[Named] = [*personal(view, options)]
    worth = _worth_running(view)
    if not worth:
        return spans, view
    spans += [(span, rule.name) for rule, wanted in worth if not rule.gives_way for span in _spans(rule, view, wanted)]
    taken = _Taken(span for span, _ in spans)
    spans += [
        (span, rule.name) for rule, wanted in worth if rule.gives_way for span in _spans(rule, view, wanted) if not taken.touches(span)
    ]
    return spans, view


def _worth_running(view: View) -> list[tuple[Rule, list[int] | None]]:
    """The rules that may find something, and where a window of theirs has to reach to be worth it; None: everywhere.

    In most texts hardly any may.
    """
    if view.everywhere:
        present = {word for word in WORDS if word in view.folded}
        return [(rule, None) for rule in RULES if not present.isdisjoint(rule.words)]
    hits = _find_literals(view.seen)
    view.count(len(hits))
    wanted: dict[Rule, list[int]] = {}
    for index, start, end in hits:
        for lead in _LEADS_OF[index]:
            for rule in lead.asks(view, start, end):
                wanted.setdefault(rule, []).append(end - 1 if lead.opens else start)
    if view.seen.startswith(_OPENING):
        _open(view, wanted)
    if not wanted:
        return []
    found: dict[str, list[int]] = {}
    for index, start, _ in hits:
        found.setdefault(LITERALS[index], []).append(start)
    view.learn(_PLAIN_LITERALS, {literal: found[literal] for literal in _PLAIN_LITERALS.intersection(found)})
    view.names.sort()
    return [(rule, sorted(wanted[rule])) for rule in sorted(wanted, key=_PLACE_OF.__getitem__)]


def _open(view: View, wanted: dict[Rule, list[int]]) -> None:
    """Ask what the text begins with."""
    for lead in LEADS:
        for word in lead.opens:
            if view.seen.startswith(word):
                for rule in lead.asks(view, 0, len(word)):
                    wanted.setdefault(rule, []).append(0)


def _spans(rule: Rule, view: View, wanted: list[int] | None) -> Iterable[Span]:
    for start, end in view.windows(rule.words, rule.before, rule.after, rule.clip, wanted):
        yield from rule.find(view, start, end)


def _whole_markers(text: str, spans: list[Named], hidden: str) -> Iterable[Named]:
    """Widen spans that cut a marker, and drop those that hold nothing but markers."""
    if not spans or MASK not in hidden:
        yield from ((span, name) for span, name in spans if span[0] < span[1])
        return
    markers = [found.span() for found in MARKER.finditer(text)]
    starts = [start for start, _ in markers]
    for (start, end), name in spans:
        if start >= end or not hidden[start:end].strip(MASK):
            continue
        before = bisect_right(starts, start) - 1
        within = bisect_right(starts, end - 1) - 1
        first = starts[before] if before >= 0 and start < markers[before][1] else start
        last = max(end, markers[within][1]) if within >= 0 and end <= markers[within][1] else end
        yield (first, last), name


def _merged(findings: Iterable[Finding]) -> list[Finding]:
    """Join findings that overlap; the widest names the whole, then the one given first."""
    joined: list[Finding] = []
    widest = 0
    for _, found in sorted(enumerate(findings), key=lambda pair: (pair[1].start, -pair[1].end, pair[0])):
        if joined and found.start < joined[-1].end:
            last = joined[-1]
            rule = found.rule if found.end - found.start > widest else last.rule
            widest = max(widest, found.end - found.start)
            joined[-1] = Finding(rule, last.start, max(last.end, found.end))
        else:
            joined.append(found)
            widest = found.end - found.start
    return joined


class _Taken:
    """The parts of a text that some rule already claims."""

    def __init__(self, spans: Iterable[Span]) -> None:
        """Join the spans into disjoint ones, in order."""
        joined = _merged(Finding("", start, end) for start, end in spans)
        self._starts = [found.start for found in joined]
        self._ends = [found.end for found in joined]

    def touches(self, span: Span) -> bool:
        """Say whether a claimed part overlaps `span`."""
        last = bisect_right(self._starts, span[1] - 1) - 1
        return last >= 0 and self._ends[last] > span[0]


class _Draft:
    """A text with findings replaced, and the way back from its offsets to those of the text as given."""

    def __init__(self, text: str, findings: list[Finding]) -> None:
        """Build the replaced text once; `findings` are in order and do not overlap."""
        pieces: list[str] = []
        self._starts: list[int] = []
        self._origins: list[tuple[int, int, bool]] = []
        length = at = 0
        for found in [*findings, None]:
            end = found.start if found else len(text)
            length = self._add(pieces, text[at:end], length, (at, end, False))
            if found:
                length = self._add(pieces, marker(found.rule), length, (found.start, found.end, True))
                at = found.end
        self.text = "".join(pieces)

    def _add(self, pieces: list[str], piece: str, length: int, origin: tuple[int, int, bool]) -> int:
        if piece:
            pieces.append(piece)
            self._starts.append(length)
            self._origins.append(origin)
        return length + len(piece)

    def original(self, span: Span, rule: str) -> Finding:
        """Return the finding for a span of this draft, in offsets of the text as given."""
        first = bisect_right(self._starts, span[0]) - 1
        last = bisect_right(self._starts, span[1] - 1) - 1
        first_start, _, first_replaced = self._origins[first]
        last_start, last_end, last_replaced = self._origins[last]
        start = first_start if first_replaced else first_start + span[0] - self._starts[first]
        end = last_end if last_replaced else last_start + span[1] - self._starts[last]
        return Finding(rule, start, end)
