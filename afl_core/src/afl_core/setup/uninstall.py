"""Uninstall: host settings as they were, the worker ended, the pack deleted when asked. Data and keys always stay."""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import attrs

from afl_core.api.home import Home, remembered
from afl_core.files.private import check_components
from afl_core.model.clock import Clock
from afl_core.model.errors import PathError
from afl_core.plugins.discovery import read_entry_points
from afl_core.plugins.registry import Registry
from afl_core.settings.paths import Paths
from afl_core.setup import render
from afl_core.setup.edit_journal import EditJournal
from afl_core.setup.edits import PlannedEdit, apply_edits, plan_edit, plan_undo
from afl_core.setup.journal import read_journal, store_journal
from afl_core.setup.json_splice import only_ours_changed, remove_hook_entries
from afl_core.setup.pack_files import PackFile, put_set
from afl_core.setup.selection import owner_of, remembered_hosts
from afl_core.setup.stop import front_pid, stop_front
from afl_core.setup.turnstile import alone
from afl_core.spec.host import HostAdapter

LEAVING = ".removing"
"""What the pack is called while it is deleted: a hook finds all of it or nothing."""


@attrs.frozen
class UninstallPlan:
    """What would be done; `kept` are the places that stay, for a person to know."""

    paths: Paths
    steps: tuple[str, ...]
    edits: tuple[PlannedEdit, ...]
    kept: tuple[str, ...]
    remove_files: bool
    current: dict[str, Any] = attrs.field(repr=False)
    clock: Clock = attrs.field(repr=False)


@attrs.frozen
class UninstallResult:
    """What was done; `changed` is False when nothing of ours was found."""

    done: tuple[str, ...]
    kept: tuple[str, ...]
    changed: bool


def plan_uninstall(home: Home, remove_files: bool = False) -> UninstallPlan:
    """Say what would be done; writes nothing. Raises `SetupError` when a settings file cannot be edited safely."""
    paths = home.paths
    check_components(paths.pack, paths.home)
    before = remembered(paths)
    edits = _edits(Registry(read_entry_points()).hosts(), paths, before)
    steps = [f"{'delete' if edit.deletes else 'edit'} {edit.path}" for edit in edits if edit.changes]
    pid = front_pid(paths)
    if pid is not None:
        steps.append(f"stop the worker (process {pid})")
    if remove_files:
        steps += [f"delete {path}" for path in (paths.pack, paths.pack + LEAVING) if os.path.lexists(path)]
    elif remembered_hosts(before):
        steps.append(f"forget in {paths.current} which hosts were connected")
    kept = tuple(path for path in (paths.data, paths.keys) if os.path.lexists(path))
    return UninstallPlan(paths, tuple(steps), edits, kept, remove_files, before, home.clock)


def apply_uninstall(plan: UninstallPlan, checkpoint: Callable[[str], None] = lambda _step: None) -> UninstallResult:
    """Do it: hosts first, so that nothing is started any more, then the worker, then the pack. May be interrupted and run again."""
    if not plan.steps:
        return UninstallResult((), plan.kept, changed=False)
    # Where the data are gone there is nothing two processes could fight over, and nothing is made anew.
    with alone(plan.paths) if os.path.isdir(plan.paths.data) else contextlib.nullcontext():
        _carry_out(plan, checkpoint)
    checkpoint("done")
    return UninstallResult(plan.steps, plan.kept, changed=True)


def _carry_out(plan: UninstallPlan, checkpoint: Callable[[str], None]) -> None:
    paths = plan.paths
    backups = Path(paths.backups) if os.path.isdir(paths.data) else None
    changed = [edit for edit in plan.edits if edit.changes]
    apply_edits(changed, backups, plan.clock, checkpoint=lambda step: checkpoint(f"settings:{step}"))
    if os.path.isdir(paths.data):
        store_journal(paths, EditJournal(()))
    checkpoint("journal")
    stop_front(paths)
    checkpoint("stopped")
    if plan.remove_files:
        _delete(paths)
    elif remembered_hosts(plan.current):
        pointer = PackFile(paths.current, render.current_file({**plan.current, "hosts": {}}), "")
        put_set([pointer], lambda step: checkpoint(f"current:{step}"))


def _edits(adapters: dict[str, HostAdapter], paths: Paths, before: dict[str, Any]) -> tuple[PlannedEdit, ...]:
    """What the journal can undo, and our entries out of every remembered file the journal does not know."""
    owners = [owner_of(adapters, name) for name in adapters]

    def owned(handler: dict[str, Any]) -> bool:
        return any(owner(handler) for owner in owners)

    def withdraw(document: bytes) -> bytes:
        return remove_hook_entries(document, owned)

    journal = read_journal(paths)
    check = only_ours_changed(owned)
    edits = plan_undo(journal, withdraw, check)
    known = {record.path for record in journal.records}
    others = [Path(entry["settings_path"]) for entry in remembered_hosts(before).values() if entry["settings_path"] not in known]
    return (*edits, *(plan_edit(path, withdraw, check) for path in others if os.path.lexists(path)))


def _delete(paths: Paths) -> None:
    leaving = paths.pack + LEAVING
    try:
        for path in (leaving, paths.pack):
            check_components(path, paths.home)
        if os.path.lexists(leaving):
            shutil.rmtree(leaving)
        if os.path.lexists(paths.pack):
            os.rename(paths.pack, leaving)
            shutil.rmtree(leaving)
    except OSError as bad:
        raise PathError(
            f"{bad.filename or paths.pack} cannot be deleted: {bad.strerror}",
            code="AFL-PATH-005",
            hint="check the permissions there, then run the same command again",
        ) from bad
