"""Where Codex CLI lives for one person: its directory, its hooks file and its command. Looks, and changes nothing."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from afl_core.spec import finding_commands
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
    return HostPlace(folder, folder / HOOKS_FILE, binary, present=binary is not None or os.path.isdir(folder))


def codex_home(home: Path, environ: Mapping[str, str]) -> Path:
    """`CODEX_HOME` (from the session's own directory when it is relative), else `.codex` in the home: hooks in any other place never fire."""
    named = environ.get(HOME_VARIABLE)
    return finding_commands.expanded(named, home, environ) if named else home / ".codex"


def find_command(home: Path, environ: Mapping[str, str], usual: tuple[str, ...] = USUAL_PLACES) -> Path | None:
    """The absolute path of the host's command, or None. A command the person named is the only one tried."""
    return finding_commands.find_command(home, environ, COMMAND_VARIABLE, COMMAND, usual)
