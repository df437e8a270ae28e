"""Where a host's command and its relative directories are, for a person's environment. For plug-in authors. Looks, and changes nothing."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path


def find_command(home: Path, environ: Mapping[str, str], variable: str, command: str, usual: Sequence[str]) -> Path | None:
    """The absolute path of a host's command, or None.

    What the person named in `variable` is the only thing tried: a path, or a name for the PATH; no shell ever reads it. Else `command` is looked
    for on the PATH of `environ`, and last in the `usual` places (absolute, or below the home with `~/`), because a daemon's PATH is often
    shorter than the person's.
    """
    named = environ.get(variable, "").strip()
    if named and os.path.basename(named) != named:
        return _runnable(expanded(named, home, environ))
    if found := _on_path(named or command, environ.get("PATH", "")):
        return found
    if named:
        return None
    return next((place for spelled in usual if (place := _runnable(expanded(spelled, home, environ)))), None)


def expanded(spelled: str, home: Path, environ: Mapping[str, str]) -> Path:
    """A path as a person spells it: `~/` is the home, anything else as in `absolute`."""
    return home / spelled[2:] if spelled.startswith("~/") else absolute(spelled, home, environ)


def absolute(spelled: str, home: Path, environ: Mapping[str, str]) -> Path:
    """A path as a host takes it: a relative one begins in the session's own directory (`PWD`), or in the home when nothing says which that is."""
    return Path(os.path.normpath(os.path.join(environ.get("PWD") or home, spelled)))


def _on_path(name: str, path: str) -> Path | None:
    # A relative entry would find whatever lies in the project the session happens to be in.
    entries = os.pathsep.join(entry for entry in path.split(os.pathsep) if os.path.isabs(entry))
    found = shutil.which(name, path=entries) if entries else None
    return Path(found) if found else None


def _runnable(path: Path) -> Path | None:
    return path if os.path.isfile(path) and os.access(path, os.X_OK) else None
