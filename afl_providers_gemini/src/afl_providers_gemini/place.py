"""Where Gemini CLI lives for one person: its configuration directory and its command. Looks, and changes nothing."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from pathlib import Path

from afl_core.spec.host import HostPlace

HOME_VARIABLE = "GEMINI_CLI_HOME"
COMMAND_VARIABLE = "AGENT_FEEDBACK_LOOP_GEMINI_COMMAND"
COMMAND = "gemini"
FOLDER = ".gemini"

USUAL_PLACES = ("~/.local/bin/gemini", "~/.npm-global/bin/gemini", "/usr/local/bin/gemini", "/opt/homebrew/bin/gemini")
"""Where npm and Homebrew put the command; asked last, because a daemon's PATH is often shorter than the person's."""


def locate(home: Path, environ: Mapping[str, str]) -> HostPlace:
    """The host's place for `home`. Present: its configuration directory exists or its command was found."""
    config_dir = config_directory(home, environ)
    binary = find_command(home, environ)
    return HostPlace(config_dir, config_dir / "settings.json", binary, present=binary is not None or config_dir.is_dir())


def config_directory(home: Path, environ: Mapping[str, str]) -> Path:
    """`.gemini` in the home, or in `GEMINI_CLI_HOME`, which stands for the home (from the working directory when it is relative)."""
    named = environ.get(HOME_VARIABLE)
    return (_absolute(named, home, environ) if named else home) / FOLDER


def find_command(home: Path, environ: Mapping[str, str], usual: tuple[str, ...] = USUAL_PLACES) -> Path | None:
    """The absolute path of the host's command, or None. A command the person named is the only one tried; no shell ever reads it."""
    named = environ.get(COMMAND_VARIABLE, "").strip()
    if named and os.path.basename(named) != named:
        return _runnable(_expanded(named, home, environ))
    if found := _on_path(named or COMMAND, environ.get("PATH", "")):
        return found
    if named:
        return None
    return next((place for spelled in usual if (place := _runnable(_expanded(spelled, home, environ)))), None)


def _on_path(name: str, path: str) -> Path | None:
    # A relative entry would find whatever lies in the project the session happens to be in.
    absolute = os.pathsep.join(entry for entry in path.split(os.pathsep) if os.path.isabs(entry))
    found = shutil.which(name, path=absolute) if absolute else None
    return Path(found) if found else None


def _expanded(spelled: str, home: Path, environ: Mapping[str, str]) -> Path:
    return home / spelled[2:] if spelled.startswith("~/") else _absolute(spelled, home, environ)


def _absolute(spelled: str, home: Path, environ: Mapping[str, str]) -> Path:
    return Path(os.path.normpath(os.path.join(environ.get("PWD") or home, spelled)))


def _runnable(path: Path) -> Path | None:
    return path if path.is_file() and os.access(path, os.X_OK) else None
