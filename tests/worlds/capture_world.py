"""The kit's world with Claude Code's plug-ins, and transcripts written in that host's form."""

from __future__ import annotations

import contextlib
import json
import pathlib
import shutil
import tempfile
from collections.abc import Iterator

import attrs

import afl_core.worker.absorb as absorbing
from afl_core.capture import batch
from afl_core.capture import sync as syncing
from afl_core.plugins.discovery import Found
from afl_core.store import sessions
from afl_core.testing.world import World as KitWorld

RECORDED_MS = 1_796_024_300_000
"""About when the recorded sessions happened."""

SESSION, PROJECT = "claude:s-1", "p-1"
PLUGINS = (
    Found("claude", "afl_providers_claude.plugin", "afl-providers-claude", "0"),
    Found("redactors", "afl_redactors.plugin", "afl-redactors", "0"),
    Found("core", "afl_core.builtins", "afl-core", "0"),
)
CODEX_PLUGINS = (*PLUGINS, Found("codex", "afl_providers_codex.plugin", "afl-providers-codex", "0"))


class World(KitWorld):
    """One home in which Claude Code's sessions live; the session and the project have defaults."""

    def __init__(self, root, now=RECORDED_MS + 3_600_000):
        super().__init__(root, PLUGINS, host="claude", now=now, project=PROJECT)

    def session(self, path, session_id=SESSION, project=PROJECT):
        return super().session(path, session_id, project)

    def absorb(self, session_id=SESSION, **more):
        return super().absorb(session_id, **more)

    def hook(self, kind, text, *, session_id=SESSION, **more):
        return super().hook(kind, text, session_id=session_id, **more)

    def events(self, *columns, session_id=SESSION):
        return super().events(*columns, session_id=session_id)

    def messages(self, session_id=SESSION):
        return super().messages(session_id)

    def epoch(self, session_id=SESSION):
        return super().epoch(session_id)

    def sequences(self, session_id=SESSION):
        return super().sequences(session_id)

    def tools(self, **changed):
        return attrs.evolve(absorbing._tools(self.home), **changed)

    def sync(self, path, session_id=SESSION, *, adapter=None, tools=None, consume=None, **more):
        session = self._batch_session(session_id)
        consume = consume or absorbing._consumer(self.home, session, absorbing.Absorbed(session_id))
        return syncing.sync(self.db, adapter or self.adapter, session, str(path), tools or self.tools(), consume, **more)

    def tail(self, path, session_id=SESSION):
        consume = absorbing._consumer(self.home, self._batch_session(session_id), absorbing.Absorbed(session_id))
        syncing.tail(self.db, self.adapter, str(path), self.tools(), consume)

    def _batch_session(self, session_id):
        row = sessions.get(self.db, session_id)
        return batch.Session(session_id, "claude", row.project_id, row.epoch)


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
        self.count, self.last = 0, None

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
        uuid = f"{self.prefix}{self.count}"
        body = {"parentUuid": self.last, "isSidechain": False, "type": kind, "uuid": uuid, "timestamp": stamp, **fields}
        self.last = uuid
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
