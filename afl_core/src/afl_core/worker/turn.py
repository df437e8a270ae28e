"""One turn of the front, top to bottom: an intake row, the choice of cards, the record that they were given, the host's envelope.

Steps one to three are one immediate transaction. When it cannot be had (the database is locked or full) nothing is answered: the hook then
seals the event into the spool, which survives this process; holding it in memory would not.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable
from typing import NamedTuple

from afl_core.capture.belonging import know, project_of
from afl_core.capture.projects import Project
from afl_core.lessons import delivery, selection
from afl_core.model.errors import WorkerError
from afl_core.model.ids import new_nonce
from afl_core.store import intake, sessions, status
from afl_core.store.connection import writing
from afl_core.vault.seal import keyed_hash, seal
from afl_core.worker.arrival import Arrival, understand
from afl_core.worker.environment import Environments, parse
from afl_core.worker.frames import Frame
from afl_core.worker.keyring import Keyring
from afl_core.worker.manifests import Host, Manifests, PromptPath, for_session
from afl_core.worker.selector import SelectorSlot


class Desk(NamedTuple):
    """What a turn works with. `forward` and `allow`: names of variables a frame may carry; `say` writes a line to the runtime log."""

    db: sqlite3.Connection
    manifests: Manifests
    keyring: Keyring
    environments: Environments
    selector: SelectorSlot
    forward: dict[str, tuple[str, ...]]
    allow: tuple[str, ...]
    say: Callable[[str], None]


class Answer(NamedTuple):
    """What to reply, which session it was ('' for none), and whether the jobs process should look at it."""

    reply: bytes
    session_id: str
    has_work: bool


def take(desk: Desk, frame: Frame, now: int, *, is_listening: bool = True) -> Answer:
    """Take one event. `is_listening`: the hook still waits, so cards can be given. Raises `StoreError` or `WorkerError` when nothing was kept."""
    path = desk.manifests.current()
    if not path.hosts:
        raise WorkerError("the front file names no host, so nothing can be understood", code="AFL-WORKER-004", hint="run: afl install")
    host = path.hosts.get(frame.host)
    arrival = understand(host, frame, now)
    if isinstance(arrival, str) or host is None:
        with writing(desk.db) as db:
            intake.count(db, str(arrival), now)
        return Answer(host.noop if host else b"", "", has_work=False)
    env = _environment(desk, host, frame.env)
    desk.environments.remember(arrival.session_id, env)
    path = for_session(path, env)
    home = project_of(desk.db, arrival.session_id, arrival.cwd)
    is_canary = sessions.is_canary(arrival.session_id)
    gives = is_listening and path.memory_enabled and not arrival.by_machine and not is_canary and host.injects(arrival.event)
    extra = desk.selector.candidates(desk.db, home.project_id, arrival.text) if gives and arrival.kind == "prompt" and arrival.text else ()
    with writing(desk.db) as db:
        session = keep(desk, host, arrival, home)
        context = _context(desk, host, path, arrival, session, extra) if gives else ""
    return Answer(
        host.reply(arrival.event, context), arrival.session_id, has_work=arrival.kind != "session_start" or _compacts(host, arrival)
    )


def keep_spooled(desk: Desk, frame: Frame, received_ms: int) -> str:
    """Keep an event that waited in the spool, inside the caller's transaction; return its session, '' when there was nothing to keep."""
    host = desk.manifests.current().hosts.get(frame.host)
    arrival = understand(host, frame, received_ms)
    if isinstance(arrival, str) or host is None:
        intake.count(desk.db, str(arrival), received_ms)
        return ""
    desk.environments.remember_earlier(arrival.session_id, _environment(desk, host, frame.env))
    keep(desk, host, arrival, project_of(desk.db, arrival.session_id, arrival.cwd))
    return arrival.session_id


