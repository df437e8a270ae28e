"""The glossary explains every word of the product, each once."""

from __future__ import annotations

import re

WORDS = [
    "host",
    "session",
    "turn",
    "event",
    "sighting",
    "evidence",
    "signal",
    "project",
    "lineage",
    "review",
    "receipt",
    "report",
    "incident",
    "lesson",
    "card",
    "family",
    "severity",
    "selection",
    "delivery",
    "effect",
    "epoch",
    "hold",
    "grain",
    "head",
    "fork",
    "change",
    "recommendation",
    "gate",
    "actor",
    "policy",
    "inverse",
    "outcome",
    "audit_chain",
    "hook",
    "front",
    "jobs",
    "spool",
    "reconcile_daemon",
    "schedule",
    "vault",
    "reviewer_provider",
    "redactor",
    "selector",
    "analyzer",
]


def test_every_word_is_explained_once_and_in_a_sentence(page):
    told = re.findall(r"^- \*\*(.+?)\*\*: (.+)$", page("docs/glossary.md").text, re.MULTILINE)
    assert sorted(word for word, _ in told) == sorted(word.replace("_", " ") for word in WORDS)
    assert all(meaning.endswith(".") for _, meaning in told)


def test_values_that_the_glossary_lists_are_those_of_the_model(page):
    from afl_core.model.card_text import LABELS
    from afl_core.model.event import EventKind, SignalKind
    from afl_core.model.lesson import Severity

    meanings = dict(re.findall(r"^- \*\*(.+?)\*\*: (.+)$", page("docs/glossary.md").text, re.MULTILINE))
    assert len(SignalKind) == 5
    assert all(kind.value in meanings["signal"] for kind in SignalKind)
    assert [one.value for one in Severity] == re.findall(r"Minor|Major|Critical|Blocker", meanings["severity"])[:4]
    assert ", ".join(label.lower() for label in LABELS) in meanings["card"]
    assert len(EventKind) == 4
