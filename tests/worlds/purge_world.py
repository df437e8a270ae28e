"""A home whose index an older rule set filled: secrets in every column of words, as they stand or cut, quoted, repeated and counted."""

from __future__ import annotations

import json
import os
import pathlib

import capture_world
import review_world

from afl_core.api.lessons import PERSON
from afl_core.changes import gates
from afl_core.memory.native import Fact, store
from afl_core.memory.write import ToolCall, record_tool_calls
from afl_core.model.lesson import project_ns
from afl_core.review.run import Result, run_review
from afl_core.store import cursors, ledger, lessons, status
from afl_core.store import reviews as review_rows
from afl_core.store.connection import writing

PASSWORD = "Zebra-7731-quilt"
TOKEN = "ghp_" + "k3Zr9QpLx2Vt7Bn5Ws8Yd4Fg6Hj1Mc0Ra3Te"
SECRETS = (PASSWORD, TOKEN, "Zebra-77", TOKEN[:12])
"""The last two: what a cut leaves of the others."""

PROJECT, SESSION = review_world.PROJECT, review_world.SESSION
ACT = f"All done: I logged in with password: {PASSWORD} and all tests pass."
SAID = f"No! You logged in with password: {PASSWORD} but you never ran them. Run them before you claim anything."
ECHO = f"As before I use {PASSWORD} for the next step."
CALL = "curl " + "x" * 480 + f" -H 'Authorization: token {TOKEN}' https://example.org"
ERROR = f"Exit code 1\nremote: bad credentials {TOKEN}"


def make(home):
    """An empty home of the kind, opened."""
    return capture_world.World(home, now=review_world.NOW + 60_000)


def fill(world):
    """Everything that a purge has to rewrite, and some that it has to leave."""
    db, home = world.db, world.home
    event = review_world.event
    event(db, "ask", "Fix the checkout, please.", offset=100)
    event(db, "act", ACT, "assistant", offset=101)
    event(db, "said", SAID, offset=102)
    event(db, "echo", ECHO, "assistant", offset=103)
    event(db, "call", CALL, "assistant", offset=104, kind="tool_call", call_id="c1", tool_name="Bash")
    event(db, "back", ERROR, "assistant", offset=105, kind="tool_result", call_id="c1", is_error=True)
    event(db, "plain", "nothing to hide here", offset=106)
    with writing(db):
        from afl_core.model.event import Signal, SignalKind
        from afl_core.review import queue
        from afl_core.store import events

        events.add_signal(db, Signal("said", SignalKind.INTERRUPTION, "act"), PROJECT, review_world.NOW)
        queue.enqueue(db, "said", PROJECT, True, review_world.NOW)
        call = ToolCall("c1", "Bash", CALL, is_error=True, exit_code=1, duration_ms=5, error_text=ERROR, at_ms=review_world.NOW)
        record_tool_calls(db, project_ns(PROJECT), SESSION, [call])
        store(db, project_ns(PROJECT), Fact("claude", "note.md", "a note", "", f"the password: {PASSWORD}", "0" * 64), review_world.NOW)
        cursors.move(db, cursors.Cursor("/t.jsonl", "claude", SESSION, 1, 1, 1, 0, False, {}, {}, [], 0), review_world.NOW)
        ledger.write(db, ledger.LedgerRow("sample", "redact", 1, f"ValueError: {TOKEN}", review_world.NOW, None))
        status.put(db, "reconcile", {"status": "completed", "problem": f"password: {PASSWORD}"}, review_world.NOW)
    _reviewed(world)
    (row,) = lessons.every(db)
    with writing(db):
        gates.switch(db, lesson_id=row.lesson_id, on=False, actor=PERSON, reason=f"it names {TOKEN}", now=home.clock())
        gates.switch(db, lesson_id=row.lesson_id, on=True, actor=PERSON, reason="again", now=home.clock())
        db.execute(
            "INSERT INTO deliveries VALUES ('d1', ?, 1, ?, 1, 'n', 'emitted', 1, 'i1', ?, 1, NULL)",
            (row.lesson_id, SESSION, json.dumps({"paths": [f"a/{TOKEN}"]})),
        )
    copies = pathlib.Path(home.paths.backups)
    copies.mkdir(mode=0o700, exist_ok=True)
    (copies / f"{os.path.basename(home.paths.database)}.1").write_bytes(b"an older copy: " + TOKEN.encode())
    (copies / "settings.json.1").write_bytes(b"another file")


def _reviewed(world):
    """A review whose reviewer repeats everything."""
    db, home = world.db, world.home
    due = review_world.submit(db, now=review_world.NOW, immediate_event="said")
    lesson = review_world.lesson(
        evidence_refs=[
            {
                "feedback_event_id": "said",
                "feedback_quote": f"with password: {PASSWORD} but you never ran them",
                "referent_event_ids": ["act"],
                "referent_quote": "I logged in with password: Zebra-77",
            }
        ],
        causal_chain=["claimed", f"used {PASSWORD}", "assumed", "no check before the claim", "claims are not tied to output"],
    )
    lesson["card"]["must_do"] = f"run the tests without {PASSWORD} and read their output first"
    answer = review_world.receipt(
        lesson,
        report_content=f'The person said "with password: {PASSWORD} but you never ran them"; the agent had used {PASSWORD}.',
    )
    settings = review_world.answering(home.paths.home, answer)
    outcome = run_review(
        db, home.paths, settings, (), {"PATH": os.environ["PATH"]}, due.review_id, review_world.Ticking(), review_world.same
    )
    assert outcome.result is Result.COMPLETED, outcome
    os.unlink(os.path.join(home.paths.home, "answer.json"))
    with writing(db):
        db.execute("UPDATE reviews SET detail = ? WHERE review_id = ?", (f"stopped: {TOKEN}", due.review_id))
        db.execute("UPDATE review_runs SET detail = ?", (f"stderr: password: {PASSWORD}",))
    assert review_rows.get(db, due.review_id) is not None


def bytes_of(world):
    """(path, content) of every file of the data directory."""
    for folder, _, names in os.walk(world.home.paths.data):
        for name in names:
            path = pathlib.Path(folder, name)
            yield path, path.read_bytes()


def left(world):
    """(path, secret) of what is left of the secrets in any byte."""
    return [(str(path), secret) for path, data in bytes_of(world) for secret in SECRETS if secret.encode() in data]
