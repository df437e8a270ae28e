"""SQLite's own words, and what is strange about a file, as errors that say what to do. Imported when something went wrong: the front may meet it."""

from __future__ import annotations

import os
import sqlite3
from typing import TYPE_CHECKING

from afl_core.model.errors import StoreError

if TYPE_CHECKING:
    from pathlib import Path

HOMES = os.path.join("store", "feedback-loop.sqlite3")
"""Where a home has its store, as `settings.paths` says."""
_STEPS = {
    "AFL-STORE-001": ("run: afl install", "check the path; Memory(path) and afl add make a new file"),
    "AFL-STORE-002": ("move the file away or set AFL_DATA_ROOT, then run: afl doctor", "name another file, or move this one away"),
    "AFL-STORE-006": (
        "free some space; nothing was lost: what waits is in the spool and in the host's transcripts",
        "free some space; what was stored before is whole",
    ),
    "AFL-STORE-008": ("run: afl doctor", "run: afl verify --db FILE"),
    "AFL-STORE-012": (
        "move it away with its -wal and -shm files, copy the newest file of the backups directory to its place or run: afl install",
        "move it away with its -wal and -shm files, then import an export of it or copy the newest file of its .backups directory to its place",
    ),
    "AFL-STORE-013": ("move it away, or set AFL_DATA_ROOT", "name another file, or move this one away"),
}
"""For a code what to do about a home's store, and about a memory file of its own."""


def next_step(code: str, path: Path | str) -> str:
    """What to do about a database that cannot be used."""
    homes, own = _STEPS[code]
    return homes if str(path).endswith(HOMES) else own


def explain(bad: sqlite3.Error, path: Path | str) -> StoreError:
    """Turn SQLite's own words into an error that says what to do."""
    text = str(bad)
    if "malformed" in text or "not a database" in text:
        return StoreError(f"{path} is damaged ({text})", code="AFL-STORE-012", hint=next_step("AFL-STORE-012", path))
    if "locked" in text or "busy" in text:
        return _locked(str(path))
    if "full" in text:
        return StoreError(f"the disk that holds {path} is full", code="AFL-STORE-006", hint=next_step("AFL-STORE-006", path))
    if "readonly" in text or ("unable to open" in text and os.path.isfile(path)):
        return StoreError(
            f"{path} cannot be written (read-only file, directory or sandbox)",
            code="AFL-STORE-007",
            hint="an agent's sandbox may not write memory; run the command outside of it or fix the permissions",
        )
    if "unable to open" in text:
        return StoreError(f"{path} is missing or cannot be opened", code="AFL-STORE-001", hint=next_step("AFL-STORE-001", path))
    return StoreError(f"{path}: {text}", code="AFL-STORE-008", hint=next_step("AFL-STORE-008", path))


def _locked(path: str) -> StoreError:
    from afl_core.store.holder import advice, command, holders

    if held := holders(path):
        return StoreError(f"{path} is locked by {', '.join(held)}", code="AFL-STORE-005", hint=advice(held))
    return StoreError(f"{path} is locked by another process", code="AFL-STORE-005", hint=f"try again; {command(path)}")
