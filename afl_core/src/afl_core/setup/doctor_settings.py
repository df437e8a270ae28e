"""Our commands as they stand in a host's settings, and what there keeps the host from running them. Reads only."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import attrs

from afl_core.model.errors import AflError
from afl_core.setup.edit_json_hooks import as_dict, find_owned
from afl_core.setup.edit_json_scan import Object, is_blank, scan
from afl_core.setup.edit_target import look_at
from afl_core.setup.selection import owner_of
from afl_core.spec.host import HostAdapter

SWITCHES = ("disableAllHooks",)
"""Settings of hosts that switch every hook off, ours included."""

SIBLING_SETTINGS = ("settings.local.json",)
"""Files beside a host's settings that can hold such a switch."""


@attrs.frozen
class Configured:
    """Our commands in one settings file, by event, as they stand there; `problem` is why the file cannot be used."""

    commands: dict[str, str]
    hidden: tuple[str, ...] = ()
    switched_off_in: str = ""
    problem: str = ""


def read_configured(adapters: Mapping[str, HostAdapter], name: str, path: Path) -> Configured:
    """Our commands in a settings file. A file the host would ignore is a problem, not an error."""
    try:
        content = look_at(path).content
        if content is None or is_blank(content):
            return Configured({})
        root = scan(content)
        found = find_owned(content, root, owner_of(adapters, name))
    except AflError as bad:
        return Configured({}, problem=bad.sentence)
    commands = {one.event: str(as_dict(content, one.handler).get("command")) for one in found if one.effective}
    hidden = tuple(one.event for one in found if not one.effective)
    off = str(path) if isinstance(root, Object) and _is_switched_off(content) else _switched_off_beside(path)
    return Configured(commands, hidden, off)


def _switched_off_beside(path: Path) -> str:
    for name in SIBLING_SETTINGS:
        beside = path.parent / name
        try:
            content = look_at(beside).content
            if content is not None and _is_switched_off(content):
                return str(beside)
        except AflError:  # a file that cannot be read is ignored by the host too
            continue
    return ""


def _is_switched_off(content: bytes) -> bool:
    try:
        body = json.loads(content.decode("utf-8-sig"))
    except (ValueError, RecursionError):
        return False
    return isinstance(body, dict) and any(body.get(name) is True for name in SWITCHES)
