"""Which project a session belongs to: the one it was first seen in, else that of its directory. The front runs through this file."""

from __future__ import annotations

import sqlite3

from afl_core.capture.projects import Project, lineage, locate, unscoped
from afl_core.store import sessions


def project_of(db: sqlite3.Connection, session_id: str, cwd: str) -> Project:
    """The project the session was first seen in (an agent that changes directory has not changed project); one of its own without a directory."""
    session = sessions.get(db, session_id)
    known = sessions.project(db, session.project_id) if session else None
    cwd = session.cwd if session else cwd
    return Project(*known) if known else locate(cwd) if cwd else unscoped(session_id)


def know(db: sqlite3.Connection, project: Project, now: int, *, starts: bool = False) -> None:
    """Remember the project. A remote may be given to a repository later, so it is looked for again when a session `starts`."""
    is_known = sessions.project(db, project.project_id) is not None
    if is_known and not (starts and project.kind == "git" and not sessions.has_lineage(db, project.project_id)):
        return
    origin = lineage(project.root) if project.kind == "git" else None
    sessions.add_project(db, project.project_id, root=project.root, kind=project.kind, lineage=origin, now=now)
