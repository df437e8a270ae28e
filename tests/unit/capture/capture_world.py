"""A small world for capture tests: a home with a real store and vault, transcripts that grow, hooks, and the rows that matter. Loaded by path."""

from __future__ import annotations

import contextlib
import json
import pathlib
import shutil
import tempfile
from collections.abc import Iterator

import afl_core.worker.absorb as absorbing
from afl_core.api.home import Home
from afl_core.capture import batch
from afl_core.capture import sync as syncing
from afl_core.files.private import ensure_private_dir, write_private_file
from afl_core.plugins.discovery import Found
from afl_core.plugins.registry import Registry
from afl_core.settings.paths import Paths
from afl_core.store import intake, sessions
from afl_core.store.connection import writing
from afl_core.store.events import HOOK_ONLY_PART
from afl_core.store.migrate import create_or_migrate
from afl_core.vault.keys import Writer, make
from afl_core.vault.keystores import FileKeystore

RECORDED_MS = 1_796_024_300_000
"""About when the recorded sessions happened."""

SESSION, PROJECT = "claude:s-1", "p-1"
PLUGINS = (
    Found("claude", "afl_providers_claude.plugin", "afl-providers-claude", "0"),
    Found("redactors", "afl_redactors.plugin", "afl-redactors", "0"),
    Found("core", "afl_core.builtins", "afl-core", "0"),
)


