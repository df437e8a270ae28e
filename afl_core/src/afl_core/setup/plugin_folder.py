"""A host connected through a plug-in folder instead of its settings: which files stand there, and how all of it goes away again. Plans only."""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import attrs

from afl_core.model.errors import SetupError
from afl_core.setup.edit_json_hooks import Owned
from afl_core.setup.edit_plan import PlannedEdit, plan_edit, show_difference
from afl_core.setup.edit_target import is_file, look_at
from afl_core.setup.json_splice import only_ours_changed, remove_hook_entries
from afl_core.setup.selection import Selected, Selection, owner_of, remembered_hosts
from afl_core.spec.host import HostAdapter, HostPlace
from afl_core.spec.plugin_folder import InstallsAsPlugin, PluginFolder

REMEMBERED = "plugin_folder"
"""The key of the pointer file's entry of a host that holds the folder's path."""


def folder_of(adapter: HostAdapter, config_dir: Path, settings_path: Path) -> PluginFolder | None:
    """Where a host's folder would be; None for a host that has no such thing."""
    if not isinstance(adapter, InstallsAsPlugin):
        return None
    return adapter.plugin_folder(HostPlace(config_dir, settings_path, None, present=True))


def as_plugins(selection: Selection, wanted: Sequence[str]) -> Selection:
    """The selection with the hosts `wanted` connected through their folders. Raises `SetupError` for one that is not selected or has none."""
    for name in wanted:
        one = next((one for one in selection.selected if one.name == name), None)
        if one is None or folder_of(one.adapter, one.config_dir, one.settings_path) is None:
            why = "is not connected here" if one is None else "cannot load plug-ins from a folder"
            raise SetupError(
                f"{name} {why}, so its hooks cannot stand in one", code="AFL-SETUP-050", hint="run: afl install without --claude-plugin"
            )
    return _with_folders(selection, lambda one: one.name in wanted)


def as_remembered(selection: Selection, current: Mapping[str, Any]) -> Selection:
    """The selection as the last install left it."""
    known = remembered_hosts(current)
    return _with_folders(selection, lambda one: REMEMBERED in known.get(one.name, {}))


def _with_folders(selection: Selection, chosen: Any) -> Selection:
    selected = [
        attrs.evolve(one, plugin=folder_of(one.adapter, one.config_dir, one.settings_path)) if chosen(one) else one
        for one in selection.selected
    ]
    return attrs.evolve(selection, selected=tuple(selected))


def remembered(one: Selected) -> dict[str, str]:
    """What the pointer file says of a host."""
    body = {"config_dir": str(one.config_dir), "settings_path": str(one.settings_path)}
    return {**body, REMEMBERED: str(one.plugin.folder)} if one.plugin else body


def place_by_hooks(adapter: HostAdapter, place: HostPlace, path: Path) -> dict[str, str] | None:
    """What the pointer file said of a host whose hooks stand at `path`; None when that is not its plug-in folder."""
    folder = folder_of(adapter, place.config_dir, place.settings_path)
    if folder is None or path != folder.folder / folder.hooks_file:
        return None
    return {"config_dir": str(place.config_dir), "settings_path": str(place.settings_path), REMEMBERED: str(folder.folder)}


def standing(adapters: Mapping[str, HostAdapter], hosts: Mapping[str, Mapping[str, str]]) -> dict[str, PluginFolder]:
    """The folders of these remembered hosts that are there, by host."""
    found = {}
    for name, entry in hosts.items():
        folder = folder_of(adapters[name], Path(entry["config_dir"]), Path(entry["settings_path"])) if name in adapters else None
        if folder is not None and can_go(folder, owner_of(adapters, name)):
            found[name] = folder
    return found


def plan_removal(folder: PluginFolder, owned: Owned) -> list[PlannedEdit]:
    """The edits that take our files out of a folder. Hooks that a person added there stay, and so does a file of ours that was rewritten."""
    edits = []
    for name, ours in ((folder.hooks_file, None), *folder.files.items()):
        path = folder.folder / name
        if not is_file(path):
            continue
        target = look_at(path)
        content = target.content or b""
        nothing_else = content == ours if ours is not None else _is_empty(remove_hook_entries(content, owned))
        if nothing_else and not target.is_link:
            edits.append(PlannedEdit(path, content, b"", show_difference(path, content, None), deletes=True))
        elif ours is None:
            edits.append(plan_edit(path, lambda document: remove_hook_entries(document, owned), only_ours_changed(owned)))
    return edits


def can_go(folder: PluginFolder, owned: Owned) -> bool:
    """Whether there is anything of ours to remove: a file, or directories that nothing is left in."""
    if not os.path.isdir(folder.folder):
        return False
    return any(edit.changes for edit in plan_removal(folder, owned)) or not any(files for _, _, files in os.walk(folder.folder))


def _is_empty(document: bytes) -> bool:
    try:
        return json.loads(document or b"{}") in ({}, {"hooks": {}})
    except ValueError:
        return False


def plan_withdrawal(adapters: Mapping[str, HostAdapter], folders: Mapping[str, PluginFolder], known: set[str]) -> list[PlannedEdit]:
    """The removal of every folder, without the files in `known` (their paths), which something else takes back."""
    edits = [edit for name, folder in folders.items() for edit in plan_removal(folder, owner_of(adapters, name))]
    return [edit for edit in edits if str(edit.path) not in known]


def prune(folders: Sequence[PluginFolder]) -> None:
    """Remove the directories that are empty now, the folder itself last."""
    for folder in folders:
        names = (folder.hooks_file, *folder.files)
        inner = sorted({(folder.folder / name).parent for name in names}, key=lambda path: -len(path.parts))
        for path in (*inner, folder.folder):
            with contextlib.suppress(OSError):  # not empty: somebody else keeps something there; or gone already
                os.rmdir(path)


def going(folders: Sequence[PluginFolder], edits: Sequence[PlannedEdit]) -> tuple[str, ...]:
    """The files that `edits` delete, and the folders in which nothing but such files is."""
    files = {str(edit.path) for edit in edits if edit.changes and edit.deletes}
    empty = [
        str(one.folder) for one in folders if all(os.path.join(at, name) in files for at, _, names in os.walk(one.folder) for name in names)
    ]
    return (*files, *empty)
