"""What lets a home start well: a spool key before the first front makes its own, and plug-ins of a new build without the failures of the old one."""

from __future__ import annotations

import os

from afl_core.files.private import sync_dir
from afl_core.model.clock import Clock
from afl_core.model.errors import PathError
from afl_core.settings.paths import Paths
from afl_core.setup.pack_files import look
from afl_core.store import ledger
from afl_core.store.connection import connect, writing
from afl_core.vault.seal import KEY_BYTES, KEY_ID_BYTES
from afl_core.worker.keyring import Keyring


def lacks_spool_key(paths: Paths) -> bool:
    """Whether hooks would find no key to seal with."""
    return len(look(paths.spool_key) or b"") != KEY_ID_BYTES + KEY_BYTES


def make_spool_key(paths: Paths, clock: Clock) -> None:
    """Give hooks a key, in the order in which the front does: the wrapped one is on disk before the first record can be sealed with it."""
    db = connect(paths.database)
    try:
        Keyring(paths).rotate_spool_key(db, clock())
        sync_dir(paths.run)
    except OSError as bad:
        raise PathError(
            f"{paths.spool_key} cannot be written: {bad.strerror}",
            code="AFL-PATH-005",
            hint=f"make {os.path.dirname(paths.spool_key)} writable and check the free space",
        ) from bad
    finally:
        db.close()


def forget_failures(paths: Paths) -> list[str]:
    """Empty the ledger of plug-ins: what an earlier build of them did says nothing about this one. Returns a line for each plug-in that rested or failed."""
    db = connect(paths.database)
    try:
        with writing(db):
            rows = ledger.every(db)
            for row in rows:
                ledger.clear(db, row.plugin, row.call)
    finally:
        db.close()
    return [f"forgot the failures of the plug-in {name}: another build is installed" for name in sorted({row.plugin for row in rows})]