class World:
    """One home. `now` is its clock."""

    def __init__(self, root, now=RECORDED_MS + 3_600_000):
        self.root = str(root)
        self.now = now
        paths = Paths(self.root)
        if not pathlib.Path(paths.database).exists():
            for folder in (paths.data, paths.run, paths.spool, paths.blobs):
                ensure_private_dir(folder, self.root)
            create_or_migrate(paths.database, paths.backups, self.root)
            ensure_private_dir(paths.keys, self.root)
            write_private_file(paths.name_key, b"n" * 32)  # keyed hashes are the same in every world
            make(paths, FileKeystore(paths.keys), self.root)
        self.home = Home(self.root, {"HOME": self.root}, clock=lambda: self.now)
        self.home.__dict__["registry"] = Registry(PLUGINS, self.home.guard)
        self.db = self.home.db
        self.adapter = self.home.registry.hosts()["claude"]
        self._hooks = Writer(self.home.half, "intake")
        self._count = 0

    def session(self, path, session_id=SESSION, project=PROJECT):
        with writing(self.db):
            sessions.add_project(self.db, project, root="/x", kind="directory", lineage=None, now=self.now)
            sessions.touch(
                self.db,
                session_id,
                host="claude",
                native_id=session_id.partition(":")[2],
                project_id=project,
                cwd="/x",
                transcript_path=str(path),
                at_ms=self.now,
            )
        return session_id

    def tools(self, **changed):
        import attrs

        return attrs.evolve(absorbing._tools(self.home), **changed)

    def sync(self, path, session_id=SESSION, *, adapter=None, tools=None, consume=None, **more):
        row = sessions.get(self.db, session_id)
        session = batch.Session(session_id, "claude", row.project_id, row.epoch)
        consume = consume or absorbing._consumer(self.home, session, absorbing.Absorbed(session_id))
        return syncing.sync(self.db, adapter or self.adapter, session, str(path), tools or self.tools(), consume, **more)

    def tail(self, path, session_id=SESSION):
        row = sessions.get(self.db, session_id)
        session = batch.Session(session_id, "claude", row.project_id, row.epoch)
        consume = absorbing._consumer(self.home, session, absorbing.Absorbed(session_id))
        syncing.tail(self.db, self.adapter, str(path), self.tools(), consume)

    def absorb(self, session_id=SESSION, **more):
        return absorbing.absorb(self.home, session_id, **more)

    def hook(self, kind, text, *, turn="t1", session_id=SESSION, at=None, source=None, size=0, total=None):
        """What the front keeps of a hook."""
        self._count += 1
        ident = f"{self._count:032x}"
        field = "prompt" if kind == "prompt" else "last_assistant_message"
        body = {"session_id": session_id.partition(":")[2], "prompt_id": turn, field: text}
        payload = json.dumps(body).encode()
        with writing(self.db):
            self._hooks.register(self.db)
            sealed = self._hooks.seal(intake.context_of(ident), payload) if text is not None else None
            is_new = intake.add(
                self.db,
                intake.Intake(
                    intake_id=ident,
                    host="claude",
                    event=kind,
                    kind=kind,
                    session_id=session_id,
                    turn=turn,
                    source=source,
                    cwd="/x",
                    project_id=PROJECT,
                    transcript_path=None,
                    transcript_size=size,
                    text_mac=self.home.half.text_mac(text) if text else None,
                    sealed=sealed,
                    total_bytes=total or len(payload),
                    received_ms=self.now if at is None else at,
                    state="new" if text is not None else "ignored",
                ),
            )
            if is_new and source == "compact":
                sessions.open_epoch(self.db, session_id, self.now if at is None else at)
        return ident

    def states(self):
        return {row[0]: row[1] for row in self.db.execute("SELECT intake_id, state FROM intake ORDER BY intake_id")}

    def events(self, *columns, session_id=SESSION):
        names = ", ".join(columns or ("role", "text"))
        rows = self.db.execute(f"SELECT {names} FROM events WHERE session_id = ? ORDER BY generation, offset, part", (session_id,))
        return [tuple(row) if len(row) > 1 else row[0] for row in rows]

    def messages(self, session_id=SESSION):
        rows = self.db.execute(
            "SELECT role, text FROM events WHERE session_id = ? AND kind = 'message' ORDER BY generation, offset, part", (session_id,)
        )
        return [tuple(row) for row in rows]

    def signals(self):
        """(kind, the person's words, kind and text of what they point at)."""
        rows = self.db.execute(
            "SELECT signals.kind, said.text, referent.kind, referent.text FROM signals JOIN events AS said USING (event_id)"
            " JOIN events AS referent ON referent.event_id = signals.referent_id ORDER BY said.generation, said.offset, said.part"
        )
        return [tuple(row) for row in rows]

    def sightings(self):
        """(source, text of the event) of every sighting, with the number of its event."""
        rows = self.db.execute("SELECT source, text, events.rowid FROM sightings JOIN events USING (event_id) ORDER BY source, source_id")
        return [(row[0], row[1]) for row in rows]

    def waiting(self):
        rows = self.db.execute("SELECT text, immediate FROM queue JOIN events USING (event_id) ORDER BY generation, offset, part")
        return [tuple(row) for row in rows]

    def epoch(self, session_id=SESSION):
        return sessions.get(self.db, session_id).epoch

    def raw(self, event_text):
        """The unsealed raw record of the event with this text."""
        name = self.db.execute("SELECT blob FROM events WHERE text = ?", (event_text,)).fetchone()[0]
        return self.home.blobs.get(self.home.opener, name).decode()

    def rows(self):
        """Everything capture left behind, with ids replaced by places: equal for equal histories."""
        places = {
            row[0]: f"{row[1]}@{row[2]}:{row[3]}:{row[4] if row[4] < HOOK_ONLY_PART else 'hook'}"  # else it tells the order of birth
            for row in self.db.execute("SELECT event_id, session_id, generation, offset, part FROM events")
        }

        def table(sql):
            return sorted(json.dumps([places.get(value, value) for value in row], sort_keys=True) for row in self.db.execute(sql))

        columns = (
            "event_id, project_id, epoch, kind, role, text, manifest_json, text_mac, turn, native_id, parent_id, call_id, tool_name, is_error,"
            " exit_code, completeness, source_ms, blob IS NOT NULL"
        )
        found = {
            "events": table(f"SELECT {columns} FROM events"),
            "sightings": table("SELECT session_id, source, source_id, event_id FROM sightings"),
            "signals": table("SELECT event_id, kind, referent_id FROM signals"),
            "queue": table("SELECT event_id, immediate, status FROM queue"),
            "reviewed": table("SELECT event_id FROM queue WHERE review_id IS NOT NULL"),
            "signalled": table("SELECT event_id FROM queue WHERE immediate"),
            "grains": table("SELECT tool_name, is_error, signature, call_id, session_id, fields_json FROM grains"),
            "sessions": table("SELECT session_id, epoch FROM sessions"),
        }
        cursors = []
        for row in self.db.execute("SELECT generation, offset, skipping, state_json, gaps_json FROM cursors ORDER BY path"):
            state = row[3]
            for ident, place in places.items():
                state = state.replace(ident, place)
            cursors.append([row[0], row[1], row[2], state, row[4]])
        return {**found, "cursors": cursors}

    def sequences(self, session_id=SESSION):
        return [row[0] for row in self.db.execute("SELECT seq FROM events WHERE session_id = ? ORDER BY seq", (session_id,))]

    def close(self):
        self.home.close()


