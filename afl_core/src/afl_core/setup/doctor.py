"""Examine a home: what is installed, whether it works when it is really run, what waits and why. Repairs nothing; writes one row, to see that it can."""

from __future__ import annotations

import errno
import platform
import sqlite3
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import attrs

from afl_core.api.home import Home
from afl_core.model.errors import AflError
from afl_core.plugins.discovery import read_entry_points
from afl_core.plugins.registry import Registry
from afl_core.setup import (
    doctor_disk,
    doctor_files,
    doctor_hosts,
    doctor_live,
    doctor_plugins,
    doctor_reviewers,
    doctor_schedule,
    doctor_store,
)
from afl_core.setup.checks import check_home, private_dirs
from afl_core.setup.doctor_report import DoctorReport, Part, fail, report, warn
from afl_core.setup.fire import HEALTH_VARIABLE
from afl_core.setup.recall import recall
from afl_core.setup.runtime import MINIMUM_PYTHON
from afl_core.store.migrate import MINIMUM_SQLITE
from afl_core.store.trouble import explain

__all__ = ["DoctorReport", "doctor"]


def doctor(home: Home, live: bool = False) -> DoctorReport:
    """Every examination, each of which says what it cannot do instead of raising. `live` also sends a synthetic event and removes it."""
    paths = home.paths
    parts: dict[str, Part] = {
        "roots": Part(
            {"dataRoot": paths.data, "keyRoot": paths.keys, "scheduler": doctor_schedule.not_examined(), "capability": _capability()}
        )
    }
    try:
        current, damage = recall(paths, Registry(read_entry_points()).hosts(), home.environ)
        _settings = home.settings, home.policy
    except AflError as bad:
        parts["settings"] = Part(lines=(fail("settings", bad.sentence, bad.hint),))
        return report(paths.home, parts, installed=False)
    if damage:
        parts["pointer"] = Part(lines=(fail("installed", damage, "run: afl install, which writes it anew"),))
    if not current.get("build"):
        parts["installed"] = _examined("installed", lambda: _nothing_installed(home))
        return report(paths.home, parts, installed=False)
    parts["files"] = _examined("files", lambda: doctor_files.examine_files(home, current))
    parts["directories"] = _examined("directories", lambda: doctor_files.examine_directories(home))
    parts["runtime"] = _examined("runtime", lambda: doctor_files.examine_runtime(home, current))
    db, parts["database"] = doctor_store.open_store(home)
    registry = home.registry if db is not None else Registry(read_entry_points())
    parts["plugins"] = _examined("plug-ins", lambda: doctor_plugins.examine_plugins(home, registry))
    if db is not None:
        parts["redaction"] = _examined("redaction", lambda: doctor_plugins.examine_redaction(home, registry))
    parts["keystore"] = _examined("keystore", lambda: doctor_plugins.examine_keystore(home, registry))
    exams: list[doctor_hosts.HostExam] = []

    def examine_hosts() -> Part:
        reviewers = doctor_reviewers.examine_reviewers(home, registry)
        part, found = doctor_hosts.examine_hosts(home, registry, current, db, reviewers)
        exams.extend(found)
        return attrs.evolve(part, body={**part.body, "reviewers": reviewers})

    parts["hosts"] = _examined("hosts", examine_hosts)
    # A part named "trust" adds `clis.<host>.events.<event>.trust`, one named "schedule" sets `scheduler` and `reconciliation`: the rules take them from there.
    parts["shell"] = _shell(home)
    if (store := db) is not None:
        parts["store"] = _examined("store", lambda: doctor_store.examine_store(home, store))
    parts["schedule"] = _examined("schedule", lambda: doctor_schedule.examine_schedule(home, current, db))
    parts["disk"] = _examined("disk", lambda: doctor_disk.examine_disk(home, db))
    if live:
        parts["live"] = _examined("live", lambda: doctor_live.examine_live(home, registry, exams, db))
    return report(paths.home, parts, installed=True)


def _examined(name: str, examine: Callable[[], Part]) -> Part:
    """An examination's part; one that cannot go on becomes a line that says why."""
    try:
        return examine()
    except AflError as bad:
        return Part(lines=(fail(name, bad.sentence, bad.hint),))
    except sqlite3.Error as bad:
        said = explain(bad, "the database")
        return Part(lines=(fail(name, f"it cannot be examined: {said.sentence}", said.hint),))
    except OSError as bad:
        if bad.errno in (errno.ENOSPC, errno.EDQUOT):
            return Part(lines=(fail(name, f"it cannot be examined: {bad}", "free some space"),))
        return Part(lines=(fail(name, f"it cannot be examined: {bad}", "run the command again outside of a sandbox; see: afl paths"),))


def _clis(home: Home) -> dict[str, Any]:
    """The hosts that could be connected."""
    hosts = Registry(read_entry_points()).hosts()
    return {name: doctor_hosts.unselected_host(home, hosts[name]) for name in sorted(hosts)}


def _nothing_installed(home: Home) -> Part:
    """What a newcomer is told: the next step depends on whether there is a coding agent to connect, and on whether anything can be written."""
    hosts = Registry(read_entry_points()).hosts()
    here = [adapter.manifest().label for _, adapter in sorted(hosts.items()) if adapter.locate(Path(home.paths.home), home.environ).present]
    said = f"nothing is installed in {home.paths.home}"
    if here:
        lines = [fail("installed", f"{said}; {', '.join(here)} can be connected", "run: afl install")]
    else:
        lines = [fail("installed", f"{said}, and no coding agent was found there", doctor_hosts.first_host(hosts))]
    if not Registry(read_entry_points()).redactors():
        lines.append(doctor_plugins.no_redactor())
    try:
        check_home(home.paths)
        private_dirs(home.paths)
    except AflError as bad:
        lines.append(fail("directories", bad.sentence, bad.hint))
    return Part({"files": {}, "runtime": {"selected": False}, "clis": _clis(home)}, tuple(lines))


def _shell(home: Home) -> Part:
    """What the shell this runs in does to hooks started from it."""
    if not home.environ.get(HEALTH_VARIABLE):
        return Part()
    said = f"{HEALTH_VARIABLE} is set here: hooks started from this shell only say how the worker is"
    return Part(lines=(warn("hosts", said, f"unset {HEALTH_VARIABLE}"),))


def _capability() -> dict[str, Any]:
    """What this Python can do, and what is needed at least."""
    is_enough = sys.version_info[:2] >= MINIMUM_PYTHON and sqlite3.sqlite_version_info >= MINIMUM_SQLITE
    return {
        "backend": "sqlite3",
        "python": platform.python_version(),
        "minimumPython": ".".join(map(str, MINIMUM_PYTHON)),
        "sqlite": sqlite3.sqlite_version,
        "minimumSqlite": ".".join(map(str, MINIMUM_SQLITE)),
        "platform": platform.system(),
        "status": "sufficient" if is_enough else "too_old",
    }
