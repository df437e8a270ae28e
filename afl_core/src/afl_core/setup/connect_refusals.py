"""What keeps hosts from being connected and shows before anything is written: a file that two share, a directory that cannot be made. Reads only."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable
from pathlib import Path

from afl_core.model.errors import SetupError

_ANY_WRITE = 0o222


def refuse_shared(places: Iterable[tuple[str, Path]]) -> None:
    """Raise `SetupError` when two hosts (label, file of hooks) have their hooks in one file, under whatever name: each would run the other's."""
    seen: dict[str, str] = {}
    for label, path in places:
        file = os.path.realpath(path)
        other = seen.setdefault(file, label)
        if other != label:
            raise SetupError(
                f"{other} and {label} have their hooks in one file, {file}; nothing was changed",
                code="AFL-SETUP-051",
                hint="give each a configuration directory of its own, or run: afl uninstall, then afl install --host NAME for one of them",
            )


def refuse_unmakable(folder: str, file: Path) -> None:
    """Raise `SetupError` when the missing directory `folder` of `file` cannot be made where it shall be."""
    current = os.path.abspath(folder)
    while (found := _looked_at(current, file)) is None:
        current = os.path.dirname(current)
    if stat.S_ISLNK(found.st_mode) and not os.path.exists(current):
        raise SetupError(
            f"{current} is a link that leads nowhere; nothing was changed",
            code="AFL-SETUP-014",
            hint="mend or remove the link, then run the same command again",
        )
    if not os.path.isdir(current):
        raise _cannot(file, f"{current} is not a directory", f"move {current} away, then run the same command again")
    if not os.stat(current).st_mode & _ANY_WRITE or not os.access(current, os.W_OK | os.X_OK):
        raise _cannot(file, f"{current} is a read-only directory", f"chmod u+w {current}")


def _looked_at(path: str, file: Path) -> os.stat_result | None:
    """What is there, None for nothing."""
    try:
        return os.lstat(path)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as bad:
        raise _cannot(file, f"{path}: {bad.strerror}", "check the directories above it, then run the same command again") from bad


def _cannot(file: Path, why: str, hint: str) -> SetupError:
    return SetupError(f"{file} cannot be made, because {why}; nothing was changed", code="AFL-SETUP-013", hint=hint)
