"""A card as text: its limits, how foreign words are made harmless, what it costs and how it is written. Pure; works on plain mappings.

A card's words come from a model that read what strangers wrote, and go into another model's prompt: they may inform it, but must not be able to
leave their line, close their frame, look like another card or speak as somebody else.
"""

from __future__ import annotations

import json
import re
import time
import unicodedata
from collections.abc import Mapping
from typing import Any

from afl_core.model.ids import digest
from afl_core.model.words import CJK

TEXTS = ("when", "must_do", "must_not", "verify", "why", "exception")
LABELS = ("When", "Must do", "Must not", "Verify", "Why", "Exception")

MAX_TEXT = 600
"""Characters of each text of a card."""

MAX_SOURCES = 16
"""Source ids of a card."""

MAX_SOURCE = 200
"""Characters of one source id, one scope entry and a lesson's id."""

MAX_SCOPE = 32
"""Entries of one list of a scope; each at most `MAX_SOURCE` characters."""

MAX_TOKENS = 1_600
"""What a card may cost: a dearer one could never be given."""

HOST_PREFIX = "agent feedback memory"
"""Counted with every card: stands for what frames it."""

_CJK = re.compile(f"[{CJK}]")
_UNSEEN = re.compile("[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0\U000e0000-\U000e0fff]")
"""Letters and marks that show nothing, so that they could hide words or split a marker."""

_MARKS = (
    (re.compile(r"<(?=\S)"), "\u2039"),  # tags in any script, comments, <|role|>, <<SYS>>; not `a < b`
    (re.compile(r"(?<=[^\s=-])>(?!=)"), "\u203a"),  # not an arrow, not `a > b`
    (re.compile(r"`{3,}|~{3,}"), "'"),
    (re.compile(r"\[(?=\s*(?:agent-feedback-loop|afl\b|/?inst\b|/?sys\b))", re.IGNORECASE), "("),
    (re.compile(r"nonce(\s*)[=\uff1d]", re.IGNORECASE), r"nonce\1:"),
    (
        re.compile(
            r"\b(system|assistant|user|human|developer|tool|function)(\s*(?:message|prompt|reminder)?\s*)[:\uff1a]",
            re.IGNORECASE,
        ),
        r"\1\2;",
    ),
    (re.compile(r"\s*\u00b7\s*(?=lesson\b|learnt\b)", re.IGNORECASE), ", "),
)


def neutral(text: str) -> str:
    """One line of plain words: NFC, no control, bidi or invisible characters, white space single, and nothing that could pass for a frame,
    a fence, a tag, a head line, a nonce or another speaker. Neutral text stays as it is.
    """
    before = None
    while before != text:
        before = text
        text = _harmless(text)
    return text


def _harmless(text: str) -> str:
    shown = []
    for char in unicodedata.normalize("NFC", text):
        category = unicodedata.category(char)
        if category in ("Cc", "Zl", "Zp", "Zs"):
            shown.append(" ")
        elif category[0] != "C":
            shown.append(char)
    text = _UNSEEN.sub("", "".join(shown))
    for mark, plain in _MARKS:
        text = mark.sub(plain, text)
    return " ".join(text.split())


def neutral_card(card: Mapping[str, Any]) -> dict[str, Any]:
    """The card with every text neutral; predicates and source ids too."""
    texts = {name: neutral(str(card[name])) for name in TEXTS}
    extra = {name: None if card.get(name) is None else neutral(str(card[name])) for name in ("verify_predicate", "gate_predicate")}
    return {**texts, "source_ids": [neutral(str(source)) for source in card.get("source_ids", ())], **extra}


def faults(card: Mapping[str, Any]) -> list[str]:
    """Why a neutral card may not become a lesson, one sentence each; empty when it may."""
    found = []
    for name in TEXTS:
        text = card[name]
        if not text:
            found.append(f"card.{name} is empty")
        elif len(text) > MAX_TEXT:
            found.append(f"card.{name} has {len(text)} characters, at most {MAX_TEXT}")
    sources = card["source_ids"]
    if not 1 <= len(sources) <= MAX_SOURCES:
        found.append(f"card.source_ids has {len(sources)} ids, between 1 and {MAX_SOURCES} are needed")
    if any(not 1 <= len(source) <= MAX_SOURCE for source in sources):
        found.append(f"card.source_ids holds an empty id or one longer than {MAX_SOURCE} characters")
    found += [
        f"card.{name} has {len(card[name])} characters, at most {MAX_TEXT}"
        for name in ("verify_predicate", "gate_predicate")
        if len(card.get(name) or "") > MAX_TEXT
    ]
    cost = tokens(card)
    if cost > MAX_TOKENS:
        found.append(f"the card costs {cost} tokens, at most {MAX_TOKENS}")
    return found


def scope_faults(scope: Mapping[str, Any]) -> list[str]:
    """Why a scope may not be matched against every prompt, one sentence each; empty when it may."""
    found = []
    for name in ("paths", "tools", "task_types", "signals"):
        entries = scope[name]
        if len(entries) > MAX_SCOPE:
            found.append(f"scope.{name} has {len(entries)} entries, at most {MAX_SCOPE}")
        if any(not entry.strip() or len(entry) > MAX_SOURCE for entry in entries):
            found.append(f"scope.{name} holds a blank entry or one longer than {MAX_SOURCE} characters")
    return found


def tokens(card: Mapping[str, Any], prefix: str = HOST_PREFIX) -> int:
    """Estimated tokens: 1.2 for each CJK character, a third for each UTF-8 byte of the rest, and 16; over the prefix, a newline and the card
    as compact JSON of its six texts and source ids. Whole tokens, rounded up.
    """
    body = {name: card[name] for name in TEXTS} | {"source_ids": list(card["source_ids"])}
    return text_tokens(prefix + "\n" + json.dumps(body, ensure_ascii=False, separators=(",", ":")), PER_CARD)


PER_CARD = 16
"""Tokens a card costs beside its text."""


def text_tokens(text: str, beside: int = 0) -> int:
    """Estimated tokens of a text: 1.2 for each CJK character and a third for each UTF-8 byte of the rest; whole tokens, rounded up."""
    cjk = len(_CJK.findall(text))
    rest = len(_CJK.sub("", text).encode("utf-8", "surrogatepass"))
    return -(-(18 * cjk + 5 * rest + 15 * beside) // 15)


def short_id(lesson_id: str) -> str:
    """8 hex digits by which a lesson is named to agents and people, whatever its id looks like."""
    return digest("lesson", lesson_id)[:8]


def render(card: Mapping[str, Any], *, severity: str, lesson_id: str, learnt_ms: int) -> str:
    """The block that is injected: a head line and six labelled lines. The date is in UTC."""
    date = time.strftime("%Y-%m-%d", time.gmtime(learnt_ms // 1000))
    head = f"{severity} \u00b7 lesson {short_id(lesson_id)} \u00b7 learnt {date} from your words"
    return "\n".join([head, *(f"{label}: {neutral(str(card[name]))}" for name, label in zip(TEXTS, LABELS, strict=True))])
