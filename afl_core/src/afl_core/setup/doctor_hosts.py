"""The doctor on hosts: what stands in their settings, whether each command really works when it is run, and when it was last heard of."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import attrs

from afl_core.api.home import Home
from afl_core.plugins.registry import Registry
from afl_core.setup.doctor_host_rules import judge_host
from afl_core.setup.doctor_report import Part, absent, ago, counted, fail, ok, warn
from afl_core.setup.doctor_settings import Configured, read_configured
from afl_core.setup.doctor_trust import trust_of
from afl_core.setup.fire import NO_WORKER, Fired, fire_health, forget_failed_start, shell_of
from afl_core.setup.plugin_folder import as_remembered
from afl_core.setup.selection import Selected, remembered_hosts, select_hosts
from afl_core.setup.vanished import have_vanished
from afl_core.spec.health import HealthLine
from afl_core.spec.host import HostAdapter
from afl_core.store import status

INSPECTED = "configured_command"
"""What is looked at: our own commands, run as they stand in the host's settings."""

NOT_OBSERVED = "not_observed"
"""Whether a desktop application of the host runs, and with which settings, is never looked at."""


UNWRITABLE = "cannot be written"


@attrs.frozen
class HostExam:
    """What was found of one selected host; `commands` are those that stand in its settings, by event."""

    name: str
    facts: dict[str, Any]
    lines: tuple[HealthLine, ...]
    commands: Mapping[str, str]


def examine_hosts(
    home: Home, registry: Registry, current: dict[str, Any], db: sqlite3.Connection | None, reviewers: Mapping[str, Mapping[str, Any]]
) -> tuple[Part, list[HostExam]]:
    """`clis`: the facts of every host a plug-in knows or install connected; `doctor_host_rules` judges them. Runs the commands of the selected ones."""
    adapters = registry.hosts()
    known = remembered_hosts(current)
    selection = select_hosts(adapters, home.paths, home.environ, current, sorted(set(known) & set(adapters)))
    selection = as_remembered(selection, current)
    forget_failed_start(home.paths)
    exams = [_selected(home, adapters, one, current, db, reviewers.get(one.name, {})) for one in selection.selected]
    lines = [line for exam in exams for line in exam.lines]
    bodies = {exam.name: exam.facts for exam in exams}
    for name in sorted(set(known) - set(adapters)):
        said = f"{name} was connected, but no plug-in provides it now"
        lines.append(warn(f"host {name}", said, "install its provider again, or run: afl uninstall"))
        bodies[name] = {"selected": True, "provided": False, "absent": False, "settings": known[name]["settings_path"]}
    lines += [
        absent(f"host {name}", f"{name} is here, but is not connected", f"run: afl install --host {name}") for name in selection.unselected
    ]
    if current and not known:
        lines.append(fail("hosts", "no coding agent is connected", "run: afl install" if selection.unselected else first_host(adapters)))
    bodies.update({name: unselected_host(home, adapters[name]) for name in adapters if name not in bodies})
    return Part({"clis": dict(sorted(bodies.items()))}, tuple(lines)), exams


def first_host(adapters: Mapping[str, HostAdapter]) -> str:
    """The next step where there is no coding agent to connect."""
    labels = ", ".join(adapter.manifest().label for _, adapter in sorted(adapters.items()))
    if not labels:
        return "install a provider, for example afl-providers-claude; then run: afl install"
    return f"install one of these first: {labels}; then run: afl install"


def unselected_host(home: Home, adapter: HostAdapter) -> dict[str, Any]:
    """The facts of a host that nothing is asked of: it is listed, and where its command is."""
    place = adapter.locate(Path(home.paths.home), home.environ)
    return {
        "selected": False,
        "provided": True,
        "absent": True,
        "settings": str(place.settings_path),
        **_command(place.binary),
        "events": {},
    }


def _command(binary: Path | None) -> dict[str, Any]:
    return {"hostAvailable": binary is not None, "hostCommand": None if binary is None else str(binary)}


