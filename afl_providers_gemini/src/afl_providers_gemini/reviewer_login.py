"""Whose login a review uses, and whether it reaches an isolated home: decided from the settings, the variables and the files that are there."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

import attrs

from afl_providers_gemini.place import config_directory
from afl_providers_gemini.reviewer_comments import at, read_settings, read_text

ALLOWLIST_VARIABLE = "AGENT_FEEDBACK_LOOP_REVIEWER_ENV_ALLOWLIST"

API_KEY = "gemini-api-key"
VERTEX = "vertex-ai"
METADATA = ("compute-default-credentials", "cloud-shell")
"""Logins that the machine itself answers for; a home of its own does not hide them."""

KEY_NAME = "GEMINI_API_KEY"
VERTEX_KEY_NAME = "GOOGLE_API_KEY"
VERTEX_NAMES = ("GOOGLE_CLOUD_PROJECT", "GOOGLE_CLOUD_LOCATION")

LOGIN_FILES = ("gemini-credentials.json", "oauth_creds.json")
"""Where the host keeps logins and keys, in its configuration directory, unless the system's keychain holds them."""

HINT = f"set {KEY_NAME} and name it in {ALLOWLIST_VARIABLE}, or log in with `gemini`"


@attrs.frozen
class Login:
    """`isolated`: it reaches a home of its own, as `auth_type`. Otherwise the person's own home must be kept. `how` says so in a few words."""

    isolated: bool
    auth_type: str
    how: str


def find_login(environ: Mapping[str, str]) -> Login:
    """How a review logs in. Starts nothing, and reads no more than what kind of login there is."""
    home = Path(environ.get("HOME") or Path.home())
    folder = config_directory(home, environ)
    named = at(read_settings(folder / "settings.json"), "security", "auth", "selectedType")
    kind = named if isinstance(named, str) and named else _from_environment(environ)
    if kind == API_KEY and _passes(KEY_NAME, environ):
        return Login(isolated=True, auth_type=API_KEY, how=f"isolated, with {KEY_NAME}")
    if kind == VERTEX and (_passes(VERTEX_KEY_NAME, environ) or all(environ.get(name) for name in VERTEX_NAMES)):
        return Login(isolated=True, auth_type=VERTEX, how="isolated, with the login of Vertex AI")
    if kind in METADATA:
        return Login(isolated=True, auth_type=kind, how="isolated, with the login of this machine")
    return Login(isolated=False, auth_type=kind, how=_kept(home, folder, kind))


def _kept(home: Path, folder: Path, kind: str) -> str:
    """Why the person's home is kept."""
    found = next((name for name in LOGIN_FILES if (folder / name).is_file()), None)
    variables = next((path for path in (folder / ".env", home / ".env") if _sets_a_key(path)), None)
    if found is None and variables is not None:
        return f"in your own home, because the key is in {variables}"
    if found is None and kind == API_KEY:
        return f"in your own home; no login was seen: {HINT}"
    return f"in your own home, because its login ({kind or 'of unknown kind'}) lives there"


def _from_environment(environ: Mapping[str, str]) -> str:
    """The kind of login where the settings name none, in the host's own order."""
    if environ.get("GOOGLE_GENAI_USE_GCA") == "true":
        return "oauth-personal"
    if environ.get("GOOGLE_GENAI_USE_VERTEXAI") == "true":
        return VERTEX
    return API_KEY if environ.get(KEY_NAME) else ""


def _passes(name: str, environ: Mapping[str, str]) -> bool:
    """Whether a secret is there and the person's allowlist lets it through to a reviewer."""
    allowed = {part.strip() for part in environ.get(ALLOWLIST_VARIABLE, "").split(",")}
    return bool(environ.get(name)) and name in allowed


def _sets_a_key(path: Path) -> bool:
    return re.search(rf"^\s*(?:export\s+)?(?:{KEY_NAME}|{VERTEX_KEY_NAME})\s*=\s*\S", read_text(path), re.MULTILINE) is not None
