"""Install and upgrade: a plan that writes nothing, and its execution, every step of which may be interrupted and run again."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import attrs

from afl_core import __version__
from afl_core.api.home import Home
from afl_core.files.private import ensure_private_dir
from afl_core.model.clock import Clock
from afl_core.model.errors import AflError, SetupError, StoreError
from afl_core.plugins.discovery import read_entry_points
from afl_core.plugins.registry import Registry
from afl_core.settings.paths import Paths
from afl_core.setup import legacy as old
from afl_core.setup import render, upgrade
from afl_core.setup.about_plugins import about_plugins
from afl_core.setup.checks import PrivateDir, check_disk, check_home, loose_files, make_dirs, private_dirs, tighten
from afl_core.setup.connect import Connection, connect_hosts, plan_connection
from afl_core.setup.database import Database, Kind, damage_of, foreign, look_at_database
from afl_core.setup.edits import PlannedEdit
from afl_core.setup.fire import forget_failed_start
from afl_core.setup.journal import damage_of_journal, journal_path, put_journal_aside
from afl_core.setup.pack import PackPlan, Watch, plan_pack, put_pack
from afl_core.setup.pack_files import PackFile, is_in_place, look, put_set
from afl_core.setup.plugin_folder import as_plugins, remembered
from afl_core.setup.recall import recall
from afl_core.setup.runtime import choose_runtime
from afl_core.setup.schedule.plan import KEY, SchedulePlan, apply_schedule, plan_schedule
from afl_core.setup.selection import Selection, remembered_hosts, select_hosts
from afl_core.setup.starting import forget_failures, lacks_spool_key, make_spool_key
from afl_core.setup.stop import stop_daemon, stop_worker
from afl_core.setup.trust_steps import TrustPlan, give_trust, leave_trust, leaving, plan_trust
from afl_core.setup.turnstile import alone
from afl_core.setup.vanished import running
from afl_core.spec.keystore import Keystore
from afl_core.store.migrate import create_or_migrate
from afl_core.store.schema import SCHEMA_VERSION
from afl_core.vault import keys
from afl_core.vault.keystores import choose

Checkpoint = Callable[[str], None]


def _nothing(_step: str) -> None:
    """Stand in for a checkpoint nobody asked for."""


@attrs.frozen
class InstallPlan:
    """What would be done. `steps` are lines for a person; `edits` are the files of hosts and of the schedule with their diffs; `changes`
    is False when all is in place; `differences` is what differs from the install before this one, nothing for the first.
    """

    paths: Paths
    build: str
    hosts: tuple[str, ...]
    steps: tuple[str, ...]
    edits: tuple[PlannedEdit, ...]
    warnings: tuple[str, ...]
    clock: Clock = attrs.field(repr=False)
    dirs: tuple[PrivateDir, ...] = attrs.field(repr=False)
    database: Database = attrs.field(repr=False)
    keystore: Keystore | None = attrs.field(repr=False)
    pack: PackPlan = attrs.field(repr=False)
    current: dict[str, Any] = attrs.field(repr=False)
    current_changes: bool = attrs.field(repr=False)
    connection: Connection = attrs.field(repr=False)
    legacy: old.Legacy = attrs.field(repr=False)
    before: dict[str, Any] = attrs.field(repr=False)
    loose: tuple[tuple[str, int], ...] = attrs.field(repr=False)
    lacks_spool_key: bool = attrs.field(repr=False)
    journal_damage: str = attrs.field(repr=False)
    differences: tuple[upgrade.Change, ...] = attrs.field(repr=False)
    schedule: SchedulePlan = attrs.field(repr=False)
    trust: TrustPlan = attrs.field(repr=False)
    home: Home = attrs.field(repr=False)

    @property
    def leaves(self) -> Paths | None:
        """The paths with the data root of the install before this one, where that is another one."""
        root = self.before.get("data_root")
        return Paths(self.paths.home, root) if isinstance(root, str) and os.path.isabs(root) and root != self.paths.data else None

    @property
    def changes(self) -> bool:
        """Whether applying it would write anything."""
        return bool(self.steps)


@attrs.frozen
class InstallResult:
    """What was done, in lines for a person; `changed` is False when there was nothing to do."""

    build: str
    hosts: tuple[str, ...]
    done: tuple[str, ...]
    warnings: tuple[str, ...]
    changed: bool
    differences: tuple[upgrade.Change, ...] = ()


def plan_install(
    home: Home,
    *,
    hosts: Sequence[str] | None = None,
    replace_existing: bool = False,
    schedule: bool | None = None,
    python: str = sys.executable,
    plugins: Sequence[str] = (),
) -> InstallPlan:
    """Check everything that can be checked and say what would be done; writes nothing at all.

    `hosts` None: those of the last install, else those found. `schedule`: whether the scheduled reconcile is wanted; None: as before, else
    where the home is the person's own and its service manager can be used. `plugins`: the hosts whose hooks shall stand in a plug-in folder.
    Raises `SetupError`, `PathError`, `StoreError` or `SettingsError` where install must not go on.
    """
    paths = home.paths
    check_home(paths)
    dirs = private_dirs(paths)
    check_disk(paths)
    settings, _policy = home.settings, home.policy
    # Not the home's own registry: that one counts failures in the store and keeps a cache, and a plan writes nothing.
    found = read_entry_points()
    registry = Registry(found)
    before, damage = recall(paths, registry.hosts(), home.environ)
    selection = as_plugins(select_hosts(registry.hosts(), paths, home.environ, before, hosts), plugins)
    legacy = old.recognise(paths, [one.settings_path for one in selection.selected])
    if legacy.found and not replace_existing:
        raise SetupError(
            "the earlier product of this name is installed here: " + ", ".join(legacy.named()),
            code="AFL-SETUP-027",
            hint="move it aside with: afl install --replace-existing (its files are kept under another name)",
        )
    dirs = [attrs.evolve(one, exists=False) if one.path in (legacy.pack, legacy.store) else one for one in dirs]
    database = Database(Kind.MISSING) if legacy.store else _checked_database(paths)
    runtime = choose_runtime(python, found, home.environ)
    keystore, said = _keystore(registry, paths, settings.keystore, database)
    timed = plan_schedule(
        paths, runtime.python, before, home.environ, schedule, [str(one.binary) for one in selection.selected if one.binary]
    )
    watch = Watch({one.name: one.roots() for one in selection.selected}, timed.installed)
    pack = plan_pack(paths, runtime, [one.manifest for one in selection.selected], found, registry, watch=watch, empty=bool(legacy.pack))
    current = _current(
        paths,
        pack.build,
        runtime.python,
        runtime.site,
        selection,
        {
            "redactors": sorted({plugin for plugin, _ in registry.redactors()}),
            **({KEY: timed.remember} if timed.remember is not None else {}),
        },
        before,
        home.clock,
    )
    connection = plan_connection(
        registry.hosts(), paths, selection, before, runtime.python, without=old.owns_handler if legacy.settings else None
    )
    trust = plan_trust(home, selection, connection.edits, runtime.python, leaving(registry.hosts(), home, before, selection.dropped))
    changed = not upgrade.same_install(before, current) or not is_in_place(PackFile(paths.current, render.current_file(current), ""))
    edited = {str(edit.path) for edit in connection.edits if edit.changes}
    differences = upgrade.changes(
        before,
        current,
        hook_files=upgrade.sources([file.path for file in pack.hook]),
        commands=[one.name for one in selection.selected if str(one.hooks_path) in edited],
    )
    pointer = [*upgrade.lines(differences), *([_remember(paths, damage)] if changed else [])]
    loose = [] if legacy.store else loose_files(paths)
    lacks_key = keystore is not None or database.kind is Kind.MISSING or lacks_spool_key(paths)
    journal_damage = damage_of_journal(paths)
    put_right = [f"make {path} private (mode {mode:04o})" for path, mode in loose]
    put_right += ["make the first key for records that hooks seal"] if lacks_key else []
    put_right += [f"put {journal_path(paths)} aside, which cannot be read"] if journal_damage else []
    plan = InstallPlan(
        paths=paths,
        build=pack.build,
        hosts=tuple(one.name for one in selection.selected),
        steps=(
            *_steps(paths, dirs, legacy, database, keystore, pack, [*put_right, *pointer], [*connection.steps, *timed.all_steps()]),
            *trust.steps,
        ),
        edits=(*connection.edits, *timed.edits()),
        warnings=(
            *runtime.warnings,
            *said,
            *upgrade.warnings(before, current),
            *selection.warnings,
            *([timed.note] if timed.note else ()),
            *_about_hosts(selection),
            *_about_sessions(selection, connection),
            *trust.warnings,
            *about_plugins(registry, settings, paths, database),
        ),
        clock=home.clock,
        dirs=tuple(dirs),
        database=database,
        keystore=keystore,
        pack=pack,
        current=current,
        current_changes=changed,
        connection=connection,
        legacy=legacy,
        before=before,
        loose=tuple(loose),
        lacks_spool_key=lacks_key,
        journal_damage=journal_damage,
        differences=tuple(differences),
        schedule=timed,
        trust=trust,
        home=home,
    )
    return attrs.evolve(plan, steps=(*plan.steps, f"stop the worker of {plan.leaves.data}")) if plan.leaves else plan


def _checked_database(paths: Paths) -> Database:
    """What is there; raises `StoreError` for what cannot be used: newer, another program's, damaged."""
    database = look_at_database(paths.database)
    if database.kind is Kind.NEWER:
        raise StoreError(
            f"{paths.database} was written by a newer version (schema {database.version}, this one knows {SCHEMA_VERSION})",
            code="AFL-STORE-003",
            hint="install the newer version of afl-core again",
        )
    if database.kind is Kind.FOREIGN:
        raise foreign(paths)
    if database.kind is not Kind.MISSING and (damage := damage_of(paths.database)) is not None:
        raise damage
    return database


