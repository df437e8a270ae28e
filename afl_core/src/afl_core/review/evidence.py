"""Whether what a receipt cites is in the store: whose words, which events, exact quotes, in the right order. The store decides, not the model."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence

import attrs

from afl_core.model.errors import ReviewError
from afl_core.model.event import Event, EventKind, Role
from afl_core.model.lesson import Receipt
from afl_core.store import events as event_rows
from afl_core.store import queue as queue_rows


@attrs.frozen
class Evidence:
    """What the store has of everything a receipt cites. `assigned`: words that wait in this review; only they can be a complaint."""

    project_id: str
    events: Mapping[str, Event]
    assigned: frozenset[str]


@attrs.frozen
class Citation:
    """One complaint as a receipt cites it; `referent_quote` None: none is asked for (minor findings)."""

    path: str
    feedback_event_id: str
    feedback_quote: str
    referent_event_ids: tuple[str, ...]
    referent_quote: str | None = None


def citations(receipt: Receipt) -> list[Citation]:
    """Every complaint a receipt cites, with its path."""
    found = [
        Citation(
            f"lessons[{number}].evidence_refs[{index}]",
            ref.feedback_event_id,
            ref.feedback_quote,
            ref.referent_event_ids,
            ref.referent_quote,
        )
        for number, lesson in enumerate(receipt.lessons)
        for index, ref in enumerate(lesson.evidence_refs)
    ]
    return found + [
        Citation(f"minor_findings[{index}]", minor.feedback_event_id, minor.feedback_quote, minor.referent_event_ids)
        for index, minor in enumerate(receipt.minor_findings)
    ]


def gather(db: sqlite3.Connection, review_id: str, project_id: str, cited: Sequence[Citation]) -> Evidence:
    """Read what the citations name."""
    wanted = {event_id for citation in cited for event_id in (citation.feedback_event_id, *citation.referent_event_ids)}
    events = {event_id: event for event_id in sorted(wanted) if (event := event_rows.get(db, event_id)) is not None}
    assigned = frozenset(row.event_id for row in queue_rows.of_review(db, review_id) if row.status == "pending")
    return Evidence(project_id, events, assigned)


def check(evidence: Evidence, citation: Citation) -> None:
    """Raise `ReviewError` (receipt_evidence) unless the complaint is a person's, waits in this review and is quoted exactly, and every
    referent is an earlier event of the project, at least one of them something the agent did, quoted exactly where it has words.
    """
    feedback = evidence.events.get(citation.feedback_event_id)
    at = f"{citation.path}.feedback_event_id"
    if feedback is None or feedback.project_id != evidence.project_id or citation.feedback_event_id not in evidence.assigned:
        raise _refuse(at, f"{citation.feedback_event_id} is not one of the words under review")
    if feedback.role is not Role.USER or feedback.kind is not EventKind.MESSAGE or feedback.data_class != "normal":
        raise _refuse(at, f"{citation.feedback_event_id} was not said by a person")
    if not citation.feedback_quote or citation.feedback_quote not in feedback.text:
        raise _refuse(f"{citation.path}.feedback_quote", f"is not an exact part of event {citation.feedback_event_id}")
    referents = [_referent(evidence, citation, index, feedback) for index in range(len(citation.referent_event_ids))]
    acts = [event for event in referents if is_act(event)]
    if not acts:
        raise _refuse(f"{citation.path}.referent_event_ids", "names nothing that the agent said or did")
    if citation.referent_quote is not None:
        _check_referent_quote(citation, acts)


def is_act(event: Event) -> bool:
    """Whether an event is something the agent said or did: text, a tool call or its result, or an answer that was cut off."""
    return event.role is Role.ASSISTANT or event.kind in (EventKind.TOOL_CALL, EventKind.TOOL_RESULT, EventKind.TURN_CUT)


def precedes(earlier: Event, later: Event) -> bool:
    """Whether an event came before another: by place within a session, by the sources' time across sessions."""
    if earlier.session_id == later.session_id:
        return earlier.place < later.place
    return time_of(earlier) <= time_of(later)


def time_of(event: Event) -> int:
    """When an event happened, ms since the epoch: the host's time, else when it was captured."""
    return event.captured_ms if event.source_ms is None else event.source_ms


def _referent(evidence: Evidence, citation: Citation, index: int, feedback: Event) -> Event:
    event_id = citation.referent_event_ids[index]
    at = f"{citation.path}.referent_event_ids[{index}]"
    event = evidence.events.get(event_id)
    if event is None or event.project_id != evidence.project_id:
        raise _refuse(at, f"{event_id} is not an event of this project")
    if not precedes(event, feedback):
        raise _refuse(at, f"{event_id} does not come before the complaint")
    return event


def _check_referent_quote(citation: Citation, acts: Sequence[Event]) -> None:
    at = f"{citation.path}.referent_quote"
    worded = [event for event in acts if event.kind is not EventKind.TURN_CUT and event.text.strip()]
    if not citation.referent_quote:
        if worded:
            raise _refuse(at, f"is empty, but event {worded[0].event_id} has words to quote")
        return
    if all(citation.referent_quote not in event.text for event in worded):
        raise _refuse(at, "is not an exact part of any cited event of the agent")


def _refuse(path: str, problem: str) -> ReviewError:
    return ReviewError(f"{path}: {problem}", reason="receipt_evidence", code="AFL-REVIEW-011")
