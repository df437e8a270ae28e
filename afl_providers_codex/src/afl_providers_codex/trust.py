"""The part of the host adapter that gets our hooks trusted: which server to ask, with what, and where the host keeps its trust."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from afl_core.spec.host import HostPlace
from afl_core.spec.trust import TrustDialogue, WantedHook
from afl_providers_codex import trust_dialogue
from afl_providers_codex.place import COMMAND, COMMAND_VARIABLE, HOME_VARIABLE

SERVER = "app-server"

APPS = (
    "/Applications/Codex.app/Contents/Resources/codex",
    "/Applications/ChatGPT.app/Contents/Resources/codex",
)
"""Where the desktop applications keep the command."""


class CodexTrust:
    """`AsksTrust` for Codex; the host adapter inherits it."""

    def trust_commands(self, place: HostPlace, environ: Mapping[str, str]) -> tuple[tuple[str, ...], ...]:
        """The command the person named and no other; else the one on the PATH, then those of the applications that are here."""
        named = environ.get(COMMAND_VARIABLE, "").strip()
        first = str(place.binary) if place.binary is not None else named or COMMAND
        found = (first,) if named else (first, *(app for app in APPS if app != first and os.access(app, os.X_OK)))
        return tuple((command, SERVER) for command in found)

    def trust_environment(self, place: HostPlace, environ: Mapping[str, str]) -> Mapping[str, str]:
        """`CODEX_HOME` only where the person sets it or it must be told: set, the host follows links in it and its keys for our hooks change."""
        if environ.get(HOME_VARIABLE) or place.config_dir == Path(environ.get("HOME", "")) / ".codex":
            return {}
        return {HOME_VARIABLE: str(place.config_dir)}

    def trust_store(self, place: HostPlace) -> Path:
        """The person's configuration: the host keeps trust in its table `hooks.state`."""
        return place.config_dir / "config.toml"

    def trust_dialogue(self, wanted: Sequence[WantedHook], cwd: Path, *, approve: bool) -> TrustDialogue:
        """Look, and with `approve` trust."""
        return trust_dialogue.approving(wanted, cwd, approve=approve)

    def distrust_dialogue(self, wanted: Sequence[WantedHook], cwd: Path) -> TrustDialogue:
        """Forget."""
        return trust_dialogue.distrusting(wanted, cwd)
