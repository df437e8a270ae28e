"""The folder that Claude Code loads as a plug-in, without a marketplace and without an entry in its settings."""

from __future__ import annotations

import json

from afl_core.spec.host import HostPlace
from afl_core.spec.plugin_folder import PluginFolder

FOLDER = "agent-feedback-loop"
HOOKS = "hooks/hooks.json"
ABOUT = {
    "name": FOLDER,
    "version": "1.0.0",
    "author": {"name": "Agent Feedback Loop"},
    "license": "MIT",
    "description": "Gives corrections of earlier sessions back as short action cards. Written by `afl install`; `afl uninstall` removes it.",
}


def folder(place: HostPlace) -> PluginFolder:
    """`skills/agent-feedback-loop` in the configuration directory; a folder there with a `.claude-plugin/plugin.json` is a live plug-in."""
    about = (json.dumps(ABOUT, indent=2) + "\n").encode("ascii")
    return PluginFolder(place.config_dir / "skills" / FOLDER, HOOKS, {".claude-plugin/plugin.json": about})
