"""What else is kept of a captured call than its grain: the words of its events, and the sealed stretches of the transcript that they stand in."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Collection
from contextlib import AbstractContextManager

from afl_core.model.grain import Grain, GrainType
from afl_core.settings.paths import BLOBS, STORE
from afl_core.store import calls
from afl_core.vault.blobs import Blobs


def forget_call(db: sqlite3.Connection, grain: Grain) -> list[str]:
    """Take what a tool grain tells of out of the evidence, in the transaction that erases the grain; gives the stretches that nothing points at now."""
    session, call = grain.fields.get("session_id"), grain.fields.get("tool_call_id")
    if grain.type is not GrainType.TOOL or session is None or call is None:
        return []
    return calls.empty(db, session, call)


def drop(database: str, stretches: Collection[str], turn: Callable[[], AbstractContextManager[sqlite3.Connection]]) -> None:
    """Unlink stretches after the commit, each unless somebody points at it again (`turn` opens a transaction). One that is left goes with the upkeep.

    Those of a copy that lies beside a home's store, or in its backups, are the home's own and stay.
    """
    place = os.path.realpath(database)
    base = place.removesuffix(os.sep + STORE)
    root = os.path.join(base, BLOBS)
    if not stretches or base == place or not os.path.isdir(root):
        return
    blobs = Blobs(root, base)
    with turn() as db:
        for name in stretches:
            if not calls.is_pointed_at(db, name):
                blobs.remove(name)