def keep(desk: Desk, host: Host, arrival: Arrival, project: Project) -> sessions.Session:
    """Write the session and, unless capture is off, the intake row, inside the caller's transaction. An event that is known changes nothing."""
    db = desk.db
    know(db, project, arrival.received_ms, starts=arrival.kind == "session_start")
    sessions.touch(
        db,
        arrival.session_id,
        host=host.name,
        native_id=arrival.native_id,
        project_id=project.project_id,
        cwd=arrival.cwd,
        # A subagent speaks in its session's name, but its transcript is its own.
        transcript_path=None if arrival.by_machine else arrival.transcript,
        at_ms=arrival.received_ms,
    )
    if arrival.kind == "session_end":
        sessions.end(db, arrival.session_id, arrival.received_ms)
    is_new = not intake.known(db, arrival.id)
    if is_new and _compacts(host, arrival):
        sessions.open_epoch(db, arrival.session_id, arrival.received_ms)
    if is_new and status.meta(db, "capture_enabled", "1") == "1":
        desk.keyring.register(db, arrival.received_ms)
        intake.add(db, _row(desk.keyring, host, arrival, project))
    if not sessions.is_canary(arrival.session_id):
        status.put(db, f"hook_seen:{host.name}:{arrival.event}", {}, arrival.received_ms)
    session = sessions.get(db, arrival.session_id)
    if session is None:
        raise sqlite3.IntegrityError("a session vanished inside the transaction that wrote it")
    return session


def _row(keyring: Keyring, host: Host, arrival: Arrival, project: Project) -> intake.Intake:
    is_evidence = arrival.text is not None and not arrival.by_machine
    context = intake.context_of(arrival.id)
    return intake.Intake(
        intake_id=arrival.id,
        host=host.name,
        event=arrival.event,
        kind=arrival.kind,
        session_id=arrival.session_id,
        turn=arrival.turn,
        source=arrival.source,
        cwd=arrival.cwd,
        project_id=project.project_id,
        transcript_path=arrival.transcript,
        transcript_size=_size(arrival.transcript),
        text_mac=keyed_hash(keyring.name_key, "text", arrival.text.encode("utf-8", "surrogatepass"))
        if arrival.text and is_evidence
        else None,
        sealed=seal(keyring.intake_key, keyring.intake_key_id, context, arrival.payload) if is_evidence else None,
        total_bytes=arrival.total_bytes,
        received_ms=arrival.received_ms,
        state="new" if is_evidence else "ignored",
    )


def _context(desk: Desk, host: Host, path: PromptPath, arrival: Arrival, session: sessions.Session, extra: tuple[str, ...]) -> str:
    """The text to inject; what was chosen is recorded. A defect in choosing costs the cards, never the person's words: the row stays."""
    db, nonce = desk.db, new_nonce()
    db.execute("SAVEPOINT cards")
    try:
        chosen = _choose(db, host, path, arrival, session, extra)
        if chosen is None:
            return ""
        delivery.emit(
            db,
            chosen,
            session_id=session.session_id,
            epoch=session.epoch,
            intake_id=arrival.id,
            nonce=nonce,
            now=arrival.received_ms,
        )
        return delivery.compose(chosen, nonce)
    except sqlite3.OperationalError:  # the disk, not the choice: the whole turn is given up
        raise
    except Exception as bad:  # noqa: BLE001 - whatever a card or a rule holds, the prompt goes on
        db.execute("ROLLBACK TO cards")
        intake.count(db, "selection_failed", arrival.received_ms)
        desk.say(f"selection failed for {arrival.id}: {type(bad).__name__}")
        return ""
    finally:
        if db.in_transaction:
            db.execute("RELEASE cards")


def _choose(
    db: sqlite3.Connection, host: Host, path: PromptPath, arrival: Arrival, session: sessions.Session, extra: tuple[str, ...]
) -> selection.Selection | None:
    if arrival.kind == "prompt" and arrival.text:
        return selection.select(
            db,
            project_id=session.project_id,
            session_id=session.session_id,
            epoch=session.epoch,
            prompt=arrival.text,
            cwd=arrival.cwd,
            limit_chars=host.limit_chars,
            limit_bytes=host.limit_bytes,
            budget_tokens=path.memory_budget,
            extra=extra,
            host=host.name,
        )
    if _compacts(host, arrival):
        return selection.reselect(
            db,
            project_id=session.project_id,
            session_id=session.session_id,
            epoch=session.epoch,
            limit_chars=host.limit_chars,
            limit_bytes=host.limit_bytes,
            budget_tokens=path.memory_budget,
            host=host.name,
        )
    return None


def _compacts(host: Host, arrival: Arrival) -> bool:
    return arrival.kind == "session_start" and arrival.source in host.compaction_sources


def _environment(desk: Desk, host: Host, block: bytes) -> dict[str, str]:
    return parse(block, (*desk.forward.get(host.name, ()), *desk.allow))


def _size(transcript: str | None) -> int | None:
    try:
        return os.stat(transcript).st_size if transcript else None
    except (OSError, ValueError):  # not written yet
        return None
