"""Why a review keeps the person's own home, or that no login was seen there: one line for the doctor, without anything that is secret. Reads only."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path

from afl_providers_gemini.reviewer_comments import is_readable
from afl_providers_gemini.reviewer_variables import (
    API_KEY,
    KEY_NAME,
    VERTEX,
    VERTEX_KEY_NAME,
    VERTEX_NAMES,
    VERTEX_SWITCH,
    VariablesFile,
)

ALLOWLIST_VARIABLE = "AGENT_FEEDBACK_LOOP_REVIEWER_ENV_ALLOWLIST"

GOOGLE_FILE = "oauth_creds.json"
SEALED_FILE = "gemini-credentials.json"
LOGIN_FILES = (SEALED_FILE, GOOGLE_FILE)
"""Where the host keeps logins and keys, in its configuration directory, unless the system's keychain holds them."""

ADDRESS = "GOOGLE_GEMINI_BASE_URL"
"""Set without a kind of login that is chosen in the settings, the host takes a kind that it then refuses in a run without a person."""

HINT = f"set {KEY_NAME} and name it in {ALLOWLIST_VARIABLE}, or log in with `gemini`"
CHOOSE = "start `gemini` once and choose how to log in (/auth)"
OWN = "in your own home"

_KIND = re.compile(r"[a-z0-9-]{1,40}")
_UNCHOSEN = {GOOGLE_FILE: "a login with Google is", SEALED_FILE: "a login that the host sealed is"}


def why_kept(folder: Path, chosen: str, kind: str, environ: Mapping[str, str], file: VariablesFile) -> str:
    """`chosen`: the kind that the settings name, '' for none; `kind`: the one that counts; `file`: the variables the host finds by itself."""
    if not chosen and (environ.get(ADDRESS) or file.sets(ADDRESS)) and (not kind or file.sets(KEY_NAME)):
        return f"{OWN}; {ADDRESS} is set and {folder / 'settings.json'} names no kind of login, which the host refuses: {CHOOSE}"
    if not kind:
        return _of_none(folder, file)
    found = next((name for name in LOGIN_FILES if os.path.isfile(folder / name)), None)
    if kind == VERTEX:
        return _of_vertex(environ, file)
    if found is None and kind == API_KEY:
        return f"{OWN}, because the key is in {file.path}" if file.sets(KEY_NAME) else f"{OWN}; no login was seen: {HINT}"
    return f"{OWN}, because its login ({kind if _KIND.fullmatch(kind) else 'of a kind that is not known here'}) lives there"


def _of_vertex(environ: Mapping[str, str], file: VariablesFile) -> str:
    if file.sets(VERTEX_KEY_NAME) or file.sets(*VERTEX_NAMES):
        return f"{OWN}, because the login of Vertex AI is in {file.path}"
    if environ.get(VERTEX_KEY_NAME):
        return f"{OWN}; Vertex AI is chosen, and its key does not reach a review: name {VERTEX_KEY_NAME} in {ALLOWLIST_VARIABLE}"
    return f"{OWN}; Vertex AI is chosen and no login for it was seen: set {' and '.join(VERTEX_NAMES)}, or {VERTEX_KEY_NAME}"


def _of_none(folder: Path, file: VariablesFile) -> str:
    """Nothing chooses a kind: the host runs nothing without a person then, whatever logins it keeps."""
    settings = folder / "settings.json"
    if not is_readable(settings):
        return f"{OWN}; {settings} cannot be read, so no kind of login is chosen: put that right"
    if file.sets(VERTEX_KEY_NAME):
        return f"{OWN}; the key in {file.path} is one of Vertex AI, which nothing chooses: add {VERTEX_SWITCH}=true there"
    found = next((name for name in (GOOGLE_FILE, SEALED_FILE) if os.path.isfile(folder / name)), None)
    if found is not None:
        return f"{OWN}; {_UNCHOSEN[found]} in {folder / found}, but {settings} names no kind of login: {CHOOSE}"
    return f"{OWN}; no login was seen, and no kind of login is chosen: {HINT}"
