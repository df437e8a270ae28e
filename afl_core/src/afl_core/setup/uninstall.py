"""Uninstall: host settings as they were, the worker ended, the pack deleted when asked. Data and keys always stay."""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import attrs

from afl_core.api.home import Home
from afl_core.files.private import check_components
from afl_core.model.errors import PathError
from afl_core.plugins.discovery import read_entry_points
from afl_core.plugins.registry import Registry
from afl_core.settings.paths import Paths
from afl_core.setup import render
from afl_core.setup.edit_journal import EditJournal
from afl_core.setup.edit_plan import Transform
from afl_core.setup.edit_target import is_file
from afl_core.setup.edits import PlannedEdit, apply_edits, plan_edit, plan_undo
from afl_core.setup.journal import damage_of_journal, journal_path, put_journal_aside, read_journal, store_journal
from afl_core.setup.json_splice import only_ours_changed, remove_hook_entries
from afl_core.setup.made_folders import emptied_folders, forget_made_folders, remove_made_folders
from afl_core.setup.pack_files import PackFile, is_in_place, put_set
from afl_core.setup.pack_hook import silent_constants
from afl_core.setup.plugin_folder import going, plan_withdrawal, prune, standing
from afl_core.setup.recall import recall
from afl_core.setup.schedule.plan import KEY, Removal, plan_removal, remove_schedule
from afl_core.setup.selection import owner_of, remembered_hosts, select_hosts
from afl_core.setup.stop import daemons_of, front_pid, fronts_of, jobs_of, stop_daemon, stop_worker
from afl_core.setup.trust_steps import TrustWish, plan_distrust, take_trust
from afl_core.setup.turnstile import alone
from afl_core.spec.host import HostAdapter
from afl_core.spec.plugin_folder import PluginFolder

LEAVING = ".removing"
"""What the pack is called while it is deleted: a hook finds all of it or nothing."""


@attrs.frozen
class UninstallPlan:
    """What would be done; `kept` are the places that stay, for a person to know. `worker` are those of the steps that end processes."""

    paths: Paths
    steps: tuple[str, ...]
    worker: tuple[str, ...]
    edits: tuple[PlannedEdit, ...]
    kept: tuple[str, ...]
    remove_files: bool
    current: dict[str, Any] = attrs.field(repr=False)
    journal_damage: str = attrs.field(repr=False)
    forgets: bool = attrs.field(repr=False)
    silences: bool = attrs.field(repr=False)
    removal: Removal | None = attrs.field(repr=False)
    distrust: tuple[TrustWish, ...] = attrs.field(repr=False)
    home: Home = attrs.field(repr=False)
    folders: tuple[PluginFolder, ...] = attrs.field(repr=False, default=())


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
    adapters = Registry(read_entry_points()).hosts()
    before, damage = recall(paths, adapters, home.environ)
    journal_damage = damage_of_journal(paths)
    plain = _without_comments(adapters, before, home)
    journal = None if journal_damage else read_journal(paths)
    folders = standing(adapters, remembered_hosts(before))
    taken_back = {record.path for record in journal.records} if journal else set()
    edits = (*_edits(adapters, before, journal or EditJournal(()), plain), *plan_withdrawal(adapters, folders, taken_back))
    selection = select_hosts(adapters, paths, home.environ, before, sorted(set(remembered_hosts(before)) & set(adapters)))
    distrust = plan_distrust(home, selection, journal, str(before.get("python")))
    steps = [wish.step for wish in distrust]
    steps += [f"{'delete' if edit.deletes else 'edit'} {edit.path}" for edit in edits if edit.changes]
    steps += [f"remove the folder {folder.folder}" for folder in folders.values()]
    if journal_damage:
        steps.append(f"put {journal_path(paths)} aside, which cannot be read: our hooks are taken out entry by entry")
    removal = plan_removal(paths, str(before.get("python", "")), before, home.environ)
    steps += removal.steps() if removal else []
    leaving = (*going(tuple(folders.values()), edits), *(removal.files if removal else ()))
    steps += [f"remove the folder {path}, which install made" for path in emptied_folders(paths, leaving)]
    worker = _worker_steps(paths)
    steps += worker
    silences = not remove_files and os.path.lexists(paths.hook_dir) and not is_in_place(silent_constants(paths))
    if silences:
        steps.append("silence the hook for sessions that still run")
    if remove_files:
        steps += [f"delete {path}" for path in (paths.pack, paths.pack + LEAVING) if os.path.lexists(path)]
    forgets = not remove_files and bool(remembered_hosts(before) or damage or KEY in before)
    if forgets:
        steps.append(f"write {paths.current} anew without hosts: it was damaged" if damage else _forget(paths))
    kept = tuple(path for path in (paths.data, paths.keys) if os.path.lexists(path))
    return UninstallPlan(
        paths,
        tuple(steps),
        tuple(worker),
        edits,
        kept,
        remove_files,
        before,
        journal_damage,
        forgets,
        silences,
        removal,
        distrust,
        home,
        tuple(folders.values()),
    )


