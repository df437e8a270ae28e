"""Whose login a review uses, and whether it reaches an isolated home: decided from the settings, the variables and the files that are there."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import attrs

from afl_providers_gemini.place import config_directory
from afl_providers_gemini.reviewer_comments import at, read_settings
from afl_providers_gemini.reviewer_kept import ALLOWLIST_VARIABLE, why_kept
from afl_providers_gemini.reviewer_variables import (
    API_KEY,
    KEY_NAME,
    MACHINE,
    VERTEX,
    VERTEX_KEY_NAME,
    VERTEX_NAMES,
    chosen_by,
    variables_file,
)

METADATA = (MACHINE, "cloud-shell")
"""Logins that the machine itself answers for; a home of its own does not hide them."""


@attrs.frozen
class Login:
    """`isolated`: it reaches a home of its own, as `auth_type`. Otherwise the person's own home must be kept. `how` says so in a few words."""

    isolated: bool
    auth_type: str
    how: str


def find_login(environ: Mapping[str, str]) -> Login:
    """How a review logs in. Starts nothing, and reads no more than what kind of login there is."""
    folder = config_directory(Path(environ.get("HOME") or Path.home()), environ)
    named = at(read_settings(folder / "settings.json"), "security", "auth", "selectedType")
    chosen = named if isinstance(named, str) else ""
    file = variables_file(folder)
    kind = chosen or chosen_by({**file.values, **environ})
    if kind == API_KEY and _passes(KEY_NAME, environ):
        return Login(isolated=True, auth_type=API_KEY, how=f"isolated, with {KEY_NAME}")
    if kind == VERTEX and (_passes(VERTEX_KEY_NAME, environ) or all(environ.get(name) for name in VERTEX_NAMES)):
        return Login(isolated=True, auth_type=VERTEX, how="isolated, with the login of Vertex AI")
    if kind in METADATA:
        return Login(isolated=True, auth_type=kind, how="isolated, with the login of this machine")
    return Login(isolated=False, auth_type=kind, how=why_kept(folder, chosen, kind, environ, file))


def _passes(name: str, environ: Mapping[str, str]) -> bool:
    """Whether a secret is there and the person's allowlist lets it through to a reviewer."""
    allowed = {part.strip() for part in environ.get(ALLOWLIST_VARIABLE, "").split(",")}
    return bool(environ.get(name)) and name in allowed