def _remember(paths: Paths, damage: str) -> str:
    if damage:
        return f"write {paths.current} anew: it was damaged; what it said was taken from the hook's files where they still say it"
    return f"remember this install in {paths.current}"


def apply_install(plan: InstallPlan, checkpoint: Checkpoint = _nothing) -> InstallResult:
    """Do it, in the order of the plan. Raises the same errors; host settings are then as they were, and running it again goes on from there."""
    if not plan.changes:
        return InstallResult(plan.build, plan.hosts, (), plan.warnings, changed=False)
    with alone(plan.paths):
        done = [*plan.steps, *_carry_out(plan, checkpoint)]
        missed, warnings = give_trust(plan.home, plan.trust, lambda step: checkpoint(f"trust:{step}"))
        forget_failed_start(plan.paths)
        said = apply_schedule(plan.schedule, plan.paths, plan.clock, lambda step: checkpoint(f"schedule:{step}"))
    checkpoint("done")
    done = [step for step in done if step not in missed]
    told = (*plan.warnings, *warnings, *said)
    return InstallResult(plan.build, plan.hosts, tuple(done), told, changed=bool(done), differences=plan.differences)


def _carry_out(plan: InstallPlan, checkpoint: Checkpoint) -> list[str]:
    """Roots, keys, database, pack, pointer, hosts: what comes later needs what came before, and hosts run nothing that is not complete."""
    paths = plan.paths
    done = _put_aside(plan, checkpoint)
    make_dirs(list(plan.dirs))
    tighten(list(plan.loose))
    checkpoint("directories")
    if plan.keystore is not None:
        keys.make(paths, plan.keystore, paths.home, checkpoint=lambda step: checkpoint(f"vault:{step}"))
    checkpoint("vault")
    if plan.database.kind is not Kind.CURRENT:
        done += create_or_migrate(
            paths.database, paths.backups, paths.data, clock=plan.clock, checkpoint=lambda step: checkpoint(f"store:{step}")
        )
    checkpoint("store")
    if plan.lacks_spool_key:
        make_spool_key(paths, plan.clock)
    checkpoint("spool-key")
    if plan.before.get("build") not in (None, plan.build):
        done += forget_failures(paths)
    put_pack(paths, plan.pack, checkpoint)
    if plan.current_changes:
        put_set([PackFile(paths.current, render.current_file(plan.current), "")], lambda step: checkpoint(f"current:{step}"))
    if plan.journal_damage:
        put_journal_aside(paths)
    done += leave_trust(plan.home, plan.trust, lambda step: checkpoint(f"trust:{step}"))  # while the host still finds our hooks
    try:
        connect_hosts(paths, plan.connection, plan.clock, lambda step: checkpoint(f"settings:{step}"))
    except AflError:
        _remember_hosts_of_before(plan)
        raise
    if plan.leaves is not None:  # only now do hooks know the new data root: before, they would have started its worker again
        done += [*stop_worker(plan.leaves), *stop_daemon(plan.leaves)]
    return done


