"""Atomic writing of one file: a complete temporary file beside it, then one rename, each forced to disk. Decides nothing."""

from __future__ import annotations

import errno
import os
import re
import secrets
from pathlib import Path

_NO_LINKS = {errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS}


def write_beside(file: Path, content: bytes, *, mode: int, uid: int, gid: int) -> Path:
    """A finished temporary file in the directory of `file`, on disk, with the mode and owner given; raises `OSError`.

    It is born 0600 and gets its final mode last, so that nobody else can read it half-way.
    """
    temporary = file.parent / f".{file.name}.afl-{os.getpid()}-{secrets.token_hex(4)}.tmp"
    handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    try:
        with os.fdopen(handle, "wb") as opened:
            opened.write(content)
            opened.flush()
            made = os.fstat(opened.fileno())
            if (made.st_uid, made.st_gid) != (uid, gid):
                os.fchown(opened.fileno(), uid, gid)
            os.fchmod(opened.fileno(), mode)
            os.fsync(opened.fileno())
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    return temporary


def put_in_place(temporary: Path, file: Path) -> None:
    """Let `temporary` take the place of `file` in one step."""
    os.replace(temporary, file)


def put_new(temporary: Path, file: Path) -> None:
    """Give `temporary` the name `file`; raises `FileExistsError` when that name is taken."""
    try:
        os.link(temporary, file, follow_symlinks=False)
    except OSError as bad:
        if bad.errno not in _NO_LINKS:
            raise
        # A file system without hard links: the window between the look and the rename cannot be closed there.
        if os.path.lexists(file):
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(file)) from bad
        os.rename(temporary, file)
        return
    temporary.unlink()


def sync_directory(directory: Path) -> None:
    """Force the names in `directory` to disk."""
    handle = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(handle)
    except OSError as bad:
        # Some file systems cannot sync a directory and say so with EINVAL; they have nothing to force.
        if bad.errno != errno.EINVAL:
            raise
    finally:
        os.close(handle)


def sweep_leftovers(directory: Path, stem: str) -> None:
    """Remove what killed processes left in `directory` while writing files whose names begin with `stem`; a running process keeps its own."""
    for path in leftovers(directory, stem):
        path.unlink(missing_ok=True)


def leftovers(directory: Path, stem: str) -> list[Path]:
    """What killed processes left there."""
    shape = re.compile(r"\.+" + re.escape(stem) + r".*\.afl-([0-9]+)-[0-9a-f]{8}\.tmp")
    names = os.listdir(directory) if directory.is_dir() else ()
    return [directory / name for name in names if (found := shape.fullmatch(name)) and not _runs(int(found.group(1)))]


def _runs(process: int) -> bool:
    try:
        os.kill(process, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        return True
    return True
