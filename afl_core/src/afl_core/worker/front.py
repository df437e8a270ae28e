"""Where the front begins: one process a home. Takes the lock before anything heavy is imported, so that twenty hooks do not start twenty fronts."""

from __future__ import annotations

import fcntl
import os
import sys
import time
from types import ModuleType

from afl_core.settings.paths import Paths

PATIENCE_S = 2.0
"""How long a newcomer waits for a front that is leaving (it holds the lock but has taken its socket away)."""


def main(constants: ModuleType) -> int:
    """Serve the home that the rendered constants name, until nobody needs it; 0 also when another front does."""
    os.umask(0o077)
    paths = Paths(constants.HOME, constants.DATA)
    if not constants.HOME or not enter(paths.run):
        return 1
    lock = take_lock(paths)
    if lock is None:
        return 0
    from afl_core.worker.journal import Journal, describe

    journal = Journal(os.environ.get("AGENT_FEEDBACK_LOOP_LOG") or paths.runtime_log)
    try:
        from afl_core.worker.serve import serve

        serve(constants, paths, journal)
    except Exception as bad:  # noqa: BLE001 - the last place where it can be said
        journal.say(f"front ended: {describe(bad)}")
        return 1
    finally:
        os.close(lock)
    return 0


def enter(run: str) -> bool:
    """Make the run directory if need be; False when it is not a directory that is ours alone."""
    try:
        if not os.path.lexists(run):
            os.mkdir(run, 0o700)
        seen = os.lstat(run)
    except OSError:
        return False
    return seen.st_mode & 0o170077 == 0o040000 and seen.st_uid == os.geteuid()


def take_lock(paths: Paths) -> int | None:
    """The lock's descriptor; None when another front serves or is about to."""
    handle = os.open(paths.front_lock, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    end = time.monotonic() + PATIENCE_S
    while True:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if os.path.lexists(paths.socket) or time.monotonic() > end:
                os.close(handle)
                return None
            time.sleep(0.02)
        else:
            return handle


if __name__ == "__main__":
    sys.exit("the front is started through the pack's hook/worker.py")
