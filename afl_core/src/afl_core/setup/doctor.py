"""Examine a home: what is installed, whether it works when it is really run, what waits and why. Repairs nothing."""

from __future__ import annotations

import sys

from afl_core.api.home import Home, remembered
from afl_core.model.errors import AflError
from afl_core.plugins.discovery import read_entry_points
from afl_core.plugins.registry import Registry
from afl_core.setup import doctor_files, doctor_hosts, doctor_live, doctor_plugins, doctor_store
from afl_core.setup.doctor_report import DoctorReport, Part, fail, report
from afl_core.setup.selection import remembered_hosts

__all__ = ["DoctorReport", "doctor"]


def doctor(home: Home, live: bool = False) -> DoctorReport:
    """Every examination, each of which says what it cannot do instead of raising. `live` also sends a synthetic event and removes it."""
    paths = home.paths
    parts: dict[str, Part] = {"roots": Part({"dataRoot": paths.data, "keyRoot": paths.keys, "scheduler": _scheduler(), "capability": _capability()})}
    try:
        current = remembered(paths)
        _settings = home.settings, home.policy
    except AflError as bad:
        parts["settings"] = Part(lines=(fail("settings", bad.sentence, bad.hint),))
        return report(paths.home, parts, installed=False)
    if not current.get("build"):
        parts["installed"] = Part({"files": {}, "runtime": {"selected": False}, "clis": _clis(home)}, (fail("installed", f"nothing is installed in {paths.home}", "run: afl install"),))
        return report(paths.home, parts, installed=False)
    parts["files"] = doctor_files.examine_files(home, current)
    parts["runtime"] = doctor_files.examine_runtime(home, current)
    db, parts["database"] = doctor_store.open_store(home)
    registry = home.registry if db is not None else Registry(read_entry_points())
    parts["plugins"] = doctor_plugins.examine_plugins(home, registry)
    parts["redaction"] = doctor_plugins.examine_redaction(home, registry) if db is not None else Part()
    parts["keystore"] = doctor_plugins.examine_keystore(home, registry, db)
    parts["hosts"], exams = doctor_hosts.examine_hosts(home, registry, current, db)
    if db is not None:
        parts["store"] = doctor_store.examine_store(home, db)
    parts["disk"] = doctor_store.examine_disk(home)
    if live:
        parts["live"] = doctor_live.examine_live(home, registry, exams, db)
    return report(paths.home, parts, installed=bool(remembered_hosts(current)) or bool(current))


def _clis(home: Home) -> dict[str, object]:
    """The hosts that could be connected."""
    hosts = Registry(read_entry_points()).hosts()
    places = {name: adapter.locate(home_path(home), home.environ) for name, adapter in sorted(hosts.items())}
    return {name: {"selected": False, "absent": not place.present, "connected": False, "configured": False, "operational": False} for name, place in places.items()}
