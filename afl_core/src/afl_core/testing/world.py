"""A small world for tests of capture: one home with a real store, vault, redaction chain and front, at a clock that a test moves.

`session` and `absorb` are the way of a transcript; `take` is the way of a hook (what the front does), `hook` only the row it would keep.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from afl_core.api.home import Home
from afl_core.files.private import ensure_private_dir, write_private_file
from afl_core.plugins.discovery import Found
from afl_core.plugins.registry import Registry
from afl_core.settings.paths import Paths
from afl_core.setup.render import front_file
from afl_core.spec.host import HostAdapter
from afl_core.store import intake, sessions
from afl_core.store.connection import writing
from afl_core.store.migrate import create_or_migrate
from afl_core.testing.failure import KitError
from afl_core.testing.world_rows import WorldRows
from afl_core.vault.keys import Writer, make
from afl_core.vault.keystores import FileKeystore
from afl_core.worker.absorb import Absorbed, absorb
from afl_core.worker.environment import Environments
from afl_core.worker.frames import Frame
from afl_core.worker.keyring import Keyring
from afl_core.worker.manifests import Manifests
from afl_core.worker.selector import SelectorSlot
from afl_core.worker.turn import Desk, take

NAME_KEY = b"n" * 32
"""Keyed hashes are the same in every world, so that two of them can be compared."""


class World(WorldRows):
    """One home. `now` is its clock, in ms; `host` the one whose sessions live here; `project` the project they belong to.

    Close it when done. A home that has a store already is opened as it is.
    """

    def __init__(self, root: str | os.PathLike[str], plugins: Sequence[Found], *, host: str, now: int, project: str = "p-1") -> None:
        self.root = str(root)
        self.now = now
        self.project = project
        paths = Paths(self.root)
        if not Path(paths.database).exists():
            self._found(paths)
        self.home = Home(self.root, {"HOME": self.root}, clock=lambda: self.now)
        self.home.__dict__["registry"] = Registry(plugins, self.home.guard)
        super().__init__(self.home)
        known = self.home.registry.hosts()
        if host not in known:
            raise KitError(f"no plug-in registers the host {host!r}; there are: {', '.join(known) or 'none'}", hint="see `plugins`")
        self.adapter: HostAdapter = known[host]
        self._hooks = Writer(self.home.half, "intake")
        self._count = 0
        self._desk: Desk | None = None

    def _found(self, paths: Paths) -> None:
        for folder in (paths.data, paths.run, paths.spool, paths.blobs, paths.keys):
            ensure_private_dir(folder, self.root)
        create_or_migrate(paths.database, paths.backups, self.root)
        write_private_file(paths.name_key, NAME_KEY)
        make(paths, FileKeystore(paths.keys), self.root)

    def close(self) -> None:
        """Close the store."""
        self.home.close()

    # sessions and transcripts

    def session(self, path: str | os.PathLike[str], session_id: str, project: str | None = None) -> str:
        """Make a session known (again) whose transcript is at `path`, as a reader of transcripts would; gives its id."""
        host, _, native_id = session_id.partition(":")
        project = project or self.project
        with writing(self.db):
            sessions.add_project(self.db, project, root="/x", kind="directory", lineage=None, now=self.now)
            sessions.touch(
                self.db, session_id, host=host, native_id=native_id, project_id=project, cwd="/x", transcript_path=str(path), at_ms=self.now
            )
        return session_id

    def absorb(self, session_id: str, **more: Any) -> Absorbed:
        """Bring the session up to date, as the jobs process does."""
        return absorb(self.home, session_id, **more)

    # hooks

    def take(self, event: str, payload: Mapping[str, Any], *, at: int | None = None) -> bytes:
        """Let the front take one hook's payload; gives the reply the host would get."""
        self._count += 1
        body = json.dumps(payload, ensure_ascii=False).encode("utf-8", "surrogatepass")
        frame = Frame(f"{self._count:032x}", self.adapter.name, event, "kit", len(body), b"", body)
        return take(self._front(), frame, self.now if at is None else at).reply

    def _front(self) -> Desk:
        if self._desk is None:
            paths = self.home.paths
            ensure_private_dir(paths.pack, self.root)
            write_private_file(paths.front_file, front_file([self.adapter.manifest()], self.home.settings, None))
            said: list[str] = []
            keyring = Keyring(paths)
            with writing(self.db):
                keyring.register(self.db, self.now)
            self._desk = Desk(
                self.db, Manifests(paths.front_file), keyring, Environments(), SelectorSlot(paths.run, said.append), {}, (), said.append
            )
        return self._desk

    def hook(
        self,
        kind: str,
        text: str | None,
        *,
        session_id: str,
        turn: str | None = "t1",
        at: int | None = None,
        source: str | None = None,
        size: int = 0,
        total: int | None = None,
    ) -> str:
        """Store the row the front keeps of a prompt or a stop with these words (None: no words to keep); gives its id."""
        self._count += 1
        ident, at = f"{self._count:032x}", self.now if at is None else at
        fields = self.adapter.manifest().fields
        said = {"session": session_id.partition(":")[2], "turn": turn, "prompt" if kind == "prompt" else "answer": text}
        payload = json.dumps({fields[name]: value for name, value in said.items() if name in fields}).encode()
        with writing(self.db):
            self._hooks.register(self.db)
            row = intake.Intake(
                intake_id=ident,
                host=self.adapter.name,
                event=kind,
                kind=kind,
                session_id=session_id,
                turn=turn,
                source=source,
                cwd="/x",
                project_id=self.project,
                transcript_path=None,
                transcript_size=size,
                text_mac=self.home.half.text_mac(text) if text else None,
                sealed=self._hooks.seal(intake.context_of(ident), payload) if text is not None else None,
                total_bytes=total or len(payload),
                received_ms=at,
                state="new" if text is not None else "ignored",
            )
            if intake.add(self.db, row) and source in self.adapter.manifest().compaction_sources:
                sessions.open_epoch(self.db, session_id, at)
        return ident
