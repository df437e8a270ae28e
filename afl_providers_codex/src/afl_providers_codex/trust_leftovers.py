"""Our trust under keys that are no longer ours: the host's name for a hook holds its place, so a group put before ours leaves our hash behind. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import attrs

from afl_providers_codex.trust_rows import Row


@attrs.frozen
class Kept:
    """The person's configuration as far as trust goes: its version ('' when the host does not tell it), and what is noted of each hook by key."""

    version: str = ""
    state: Mapping[str, Any] = attrs.field(factory=dict)


def kept_in(answer: Mapping[str, Any]) -> Kept:
    """What an answer to `config/read` says of the person's own layer; nothing where the host does not tell."""
    result = answer.get("result")
    layers = result.get("layers") if isinstance(result, dict) else None
    for layer in layers if isinstance(layers, list) else ():
        name = layer.get("name") if isinstance(layer, dict) else None
        if isinstance(name, dict) and name.get("type") == "user" and not name.get("profile"):
            return Kept(str(layer.get("version") or ""), _inside(layer, "config", "hooks", "state"))
    return Kept()


def leftovers(kept: Kept, listed: Mapping[str, Any], rows: Sequence[Row]) -> dict[str, bool]:
    """The keys that hold our hash for a hook that is another's, or for none; of each whether the hash is all that is noted there.

    Only keys of the same file and event as a hook of ours: the same definition elsewhere may be trusted for a reason of its own, and so may a
    copy of ours that the host lists under that very key.
    """
    hooks = listed.get("hooks")
    stands = {(hook.get("key"), hook.get("currentHash")) for hook in hooks if isinstance(hook, dict)} if isinstance(hooks, list) else set()
    ours = {(_list_of(row.key), row.hash) for row in rows if row.hash and _list_of(row.key) and not row.managed}
    found = {}
    for key, noted in kept.state.items():
        digest = noted.get("trusted_hash") if isinstance(noted, dict) else None
        if isinstance(digest, str) and (_list_of(key), digest) in ours and (key, digest) not in stands:
            found[key] = set(noted) == {"trusted_hash"}
    return found


def _list_of(key: str) -> str:
    """File and event of a key, '' for one that names no place."""
    start, _, at = key.rpartition(":")
    start, _, group = start.rpartition(":")
    return start if group.isdecimal() and at.isdecimal() else ""


def _inside(value: object, *names: str) -> Mapping[str, Any]:
    for name in names:
        value = value.get(name) if isinstance(value, dict) else None
    return value if isinstance(value, dict) else {}
