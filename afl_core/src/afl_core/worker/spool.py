"""Draining the spool with the vault's private key: records sealed with a key that no living front remembers. Used by the jobs and by reconcile."""

from __future__ import annotations

import logging
import os

from afl_core.api.home import Home
from afl_core.model.errors import VaultError
from afl_core.worker.drain import drain
from afl_core.worker.environment import Environments
from afl_core.worker.keyring import Keyring
from afl_core.worker.manifests import Manifests
from afl_core.worker.selector import SelectorSlot
from afl_core.worker.turn import Desk

ROUNDS = 128
"""Batches in one go: more than the spool may hold."""

log = logging.getLogger("afl.spool")


def drain_spool(home: Home) -> tuple[str, ...]:
    """Keep every record that can be opened; returns the sessions they belong to. What cannot be opened now stays where it is."""
    if not os.path.isdir(home.paths.spool) or not any(name.endswith(".rec") for name in os.listdir(home.paths.spool)):
        return ()
    keyring = Keyring(home.paths)
    keyring.register(home.db, home.clock())
    selector = SelectorSlot(home.paths.run, log.warning)  # chooses nothing: nobody waits for an answer to what lay in the spool
    desk = Desk(home.db, Manifests(home.paths.front_file), keyring, Environments(), selector, {}, (), log.warning)

    def find_key(key_id: str) -> bytes | None:
        known = keyring.spool_key(key_id)
        if known is not None:
            return known
        try:
            return home.opener.data_key(key_id)
        except VaultError:
            return None

    sessions: dict[str, None] = {}
    left: frozenset[str] = frozenset()
    for _ in range(ROUNDS):
        done = drain(desk, home.paths.spool, find_key, left)
        left |= done.left
        sessions.update(dict.fromkeys(done.sessions))
        if not done.is_more:
            break
    if left:
        log.warning("spool: %d records cannot be opened now; they stay", len(left))
    return tuple(sessions)
