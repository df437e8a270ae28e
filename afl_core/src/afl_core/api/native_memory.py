"""Importing what a host's own memory holds of a person's guidance: each note once, redacted, with where it came from."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import attrs

from afl_core.api import held, notes
from afl_core.api.home import Home
from afl_core.capture.projects import locate
from afl_core.memory import native
from afl_core.model.errors import CaptureError, StoreError
from afl_core.model.lesson import project_ns
from afl_core.spec.host import HostAdapter
from afl_core.spec.native_memory import KeepsMemory
from afl_core.store import sessions
from afl_core.store.connection import writing

KEPT_OUT = "AFL-STORE-030"
"""A note whose words were forgotten and stay out."""


@attrs.frozen
class Row:
    """What became of one file. `action`: imported, updated, known or skipped; `reason` says why it was skipped."""

    host: str
    file: str
    action: str
    reason: str = ""
    grain: str = ""


def imported(home: Home, directory: str | None, host: str | None, *, dry_run: bool) -> list[dict[str, Any]]:
    """Import the notes that are feedback for the project of `directory`; a dry run says what it would do. `host` None: every host with a memory.

    Raises `CaptureError` for a host that has none, `RedactionError` when nothing may be kept.
    """
    here = Path(os.path.abspath(directory or os.getcwd()))
    project = locate(str(here))
    rows: list[Row] = []
    for name, adapter in sorted(_keeping(home, host).items()):
        place = adapter.locate(Path(home.paths.home), home.environ)
        keeper: Any = adapter
        folders = dict.fromkeys(keeper.memory_folder(place, at) for at in (notes.top(project.root), here))
        rows += [
            _one(home, name, keeper, project_ns(project.project_id), file, dry_run) for folder in folders for file in notes.files(folder)
        ]
        rows += [Row(name, str(folder), "skipped", f"more than {notes.NOTES} files") for folder in folders if notes.is_cut(folder)]
    if not dry_run and any(row.grain for row in rows):
        with writing(home.db):
            sessions.add_project(home.db, project.project_id, root=project.root, kind=project.kind, lineage=None, now=home.clock())
    if not dry_run:
        held.mark(home)
    return [attrs.asdict(row) for row in rows]


def _keeping(home: Home, host: str | None) -> dict[str, HostAdapter]:
    found: dict[str, HostAdapter] = {
        name: one for name, one in home.registry.hosts().items() if isinstance(one, KeepsMemory) and host in (None, name)
    }
    if host is not None and not found:
        raise CaptureError(f"no plug-in knows a memory of the host {host!r}", code="AFL-CAPTURE-020", hint="run: afl plugins list")
    return found


def _one(home: Home, host: str, keeper: KeepsMemory, ns: str, path: Path, dry_run: bool) -> Row:
    if not path.name.isprintable():
        return Row(host, path.name.encode("utf-8", "replace").decode(), "skipped", "its name is not plain text")
    data = notes.read(path)
    if isinstance(data, str):
        return Row(host, path.name, "skipped", data)
    note = keeper.parse_note(path.name, data)
    if note is None or not note.is_feedback or not note.text.strip():
        return Row(host, path.name, "skipped", "no note" if note is None else "no feedback" if not note.is_feedback else "empty")
    mac = home.half.text_mac(data.decode("latin-1"))
    name, description, text = (home.redact(native.plain(part)) if part else "" for part in (note.name, note.description, note.text))
    fact = native.Fact(host, path.name, name, description, text, mac)
    action = native.known(home.db, ns, fact)
    if action == "known":
        return Row(host, path.name, action)
    grain = ""
    if not dry_run:
        try:
            with writing(home.db):
                grain = native.store(home.db, ns, fact, home.clock())
        except StoreError as bad:
            if bad.code != KEPT_OUT:
                raise
            return Row(host, path.name, "skipped", bad.sentence)
    return Row(host, path.name, action or "imported", grain=grain)
