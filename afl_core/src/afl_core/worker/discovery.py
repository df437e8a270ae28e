"""Finding what is to be read, whether hooks told of it or not: one look through the directories of the connected hosts, one `stat` for each known file."""

from __future__ import annotations

import fnmatch
import os
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import attrs

from afl_core.api.home import Home
from afl_core.api.remember import recalled
from afl_core.capture import discover
from afl_core.capture.belonging import project_of
from afl_core.capture.compressed import cut_short
from afl_core.capture.walk import Seen, walk
from afl_core.model.errors import AflError, CaptureError, PluginError
from afl_core.spec.host import HostAdapter, HostPlace
from afl_core.spec.transcripts import FindsTranscripts, TranscriptRoot
from afl_core.store import cursors, sessions, transcripts
from afl_core.store.connection import writing
from afl_core.store.transcripts import LASTING, MACHINE, SESSION, Known, Stamp, stamp_of
from afl_core.worker.gaps import BY_CODE, told_of
from afl_core.worker.todo import LOOK_BACK_MS

GAPS_NAMED = 100
"""Gaps named one by one in a pass; of more the kinds are counted."""

SECONDS_PER_ROOTS = 5.0


@attrs.frozen
class Unread:
    """A file with something to read, as it was when it was looked at."""

    session_id: str
    path: str
    stamp: Stamp

    @property
    def size(self) -> int:
        """Its bytes as it lies there."""
        return self.stamp.size


@attrs.define
class Discovery:
    """What a look found. `unread`: in the order of sessions; `waiting`: sessions whose hook rows wait; `skipped`: files with nothing to read."""

    unread: list[Unread] = attrs.field(factory=list)
    waiting: list[str] = attrs.field(factory=list)
    skipped: int = 0
    gaps: list[dict[str, Any]] = attrs.field(factory=list)
    errors: list[dict[str, str]] = attrs.field(factory=list)
    _more: dict[str, int] = attrs.field(factory=dict)

    @property
    def sessions(self) -> list[str]:
        """Sessions there is something to do for."""
        return list(dict.fromkeys([*(one.session_id for one in self.unread), *self.waiting]))

    def gap(self, path: str, kind: str, message: str = "") -> None:
        """Name a gap, or count it when there are many."""
        if len(self.gaps) < GAPS_NAMED:
            self.gaps.append({"path": path, "kind": kind, "count": 1, **({"message": message} if message else {})})
            return
        for gap in self.gaps[GAPS_NAMED - 1 :]:
            if gap["kind"] == kind and gap["path"] == "":
                gap["count"] += 1
                return
        self.gaps.append({"path": "", "kind": kind, "count": 1})

    def fault(self, path: str, bad: AflError) -> None:
        """Name what went wrong with one file."""
        self.note(path, bad.code, bad.sentence, bad.hint)

    def note(self, path: str, code: str, message: str, hint: str) -> None:
        """Name it as a gap when nothing can be done about it now, else as an error."""
        if code in BY_CODE:
            self.gap(path, BY_CODE[code], f"{message}; {hint}")
        else:
            self.errors.append({"path": path, "code": code, "message": message})


NOTHING_NEW = 1 << 62
"""As `since_ms`: no unknown file is looked at."""


def look(
    home: Home,
    since_ms: int,
    *,
    changes: bool = True,
    keep_going: Callable[[], None] = lambda: None,
    checkpoint: Callable[[str], None] = lambda _step: None,
) -> Discovery:
    """Find everything unread. `since_ms`: unknown files not changed since then are left alone; `changes` False: nothing is stored.

    `keep_going` is called between files and may raise. The errors of one host or file do not stop the others.
    """
    found = Discovery()
    known = transcripts.every(home.db)
    seen = _walk(home, found)
    found.unread.extend(_of_known(home, known, seen, found))
    for host, adapter, file in seen.values():
        row = known.get(file.path)
        if not _is_news(row, file, since_ms):
            found.skipped += row is None or row.session_id is None
            continue
        keep_going()
        if file.fault:
            found.gap(file.path, file.fault)
            continue
        one = _acquaint(home, host, adapter, file, found, changes=changes, checkpoint=checkpoint)
        if one is not None:
            found.unread.append(one)
    found.unread.extend(_of_hooks(home, known, found))
    found.waiting = sessions.with_waiting(home.db)
    return found


def find_earlier(home: Home, host: str, names: str) -> None:
    """Make known, before a file is read that goes on where others end, those that no hook told of: `names` is the pattern of their names.

    What fails here is named by the next look.
    """
    known = transcripts.every(home.db)
    found = Discovery()
    for where, adapter, file in _walk(home, found, only=host).values():
        if file.path not in known and not file.fault and fnmatch.fnmatchcase(os.path.basename(file.path), names):
            _acquaint(home, where, adapter, file, found, changes=True, checkpoint=lambda _step: None)


def connected(home: Home) -> list[tuple[str, HostAdapter, HostPlace]]:
    """The hosts that install connected and a plug-in provides, each with its place as install found it."""
    body = recalled(home.paths).body
    hosts = body.get("hosts")
    entries: dict[str, Any] = hosts if isinstance(hosts, dict) else dict.fromkeys(body.get("host_names") or ())
    adapters = home.registry.hosts()
    found = []
    for name, entry in entries.items():
        if name not in adapters:
            continue
        place = adapters[name].locate(Path(home.paths.home), home.environ)
        kept = entry.get("config_dir") if isinstance(entry, dict) else None
        found.append((name, adapters[name], attrs.evolve(place, config_dir=Path(kept)) if isinstance(kept, str) else place))
    return found