def _selected(
    home: Home,
    adapters: Mapping[str, HostAdapter],
    one: Selected,
    current: dict[str, Any],
    db: sqlite3.Connection | None,
    reviewer: Mapping[str, Any],
) -> HostExam:
    wanted = {entry.event: entry.command for entry in one.entries(home.paths, str(current.get("python")))}
    found = read_configured(adapters, one.name, one.hooks_path, one.settings_path)
    shell, build = shell_of(one.manifest, home.environ), str(current.get("build"))
    fired = {event: _fired(command, home, build, shell) for event, command in found.commands.items() if event in wanted}
    trust = trust_of(home, one, str(current.get("python")))
    events = {
        event.name: {
            "kind": event.kind,
            "configured": event.name in found.commands,
            "asWritten": found.commands[event.name] == wanted[event.name] if event.name in found.commands else None,
            "problem": _problem(fired[event.name]) if event.name in fired else None,
            "trust": trust.states.get(event.name),
            "disabled": event.name in found.disabled,
        }
        for event in one.manifest.events
    }
    last = last_seen(db, one.name)
    facts = {
        "selected": True,
        "provided": True,
        "absent": not one.present,
        "settings": str(one.hooks_path),
        "settingsProblem": found.problem,
        "switchedOffIn": found.switched_off_in,
        "managedBlock": bool(found.commands),
        **_command(one.binary),
        "inspectionScope": INSPECTED,
        "activeDesktopState": NOT_OBSERVED,
        **trust.facts,
        "events": events,
        "lastSeen": last,
        "reviewerAvailable": reviewer.get("available"),
        "reviewerExecutable": reviewer.get("command"),
        "reviewerReason": reviewer.get("reason"),
    }
    lines = [
        *_works_line(one, facts),
        *_settings_lines(one, found, wanted, vanished=have_vanished(home.paths, one, found)),
        *_fired_lines(one, fired),
        *trust.lines,
        *_seen_lines(one, last, home.clock()),
        _reviewer_line(one, reviewer),
    ]
    if not one.present:
        lines.append(_gone_line(one, [name for name in remembered_hosts(current) if name != one.name]))
    return HostExam(one.name, facts, tuple(lines), found.commands)


def _gone_line(one: Selected, others: list[str]) -> HealthLine:
    without = f"afl install {' '.join(f'--host {name}' for name in sorted(others))}" if others else "afl uninstall"
    said = f"{one.manifest.label} was connected, and is not found on this machine now"
    return warn(f"host {one.name}", said, f"install it again, then run: afl install; or disconnect it: {without}")


def _works_line(one: Selected, facts: Mapping[str, Any]) -> list[HealthLine]:
    if not judge_host(facts).connected:
        return []
    number = len(facts["events"])
    said = f"{counted(number, 'command')} in {one.hooks_path} {'was' if number == 1 else 'were'} run and answered"
    return [ok(f"host {one.name}", f"{one.manifest.label}: {said}")]


def _reviewer_line(one: Selected, reviewer: Mapping[str, Any]) -> HealthLine:
    name, label = f"reviewer {one.name}", one.manifest.label
    if reviewer.get("available"):
        return ok(name, f"reviews of {label} sessions can run: {reviewer['command']}")
    return warn(name, f"reviews of {label} sessions wait: {reviewer.get('reason')}", "mend that; evidence is kept until then")


def _problem(shot: Fired) -> str:
    """Why a command does not work, in words; '' when it was run and answered by a worker that knows what it must."""
    if shot.ok and shot.health is not None and shot.health.get("fault"):
        return f"the worker cannot read what it must know: {shot.health['fault']}"
    return "" if shot.ok else shot.problem


def _fired(command: str, home: Home, build: str, shell: str) -> Fired:
    """Run it; a front of an earlier build answers once more and then makes way, so it is asked again."""
    shot = fire_health(command, home.environ, home.paths.home, shell)
    if shot.health is not None and shot.health["build"] != build:
        shot = fire_health(command, home.environ, home.paths.home, shell)
    if shot.health is not None and shot.health["build"] != build:
        return attrs.evolve(shot, ok=False, problem=f"a worker of build {shot.health['build']} answered, but {build} is installed")
    if shot.problem == NO_WORKER and not os.access(home.paths.run, os.W_OK | os.X_OK):
        return attrs.evolve(shot, problem=f"no worker can start, because {home.paths.run} {UNWRITABLE}")
    return shot


def _settings_lines(one: Selected, found: Configured, wanted: Mapping[str, str], *, vanished: bool) -> list[HealthLine]:
    name, lines = f"host {one.name}", []
    if found.problem:
        return [
            fail(
                name,
                f"{one.manifest.label} cannot use its settings: {found.problem}",
                f"correct {one.hooks_path}, then run: afl doctor",
            )
        ]
    if found.switched_off_in:
        lines.append(fail(name, f"{found.switched_off_in} switches all hooks off ({', '.join(found.switches)})", "remove that line there"))
    missing = [event for event in wanted if event not in found.commands]
    if found.disabled:
        lines.append(fail(name, f"{one.hooks_path} switches our hook for {', '.join(found.disabled)} off", "take it out of the list there"))
    if vanished:
        lines.append(
            fail(
                name,
                f"our hooks were written to {one.hooks_path} and are gone: a session of {one.manifest.label} that ran then wrote its settings"
                " back from memory",
                f"close every session of {one.manifest.label}, then run: afl install",
            )
        )
    elif missing and one.present:  # else the line about the host says it, with another next step
        lines.append(fail(name, f"{one.hooks_path} has no hook of ours for {', '.join(missing)}", "run: afl install"))
    if found.hidden:
        lines.append(
            warn(name, f"{one.hooks_path} holds a key twice, which hides our hook for {', '.join(found.hidden)}", "remove one of them")
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
            "make it writable, or run the command again outside of a sandbox"
            if problem.endswith(UNWRITABLE)
            else "run: afl install; the log says more (afl paths)",
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