def _worker_steps(paths: Paths) -> list[str]:
    fronts = {one.pid for one in fronts_of(paths)} | ({pid} if (pid := front_pid(paths)) is not None else set())
    steps = [f"stop the worker (process {pid})" for pid in sorted(fronts)]
    steps += [f"stop the reconcile daemon (process {one.pid})" for one in daemons_of(paths)]
    return steps + [f"end its jobs (process {one.pid}) and the review they may be running" for one in jobs_of(paths)]


def _forget(paths: Paths) -> str:
    return f"forget in {paths.current} which hosts were connected"


def apply_uninstall(plan: UninstallPlan, checkpoint: Callable[[str], None] = lambda _step: None) -> UninstallResult:
    """Do it: hosts first, so that nothing is started any more, then the worker, then the pack. May be interrupted and run again."""
    if not plan.steps:
        return UninstallResult((), plan.kept, changed=False)
    # Where the data are gone there is nothing two processes could fight over, and nothing is made anew.
    with alone(plan.paths) if os.path.isdir(plan.paths.data) else contextlib.nullcontext():
        ended = _carry_out(plan, checkpoint)
    checkpoint("done")
    ended_otherwise = {*plan.worker, *(wish.step for wish in plan.distrust)}
    done = (*(step for step in plan.steps if step not in ended_otherwise), *ended)
    return UninstallResult(done, plan.kept, changed=True)


def _carry_out(plan: UninstallPlan, checkpoint: Callable[[str], None]) -> list[str]:
    paths = plan.paths
    backups = Path(paths.backups) if os.path.isdir(paths.data) else None
    forgotten = take_trust(plan.home, plan.distrust)  # while the host still finds our hooks in its settings
    checkpoint("trust")
    changed = [edit for edit in plan.edits if edit.changes]
    apply_edits(changed, backups, plan.home.clock, checkpoint=lambda step: checkpoint(f"settings:{step}"))
    prune(plan.folders)
    remove_made_folders(paths)
    if plan.journal_damage:
        put_journal_aside(paths)
    elif os.path.isdir(paths.data):
        store_journal(paths, EditJournal(()))
    checkpoint("journal")
    ended = list(forgotten)
    if plan.removal is not None:
        ended += remove_schedule(plan.removal, paths)
        checkpoint("schedule")
    forget_made_folders(paths)
    if plan.silences:
        put_set([silent_constants(paths)], lambda step: checkpoint(f"hook:{step}"))
    ended += [*stop_daemon(paths), *stop_worker(paths)]
    checkpoint("stopped")
    if plan.remove_files:
        _delete(paths)
    elif plan.forgets:
        pointer = PackFile(
            paths.current, render.current_file({**{key: value for key, value in plan.current.items() if key != KEY}, "hosts": {}}), ""
        )
        put_set([pointer], lambda step: checkpoint(f"current:{step}"))
    return ended


def _without_comments(adapters: dict[str, HostAdapter], before: dict[str, Any], home: Home) -> set[str]:
    """The settings files of hosts that read no comments; of a file that only the journal remembers, nobody knows the host any more."""
    known = remembered_hosts(before)
    strict = [name for name, adapter in adapters.items() if not adapter.manifest().comments]
    here = {str(adapters[name].locate(Path(home.paths.home), home.environ).settings_path) for name in strict}
    return here | {known[name]["settings_path"] for name in strict if name in known}


def _edits(adapters: dict[str, HostAdapter], before: dict[str, Any], journal: EditJournal, plain: set[str]) -> tuple[PlannedEdit, ...]:
    """What the journal can undo, and our entries out of every remembered file the journal does not know. `plain`: files without comments."""
    owners = [owner_of(adapters, name) for name in adapters]

    def owned(handler: dict[str, Any]) -> bool:
        return any(owner(handler) for owner in owners)

    known = {record.path for record in journal.records}
    others = [entry["settings_path"] for entry in remembered_hosts(before).values() if entry["settings_path"] not in known]
    edits: list[PlannedEdit] = []
    for comments in (False, True):
        withdraw, check = _withdrawal(owned, comments), only_ours_changed(owned, comments=comments)
        records = tuple(record for record in journal.records if (record.path not in plain) is comments)
        edits += plan_undo(EditJournal(records), withdraw, check)
        edits += [plan_edit(Path(path), withdraw, check) for path in others if (path not in plain) is comments and is_file(Path(path))]
    return tuple(edits)


def _withdrawal(owned: Callable[[dict[str, Any]], bool], comments: bool) -> Transform:
    return lambda document: remove_hook_entries(document, owned, comments=comments)


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
