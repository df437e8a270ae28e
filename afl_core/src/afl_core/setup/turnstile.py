"""One install or uninstall of a home at a time: two that make keys at once could leave a private key that fits no public one."""

from __future__ import annotations

import contextlib
import fcntl
import os
from collections.abc import Iterator

from afl_core.files.private import ensure_private_dir
from afl_core.model.errors import PathError, SetupError
from afl_core.settings.paths import Paths

_NAME = "install.lock"


@contextlib.contextmanager
def alone(paths: Paths) -> Iterator[None]:
    """Hold the home's lock; raise `SetupError` when another process holds it. The lock ends with the process, whatever becomes of it."""
    ensure_private_dir(paths.data, paths.home)
    path = os.path.join(paths.data, _NAME)
    try:
        handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    except OSError as bad:
        raise PathError(f"{path} cannot be opened: {bad.strerror}", code="AFL-PATH-005", hint=f"make {paths.data} writable") from bad
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as bad:
            said = f"another install or uninstall of {paths.home} is running"
            raise SetupError(said, code="AFL-SETUP-028", hint="wait for it, then run the same command again") from bad
        yield
    finally:
        os.close(handle)
