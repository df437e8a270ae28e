"""What install remembered of a home: the pack's pointer file, and what the hook's own files still say where that one is missing or damaged. Reads only."""

from __future__ import annotations

import ast
import json
import os
from collections.abc import Mapping
from typing import Any, NamedTuple

from afl_core.files.private import read_private_file
from afl_core.model.errors import AflError, ModelError, PathError
from afl_core.settings.paths import Paths

CONSTANTS = "constants.py"
"""The hook's values, rendered by install."""


class Recalled(NamedTuple):
    """`body` is what install remembered; `damage` says in words why the pointer file could not be used ('' when it could, or is not there)."""

    body: dict[str, Any]
    damage: str


def paths_of(home: str | None, environ: Mapping[str, str]) -> Paths:
    """The paths of a home (default: `HOME`). The data root is `AFL_DATA_ROOT`, else the one remembered at install.

    Raises `PathError` for a relative `AFL_DATA_ROOT`: hooks, worker and command line run in different directories and would mean different ones.
    """
    if home == "":
        raise PathError("--home was given without a directory", code="AFL-PATH-009", hint="name a directory, or leave --home out")
    root = Paths(home or environ.get("HOME") or _users_home())
    wanted = environ.get("AFL_DATA_ROOT")
    if wanted and not os.path.isabs(wanted):
        raise PathError(
            f"AFL_DATA_ROOT is not an absolute path: {wanted}",
            code="AFL-PATH-010",
            hint="set it to the whole path of a directory, or unset it",
        )
    kept = wanted or recalled(root).body.get("data_root")
    return Paths(root.home, kept if isinstance(kept, str) and os.path.isabs(kept) else None)


def _users_home() -> str:
    """The home of whoever runs this, when `HOME` does not say it."""
    if os.name != "posix":
        return os.path.expanduser("~")
    import pwd

    return pwd.getpwuid(os.getuid()).pw_dir


def remembered(paths: Paths) -> dict[str, Any]:
    """What the pointer file says; {} when there is none. Raises `ModelError` for a damaged one."""
    raw = read_private_file(paths.current)
    if raw is None:
        return {}
    try:
        body = json.loads(raw)
    except (ValueError, RecursionError) as bad:
        raise ModelError(f"{paths.current} is not valid JSON: {bad}", code="AFL-MODEL-002", hint="run: afl install") from bad
    if not isinstance(body, dict):
        raise ModelError(f"{paths.current} is not a JSON object", code="AFL-MODEL-002", hint="run: afl install")
    return body


def recalled(paths: Paths) -> Recalled:
    """The same, but a missing or damaged pointer file is no dead end: data root, Python, build and host names are then those of the hook's files.

    A body recovered so has `host_names` instead of `hosts`: where the settings of those hosts are has to be found out anew.
    """
    try:
        body, damage = remembered(paths), ""
    except ModelError as bad:
        body, damage = {}, bad.sentence
    return Recalled(body or recovered(paths), damage)


def recovered(paths: Paths) -> dict[str, Any]:
    """What the hook's constants and the front's file say about the install of this home; {} when they say nothing that can be used."""
    values = rendered(paths)
    if values.get("HOME") != paths.home:
        return {}
    named = {"data_root": values.get("DATA"), "python": values.get("PYTHON"), "build": values.get("BUILD")}
    body: dict[str, Any] = {name: value for name, value in named.items() if isinstance(value, str) and value}
    return {**body, "host_names": rendered_hosts(paths)} if body else {}


def rendered(paths: Paths) -> dict[str, Any]:
    """The names that the hook's constants give a literal value to; nothing of the file is run. {} when it is missing or no Python."""
    try:
        tree = ast.parse(read_private_file(os.path.join(paths.hook_dir, CONSTANTS)) or b"")
    except (AflError, OSError, SyntaxError, ValueError, RecursionError, MemoryError):
        return {}
    found: dict[str, Any] = {}
    for node in tree.body:
        if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
            try:
                found[node.targets[0].id] = ast.literal_eval(node.value)
            except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError):
                continue
    return found


def rendered_hosts(paths: Paths) -> list[str]:
    """The names of the hosts the hook was rendered for; where its constants do not say, those of the front's file."""
    kinds = rendered(paths).get("KINDS")
    if not isinstance(kinds, dict):
        try:
            body = json.loads(read_private_file(paths.front_file) or b"{}")
        except (AflError, OSError, ValueError, RecursionError):
            return []
        kinds = body.get("hosts") if isinstance(body, dict) else None
    return sorted(name for name in kinds if isinstance(name, str)) if isinstance(kinds, dict) else []
