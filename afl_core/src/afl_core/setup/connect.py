"""The edits that connect hosts: our hook entries into their settings, the earlier product's and those of deselected hosts out of them."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import attrs

from afl_core.model.clock import Clock
from afl_core.model.errors import SetupError
from afl_core.settings.paths import Paths
from afl_core.setup.connect_refusals import refuse_shared, refuse_unmakable
from afl_core.setup.edit_json_compare import both_are_json
from afl_core.setup.edit_plan import Check, Transform, show_difference
from afl_core.setup.edit_target import is_file
from afl_core.setup.edits import PlannedEdit, apply_edits, plan_edit
from afl_core.setup.journal import merged, read_journal, store_journal
from afl_core.setup.json_splice import ensure_hook_entries, only_ours_changed, remove_hook_entries
from afl_core.setup.made_folders import emptied_folders, make_folders, remove_made_folders
from afl_core.setup.plugin_folder import can_go, folder_of, going, plan_removal, prune
from afl_core.setup.selection import Selected, Selection, owner_of, remembered_hosts
from afl_core.spec.host import HostAdapter
from afl_core.spec.plugin_folder import PluginFolder

Owned = Callable[[dict[str, Any]], bool]


@attrs.frozen
class Wish:
    """One settings file and what shall become of it. `folder_missing`: its directory has to be made first (the host was never started).

    `removal`: the file goes away, as planned.
    """

    path: Path
    transform: Transform
    check: Check
    folder_missing: bool = False
    removal: PlannedEdit | None = None


@attrs.frozen
class Connection:
    """`edits` are what a person is shown; `wishes` is what is done, planned anew where something else comes first.

    `leaving`: plug-in folders that go away.
    """

    edits: tuple[PlannedEdit, ...]
    steps: tuple[str, ...]
    wishes: tuple[Wish, ...]
    earlier: tuple[Wish, ...]
    leaving: tuple[PluginFolder, ...] = ()

    def withdraw_earlier(self, paths: Paths, clock: Clock, checkpoint: Callable[[str], None]) -> None:
        """Take the earlier product's hooks out, all files or none. Not in the journal: its scripts are moved away, nobody wants these hooks back."""
        apply_edits(
            [plan_edit(wish.path, wish.transform, wish.check) for wish in self.earlier], Path(paths.backups), clock, checkpoint=checkpoint
        )


def plan_connection(
    adapters: Mapping[str, HostAdapter],
    paths: Paths,
    selection: Selection,
    before: Mapping[str, Any],
    python: str,
    *,
    without: Owned | None = None,
) -> Connection:
    """Plan the edits of every host; `without` says of a handler whether it is the earlier product's. Raises `SetupError` naming the file that stands in the way."""
    known = remembered_hosts(before)
    refuse_shared(
        [(one.manifest.label, one.hooks_path) for one in selection.selected]
        + [(adapters[name].manifest().label, Path(known[name]["settings_path"])) for name in selection.dropped]
    )
    wishes: list[Wish] = []
    earlier: list[Wish] = []
    leaving: list[PluginFolder] = []
    for one in selection.selected:
        owned, entries, comments = owner_of(adapters, one.name), one.entries(paths, python), one.manifest.comments
        folder = folder_of(one.adapter, one.config_dir, one.settings_path)
        # First: what runs twice tells everything twice, what does not run for a moment loses nothing.
        wishes += _elsewhere(one, folder, owned, comments)
        wishes.append(
            Wish(
                one.hooks_path,
                _ensure(entries, owned, comments),
                only_ours_changed(owned, comments=comments),
                not os.path.isdir(os.path.dirname(one.hooks_path)),
            )
        )
        if folder is not None and one.plugin is None and can_go(folder, owned):
            leaving.append(folder)
        if without is not None:
            earlier.append(_without(one.settings_path, without, comments))
    for name in selection.dropped:
        path = Path(known[name]["settings_path"])
        if is_file(path):
            wishes.append(_without(path, owner_of(adapters, name), adapters[name].manifest().comments))
        folder = folder_of(adapters[name], Path(known[name]["config_dir"]), path)
        if folder is not None and can_go(folder, owner_of(adapters, name)):
            wishes += _taken_out(folder, owner_of(adapters, name), adapters[name].manifest().comments)
            leaving.append(folder)
    first = {wish.path: wish for wish in earlier}
    try:
        edits = tuple(_shown(wish, first.get(wish.path)) for wish in wishes)
    except SetupError as bad:
        if len(selection.selected) < 2:
            raise
        raise SetupError(bad.sentence, code=bad.code, hint=f"{bad.hint}; to connect another host alone: afl install --host NAME") from bad
    steps = tuple(_step(wish, edit) for wish, edit in zip(wishes, edits, strict=True) if edit.changes)
    steps += tuple(f"remove the folder {folder.folder}" for folder in leaving)
    arriving = [str(edit.path) for edit in edits if edit.changes and not edit.deletes]
    steps += tuple(f"remove the folder {path}" for path in emptied_folders(paths, going(leaving, edits), arriving) if steps)
    return Connection(edits, steps, tuple(wishes), tuple(earlier), tuple(leaving))


