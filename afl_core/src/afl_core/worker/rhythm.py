"""What the daemon was told of its work: how often, how long, and where hosts keep transcripts. From the front's file, with the environment over it.

The daemon runs through this file: standard library only.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from typing import Any, NamedTuple

from afl_core.worker.roots import Root

PREFIX = "AGENT_FEEDBACK_LOOP_"
INTERVAL_S = 60
MIN_INTERVAL_S = 30
KILL_GRACE_MS = 2_000
MIN_KILL_GRACE_MS = 100
REVIEWER_MS = 180_000


class Rhythm(NamedTuple):
    """`interval`: seconds between the end of a tick and the next; `grace_ms`: between asking a pass to end and ending it; `reviewer_ms`: what a review may take."""

    interval: int = INTERVAL_S
    grace_ms: int = KILL_GRACE_MS
    reviewer_ms: int = REVIEWER_MS
    roots: tuple[Root, ...] = ()


def parse(text: str, environ: Mapping[str, str]) -> Rhythm:
    """The front's file as the daemon reads it. A value of the environment that is no number, or too small, changes nothing. Raises `ValueError`."""
    try:
        body = json.loads(text)
        told = body.get("schedule") or {}
        roots = tuple(Root(str(one["folder"]), str(one["pattern"])) for host in body["hosts"].values() for one in host.get("roots", ()))
        return Rhythm(
            _number(environ, "RECONCILE_INTERVAL", MIN_INTERVAL_S, told.get("interval", INTERVAL_S)),
            _number(environ, "RECONCILE_KILL_GRACE_MS", MIN_KILL_GRACE_MS, told.get("kill_grace_ms", KILL_GRACE_MS)),
            _number(environ, "REVIEWER_TIMEOUT_MS", 1_000, told.get("reviewer_timeout_ms", REVIEWER_MS)),
            roots,
        )
    except (KeyError, TypeError, AttributeError, RecursionError) as bad:
        raise ValueError(f"unexpected shape: {bad!r}") from bad


def _number(environ: Mapping[str, str], name: str, low: int, told: Any) -> int:
    text = environ.get(PREFIX + name, "").strip()
    value = int(text) if text.isascii() and text.isdigit() else 0
    return value if value >= low else max(low, int(told))


class Score:
    """The file, read again when it changes. One that cannot be read leaves what was known before; `fault` says why."""

    def __init__(self, path: str, environ: Mapping[str, str]) -> None:
        self._path = path
        self._environ = environ
        self._stamp: tuple[int, ...] | None = None
        self._held = Rhythm()
        self.fault = ""

    def current(self) -> Rhythm:
        """The content as of now."""
        try:
            seen = os.stat(self._path)
            stamp = (seen.st_mtime_ns, seen.st_size, seen.st_ino)
            if stamp != self._stamp:
                with open(self._path, encoding="utf-8") as handle:
                    self._held = parse(handle.read(), self._environ)
                self._stamp = stamp
            self.fault = ""
        except (OSError, ValueError) as bad:
            self._stamp = None
            self.fault = f"{self._path}: {bad}"
        return self._held
