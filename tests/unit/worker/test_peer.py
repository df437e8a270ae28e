"""Who may talk to the front."""

from __future__ import annotations

import os
import socket

from afl_core.worker.peer import is_own


def test_this_user_may_and_another_may_not(monkeypatch):
    one, other = socket.socketpair()
    with one, other:
        assert is_own(one)
        somebody = os.geteuid() + 1
        monkeypatch.setattr(os, "geteuid", lambda: somebody)
        assert not is_own(one)
