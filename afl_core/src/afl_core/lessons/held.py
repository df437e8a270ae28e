"""Whether a host's own memory says already what a card would say. Strict: the same sentences, word for word, never something like them."""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Iterable, Sequence

from afl_core.model.card_text import neutral
from afl_core.model.words import folded
from afl_core.store.address import same
from afl_core.store.held import Card

_BLOCK = re.compile(r"\n[^\S\n]*\n|\n(?=[^\S\n]*(?:[-*+\u2022]|\d{1,3}[.)]|#{1,6})[^\S\n])")
"""Where a paragraph, an entry of a list or a heading begins."""

_OPENING = re.compile(r"\A(?:(?:[-*+\u2022>]|\d{1,3}[.)]|#{1,6})\s+)+")
_SENTENCE = re.compile(r"(?<=[.!?])\s+|(?<=[\u3002\uff01\uff1f])\s*")
_END = ".!?\u3002 "
_EMPHASIS = str.maketrans("", "", "*`")
"""Marks that change how words look and not what they say."""

Sentences = tuple[str, ...]


def sentences(text: str) -> list[Sentences]:
    """The text's paragraphs and entries, each as its sentences: folded, without emphasis and without what ends a sentence."""
    found = []
    for block in _BLOCK.split(text):
        plain = folded(neutral(_OPENING.sub("", block.strip(), count=1)).translate(_EMPHASIS))
        told = tuple(one for sentence in _SENTENCE.split(plain) if (one := sentence.strip(_END)))
        if told:
            found.append(told)
    return found


def holds(notes: Iterable[Sentences], must_do: str) -> bool:
    """Whether one paragraph of the notes has all of `must_do`, in whole sentences and nothing between them."""
    wanted = tuple(one for part in sentences(must_do) for one in part)
    size = len(wanted)
    return bool(wanted) and any(wanted == told[at : at + size] for told in notes for at in range(len(told) - size + 1))


def cards(db: sqlite3.Connection, project_id: str, notes: Sequence[str]) -> frozenset[Card]:
    """The cards that could be given in a project and whose `must_do` these notes hold."""
    told = [part for note in notes for part in sentences(note)]
    if not told:
        return frozenset()
    rows = db.execute(
        "SELECT p.lesson_id, p.revision, g.fields_json FROM projection p JOIN lessons l USING (lesson_id)"  # noqa: S608 - fixed texts
        f" JOIN grains g ON {same('g.hash', 'l.grain_hash')}"
        " WHERE p.project_id IN (?, '')",
        (project_id,),
    ).fetchall()
    return frozenset((row[0], row[1]) for row in rows if holds(told, str(json.loads(row[2])["card"]["must_do"])))
