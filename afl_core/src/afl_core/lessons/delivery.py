"""From chosen cards to the text an agent gets, and the record of it: emitted, then reached or unconfirmed. Decides nothing about choice.

The front runs through this file: rows only, no attrs. The writers join the caller's transaction.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from afl_core.lessons.frame import assemble
from afl_core.model.codec import canonical
from afl_core.store import deliveries

if TYPE_CHECKING:
    import sqlite3

    from afl_core.lessons.selection import Selection

OMISSIONS_KEPT = 24
"""Omissions recorded for one prompt; the first ones are those that came nearest to being chosen."""


def compose(selection: Selection, nonce: str) -> str:
    """The text to inject for a selection; '' when there is nothing to inject."""
    return assemble([card.text for card in selection.cards], nonce, selection.hold_text)


def emit(db: sqlite3.Connection, selection: Selection, *, session_id: str, epoch: int, intake_id: str, nonce: str, now: int) -> None:
    """Record what is about to be given, and what was left out and why. A second call for the same intake changes nothing."""
    deliveries.emitted(
        db,
        [
            deliveries.Emission(card.lesson_id, card.revision, session_id, epoch, nonce, intake_id, canonical(card.match), now)
            for card in selection.cards
        ],
    )
    told = [omitted for omitted in selection.omitted if omitted.reason not in ("delivered", "no_match")]
    rest = [omitted for omitted in selection.omitted if omitted.reason == "no_match"]
    left = [(one.lesson_id, one.reason) for one in (told + rest)[:OMISSIONS_KEPT]]
    if selection.hold is not None:
        left.append((deliveries.HOLD_ROW, deliveries.hold_reason(selection.hold, epoch)))
    if left:
        deliveries.omitted(db, intake_id, session_id, left, now)


def settle(db: sqlite3.Connection, *, session_id: str, shown: Sequence[tuple[str, int]], answered_ms: int | None, now: int) -> list[str]:
    """Compare what was emitted with what the transcript proves; gives the lesson ids that reached the model with this call.

    `shown`: (nonce, time in ms) of injections the host recorded in the model's context. `answered_ms`: time of the agent's latest answer;
    a delivery emitted before it and not shown is unconfirmed. A late proof still turns unconfirmed into reached. A nonce counts only in the
    session it was given to.
    """
    reached: dict[str, None] = {}
    for nonce, at_ms in shown:
        for lesson_id in deliveries.reached(db, session_id, nonce, at_ms or now):
            reached[lesson_id] = None
    if answered_ms is not None:
        deliveries.unconfirmed(db, session_id, answered_ms)
    return list(reached)
