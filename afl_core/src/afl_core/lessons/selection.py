"""Which whole cards a prompt gets. Reads the projection and what the session was already given; writes nothing (`delivery.emit` does).

The front runs through this file: rows only, no attrs. Formulas and limits: 5.2 to 5.8 of the feedback loop's specification.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from afl_core.lessons import hold, relevance
from afl_core.lessons.frame import NONCE_DIGITS, assemble
from afl_core.store import deliveries, held, projection
from afl_core.store.deliveries import Delivery
from afl_core.store.projection import Row

if TYPE_CHECKING:
    import sqlite3

CARD_TOKENS = 1_600
"""A card that costs more is never given."""

MIN_TARGET = 192
MAX_CANDIDATES = 12
MAX_SEVERE = 4
MAX_EMISSIONS = 2
"""How often one revision is given in one epoch when the transcript never proves that it arrived."""

HELD = "held_by_host"
"""The reason why a card is not given whose words the host shows its agents already."""

_SEVERE_RANK = 1


class Chosen(NamedTuple):
    """A card that is given. `match` says why; `tokens` is its estimate."""

    lesson_id: str
    revision: int
    text: str
    tokens: int
    match: dict[str, Any]


class Omitted(NamedTuple):
    """A lesson that is not given. `reason`: no_match, other_place, family, trend_only, delivered, unconfirmed, conflict, severe_limit,
    candidate_limit, oversize, budget, host_limit or held_by_host.
    """

    lesson_id: str
    reason: str


class Selection(NamedTuple):
    """What an intake is given. `hold`: safety_hold or memory_overflow_hold, with the text that says so; `tokens` of all cards."""

    cards: tuple[Chosen, ...]
    omitted: tuple[Omitted, ...]
    hold: str | None
    hold_text: str
    tokens: int


class Limits(NamedTuple):
    """What one injection may take: the host's characters and bytes (None: no limit) and a token budget (0: derived from the cards)."""

    chars: int | None
    bytes: int | None
    tokens: int

    def admit(self, text: str) -> bool:
        """Whether a whole injected text stays inside the host's limits."""
        if self.chars is not None and len(text) > self.chars:
            return False
        return self.bytes is None or len(text.encode("utf-8", "surrogatepass")) <= self.bytes


class Budgets(NamedTuple):
    """Token budgets: `soft` for all Majors, `absolute` for everything."""

    target: int
    soft: int
    absolute: int


class _Candidate(NamedTuple):
    row: Row
    match: dict[str, Any]

    @property
    def severe(self) -> bool:
        return self.row.rank <= _SEVERE_RANK


