"""The world of capture tests with Gemini CLI as its host."""

from __future__ import annotations

import contextlib
import json

import capture_world as worlds
import pytest

from afl_core.plugins.discovery import Found
from afl_core.plugins.registry import Registry
from afl_core.setup.render import _host as rendered
from afl_core.store import intake, sessions
from afl_core.store.connection import writing
from afl_core.worker.arrival import understand
from afl_core.worker.frames import Frame
from afl_core.worker.manifests import _host as held


class GeminiWorld(worlds.World):
    """A home whose sessions are Gemini CLI's; its hooks are understood as the front does it."""

    def __init__(self, root):
        super().__init__(root, now=worlds.RECORDED_MS + 3_600_000)
        found = (*worlds.PLUGINS, Found("gemini", "afl_providers_gemini.plugin", "afl-providers-gemini", "0"))
        self.home.__dict__["registry"] = Registry(found, self.home.guard)
        self.adapter = self.home.registry.hosts()["gemini"]
        self.front = held("gemini", json.loads(json.dumps(rendered(self.adapter.manifest()))))

    def session(self, path, native, cwd="/x"):
        session_id = f"gemini:{native}"
        with writing(self.db):
            sessions.add_project(self.db, "p-1", root="/x", kind="directory", lineage=None, now=self.now)
            sessions.touch(
                self.db,
                session_id,
                host="gemini",
                native_id=native,
                project_id="p-1",
                cwd=cwd,
                transcript_path=str(path),
                at_ms=self.now,
            )
        return session_id

    def take(self, payload):
        """What the front keeps of one payload; None where it does not know the event."""
        data = json.dumps(payload).encode()
        frame = Frame(id="0", host="gemini", event=payload["hook_event_name"], payload=data, total_bytes=len(data), env=b"", build="b")
        seen = understand(self.front, frame, self.now)
        if isinstance(seen, str):
            return None
        self._count += 1
        ident = f"{self._count:032x}"
        is_evidence = seen.text is not None and not seen.by_machine
        with writing(self.db):
            self._hooks.register(self.db)
            row = intake.Intake(
                intake_id=ident,
                host="gemini",
                event=seen.event,
                kind=seen.kind,
                session_id=seen.session_id,
                turn=seen.turn,
                source=seen.source,
                cwd=seen.cwd,
                project_id="p-1",
                transcript_path=seen.transcript,
                transcript_size=0,
                text_mac=self.home.half.text_mac(seen.text) if is_evidence else None,
                sealed=self._hooks.seal(intake.context_of(ident), data) if is_evidence else None,
                total_bytes=len(data),
                received_ms=self.now,
                state="new" if is_evidence else "ignored",
            )
            intake.add(self.db, row)
        return ident


@pytest.fixture
def gemini(tmp_path):
    """Make worlds, each in a home of its own."""
    with contextlib.ExitStack() as open_worlds:

        def make(name="world"):
            root = tmp_path / name
            root.mkdir(mode=0o700)
            return open_worlds.enter_context(contextlib.closing(GeminiWorld(root)))

        yield make