def _elsewhere(one: Selected, folder: PluginFolder | None, owned: Owned, comments: bool) -> list[Wish]:
    """What has to happen beside the file the entries stand in: the other place is emptied, and a plug-in gets the rest of its files."""
    if one.plugin is None:
        return _taken_out(folder, owned, comments) if folder is not None else []
    wishes = [_without(one.settings_path, owned, comments)] if is_file(one.settings_path) else []
    for name, data in one.plugin.files.items():
        path = one.plugin.folder / name
        wishes.append(Wish(path, lambda _document, data=data: data, both_are_json, not os.path.isdir(path.parent)))  # type: ignore[misc]
    return wishes


def _taken_out(folder: PluginFolder, owned: Owned, comments: bool) -> list[Wish]:
    """Our files out of a folder."""
    edits = plan_removal(folder, owned)
    return [attrs.evolve(_without(edit.path, owned, comments), removal=edit if edit.deletes else None) for edit in edits]


def connect_hosts(paths: Paths, connection: Connection, clock: Clock, checkpoint: Callable[[str], None]) -> None:
    """Make the edits, all hosts or none; the journal that undoes them is stored before the first file is replaced."""
    if not any(edit.changes for edit in connection.edits):
        prune(connection.leaving)
        remove_made_folders(paths)
        return
    try:
        _connect(paths, connection, clock, checkpoint)
    finally:  # what was made for an edit that failed is empty too
        prune(connection.leaving)
        remove_made_folders(paths)


def _connect(paths: Paths, connection: Connection, clock: Clock, checkpoint: Callable[[str], None]) -> None:
    for wish in connection.wishes:
        if wish.folder_missing:
            _make_folder(wish.path, paths)
    again = bool(connection.earlier) or any(wish.folder_missing for wish in connection.wishes)
    edits: Sequence[PlannedEdit] = (
        [wish.removal or plan_edit(wish.path, wish.transform, wish.check) for wish in connection.wishes] if again else connection.edits
    )
    earlier = read_journal(paths)
    apply_edits(
        [edit for edit in edits if edit.changes],
        Path(paths.backups),
        clock,
        record=lambda journal: store_journal(paths, merged(earlier, journal)),
        checkpoint=checkpoint,
    )


def _ensure(entries: Any, owned: Owned, comments: bool) -> Transform:
    return lambda document: ensure_hook_entries(document, entries, owned, comments=comments)


def _without(path: Path, owned: Owned, comments: bool) -> Wish:
    return Wish(path, lambda document: remove_hook_entries(document, owned, comments=comments), only_ours_changed(owned, comments=comments))


def _shown(wish: Wish, earlier: Wish | None) -> PlannedEdit:
    if wish.removal is not None:
        return wish.removal
    if wish.folder_missing:  # there is nothing to edit yet
        refuse_unmakable(os.path.dirname(wish.path), wish.path)
        after = wish.transform(b"")
        return PlannedEdit(wish.path, None, after, show_difference(wish.path, None, after))
    if earlier is None:
        return plan_edit(wish.path, wish.transform, wish.check)
    both = plan_edit(wish.path, earlier.transform, earlier.check)
    after = wish.transform(both.after)
    wish.check(both.after, after)
    return PlannedEdit(wish.path, both.before, after, show_difference(wish.path, both.before, after))


def _step(wish: Wish, edit: PlannedEdit) -> str:
    made = " (its directory is made)" if wish.folder_missing else ""
    return f"delete {edit.path}" if edit.deletes else f"edit {edit.path}{made}"


def _make_folder(path: Path, paths: Paths) -> None:
    folder = os.path.dirname(path)
    try:
        make_folders(folder, paths)
    except OSError as bad:
        raise SetupError(
            f"{folder} cannot be made: {bad.strerror}; no host was changed",
            code="AFL-SETUP-013",
            hint="start the host once, so that it makes the directory",
        ) from bad
