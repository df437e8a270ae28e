"""Notes of a host's own memory as facts with their source. They are remembered and never given to an agent (docs/decisions/0016)."""

from __future__ import annotations

import sqlite3

import attrs

from afl_core.memory import write
from afl_core.model.grain import GrainType, HeadKey, make
from afl_core.store import grains

TEXT_CHARS = 4_000
"""Characters of a note's text that are kept."""

NAME_CHARS = 250
"""Characters of a note's name and of its description that are kept."""

CUT = "…"


@attrs.frozen
class Fact:
    """A redacted note. `file`: its name in the host's memory; `source_mac`: keyed hash of the file's bytes."""

    host: str
    file: str
    name: str
    description: str
    text: str
    source_mac: str


def relation_of(host: str) -> str:
    """What a note is to its file's name."""
    return f"native_feedback:{host}"


def known(db: sqlite3.Connection, ns: str, fact: Fact) -> str | None:
    """What storing the fact would do: None (it is new), 'updated' (the file said something else) or 'known' (nothing)."""
    tips = grains.heads(db, HeadKey(ns, fact.file, relation_of(fact.host)))
    macs = [stored.grain.fields.get("source_mac") for tip in tips if (stored := grains.get(db, tip)) is not None]
    return None if not macs else "known" if fact.source_mac in macs else "updated"


def store(db: sqlite3.Connection, ns: str, fact: Fact, now: int) -> str:
    """Store a fact, in the place of what the same file said before; gives its address. Joins the caller's transaction."""
    grain = make(
        GrainType.FACT,
        {
            "namespace": ns,
            "subject": fact.file,
            "relation": relation_of(fact.host),
            "object": bounded(fact.text, TEXT_CHARS),
            "name": bounded(fact.name, NAME_CHARS),
            "description": bounded(fact.description, NAME_CHARS) or None,
            "host": fact.host,
            "source": "native_memory",
            "source_mac": fact.source_mac,
        },
        now,
    )
    tips = grains.heads(db, HeadKey(ns, fact.file, relation_of(fact.host)))
    return write.supersede(db, tips[0], grain) if tips else write.add(db, grain)


def bounded(text: str, size: int) -> str:
    """The text, or its beginning and a mark."""
    return text if len(text) <= size else text[: size - 1] + CUT


def plain(text: str) -> str:
    """Without what no grain can hold."""
    return text.replace("\0", "\ufffd").encode("utf-8", "replace").decode()