@contextlib.contextmanager
def fresh() -> Iterator[World]:
    """A world in a directory of its own that goes away."""
    root = tempfile.mkdtemp(prefix="afl-capture-", dir="/tmp")
    world = World(root)
    try:
        yield world
    finally:
        world.close()
        shutil.rmtree(root)


class Tape:
    """A transcript in the host's form, written record by record. Times are ms after its start."""

    def __init__(self, path, start=RECORDED_MS, prefix="u"):
        self.path = pathlib.Path(path)
        self.start, self.at, self.turn, self.prefix = start, 0, "t1", prefix
        self.count = 0

    def line(self, body):
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.open("ab") as file:
            file.write(json.dumps(body).encode() + b"\n")
        return self

    def record(self, kind, **fields):
        from datetime import UTC, datetime

        self.count += 1
        self.at += 1000
        stamp = datetime.fromtimestamp((self.start + self.at) / 1000, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        body = {"parentUuid": None, "isSidechain": False, "type": kind, "uuid": f"{self.prefix}{self.count}", "timestamp": stamp, **fields}
        return self.line({key: value for key, value in body.items() if value is not ...})

    def person(self, text, turn=None, **fields):
        self.turn = turn or f"t{self.count + 1}"
        return self.record("user", promptId=self.turn, promptSource="typed", message={"role": "user", "content": text}, **fields)

    def agent(self, text, **fields):
        return self.record("assistant", message={"role": "assistant", "content": [{"type": "text", "text": text}]}, **fields)

    def call(self, call_id, name="Bash", **given):
        block = {"type": "tool_use", "id": call_id, "name": name, "input": given or {"command": "true"}}
        return self.record("assistant", message={"role": "assistant", "content": [block]})

    def result(self, call_id, text, is_error=False, **fields):
        block = {"type": "tool_result", "tool_use_id": call_id, "content": text, **({"is_error": True} if is_error else {})}
        return self.record("user", promptId=self.turn, message={"role": "user", "content": [block]}, **fields)

    def rejected(self, call_id, words, **fields):
        return self.result(
            call_id,
            "The person does not want this",
            True,
            toolDenialKind="user-rejected",
            toolDenialBeforeRun=True,
            userFeedback=words,
            **fields,
        )

    def cut(self, **fields):
        content = [{"type": "text", "text": "[Request interrupted by user]"}]
        return self.record("user", promptId=self.turn, rowSource="harness", message={"role": "user", "content": content}, **fields)

    def steering(self, text):
        return self.record(
            "attachment", attachment={"type": "queued_command", "prompt": text, "origin": {"kind": "human"}, "humanTurn": True}
        )

    def compacted(self):
        self.record("system", subtype="compact_boundary", compactMetadata={"trigger": "manual"})
        return self.record("user", isCompactSummary=True, message={"role": "user", "content": "This session is continued: a summary."})

    def shown(self, text):
        return self.record("attachment", attachment={"type": "hook_additional_context", "content": [text], "hookEvent": "UserPromptSubmit"})

    def wait(self, ms):
        self.at += ms
        return self
