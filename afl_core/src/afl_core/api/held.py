"""Which cards the hosts' own memories hold already, so that they are not given there a second time. Reads notes, keeps marks only."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from afl_core.api import notes
from afl_core.api.home import Home
from afl_core.lessons.held import cards
from afl_core.spec.host import HostPlace
from afl_core.spec.native_memory import HidesMemory, KeepsMemory
from afl_core.store import held
from afl_core.store.connection import writing

PROJECTS = 20
"""Projects that one pass looks at for each host, those seen last."""

DIRECTORIES = 4
"""Directories of a project that a host was started in, those seen last. A card is held only where the memory of each of them says it."""


def mark(home: Home) -> int:
    """Look at every memory and keep what it holds now; gives how many projects of a host have other marks than before.

    Every pass makes the marks anew, so a note that was removed or changed takes its mark with it. Nothing is imported.
    """
    now: dict[tuple[str, str], frozenset[held.Card]] = {}
    if home.db.execute("SELECT 1 FROM projection LIMIT 1").fetchone() is not None:
        for name, adapter in sorted(home.registry.hosts().items()):
            if isinstance(adapter, KeepsMemory):
                place = adapter.locate(Path(home.paths.home), home.environ)
                if not (isinstance(adapter, HidesMemory) and adapter.hides_memory(place, home.environ)):
                    now |= {(project_id, name): _held(home, name, adapter, place, project_id) for project_id in _projects(home, name)}
    before = dict.fromkeys(held.marked(home.db), frozenset[held.Card]())
    changed = {pair: found for pair, found in (before | now).items() if found != held.of_host(home.db, *pair)}
    if changed:
        with writing(home.db):
            for (project_id, name), found in changed.items():
                held.put(home.db, project_id, name, found)
    return len(changed)


def _projects(home: Home, host: str) -> list[str]:
    rows = home.db.execute(
        "SELECT project_id FROM sessions WHERE host = ? GROUP BY project_id ORDER BY max(seen_ms) DESC LIMIT ?", (host, PROJECTS)
    )
    return [row[0] for row in rows]


def _held(home: Home, host: str, adapter: Any, place: HostPlace, project_id: str) -> frozenset[held.Card]:
    root = home.db.execute("SELECT root FROM projects WHERE project_id = ?", (project_id,)).fetchone()
    rows = home.db.execute(
        "SELECT cwd FROM sessions WHERE host = ? AND project_id = ? AND cwd <> '' GROUP BY cwd ORDER BY max(seen_ms) DESC LIMIT ?",
        (host, project_id, DIRECTORIES),
    ).fetchall()
    found: list[frozenset[held.Card]] = []
    for (cwd,) in rows:
        folders = [adapter.memory_folder(place, at) for at in (Path(cwd), *((notes.top(root[0]),) if root and root[0] else ()))]
        folder = next((one for one in folders if one.is_dir()), None)
        found.append(cards(home.db, project_id, _texts(adapter, folder)) if folder else frozenset())
    return frozenset.intersection(*found) if found else frozenset()


def _texts(adapter: KeepsMemory, folder: Path) -> list[str]:
    """What the feedback notes of a memory say. A note that cannot be read says nothing: the card is given then."""
    found: list[str] = []
    for path in notes.files(folder):
        data = notes.read(path)
        note = None if isinstance(data, str) else adapter.parse_note(path.name, data)
        if note is not None and note.is_feedback:
            found += [note.name, note.description, note.text]
    return found
