"""The environment a child gets: built from an allowlist, never inherited. What is not named here, by a provider or by the person stays out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

BASE_NAMES = ("PATH", "HOME", "TMPDIR", "LANG", "LC_ALL", "LC_CTYPE", "TZ")
"""Passed to every child when they are set: enough to find a program, a home and a character set; no logins."""

DEFAULT_PATH = "/usr/local/bin:/usr/bin:/bin"
"""Used when the known environment has no PATH (a worker started by a service manager)."""


def child_environment(environ: Mapping[str, str], names: Iterable[str] = (), extra: Mapping[str, str] | None = None) -> dict[str, str]:
    """The base names and `names` as far as `environ` has them, then `extra`, which wins."""
    chosen = {name: environ[name] for name in (*BASE_NAMES, *names) if name in environ}
    chosen.setdefault("PATH", DEFAULT_PATH)
    chosen.update(extra or {})
    return chosen


def allowlisted(text: str) -> tuple[str, ...]:
    """The names in a comma-separated allowlist; blanks are skipped."""
    return tuple(name for name in (part.strip() for part in text.split(",")) if name)
