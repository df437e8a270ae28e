"""Where Codex CLI lives for one person: its directory, its hooks file and its command. Looks, and changes nothing."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from pathlib import Path

from afl_core.spec.host import HostPlace

HOME_VARIABLE = "CODEX_HOME"
COMMAND_VARIABLE = "AGENT_FEEDBACK_LOOP_CODEX_COMMAND"
COMMAND = "codex"
HOOKS_FILE = "hooks.json"
"""Not `config.toml`: a mistake there ends every run of the host, while this file can at worst be ignored with a warning."""

USUAL_PLACES = (
    "~/.local/bin/codex",
    "~/.npm-global/bin/codex",
    "~/.bun/bin/codex",
    "/usr/local/bin/codex",
    "/opt/homebrew/bin/codex",
    "/home/linuxbrew/.linuxbrew/bin/codex",
    "/Applications/Codex.app/Contents/Resources/codex",
)
"""Where installers put the command; asked last, because a daemon's PATH is often shorter than the person's."""


def locate(home: Path, environ: Mapping[str, str]) -> HostPlace:
    """The host's place for `home`. Present: its directory exists or its command was found."""
    folder = codex_home(home, environ)
    binary = find_command(home, environ)
    return HostPlace(folder, folder / HOOKS_FILE, binary, present=binary is not None or folder.is_dir())


def codex_home(home: Path, environ: Mapping[str, str]) -> Path:
    """`CODEX_HOME` (from the session's own directory when it is relative), else `.codex` in the home: hooks in any other place never fire."""
    named = environ.get(HOME_VARIABLE)
    return _absolute(named, home, environ) if named else home / ".codex"


def find_command(home: Path, environ: Mapping[str, str], usual: tuple[str, ...] = USUAL_PLACES) -> Path | None:
    """The absolute path of the host's command, or None. A command the person named is the only one tried; no shell ever reads it."""
    named = environ.get(COMMAND_VARIABLE, "").strip()
    if os.sep in named:
        return _runnable(_absolute(named, home, environ))
    found = _on_path(named or COMMAND, environ.get("PATH", ""))
    if found or named:
        return found
    return next((place for spelled in usual if (place := _runnable(_absolute(spelled, home, environ)))), None)


def _on_path(name: str, path: str) -> Path | None:
    # A relative entry would find whatever lies in the project the session happens to be in.
    absolute = os.pathsep.join(entry for entry in path.split(os.pathsep) if os.path.isabs(entry))
    found = shutil.which(name, path=absolute) if absolute else None
    return Path(found) if found else None


def _absolute(spelled: str, home: Path, environ: Mapping[str, str]) -> Path:
    if spelled.startswith("~/"):
        return home / spelled[2:]
    return Path(os.path.normpath(os.path.join(environ.get("PWD") or home, spelled)))


def _runnable(path: Path) -> Path | None:
    return path if path.is_file() and os.access(path, os.X_OK) else None
