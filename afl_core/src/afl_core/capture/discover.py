"""Whose a transcript is that no hook told of: its head is shown to the host's adapter, and the session it belongs to is made known. Starts nothing."""

from __future__ import annotations

import os
import sqlite3
from pathlib import Path, PurePosixPath

import attrs

from afl_core.capture.belonging import know
from afl_core.capture.compressed import cut_short
from afl_core.capture.projects import Project
from afl_core.capture.read import open_file, read_head
from afl_core.model.errors import CaptureError, PluginError
from afl_core.plugins.isolation import Guard
from afl_core.spec.host import HostAdapter
from afl_core.spec.transcripts import BESIDE_LIMIT_BYTES, HEAD_LIMIT_BYTES, FindsTranscripts, TranscriptIdentity
from afl_core.store import sessions, transcripts
from afl_core.store.transcripts import MACHINE, SESSION, UNKNOWN, Known, Stamp

ID_CHARS = 300
"""A longer session id counts as none."""

PATH_CHARS = 4096
"""A longer working directory counts as none."""

SECONDS_PER_HEAD = 5.0
"""After this long inside a host adapter the process is ended and the adapter named (jobs only)."""


@attrs.frozen
class Judged:
    """Whose a file is, as far as its head tells, and what the file was like when it was read. `earlier`: names of the files before it, '' for none.

    `shortfall`: why its head may not tell, although it is a transcript.
    """

    verdict: str
    native_id: str
    cwd: str
    started_ms: int | None
    stamp: Stamp
    earlier: str = ""
    shortfall: CaptureError | None = None


def judge(adapter: HostAdapter, guard: Guard, path: str, root: str, ours: str) -> Judged:
    """Read the head of a file and ask the adapter. `ours`: a directory whose sessions are our own reviewers'.

    Raises `CaptureError` for a file that cannot be read safely or an adapter that fails.
    """
    head, whole, stamp = read_head(path, HEAD_LIMIT_BYTES)
    unknown = Judged(UNKNOWN, "", "", None, stamp, shortfall=None if whole else cut_short(path, head.rfind(b"\n") + 1))
    if not isinstance(adapter, FindsTranscripts):
        return unknown
    found = _identity(adapter, guard, path, head, root)
    if found is None:
        return unknown
    native_id, cwd = _clean(found.native_id, ID_CHARS), _clean(found.cwd, PATH_CHARS)
    if not native_id:
        return unknown
    cwd = cwd if cwd.startswith("/") else ""
    verdict = SESSION if found.by_person and not (cwd and _is_below(cwd, ours)) else MACHINE
    started_ms = found.started_ms if isinstance(found.started_ms, int) else None
    return Judged(verdict, native_id, cwd, started_ms, stamp, _clean(found.earlier, PATH_CHARS))


def _identity(adapter: HostAdapter, guard: Guard, path: str, head: bytes, root: str) -> TranscriptIdentity | None:
    assert isinstance(adapter, FindsTranscripts)  # noqa: S101 - for the type checker
    ask = adapter.identify
    try:
        found: object = guard.call(adapter.name, "identify", lambda: ask(Path(path), head, _Beside(path, root)), seconds=SECONDS_PER_HEAD)
    except PluginError as bad:
        raise CaptureError(
            f"host adapter {adapter.name!r} failed: {bad.sentence}", code="AFL-CAPTURE-006", hint="run: afl plugins list"
        ) from bad
    if found is not None and not isinstance(found, TranscriptIdentity):
        raise CaptureError(
            f"host adapter {adapter.name!r} failed: identify returned {type(found).__name__}",
            code="AFL-CAPTURE-006",
            hint="run: afl plugins list",
        )
    return found


class _Beside:
    """Gives an adapter a small regular file near a transcript, never one outside of the host's own directory of transcripts."""

    def __init__(self, path: str, root: str) -> None:
        self._folder, self._root = os.path.dirname(path), root

    def __call__(self, name: str) -> bytes | None:
        if not name or PurePosixPath(name).is_absolute() or "\0" in name:
            return None
        path = os.path.normpath(os.path.join(self._folder, name))
        if not _is_below(os.path.dirname(path), self._root):
            return None
        try:
            descriptor, _found = open_file(path)
        except (CaptureError, ValueError):
            return None
        try:
            return os.pread(descriptor, BESIDE_LIMIT_BYTES, 0)
        except OSError:
            return None
        finally:
            os.close(descriptor)


def session_of(host: str, judged: Judged) -> str:
    """Our id of the session a file belongs to."""
    return sessions.session_id_of(host, judged.native_id)


def set_aside(db: sqlite3.Connection, host: str, path: str, judged: Judged, now: int) -> None:
    """Remember, in the caller's transaction, that a file is nobody's, so that it is not opened again while it stays as it is."""
    transcripts.put(db, Known(path, host, None, judged.verdict, None, judged.stamp, None), now)


def keep(db: sqlite3.Connection, host: str, path: str, judged: Judged, project: Project, now: int) -> str:
    """Make the session of a file known, in the caller's transaction, and that the file is to be read; gives the session's id.

    Its time is the file's: what is read will say when it was really seen.
    """
    session_id = session_of(host, judged)
    row = sessions.get(db, session_id)
    modified = min(judged.stamp.mtime_ns // 1_000_000, now)
    newest = _newest(db, row, session_id, path, judged)
    know(db, project, now)
    sessions.touch(
        db,
        session_id,
        host=host,
        native_id=judged.native_id,
        project_id=row.project_id if row else project.project_id,
        cwd=judged.cwd,
        transcript_path=path if newest else None,
        at_ms=modified if row is None else min(modified, row.seen_ms),
    )
    transcripts.put(db, Known(path, host, session_id, SESSION, judged.started_ms, transcripts.NEVER, None), now)
    return session_id


def _newest(db: sqlite3.Connection, row: sessions.Session | None, session_id: str, path: str, judged: Judged) -> bool:
    """Whether this is the file a session goes on in: the last of those that are there. A hook knows better, while the file it named is there."""
    if row is None or row.transcript_path is None or not os.path.lexists(row.transcript_path):
        others = [file for file in transcripts.of_session(db, session_id) if file.path != path and os.path.lexists(file.path)]
        mine = Known(path, "", session_id, SESSION, judged.started_ms, judged.stamp, None)
        return transcripts.in_order([*others, mine])[-1] is mine
    return False


def _clean(value: object, limit: int) -> str:
    """A string the store can hold; '' for none and for one that is too long."""
    if not isinstance(value, str) or len(value) > limit:
        return ""
    return value.replace("\0", "\ufffd").encode("utf-8", "replace").decode("utf-8")


def _is_below(path: str, folder: str) -> bool:
    path, folder = os.path.realpath(path), os.path.realpath(folder)
    return path == folder or path.startswith(folder.rstrip(os.sep) + os.sep)
