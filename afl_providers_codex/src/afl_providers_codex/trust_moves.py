"""Where the hooks of others will stand once ours are gone: the host's name for a hook holds its place, so trust has to move along. Pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

from afl_core.spec.guarded_command import owns_guarded_command
from afl_providers_codex.manifest import NAME
from afl_providers_codex.trust_rows import in_file

Standing = Mapping[str, Any]
"""What the host keeps of one hook: `trusted_hash`, `enabled`; empty for nothing."""


def moves(listed: Mapping[str, Any], settings_path: Path, ours: Collection[str]) -> dict[str, Standing]:
    """What has to stand under which key once our hooks (their keys: `ours`) are taken out of the file; only keys that change.

    A hook of ours that is not among `ours` (a copy somebody made, another home's) is taken out too, so its trust goes as well.
    Empty: nothing may stand there. A hook whose kind the host does not list cannot be seen here: one behind ours in its group is not counted.
    """
    hooks = listed.get("hooks")
    by_event: dict[str, dict[int, dict[int, Mapping[str, Any]]]] = defaultdict(lambda: defaultdict(dict))
    for hook in hooks if isinstance(hooks, list) else ():
        if isinstance(hook, dict) and in_file(hook, settings_path) and (place := _place(hook.get("key"))):
            prefix, group, index = place
            by_event[prefix][group][index] = hook
    found: dict[str, Standing] = {}
    for prefix, groups in by_event.items():
        found |= _moves_of(prefix, groups, ours)
    return found


def _moves_of(prefix: str, groups: Mapping[int, Mapping[int, Mapping[str, Any]]], ours: Collection[str]) -> dict[str, Standing]:
    mine = {group: [at for at, hook in sorted(held.items()) if _is_ours(hook, ours)] for group, held in groups.items()}
    going = [group for group, held in groups.items() if mine[group] == list(range(len(held)))]
    left: dict[str, Standing] = {}
    landed: dict[str, Standing] = {}
    for group, held in groups.items():
        for at, hook in held.items():
            if at in mine[group]:
                if hook["key"] not in ours and hook.get("trustStatus") in ("trusted", "modified"):
                    left[hook["key"]] = {"enabled": False} if hook.get("enabled") is False else {}
                continue
            key = f"{prefix}:{group - _below(going, group)}:{at - _below(mine[group], at)}"
            if key != hook["key"]:
                left[hook["key"]] = {}
                landed[key] = _standing(hook)
    return {**left, **landed}


def _below(places: Sequence[int], one: int) -> int:
    return sum(place < one for place in places)


def _is_ours(hook: Mapping[str, Any], ours: Collection[str]) -> bool:
    command = hook.get("command")
    return hook.get("key") in ours or (isinstance(command, str) and owns_guarded_command(command, NAME))


def _standing(hook: Mapping[str, Any]) -> Standing:
    digest = hook.get("currentHash")
    trusted = {"trusted_hash": digest} if hook.get("trustStatus") == "trusted" and isinstance(digest, str) else {}
    return {**trusted, **({"enabled": False} if hook.get("enabled") is False else {})}


def _place(key: object) -> tuple[str, int, int] | None:
    prefix, _, rest = key.rpartition(":") if isinstance(key, str) else ("", "", "")
    prefix, _, group = prefix.rpartition(":")
    return (prefix, int(group), int(rest)) if prefix and group.isdecimal() and rest.isdecimal() else None
