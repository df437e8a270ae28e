"""Our commands as they stand in a host's settings, and what there keeps the host from running them. Reads only."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import attrs

from afl_core.model.errors import AflError
from afl_core.setup.edit_json_comments import blanked
from afl_core.setup.edit_json_hooks import as_dict, find_owned
from afl_core.setup.edit_json_scan import is_blank, scan
from afl_core.setup.edit_target import look_at
from afl_core.setup.selection import owner_of
from afl_core.spec.host import HostAdapter

SINGLE_SWITCH = ("hooksConfig", "disabled")
"""A list of commands that a host shall not run; one that has a name is in it by that name."""

SIBLING_SETTINGS = ("settings.local.json",)
"""Files beside a host's settings that can hold such a switch."""


@attrs.frozen
class Configured:
    """Our commands in one settings file, by event, as they stand there; `problem` is why the file cannot be used.

    `switches`: what switches all hooks off, in `switched_off_in`. `disabled`: the events of single commands that are switched off.
    `keys`: the file's own keys at its top, None where it cannot be used.
    """

    commands: dict[str, str]
    hidden: tuple[str, ...] = ()
    switched_off_in: str = ""
    switches: tuple[str, ...] = ()
    disabled: tuple[str, ...] = ()
    problem: str = ""
    keys: frozenset[str] | None = None


def read_configured(adapters: Mapping[str, HostAdapter], name: str, path: Path, settings: Path | None = None) -> Configured:
    """Our commands in a file of hooks. A file the host would ignore is a problem, not an error. `settings`: the host's settings, where they are another file."""
    try:
        content = look_at(path).content
        if content is None or is_blank(content):
            return Configured({})
        root = scan(content, comments=adapters[name].manifest().comments)
        found = find_owned(content, root, owner_of(adapters, name))
    except AflError as bad:
        return Configured({}, problem=bad.sentence)
    handlers = {one.event: as_dict(content, one.handler) for one in found if one.effective}
    commands = {event: str(handler.get("command")) for event, handler in handlers.items()}
    hidden = tuple(one.event for one in found if not one.effective)
    body = values_of(content)
    single = _at(body, SINGLE_SWITCH)
    disabled = tuple(
        event
        for event, handler in handlers.items()
        if isinstance(single, list) and (handler.get("name") or handler.get("command")) in single
    )
    known = adapters[name].manifest().switches
    switches = _switched_off(body, known)
    off, switches = (str(path), switches) if switches else _switched_off_beside(settings or path, known)
    return Configured(commands, hidden, off, switches, disabled, keys=frozenset(body))


def values_of(content: bytes) -> dict[str, Any]:
    """What a settings file says, comments left out; nothing when it is no object."""
    try:
        body = json.loads(blanked(content).decode("utf-8-sig", "replace"))
    except (ValueError, RecursionError):
        return {}
    return body if isinstance(body, dict) else {}


def _switched_off_beside(path: Path, known: Mapping[str, bool]) -> tuple[str, tuple[str, ...]]:
    for name in (path.name, *SIBLING_SETTINGS):
        beside = path.parent / name
        try:
            content = look_at(beside).content
        except AflError:  # a file that cannot be read is ignored by the host too
            continue
        if content is not None and (switches := _switched_off(values_of(content), known)):
            return str(beside), switches
    return "", ()


def _switched_off(body: Mapping[str, Any], known: Mapping[str, bool]) -> tuple[str, ...]:
    return tuple(f"{name}: {json.dumps(off)}" for name, off in known.items() if _at(body, tuple(name.split("."))) is off)


def _at(body: object, way: tuple[str, ...]) -> object:
    for key in way:
        body = body.get(key) if isinstance(body, dict) else None
    return body
