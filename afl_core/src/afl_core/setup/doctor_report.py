"""What the doctor found: a document for programs, lines for people, and the verdict of the rules. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import attrs

from afl_core.setup.doctor_rules import Reason, judge
from afl_core.spec.health import Health, HealthLine

ADVICE = ("keystore", "edited files", "coverage")
"""Lines whose warnings are advice: nothing works less well because of them."""


JUDGED = ("files", "hosts", "trust", "schedule", "live")
"""Parts whose bodies the rules judge. Their lines only explain; without a body (the examination could not go on) the lines count."""


@attrs.frozen
class Part:
    """What one examination found: a piece of the document and its lines. Pieces are merged, so that a later part may add to what an earlier one said of a host."""

    body: dict[str, Any] = attrs.field(factory=dict)
    lines: tuple[HealthLine, ...] = ()


@attrs.frozen
class DoctorReport:
    """The whole. `healthy`: what is selected works; `degraded`: something works less than it should; `reasons` say what and why."""

    healthy: bool
    degraded: bool
    installed: bool
    home: str
    lines: tuple[HealthLine, ...]
    body: Mapping[str, Any]
    reasons: tuple[Reason, ...] = ()

    def headline(self) -> str:
        """The verdict in words, and the worst reason for it; the lines say all of it."""
        word = "unhealthy" if not self.healthy else "healthy, but degraded" if self.degraded else "healthy"
        if not self.reasons:
            return word
        worst = min(self.reasons, key=lambda one: one.health is not Health.FAIL)
        said = worst.sentence if worst.about in ("parts", "hosts") else f"{worst.about}: {worst.sentence}"
        more = f" (and {len(self.reasons) - 1} more)" if len(self.reasons) > 1 else ""
        return f"{word}: {said}{more}"

    def as_json(self) -> dict[str, Any]:
        """For programs."""
        lines = [{"name": line.name, "health": line.health.value, "sentence": line.sentence, "hint": line.hint} for line in self.lines]
        return {
            "healthy": self.healthy,
            "degraded": self.degraded,
            "installed": self.installed,
            "home": self.home,
            **self.body,
            "lines": lines,
        }


def report(home: str, parts: Mapping[str, Part], *, installed: bool) -> DoctorReport:
    """Put the parts together and judge."""
    body: dict[str, Any] = {}
    for part in parts.values():
        body = merged(body, part.body)
    counting = [line for name, part in parts.items() if name not in JUDGED or not part.body for line in part.lines]
    verdict = judge(
        body,
        installed=installed,
        failed=[
            line.sentence if line.name == "installed" else f"{line.name}: {line.sentence}"
            for line in counting
            if line.health is Health.FAIL
        ],
        warned=[f"{line.name}: {line.sentence}" for line in counting if line.health is Health.WARN and line.name not in ADVICE],
    )
    hosts = {name: {**facts, **verdict.hosts[name].document()} for name, facts in (body.get("clis") or {}).items()}
    body = merged(merged(body, {"clis": hosts} if "clis" in body else {}), verdict.document())
    if body.get("reconciliation") is not None:
        body = merged(body, {"reconciliation": {"ready": verdict.reconciliation_ready}})
    return DoctorReport(
        healthy=verdict.healthy,
        degraded=verdict.degraded,
        installed=installed,
        home=home,
        lines=tuple(_without_itself(line) for part in parts.values() for line in part.lines),
        body=body,
        reasons=verdict.reasons,
    )


def merged(one: Mapping[str, Any], other: Mapping[str, Any]) -> dict[str, Any]:
    """Both, objects into objects; anything else of `other` replaces what `one` has."""
    both = dict(one)
    for name, value in other.items():
        held = both.get(name)
        both[name] = merged(held, value) if isinstance(held, Mapping) and isinstance(value, Mapping) else value
    return both


def _without_itself(line: HealthLine) -> HealthLine:
    """Errors name the doctor as the next step; the doctor itself must name something else."""
    return attrs.evolve(line, hint="see the other lines, and the log: afl paths") if line.hint == "run: afl doctor" else line


def ok(name: str, sentence: str) -> HealthLine:
    """All is well."""
    return HealthLine(name, Health.OK, sentence)


def warn(name: str, sentence: str, hint: str = "") -> HealthLine:
    """Something to know."""
    return HealthLine(name, Health.WARN, sentence, hint)


def fail(name: str, sentence: str, hint: str = "") -> HealthLine:
    """Something does not work."""
    return HealthLine(name, Health.FAIL, sentence, hint)


def absent(name: str, sentence: str, hint: str = "") -> HealthLine:
    """Something is not there, and need not be."""
    return HealthLine(name, Health.ABSENT, sentence, hint)


def counted(number: int, noun: str) -> str:
    """`1 redactor`, `2 redactors`."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def ago(then_ms: int, now_ms: int) -> str:
    """An age in words: `3 min ago`; a time of the future is named as one."""
    seconds = (now_ms - then_ms) // 1000
    if seconds < 0:
        return "at a time that lies in the future"
    for size, name in ((86_400, "d"), (3_600, "h"), (60, "min")):
        if seconds >= size:
            return f"{seconds // size} {name} ago"
    return f"{seconds} s ago"
