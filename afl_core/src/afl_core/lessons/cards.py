"""Cards as people and other rooms ask for them. The words themselves are made in `model.card_text`, which stands below the rooms that store them."""

from __future__ import annotations

import sqlite3

import attrs

from afl_core.model import card_text
from afl_core.model.lesson import Card, LessonRow, Scope
from afl_core.store import lessons


def faults(card: Card, scope: Scope) -> tuple[str, ...]:
    """Why a card and its scope may not become a lesson, one sentence each; empty when they may. The same limits hold at the gate."""
    return (*card_text.faults(card_text.neutral_card(attrs.asdict(card))), *card_text.scope_faults(attrs.asdict(scope)))


def block(row: LessonRow, card: Card) -> str:
    """A card exactly as agents are given it."""
    return card_text.render(attrs.asdict(card), severity=row.severity.value, lesson_id=row.lesson_id, learnt_ms=row.created_ms)


def shown(db: sqlite3.Connection, row: LessonRow) -> str:
    """A lesson's current card as agents are given it; '' when its text was forgotten."""
    card = lessons.card_of(db, row.lesson_id)
    return block(row, card) if card else ""
