"""The doctor on what lies on disk: the pack, which build it is and whether it is the newest, private directories. Repairs nothing."""

from __future__ import annotations

import os
import sys
from typing import Any

from afl_core import __version__
from afl_core.api.home import Home
from afl_core.api.remember import rendered_hosts
from afl_core.model.errors import AflError
from afl_core.plugins.discovery import read_entry_points
from afl_core.plugins.registry import Registry
from afl_core.settings.paths import Paths
from afl_core.setup.checks import loose_files, private_dirs
from afl_core.setup.database import Kind, look_at_database
from afl_core.setup.doctor_report import Part, fail, ok, warn
from afl_core.setup.journal import read_journal
from afl_core.setup.pack import PackPlan, plan_pack, rendered_watch
from afl_core.setup.pack_hook import shipped_names, silent_constants
from afl_core.setup.runtime import choose_runtime
from afl_core.setup.selection import remembered_hosts
from afl_core.spec.health import HealthLine
from afl_core.store.schema import SCHEMA_VERSION


def examine_files(home: Home, current: dict[str, Any]) -> Part:
    """`files`: what must be there."""
    paths = home.paths
    wanted = {
        "prompt": paths.prompt_file,
        "rule": paths.rules_file,
        "schema": paths.schema_file,
        "policy": paths.policy_file,
        "hook": paths.hook,
        "front": paths.front_file,
        "runtimeCurrent": paths.current,
    }
    there = {name: os.path.isfile(path) for name, path in wanted.items()}
    python = str(current.get("python") or "")
    missing = [wanted[name] for name, found in there.items() if not found]
    # Which files another version's hook has, nobody here knows; that it is another one is said below.
    used = [os.path.join(paths.hook_dir, name) for name in shipped_names()] if current.get("version") == __version__ else []
    lost = [path for path in used if path not in missing and not os.path.isfile(path)]
    there["hookModules"] = not lost
    lines = [fail("files", f"{path} is missing", "run: afl install") for path in (*missing, *lost)]
    if not lines:
        lines.append(ok("files", f"the pack in {paths.pack} is complete"))
    can_run = os.access(python, os.X_OK) and os.access(paths.hook, os.R_OK)
    return Part({"files": {**there, **_earlier_names(there, can_run=can_run), "runtimeSelected": bool(current.get("build"))}}, tuple(lines))


def examine_directories(home: Home) -> Part:
    """Who may enter and read what is ours, whether it can be written, and whether the journal of edits can be read."""
    paths = home.paths
    lines: list[HealthLine] = []
    try:
        dirs = private_dirs(paths)
        lines += [warn("directories", f"{one.path}: {one.fault()}", "run: afl install") for one in dirs if one.fault()]
        lines += [fail("directories", f"{one.path} is missing", "run: afl install") for one in dirs if not one.exists]
        lines += [
            warn("private files", f"{path} can be read by others (mode {mode:04o})", "run: afl install")
            for path, mode in loose_files(paths)
        ]
    except AflError as bad:
        lines.append(fail("directories", bad.sentence, bad.hint))
    try:
        read_journal(paths)
    except AflError as bad:
        lines.append(fail("journal", bad.sentence, bad.hint))
    if not lines:
        lines.append(ok("directories", "what is ours is private"))
    return Part(lines=tuple(lines))


def _earlier_names(there: dict[str, bool], *, can_run: bool) -> dict[str, bool]:
    """The names programs know from the earlier product: one script and one Python are both of its hooks and its launcher here."""
    return {
        "runtimeLauncher": there["hook"],
        "coreHook": there["hook"],
        "stopHook": there["hook"],
        "triggerRules": there["front"],
        "coreHookExecutable": can_run,
        "stopHookExecutable": can_run,
    }


def examine_runtime(home: Home, current: dict[str, Any]) -> Part:
    """`runtime`: which build hooks run, and whether the installed packages would make another."""
    paths = home.paths
    lines: list[HealthLine] = []
    reason, expected = None, None
    try:
        plan = _plan(home, current)
        expected = plan.build
        lines += _staleness(home.paths, plan, current)
        lines += [
            warn(
                "edited files",
                f"{path} is the new version of a file you edited",
                f"compare it with {path.removesuffix('.new')}, then delete it",
            )
            for path in plan.pending
            if os.path.exists(path)
        ]
    except AflError as bad:
        reason = bad.sentence
        python = str(current.get("python") or "")
        is_gone = bool(python) and not os.access(python, os.X_OK)
        next_step = f"run: afl install, which makes hooks use {sys.executable}" if is_gone else bad.hint or "run: afl install"
        lines.append(fail("runtime", bad.sentence, next_step))
    database = _schema(home)
    body = {
        "selected": bool(current.get("build")),
        "expectedVersion": __version__,
        "runtimeVersion": current.get("version"),
        "expectedBuild": expected,
        "runtimeBuild": current.get("build"),
        "expectedSchemaVersion": SCHEMA_VERSION,
        "schemaVersion": database,
        "runtimeRoot": paths.hook_dir,
        "python": current.get("python"),
        "reason": reason,
    }
    return Part({"runtime": body}, tuple(lines))


def _plan(home: Home, current: dict[str, Any]) -> PackPlan:
    found = read_entry_points()
    registry = Registry(found)
    adapters = registry.hosts()
    # The pack is compared with what it was made for: after an uninstall it still knows hosts that are no longer connected.
    names = rendered_hosts(home.paths) or sorted(remembered_hosts(current))
    manifests = [adapters[name].manifest() for name in names if name in adapters]
    runtime = choose_runtime(str(current.get("python") or sys.executable), found, home.environ)
    return plan_pack(home.paths, runtime, manifests, found, registry, watch=rendered_watch(home.paths))


def _staleness(paths: Paths, plan: PackPlan, current: dict[str, Any]) -> list[HealthLine]:
    if plan.build != current.get("build"):
        return [warn("runtime", f"build {current.get('build')} is installed, but the packages here make {plan.build}", "run: afl install")]
    # An uninstall that left the pack has taken the values out of the hook: nobody runs it then.
    silent = set() if remembered_hosts(current) else {silent_constants(paths).path}
    changed = [file.path for file in (*plan.hook, *plan.editable) if file.path not in silent]
    if changed:
        return [warn("runtime", f"{changed[0]} is not as install would write it", "run: afl install")]
    return [ok("runtime", f"build {plan.build} runs in {current.get('python')}")]


def _schema(home: Home) -> int | None:
    try:
        found = look_at_database(home.paths.database)
    except AflError:
        return None  # said by the examination of the store
    return None if found.kind is Kind.FOREIGN else found.version
