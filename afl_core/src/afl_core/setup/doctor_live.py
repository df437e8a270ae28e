"""`afl doctor --live`: a synthetic prompt through the exact command of each selected host, followed all the way: stored, sealed, opened, never evidence, removed.

Its session has a name that no host gives: what is born from it has a data class of its own, which neither the queue nor a review takes.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from typing import Any

from afl_core.api.home import Home
from afl_core.plugins.registry import Registry
from afl_core.setup.doctor_canary import Canary, Outcome, sweep, try_host
from afl_core.setup.doctor_disk import room
from afl_core.setup.doctor_hosts import HostExam
from afl_core.setup.doctor_report import Part, absent, fail, ok
from afl_core.setup.fire import shell_of
from afl_core.spec.health import Health
from afl_core.store import status


def examine_live(home: Home, registry: Registry, exams: list[HostExam], db: sqlite3.Connection | None) -> Part:
    """`live`: the whole as `status`, `syntheticExcluded`, `configuredStore`, `encryption` and `removed`, and each host's own round under its name."""
    if db is None:
        return _nothing_to_try(home, "the store cannot be used")
    if status.meta(db, "capture_enabled", "1") != "1":
        return Part(
            {"live": {"status": "skipped", "reason": "capture_off"}},
            (absent("live", "capture is off, so nothing can be stored", "afl capture on, then: afl doctor --live"),),
        )
    adapters = registry.hosts()
    canaries = {exam.name: _canary(home, adapters[exam.name].manifest(), exam) for exam in exams}
    ready = {name: canary for name, canary in canaries.items() if isinstance(canary, Canary)}
    if not ready:
        return _nothing_to_try(home, "no selected host has a command that runs")
    sweep(home, db)
    tried = {name: try_host(home, db, canary) for name, canary in ready.items()}
    outcomes = {name: tried.get(name) or Outcome("skipped", str(canaries[name])) for name in sorted(canaries)}
    body = {name: one.document() for name, one in outcomes.items()}
    bad = {name: one for name, one in tried.items() if one.problem}
    if bad:
        said = "; ".join(f"{name}, at the step {one.step}: {one.problem}" for name, one in bad.items())
        return _failed({"status": "unhealthy", "reason": said, **_proved(tried.values()), **body}, said, _next_step(home, bad.values()))
    lines = [ok("live", f"a synthetic prompt of {', '.join(tried)} was stored, sealed, opened, never queued, and removed")]
    lines += [absent("live", f"{name} was not tried: {one.problem}") for name, one in outcomes.items() if name not in tried]
    return Part({"live": {"status": "healthy", **_proved(tried.values()), **body}}, tuple(lines))


def _canary(home: Home, manifest: Any, exam: HostExam) -> Canary | str:
    """What to send through this host, or why there is nothing that could be sent."""
    facts = exam.facts["events"]
    prompts = [event.name for event in manifest.events if event.kind == "prompt" and facts[event.name]["configured"]]
    if exam.facts["settingsProblem"] or exam.facts["switchedOffIn"] or not prompts:
        return "the host would not run our hook for a prompt"
    runs = [name for name in prompts if facts[name]["problem"] == ""]
    return Canary(manifest, exam.commands[runs[0]], shell_of(manifest, home.environ)) if runs else "its command does not run"


def _proved(outcomes: Iterable[Outcome]) -> dict[str, bool]:
    """What all hosts that were tried prove together."""
    steps = [one.steps for one in outcomes]
    names = {"configuredStore": "stored", "encryption": "opened", "syntheticExcluded": "excluded", "removed": "removed"}
    return {name: all(one[step] is True for one in steps) for name, step in names.items()}


def _next_step(home: Home, outcomes: Iterable[Outcome]) -> str:
    """Room first: on a full disk every other sign is only its consequence. Never the command that is running."""
    if _is_full(home):
        return "free some space, then run the same command again"
    hints = [one.hint for one in outcomes if one.hint and one.hint != "run: afl doctor"]
    return hints[0] if hints else f"{home.paths.runtime_log} says more"


def _is_full(home: Home) -> bool:
    return any(line.health is Health.FAIL for line in room(home.paths.data))


def _nothing_to_try(home: Home, reason: str) -> Part:
    hint = "free some space, then run the same command again" if _is_full(home) else "mend what failed above first"
    return _failed({"status": "unhealthy", "reason": reason}, f"nothing could be tried: {reason}", hint)


def _failed(live: dict[str, Any], sentence: str, hint: str) -> Part:
    return Part({"live": live}, (fail("live", sentence, hint),))
