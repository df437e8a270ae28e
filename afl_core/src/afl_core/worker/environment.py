"""Environments: what a child of ours may inherit, and what each session's frames said about where its host is. In memory only, never on disk."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

KEPT_SESSIONS = 64
PREFIX = "AGENT_FEEDBACK_LOOP_"
ALLOWLIST = PREFIX + "REVIEWER_ENV_ALLOWLIST"

INHERITED = (
    "HOME", "PATH", "LANG", "TZ", "USER", "LOGNAME", "TMPDIR",
    "DBUS_SESSION_BUS_ADDRESS", "XDG_RUNTIME_DIR",  # a keyring is asked over the session bus
    "AFL_DATA_ROOT", "AFL_NOW_MS", "AGENT_FEEDBACK_LOOP_LOG",
)  # fmt: skip
"""What front and jobs start with, besides LC_*. The hook, which stands alone, has the same list."""


def for_child(environ: Mapping[str, str]) -> dict[str, str]:
    """The part of an environment that a child of ours may inherit."""
    return {name: value for name, value in environ.items() if name in INHERITED or name.startswith("LC_")}


def parse(block: bytes, allowed: Sequence[str]) -> dict[str, str]:
    """The variables of a frame's block that are ours, are in `allowed`, or are named by the allowlist variable inside the block."""
    pairs: dict[str, str] = {}
    for item in block.split(b"\0"):
        name, separator, value = item.decode("utf-8", "surrogateescape").partition("=")
        if name and separator:
            pairs[name] = value
    names = {*allowed, *(name.strip() for name in pairs.get(ALLOWLIST, "").split(","))}
    return {name: value for name, value in pairs.items() if name in names or name.startswith(PREFIX)}


class Environments:
    """The latest environment of each session; the least recently seen is forgotten first."""

    def __init__(self) -> None:
        self._held: dict[str, dict[str, str]] = {}

    def remember(self, session_id: str, env: dict[str, str]) -> None:
        """Keep what the newest frame of a session said."""
        self._held.pop(session_id, None)
        self._held[session_id] = env
        while len(self._held) > KEPT_SESSIONS:
            del self._held[next(iter(self._held))]

    def remember_earlier(self, session_id: str, env: dict[str, str]) -> None:
        """Keep what a frame that waited said, unless a session's own frame was heard: that one is newer, and may say more."""
        if session_id not in self._held:
            self.remember(session_id, env)

    def get(self, session_id: str) -> dict[str, str]:
        """What is known of a session; empty when nothing is."""
        return self._held.get(session_id, {})

    def sessions(self) -> list[str]:
        """Sessions something is known of, the most recent last."""
        return list(self._held)
