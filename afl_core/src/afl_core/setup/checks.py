"""What must be true before install touches anything: the platform, the home, every private directory, the disk. Looks, changes nothing."""

from __future__ import annotations

import contextlib
import os
import stat

import attrs

from afl_core.files.private import DIR_MODE, FILE_MODE, check_components, ensure_private_dir
from afl_core.model.errors import PathError, SetupError
from afl_core.settings.paths import Paths
from afl_core.store.mounts import refuse_unsafe_mount

_ANY_WRITE = 0o222


@attrs.frozen
class PrivateDir:
    """A directory that shall be there, 0700; `base` is what is trusted above it."""

    path: str
    base: str
    exists: bool
    mode: int

    @property
    def changes(self) -> bool:
        """Whether it must be made or tightened."""
        return not self.exists or self.mode != DIR_MODE

    def step(self) -> str:
        """The line for a person."""
        return f"make {self.path}, private" if not self.exists else f"give {self.path} mode {DIR_MODE:04o}: {self.fault()}"

    def fault(self) -> str:
        """What is wrong with its mode, in words; '' when it is as it shall be."""
        if not self.exists or self.mode == DIR_MODE:
            return ""
        if self.mode & 0o077:
            return f"it can be entered by others (mode {self.mode:04o})"
        return f"its owner may not use it fully (mode {self.mode:04o})"


def check_home(paths: Paths) -> None:
    """Raise `SetupError` where hooks cannot work or the home is none."""
    if os.name != "posix":
        raise SetupError(
            "hooks are not supported on this system yet",
            code="AFL-SETUP-020",
            hint="use Linux, macOS or WSL; library and command line work here",
        )
    if not os.path.isdir(paths.home):
        raise SetupError(f"{paths.home} is not a directory", code="AFL-SETUP-020", hint="name an existing home with --home")


def private_dirs(paths: Paths) -> list[PrivateDir]:
    """Every private directory as it is now. Raises `PathError` for a link, another kind, another owner, or where one cannot be made."""
    roots = [(paths.pack, paths.home), (paths.data, paths.home), (paths.keys, paths.home)]
    inside = [paths.run, paths.spool, os.path.dirname(paths.database), paths.blobs, paths.logs, paths.contexts, paths.backups]
    return [_private_dir(path, base) for path, base in [*roots, *((path, paths.data) for path in inside)]]


def loose_files(paths: Paths) -> list[tuple[str, int]]:
    """Files of ours that others may read or write, with their modes: all but blobs and sealed records, which lie in directories of their own."""
    folders = [paths.data, os.path.dirname(paths.database), paths.run, paths.logs, paths.backups, paths.keys]
    found = []
    for folder in folders:
        with contextlib.suppress(FileNotFoundError, NotADirectoryError, PermissionError), os.scandir(folder) as entries:
            for entry in entries:
                with contextlib.suppress(FileNotFoundError):
                    seen = entry.stat(follow_symlinks=False)
                    if stat.S_ISREG(seen.st_mode) and seen.st_uid == os.getuid() and seen.st_mode & 0o077:
                        found.append((entry.path, stat.S_IMODE(seen.st_mode)))
    return sorted(found)


def tighten(files: list[tuple[str, int]]) -> None:
    """Let only their owner read and write them."""
    for path, _mode in files:
        with contextlib.suppress(FileNotFoundError):
            os.chmod(path, FILE_MODE)


def make_dirs(dirs: list[PrivateDir]) -> None:
    """Make or tighten what has to be."""
    for one in dirs:
        if one.changes:
            ensure_private_dir(one.path, one.base)


def check_disk(paths: Paths) -> None:
    """Refuse file systems on which the database would be damaged."""
    refuse_unsafe_mount(os.path.dirname(paths.database))


def _private_dir(path: str, base: str) -> PrivateDir:
    check_components(path, base)
    try:
        found = os.lstat(path)
    except FileNotFoundError:
        _refuse_unwritable(path)
        return PrivateDir(path, base, exists=False, mode=0)
    mode = stat.S_IMODE(found.st_mode)
    if not os.access(path, os.W_OK | os.X_OK) and mode & 0o700 == DIR_MODE:
        raise _unwritable(path)
    return PrivateDir(path, base, exists=True, mode=mode)


def _refuse_unwritable(path: str) -> None:
    """The nearest directory that exists must take a new one; a mode without any write bit counts, whoever asks."""
    parent = os.path.dirname(path)
    while not os.path.isdir(parent):
        parent = os.path.dirname(parent)
    if not os.stat(parent).st_mode & _ANY_WRITE or not os.access(parent, os.W_OK | os.X_OK):
        raise _unwritable(parent)


def _unwritable(path: str) -> PathError:
    return PathError(
        f"{path} cannot be written; nothing was changed",
        code="AFL-PATH-005",
        hint=f"make {path} writable, run outside of the sandbox, or use another --home or AFL_DATA_ROOT",
    )
