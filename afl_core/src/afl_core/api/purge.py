"""Taking out of the index what an older rule set let in: one transaction a project, then the bytes that are left over. May be ended at any point and run again."""

from __future__ import annotations

import os
import sqlite3
from collections import Counter
from collections.abc import Callable
from typing import Any

import attrs

from afl_core.api.home import Home
from afl_core.api.lessons import PERSON
from afl_core.api.purge_plan import Plan, plan
from afl_core.capture.thread import SECRETS_KEPT
from afl_core.changes import audit
from afl_core.model.errors import RedactionError
from afl_core.redaction.chain import Chain
from afl_core.store import index_state, projection, rewrites, terms, wal
from afl_core.store.connection import writing
from afl_core.store.trouble import explain

ACTION = "redact.purge"
"""The audit chain's word for it."""

TRIES = 5
"""How often a project is judged anew because somebody wrote its texts meanwhile."""

Checkpoint = Callable[[str], None]


@attrs.define
class Purged:
    """What was, or would be, rewritten: rows by column, findings by rule, projects, and copies of the database that were, or would be, removed."""

    texts: Counter[str] = attrs.field(factory=Counter)
    rules: Counter[str] = attrs.field(factory=Counter)
    projects: int = 0
    copies: int = 0
    versions: str = ""

    def as_json(self) -> dict[str, Any]:
        """For programs."""
        return {
            "texts": dict(sorted(self.texts.items())),
            "rules": dict(sorted(self.rules.items())),
            "projects": self.projects,
            "copies": self.copies,
            "versions": self.versions,
        }


def _nothing(_step: str) -> None:
    """No one is told."""


def purge(home: Home, *, dry_run: bool = False, progress: Checkpoint = _nothing, checkpoint: Checkpoint = _nothing) -> Purged:
    """Judge the whole index with the rules of now and rewrite what they would not let in; `dry_run` only counts.

    Raises `RedactionError` when something cannot be judged (what was done of other projects stays done) and `StoreError`.
    """
    db, chain = home.db, home.chain
    done = Purged(versions=chain.versions)
    seen: set[tuple[str, str]] = set()
    everything = [*rewrites.projects(db), None]
    for number, project in enumerate(everything, 1):
        progress(f"{number} of {len(everything)} projects ...")
        made = plan(db, chain, project) if dry_run else _rewrite(home, db, chain, project, checkpoint)
        _count(done, made, seen)
    unclean = index_state.is_unclean(db)
    if dry_run:
        done.copies = len(_copies(home)) if done.texts or unclean else 0
        return done
    if unclean:
        progress("removing what is left of them in the file ...")
        _renew(db, home.paths.database, checkpoint)
        done.copies = _remove_copies(home)
        checkpoint("copies")
    with writing(db, durable=True):
        index_state.checked(db, chain.versions, home.clock())
    _demand(wal.empty(db), home.paths.database)
    checkpoint("done")
    return done


def _rewrite(home: Home, db: sqlite3.Connection, chain: Chain, project: str | None, checkpoint: Checkpoint) -> Plan:
    for _ in range(TRIES):
        made = plan(db, chain, project)
        checkpoint("planned")
        if made.is_empty:
            return made
        try:
            with writing(db, durable=True):
                _write(db, made, chain.versions, home.clock())
                checkpoint("written")
        except rewrites.MovedError:
            continue
        checkpoint("committed")
        return made
    raise RedactionError(
        "the texts of a project were written by others all the while",
        code="AFL-REDACT-008",
        hint="run again when the agents are idle: afl redact purge",
    )


def _write(db: sqlite3.Connection, made: Plan, versions: str, now: int) -> None:
    for event in made.events:
        rewrites.put_event(db, event.before, event.places.text, event.tool_name, event.rules)
    for text in made.texts:
        rewrites.put_text(db, text.where, text.key, text.before, text.text)
    touched = [one.key for one in made.texts if one.where == "lessons.class_id"]
    if made.grains:
        terms.clear(db)  # made anew at the next search
    for grain in made.grains:
        rewrites.put_grain(db, grain.address, grain.before, grain.grain, grain.signature)
        touched += rewrites.lessons_of(db, grain.grain.hash)
    for lesson_id in dict.fromkeys(touched):
        projection.rebuild(db, lesson_id)
    for address in made.erased:
        rewrites.erase_audit_text(db, address)
    for session_id, names in made.secrets.items():
        rewrites.show_secrets(db, session_id, names, SECRETS_KEPT)
    index_state.set_unclean(db)
    counted = Purged()
    _count(counted, made, set())
    body = {"versions": versions, "texts": dict(counted.texts), "rules": dict(counted.rules)}
    audit.record(db, actor=PERSON, action=ACTION, target=made.project_id or "", body=body, reason="", now=now)


def _count(done: Purged, made: Plan, seen: set[tuple[str, str]]) -> None:
    new = [row for row in made.rows() if row[:2] not in seen]
    seen.update(row[:2] for row in new)
    done.projects += bool(new) and made.project_id is not None
    for where, _, rules in new:
        done.texts[where] += 1
        done.rules.update({rule: count for rule, count in rules.items() if rule != "quote"})


def _renew(db: sqlite3.Connection, path: str, checkpoint: Checkpoint) -> None:
    try:
        emptied = wal.renew(db, checkpoint=checkpoint)
    except sqlite3.OperationalError as bad:
        raise explain(bad, path) from bad
    _demand(emptied, path)
    checkpoint("truncated")


def _demand(emptied: bool, path: str) -> None:
    if not emptied:
        raise RedactionError(
            f"another process reads the database, so what was taken out may still be in {path}-wal",
            code="AFL-REDACT-009",
            hint="run again when the agents are idle: afl redact purge",
        )


def _copies(home: Home) -> list[str]:
    """Copies that migrations made of the database."""
    try:
        names = sorted(os.listdir(home.paths.backups))
    except FileNotFoundError:
        return []
    begin = os.path.basename(home.paths.database) + "."
    return [os.path.join(home.paths.backups, name) for name in names if name.startswith(begin)]


def _remove_copies(home: Home) -> int:
    copies = _copies(home)
    for path in copies:
        os.unlink(path)
    return len(copies)
