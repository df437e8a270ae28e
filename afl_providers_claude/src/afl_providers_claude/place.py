"""Where Claude Code lives for one person: its configuration directory and its command. Looks, and changes nothing."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from afl_core.spec import finding_commands
from afl_core.spec.host import HostPlace

CONFIG_VARIABLE = "CLAUDE_CONFIG_DIR"
COMMAND_VARIABLE = "AGENT_FEEDBACK_LOOP_CLAUDE_COMMAND"
COMMAND = "claude"

USUAL_PLACES = ("~/.claude/local/claude", "~/.local/bin/claude", "/usr/local/bin/claude", "/opt/homebrew/bin/claude")
"""Where installers put the command; asked last, because a daemon's PATH is often shorter than the person's."""


def locate(home: Path, environ: Mapping[str, str]) -> HostPlace:
    """The host's place for `home`. Present: its configuration directory exists or its command was found."""
    config_dir = config_directory(home, environ)
    binary = find_command(home, environ)
    return HostPlace(config_dir, config_dir / "settings.json", binary, present=binary is not None or os.path.isdir(config_dir))


def config_directory(home: Path, environ: Mapping[str, str]) -> Path:
    """`CLAUDE_CONFIG_DIR` (from the session's own directory when it is relative), else `.claude` in the home: hooks in any other place never fire."""
    named = environ.get(CONFIG_VARIABLE)
    return finding_commands.absolute(named, home, environ) if named else home / ".claude"


def find_command(home: Path, environ: Mapping[str, str], usual: tuple[str, ...] = USUAL_PLACES) -> Path | None:
    """The absolute path of the host's command, or None. A command the person named is the only one tried."""
    return finding_commands.find_command(home, environ, COMMAND_VARIABLE, COMMAND, usual)