def _remember_hosts_of_before(plan: InstallPlan) -> None:
    """No host was changed, so those that are connected are those of the install before."""
    body = {**plan.current, "hosts": remembered_hosts(plan.before)}
    with contextlib.suppress(AflError):  # the first error says what stands in the way, and is the one that is shown
        put_set([PackFile(plan.paths.current, render.current_file(body), "")], _nothing)


def _put_aside(plan: InstallPlan, checkpoint: Checkpoint) -> list[str]:
    """First its hooks, so that no host runs what is about to move."""
    if not plan.legacy.found:
        return []
    for folder, base in ((plan.paths.data, plan.paths.home), (plan.paths.backups, plan.paths.data)):
        ensure_private_dir(folder, base)
    plan.connection.withdraw_earlier(plan.paths, plan.clock, lambda step: checkpoint(f"legacy-settings:{step}"))
    return old.move_aside(plan.legacy, plan.paths, lambda step: checkpoint(f"legacy:{step}"))


def _keystore(registry: Registry, paths: Paths, wanted: str, database: Database) -> tuple[Keystore | None, list[str]]:
    """The keystore for a vault that has to be made, or finished, and what to say about it; None when the vault is there."""
    if look(paths.public_key) is not None and look(paths.name_key) is not None:
        return None, []
    keystore = choose(registry.keystores(paths.keys), wanted)
    said = [keystore.warning()] if keystore.warning() else []
    if database.kind in (Kind.CURRENT, Kind.OLDER):
        said.append(
            f"the keys in {paths.keys} are gone; new ones are made, and evidence that was sealed before cannot be opened unless the old ones are put back"
        )
    return keystore, said


