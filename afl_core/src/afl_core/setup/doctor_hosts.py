"""The doctor on hosts: what stands in their settings, whether each command really works when it is run, and when it was last heard of."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Mapping
from typing import Any

import attrs

from afl_core.api.home import Home
from afl_core.model.errors import AflError
from afl_core.plugins.registry import Registry
from afl_core.setup.doctor_report import Part, absent, ago, counted, fail, ok, warn
from afl_core.setup.doctor_settings import Configured, read_configured
from afl_core.setup.fire import HEALTH_VARIABLE, Fired, fire_health, forget_failed_start
from afl_core.setup.selection import Selected, remembered_hosts, select_hosts
from afl_core.setup.vanished import have_vanished
from afl_core.spec.health import HealthLine
from afl_core.spec.host import HostAdapter
from afl_core.store import status


@attrs.frozen
class HostExam:
    """What was found of one host."""

    name: str
    body: dict[str, Any]
    lines: tuple[HealthLine, ...]
    commands: Mapping[str, str]
    connected: bool


def examine_hosts(home: Home, registry: Registry, current: dict[str, Any], db: sqlite3.Connection | None) -> tuple[Part, list[HostExam]]:
    """`clis`: every host a plug-in knows; only the selected ones count for health. Runs their commands."""
    adapters = registry.hosts()
    known = remembered_hosts(current)
    selection = select_hosts(adapters, home.paths, home.environ, current, sorted(set(known) & set(adapters)))
    forget_failed_start(home.paths)
    exams = [_selected(home, registry, adapters, one, current, db) for one in selection.selected]
    lines = [line for exam in exams for line in exam.lines]
    lines += [
        warn(f"host {name}", f"{name} was connected, but no plug-in provides it now", "install its provider again, or run: afl uninstall")
        for name in sorted(set(known) - set(adapters))
    ]
    lines += [
        absent(f"host {name}", f"{name} is here, but is not connected", f"run: afl install --host {name}") for name in selection.unselected
    ]
    if home.environ.get(HEALTH_VARIABLE):
        lines.append(
            warn(
                "hosts",
                f"{HEALTH_VARIABLE} is set here: hooks started from this shell only say how the worker is",
                f"unset {HEALTH_VARIABLE}",
            )
        )
    if current and not known:
        lines.append(fail("hosts", "no coding agent is connected", "run: afl install"))
    bodies = {exam.name: exam.body for exam in exams}
    for name in sorted(set(adapters) - set(bodies)):
        bodies[name] = {
            "selected": False,
            "absent": name not in selection.unselected,
            "connected": False,
            "configured": False,
            "runnable": False,
            "operational": False,
        }
    ready = [exam.name for exam in exams if exam.body["operational"]]
    operational = {"readyClis": ready, "unavailableClis": [exam.name for exam in exams if exam.name not in ready]}
    return Part({"clis": bodies, "operational": operational}, tuple(lines)), exams


def _selected(
    home: Home,
    registry: Registry,
    adapters: Mapping[str, HostAdapter],
    one: Selected,
    current: dict[str, Any],
    db: sqlite3.Connection | None,
) -> HostExam:
    wanted = {entry.event: entry.command for entry in one.entries(home.paths, str(current.get("python")))}
    kinds = {event.name: event.kind for event in one.manifest.events}
    found = read_configured(adapters, one.name, one.settings_path)
    fired = {event: _fired(command, home, str(current.get("build"))) for event, command in found.commands.items() if event in wanted}
    works = {event for event, shot in fired.items() if shot.ok}
    usable = not found.problem and not found.switched_off_in
    configured = usable and set(wanted) <= set(found.commands) - set(found.disabled)
    connected = configured and set(wanted) <= works
    reviewer = _reviewer(home, registry, one.name)
    last = last_seen(db, one.name)
    vanished = have_vanished(home.paths, one, found)
    lines = [*_settings_lines(one, found, wanted, vanished=vanished), *_fired_lines(one, fired), *_seen_lines(one, last, home.clock())]
    if connected:
        lines.insert(
            0,
            ok(
                f"host {one.name}",
                f"{one.manifest.label}: {counted(len(works), 'command')} in {one.settings_path} {'was' if len(works) == 1 else 'were'} run and answered",
            ),
        )
    lines.append(
        ok(f"reviewer {one.name}", f"reviews of {one.manifest.label} sessions can run: {reviewer['reviewerExecutable']}")
        if reviewer["reviewerAvailable"]
        else warn(
            f"reviewer {one.name}",
            f"reviews of {one.manifest.label} sessions wait: {reviewer['reason']}",
            "evidence is kept until a reviewer is there",
        )
    )
    if not one.present:
        lines.append(
            warn(
                f"host {one.name}",
                f"{one.manifest.label} was not found on this machine",
                f"install it, or run: afl install without --host {one.name}",
            )
        )
    prompts, stops = _of_kind(kinds, "prompt"), _of_kind(kinds, "stop")
    body = {
        "selected": True,
        "absent": not one.present,
        "settings": str(one.settings_path),
        "configured": configured,
        "runnable": bool(fired) and set(fired) <= works,
        "connected": connected,
        "promptConnected": usable and bool(prompts) and prompts <= works,
        "backstopConnected": usable and bool(stops) and stops <= works,
        "lastSeen": last,
        **reviewer,
        "operational": connected and reviewer["reviewerAvailable"],
    }
    return HostExam(one.name, body, tuple(lines), found.commands if usable else {}, connected)


def _of_kind(kinds: Mapping[str, str], kind: str) -> set[str]:
    return {event for event, its in kinds.items() if its == kind}


def _fired(command: str, home: Home, build: str) -> Fired:
    """Run it; a front of an earlier build answers once more and then makes way, so it is asked again."""
    shot = fire_health(command, home.environ, home.paths.home)
    if shot.health is not None and shot.health["build"] != build:
        shot = fire_health(command, home.environ, home.paths.home)
    if shot.health is not None and shot.health["build"] != build:
        return attrs.evolve(shot, ok=False, problem=f"a worker of build {shot.health['build']} answered, but {build} is installed")
    return shot


def _settings_lines(one: Selected, found: Configured, wanted: Mapping[str, str], *, vanished: bool) -> list[HealthLine]:
    name, lines = f"host {one.name}", []
    if found.problem:
        return [
            fail(
                name,
                f"{one.manifest.label} cannot use its settings: {found.problem}",
                f"correct {one.settings_path}, then run: afl doctor",
            )
        ]
    if found.switched_off_in:
        lines.append(fail(name, f"{found.switched_off_in} switches all hooks off ({', '.join(found.switches)})", "remove that line there"))
    if found.disabled:
        lines.append(
            fail(name, f"{one.settings_path} switches our hook for {', '.join(found.disabled)} off", "take it out of the list there")
        )
    if vanished:
        lines.append(
            fail(
                name,
                f"our hooks were written to {one.settings_path} and are gone: a session of {one.manifest.label} that ran then wrote its settings"
                " back from memory",
                f"close every session of {one.manifest.label}, then run: afl install",
            )
        )
    elif missing := [event for event in wanted if event not in found.commands]:
        lines.append(fail(name, f"{one.settings_path} has no hook of ours for {', '.join(missing)}", "run: afl install"))
    if found.hidden:
        lines.append(
            warn(name, f"{one.settings_path} holds a key twice, which hides our hook for {', '.join(found.hidden)}", "remove one of them")
        )
    if other := [event for event, command in found.commands.items() if event in wanted and command != wanted[event]]:
        lines.append(warn(name, f"the command for {', '.join(other)} is not the one install writes", "run: afl install"))
    return lines


def _fired_lines(one: Selected, fired: Mapping[str, Fired]) -> list[HealthLine]:
    problems: dict[str, list[str]] = {}
    for event, shot in fired.items():
        if not shot.ok:
            problems.setdefault(shot.problem, []).append(event)
    faults = {str(shot.health["fault"]) for shot in fired.values() if shot.health is not None and shot.health.get("fault")}
    lines = [fail(f"host {one.name}", f"the worker cannot read what it must know: {fault}", "run: afl install") for fault in sorted(faults)]
    return lines + [
        fail(
            f"host {one.name}",
            f"the command for {', '.join(events)} does not work: {problem}",
            "run: afl install; the log says more (afl paths)",
        )
        for problem, events in problems.items()
    ]


def _seen_lines(one: Selected, last: Mapping[str, int], now: int) -> list[HealthLine]:
    if not last:
        return [
            absent(
                f"last seen {one.name}",
                f"no event of {one.manifest.label} has arrived yet",
                "start a session there; the untrusted-folder question must be answered first",
            )
        ]
    newest = ", ".join(f"{event} {ago(at, now)}" for event, at in sorted(last.items(), key=lambda item: -item[1]))
    return [ok(f"last seen {one.name}", newest)]


def last_seen(db: sqlite3.Connection | None, host: str) -> dict[str, int]:
    """When each event of a host last arrived, in ms since the epoch: as the front noted it, whether evidence is kept or not."""
    if db is None:
        return {}
    prefix = f"hook_seen:{host}:"
    return {name.removeprefix(prefix): int(body["updated_ms"]) for name, body in status.starting_with(db, prefix).items()}


def _reviewer(home: Home, registry: Registry, host: str) -> dict[str, Any]:
    command = home.settings.reviewer_command
    if command:
        there = os.access(command, os.X_OK)
        return {
            "reviewerAvailable": there,
            "reviewerExecutable": command if there else None,
            "reason": "" if there else f"{command} cannot be run",
        }
    reasons = []
    for reviewer in registry.reviewers().values():
        if reviewer.host != host:
            continue
        try:
            viability = registry.guard.call(reviewer.name, "viable", lambda reviewer=reviewer: reviewer.viable(home.reviewer_environ))  # type: ignore[misc]
        except AflError as bad:
            reasons.append(bad.sentence)
            continue
        if viability.ok:
            return {"reviewerAvailable": True, "reviewerExecutable": viability.reason or reviewer.name, "reason": ""}
        reasons.append(viability.reason)
    return {"reviewerAvailable": False, "reviewerExecutable": None, "reason": "; ".join(reasons) or f"no reviewer for {host} is installed"}