def _walk(home: Home, found: Discovery, *, only: str = "") -> dict[str, tuple[str, HostAdapter, Seen]]:
    seen: dict[str, tuple[str, HostAdapter, Seen]] = {}
    for name, adapter, place in connected(home):
        if not isinstance(adapter, FindsTranscripts) or (only and name != only):
            continue
        try:
            roots = _roots(home, adapter, place)
        except CaptureError as bad:
            found.fault(str(place.config_dir), bad)
            continue
        done = walk(roots)
        for folder, why in done.cut.items():
            found.gap(folder, "not_looked_through", f"{folder} was not looked through to its end: {why}")
        seen.update((file.path, (name, adapter, file)) for file in done.files)
    return seen


def _roots(home: Home, adapter: FindsTranscripts, place: HostPlace) -> list[TranscriptRoot]:
    assert isinstance(adapter, HostAdapter)  # noqa: S101 - for the type checker
    try:
        roots: object = home.guard.call(
            adapter.name, "transcript_roots", lambda: adapter.transcript_roots(place), seconds=SECONDS_PER_ROOTS
        )
    except PluginError as bad:
        raise CaptureError(
            f"host adapter {adapter.name!r} failed: {bad.sentence}", code="AFL-CAPTURE-006", hint="run: afl plugins list"
        ) from bad
    return [root for root in roots if isinstance(root, TranscriptRoot)] if isinstance(roots, tuple | list) else []


def _of_known(home: Home, known: dict[str, Known], seen: dict[str, tuple[str, HostAdapter, Seen]], found: Discovery) -> list[Unread]:
    """Known files of sessions that are not as they were when they were last read. What lies under the hosts' directories was looked at already."""
    unread = []
    for row in known.values():
        if row.session_id is None or row.verdict != SESSION:
            continue
        there = seen.get(row.path)
        try:
            stamp = there[2].stamp if there is not None else stamp_of(os.lstat(row.path))
        except OSError:
            continue  # moved or deleted; under its new name it is found like any other
        if stamp != row.stamp or (row.problem is not None and row.problem not in LASTING):
            unread.append(Unread(row.session_id, row.path, stamp))
            continue
        found.skipped += 1
        if row.problem is not None:
            found.gap(row.path, BY_CODE.get(row.problem, row.problem), _told_again(home, row))
    return unread


def _told_again(home: Home, row: Known) -> str:
    """How far a file that ends in the middle was read; of the others their kind says all."""
    at = cursors.get(home.db, row.path) if row.problem is not None and BY_CODE.get(row.problem) == "cut" else None
    return told_of(cut_short(row.path, at.offset)) if at is not None else ""


def _of_hooks(home: Home, known: dict[str, Known], found: Discovery) -> list[Unread]:
    """Files that only a hook told of and that nobody has read yet."""
    rows = home.db.execute(
        "SELECT session_id, transcript_path FROM sessions WHERE seen_ms > ? AND transcript_path IS NOT NULL ORDER BY seen_ms, session_id",
        (home.clock() - LOOK_BACK_MS,),
    )
    there = {one.path for one in found.unread}
    unread = []
    for session_id, path in rows.fetchall():
        if path in known or path in there:
            continue
        try:
            unread.append(Unread(session_id, path, stamp_of(os.lstat(path))))
        except OSError:
            continue  # not written yet
    return unread


def _is_news(row: Known | None, file: Seen, since_ms: int) -> bool:
    """Whether it must be found out whose an unknown file is: it was changed lately, and not judged as it is now."""
    if row is not None and (row.session_id is not None or row.stamp == file.stamp):
        return False
    if row is not None and row.verdict == MACHINE and (row.stamp.device, row.stamp.inode) == (file.stamp.device, file.stamp.inode):
        return False
    return file.stamp.mtime_ns // 1_000_000 >= since_ms


def _acquaint(
    home: Home, host: str, adapter: HostAdapter, file: Seen, found: Discovery, *, changes: bool, checkpoint: Callable[[str], None]
) -> Unread | None:
    """Find out whose a file is and remember it; None when it is nobody's. What fails is named."""
    try:
        judged = discover.judge(adapter, home.guard, file.path, file.root, home.paths.data)
        if judged.verdict != SESSION:
            if judged.shortfall is not None:  # not set aside: it is named as long as it stays so
                found.fault(file.path, judged.shortfall)
            elif changes:
                with writing(home.db):
                    discover.set_aside(home.db, host, file.path, judged, home.clock())
            found.skipped += 1
            return None
        session_id = discover.session_of(host, judged)
        if changes:
            project = project_of(home.db, session_id, judged.cwd)
            with writing(home.db):
                discover.keep(home.db, host, file.path, judged, project, home.clock())
            checkpoint("discovered")
    except AflError as bad:
        found.fault(file.path, bad)
        return None
    except (OSError, sqlite3.Error) as bad:
        found.errors.append({"path": file.path, "code": AflError.code, "message": f"{type(bad).__name__}: {bad}"})
        return None
    return Unread(session_id, file.path, file.stamp)