def budgets(costs: Sequence[int], override: int) -> Budgets:
    """Budgets derived from the candidates' costs: 1.2 times their 95th percentile, between 192 and 1,600; `override` replaces four times that."""
    p95 = sorted(costs)[-(-95 * len(costs) // 100) - 1] if costs else 0
    target = min(CARD_TOKENS, max(MIN_TARGET, -(-6 * p95 // 5)))
    absolute = override or 4 * target
    return Budgets(target, min(absolute, 2 * target), absolute)


def select(  # noqa: PLR0913 - what a prompt and its host say, each by name
    db: sqlite3.Connection,
    *,
    project_id: str,
    session_id: str,
    epoch: int,
    prompt: str,
    cwd: str,
    limit_chars: int | None,
    limit_bytes: int | None,
    budget_tokens: int,
    extra: Sequence[str] = (),
    host: str = "",
) -> Selection:
    """The cards for one prompt. `extra`: lesson ids a selector plug-in adds; they count as a match, every other rule stays.

    `host`: whose own memory may hold a card already.
    """
    rows = projection.for_project(db, project_id)
    if not rows:
        return Selection((), (), None, "", 0)
    given = deliveries.of_session(db, session_id)
    settled = {(past.lesson_id, past.revision) for past in given if past.state != "unconfirmed"}
    rules = [(row, relevance.rule(row.match_json)) for row in rows]
    seen = relevance.recent(db, session_id) if any(wanted["tools"] or wanted["paths"] for _, wanted in rules) else None
    work = relevance.task(prompt, cwd, seen)
    added = frozenset(extra)
    known = held.of_host(db, project_id, host)
    found: list[_Candidate] = []
    omitted: list[Omitted] = []
    for row, wanted in rules:
        if (row.lesson_id, row.revision) in known:
            omitted.append(Omitted(row.lesson_id, HELD))
            continue
        why = relevance.match(wanted, work)
        if why is None:
            omitted.append(Omitted(row.lesson_id, "other_place"))
            continue
        if row.lesson_id in added:
            why["selector"] = True
        if row.origin_session == session_id and (row.lesson_id, row.revision) not in settled:
            why["born_here"] = True
        _judge(row, why, found, omitted)
    return _choose(db, found, omitted, given, session_id, epoch, Limits(limit_chars, limit_bytes, budget_tokens))


def reselect(
    db: sqlite3.Connection,
    *,
    project_id: str,
    session_id: str,
    epoch: int,
    limit_chars: int | None,
    limit_bytes: int | None,
    budget_tokens: int,
    host: str = "",
) -> Selection:
    """The cards for a fresh context window: what earlier epochs of this session were given, and every severe card of the project."""
    given = deliveries.of_session(db, session_id)
    before = {past.lesson_id for past in given if past.epoch != epoch}
    found: list[_Candidate] = []
    omitted: list[Omitted] = []
    known = held.of_host(db, project_id, host)
    for row in projection.for_project(db, project_id):
        if (row.lesson_id, row.revision) in known:
            omitted.append(Omitted(row.lesson_id, HELD))
            continue
        why: dict[str, Any] = {}
        if row.lesson_id in before:
            why["again"] = True
        _judge(row, why, found, omitted)
    return _choose(db, found, omitted, given, session_id, epoch, Limits(limit_chars, limit_bytes, budget_tokens))


def _judge(row: Row, why: dict[str, Any], found: list[_Candidate], omitted: list[Omitted]) -> None:
    """A card with something that speaks for it is a candidate; a severe one speaks for itself."""
    if row.rank <= _SEVERE_RANK:
        why["severe"] = True
    if why:
        found.append(_Candidate(row, why))
    else:
        omitted.append(Omitted(row.lesson_id, "no_match"))


def _choose(
    db: sqlite3.Connection,
    found: Iterable[_Candidate],
    omitted: list[Omitted],
    given: Sequence[Delivery],
    session_id: str,
    epoch: int,
    limits: Limits,
) -> Selection:
    fresh: list[_Candidate] = []
    past = {(row.lesson_id, row.revision): row for row in given if row.epoch == epoch}
    for one in _one_a_family(found, omitted):
        reason = _already(past.get((one.row.lesson_id, one.row.revision)))
        if reason:
            omitted.append(Omitted(one.row.lesson_id, reason))
        else:
            fresh.append(one)

    disputed = [one for one in fresh if one.row.conflict != "none"]
    untold = [
        hold.Held(one.row.severity, one.row.lesson_id, "conflict") for one in disputed if one.severe and one.row.conflict == hold.SAFETY
    ]
    if untold and not deliveries.hold_told(db, session_id, hold.SAFETY, epoch):
        left = (*omitted, *(Omitted(one.row.lesson_id, "conflict") for one in fresh))
        return Selection((), left, hold.SAFETY, _fitting(hold.SAFETY, untold, limits), 0)
    omitted += [Omitted(one.row.lesson_id, "conflict") for one in disputed]

    order = sorted((one for one in fresh if one.row.conflict == "none"), key=_order)
    taken, passed = _walk(order, limits)
    omitted += [Omitted(one.row.lesson_id, reason) for one, reason in passed]
    untold = [hold.Held(one.row.severity, one.row.lesson_id, reason) for one, reason in passed if one.severe]
    if not untold or deliveries.hold_told(db, session_id, hold.OVERFLOW, epoch):
        return _selection(taken, omitted, None, "")
    text = _fitting(hold.OVERFLOW, untold, limits)
    # Room for the hold comes from Majors; a severe card is worth more than the notice that others are missing.
    while text and not limits.admit(_shown(taken, text)):
        if taken and not taken[-1].severe:
            omitted.append(Omitted(taken.pop().row.lesson_id, "host_limit"))
        else:
            text = ""
    return _selection(taken, omitted, hold.OVERFLOW, text)


def _one_a_family(found: Iterable[_Candidate], omitted: list[Omitted]) -> list[_Candidate]:
    """One card a family: the more severe, then the higher revision, then the global one. Trends never compete."""
    best: dict[str, _Candidate] = {}
    for one in found:
        if not one.severe and one.row.load_policy == "trend_only":
            omitted.append(Omitted(one.row.lesson_id, "trend_only"))
            continue
        family = one.row.family_id or one.row.lesson_id
        other = best.get(family)
        if other is None:
            best[family] = one
            continue
        better, worse = sorted((one, other), key=lambda each: (each.row.rank, -each.row.revision, -each.row.is_global, each.row.lesson_id))
        best[family] = better
        omitted.append(Omitted(worse.row.lesson_id, "family"))
    return list(best.values())


def _already(past: Delivery | None) -> str | None:
    if past is None:
        return None
    if past.state != "unconfirmed":
        return "delivered"
    return "unconfirmed" if past.emissions >= MAX_EMISSIONS else None


def _order(one: _Candidate) -> tuple[int, bool, str]:
    """Blockers before Criticals before Majors; inside a severity those that match the task before those that are only severe."""
    return one.row.rank, not any(key != "severe" for key in one.match), one.row.lesson_id


def _walk(order: Sequence[_Candidate], limits: Limits) -> tuple[list[_Candidate], list[tuple[_Candidate, str]]]:
    """Take whole cards in order while they fit; give the taken ones, and the others with the reason."""
    taken: list[_Candidate] = []
    passed: list[tuple[_Candidate, str]] = []
    money = budgets([one.row.tokens for one in order[:MAX_CANDIDATES]], limits.tokens)
    total = majors = severe = 0
    for index, one in enumerate(order):
        cost = one.row.tokens
        reason = None
        if one.severe and severe == MAX_SEVERE:
            reason = "severe_limit"
        elif index >= MAX_CANDIDATES:
            reason = "candidate_limit"
        elif cost > CARD_TOKENS:
            reason = "oversize"
        elif total + cost > money.absolute or (not one.severe and majors + cost > money.soft):
            reason = "budget"
        elif not limits.admit(_shown([*taken, one], "")):
            reason = "host_limit"
        if reason is not None:
            passed.append((one, reason))
            continue
        taken.append(one)
        total += cost
        severe += one.severe
        majors += 0 if one.severe else cost
    return taken, passed


def _shown(cards: Sequence[_Candidate], hold_text: str) -> str:
    return assemble([one.row.card_text for one in cards], "0" * NONCE_DIGITS, hold_text)


def _fitting(state: str, untold: Sequence[hold.Held], limits: Limits) -> str:
    """The longest form of a hold that the host's limits admit; '' when none does."""
    return next((text for text in hold.texts(state, untold) if limits.admit(text)), "")


def _selection(taken: Sequence[_Candidate], omitted: Sequence[Omitted], state: str | None, text: str) -> Selection:
    cards = tuple(Chosen(one.row.lesson_id, one.row.revision, one.row.card_text, one.row.tokens, one.match) for one in taken)
    return Selection(cards, tuple(omitted), state, text, sum(card.tokens for card in cards))