def _current(
    paths: Paths,
    build: str,
    python: str,
    site: tuple[str, ...],
    selection: Selection,
    more: dict[str, Any],
    before: dict[str, Any],
    clock: Clock,
) -> dict[str, Any]:
    body: dict[str, Any] = {
        "build": build,
        "version": __version__,
        "schema_version": SCHEMA_VERSION,
        "python": python,
        "site": list(site),
        "data_root": paths.data,
        "home": paths.home,
        "hosts": {one.name: remembered(one) for one in selection.selected},
        **more,
    }
    moment = before.get("installed_ms") if upgrade.same_install(before, body) else clock()
    return {**body, "installed_ms": moment}


def _steps(
    paths: Paths,
    dirs: list[PrivateDir],
    legacy: old.Legacy,
    database: Database,
    keystore: Keystore | None,
    pack: PackPlan,
    pointer: list[str],
    last: list[str],
) -> list[str]:
    steps = [f"move aside what the earlier product left: {', '.join(legacy.named())}"] if legacy.found else []
    steps += [one.step() for one in dirs if one.changes]
    if keystore is not None:
        steps.append(f"make the vault's keys in {paths.keys}; the private one is kept by the keystore {keystore.name!r}")
    if database.kind is Kind.MISSING:
        steps.append(f"create the database {paths.database}")
    elif database.kind is Kind.OLDER:
        steps.append(f"bring the database from schema {database.version} to {SCHEMA_VERSION}; a copy is kept in {paths.backups}")
    steps += pack.steps()
    return [*steps, *pointer, *last]


def _about_hosts(selection: Selection) -> list[str]:
    said = [f"{name} is here too, but is not connected; `afl install --host {name}` connects it" for name in selection.unselected]
    if not selection.selected:
        said.append("no coding agent is connected: none was found; install one, then run `afl install` again")
    said += [
        f"{one.manifest.label} was not found on this machine; its settings are written all the same"
        for one in selection.selected
        if not one.present
    ]
    return said


def _about_sessions(selection: Selection, connection: Connection) -> list[str]:
    """What writes its settings back from memory may take out what is about to be written."""
    edited = {edit.path for edit in connection.edits if edit.changes}
    return [
        f"{one.manifest.label} is running (process {', '.join(map(str, pids))}) and may write its settings back without our hooks;"
        " close it first, or look with `afl doctor` after it has ended"
        for one in selection.selected
        if Path(os.path.abspath(one.hooks_path)) in edited and (pids := running(one))
    ]
