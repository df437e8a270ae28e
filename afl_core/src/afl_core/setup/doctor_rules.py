"""How a home is, judged from what the examinations found: host by host, and as a whole. Pure: bodies in, a verdict out.

What a body does not say is not known, and what is not known is no fault; but a host that nobody proved to work does not count as one that works.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import attrs

from afl_core.setup.doctor_host_rules import HostVerdict, Standing, judge_host
from afl_core.spec.health import Health

UNFINISHED = "completed_with_errors"
"""A reconcile that ended so is never fresh enough."""


@attrs.frozen
class Reason:
    """Why a home is not simply healthy. `about`: a host's name, or the name of a part; `health` is FAIL (unhealthy) or WARN (degraded)."""

    about: str
    health: Health
    sentence: str


@attrs.frozen
class Verdict:
    """`degraded` is also true of an unhealthy home. `hosts` has one verdict a host of the document; the two ready-flags are None when nothing is known."""

    healthy: bool
    degraded: bool
    reasons: tuple[Reason, ...]
    hosts: Mapping[str, HostVerdict]
    scheduler_ready: bool | None
    reconciliation_ready: bool | None

    @property
    def word(self) -> str:
        """`healthy`, `degraded` or `unhealthy`."""
        return "unhealthy" if not self.healthy else "degraded" if self.degraded else "healthy"

    def document(self) -> dict[str, Any]:
        """What the verdict adds to the document for programs: `verdict`, `reasons` and `operational`."""
        selected = {name: one for name, one in self.hosts.items() if one.standing is not Standing.ABSENT}
        return {
            "verdict": self.word,
            "reasons": [{"about": one.about, "health": one.health.value, "sentence": one.sentence} for one in self.reasons],
            "operational": {
                "readyClis": [name for name, one in selected.items() if one.operational],
                "unavailableClis": [name for name, one in selected.items() if not one.operational],
                "schedulerReady": self.scheduler_ready,
                "reconciliationReady": self.reconciliation_ready,
            },
        }


def judge(body: Mapping[str, Any], *, installed: bool, failed: Sequence[str] = (), warned: Sequence[str] = ()) -> Verdict:
    """The whole. `failed` and `warned` are sentences about what no rule here knows (the store, the keys, plug-ins)."""
    hosts = {name: judge_host(facts) for name, facts in (body.get("clis") or {}).items()}
    scheduler, reconciliation = _scheduler_ready(body.get("scheduler")), _reconciliation_ready(body)
    reasons = [
        *(Reason("parts", Health.FAIL, sentence) for sentence in failed or ([] if installed else ["nothing is installed"])),
        *_files(body.get("files")),
        *(_hosts(hosts) if installed and body.get("clis") is not None else []),
        *_scheduled(body, scheduler, reconciliation),
        *_live(body.get("live")),
        *(Reason("parts", Health.WARN, sentence) for sentence in warned),
    ]
    return Verdict(
        healthy=not any(one.health is Health.FAIL for one in reasons),
        degraded=bool(reasons),
        reasons=tuple(reasons),
        hosts=hosts,
        scheduler_ready=scheduler,
        reconciliation_ready=reconciliation,
    )


def _hosts(hosts: Mapping[str, HostVerdict]) -> list[Reason]:
    """Every selected host that does not work, by name; and that none works, when none does."""
    found = [
        Reason(name, Health.FAIL if one.standing is Standing.BROKEN else Health.WARN, sentence)
        for name, one in hosts.items()
        if one.standing is not Standing.ABSENT
        for sentence in one.reasons
    ]
    if any(one.operational for one in hosts.values()):
        return found
    selected = [f"{name} ({one.reasons[0]})" for name, one in hosts.items() if one.standing is not Standing.ABSENT]
    said = f"no selected host works: {'; '.join(selected)}" if selected else "no coding agent is connected"
    return [Reason("hosts", Health.FAIL, said), *found]


def _files(files: Mapping[str, bool] | None) -> list[Reason]:
    missing = [name for name, there in (files or {}).items() if there is False]
    return [Reason("files", Health.FAIL, f"not in place: {', '.join(missing)}")] if missing else []


def _scheduler_ready(scheduler: Mapping[str, Any] | None) -> bool | None:
    """True where none is needed; None when nothing is known."""
    if scheduler is None:
        return None
    return not scheduler.get("required") or (bool(scheduler.get("active")) and scheduler.get("configured") is not False)


def _reconciliation_ready(body: Mapping[str, Any]) -> bool | None:
    """As the examination says; else by status and freshness, where a schedule is required."""
    reconciliation, scheduler = body.get("reconciliation"), body.get("scheduler") or {}
    if reconciliation is None:
        return None
    if (ready := reconciliation.get("ready")) is not None:
        return bool(ready)
    return not scheduler.get("required") or (reconciliation.get("status") == "completed" and reconciliation.get("fresh") is True)


def _scheduled(body: Mapping[str, Any], scheduler_ready: bool | None, reconciliation_ready: bool | None) -> list[Reason]:
    scheduler, reconciliation = body.get("scheduler") or {}, body.get("reconciliation") or {}
    required, found = bool(scheduler.get("required")), []
    if scheduler_ready is False:
        found.append(
            Reason(
                "scheduler", Health.FAIL, f"the schedule does not run: {scheduler.get('reason') or scheduler.get('state') or 'inactive'}"
            )
        )
    elif scheduler.get("configured") and scheduler.get("active") is False:
        found.append(Reason("scheduler", Health.WARN, "a schedule is installed, but does not run"))
    if reconciliation.get("status") == UNFINISHED:
        found.append(Reason("reconciliation", Health.FAIL if required else Health.WARN, "the last reconcile met errors"))
    elif reconciliation_ready is False:
        status = reconciliation.get("status") or "never ran"
        found.append(
            Reason("reconciliation", Health.FAIL if required else Health.WARN, f"no reconcile completed lately (the last one: {status})")
        )
    return found


def _live(live: Mapping[str, Any] | None) -> list[Reason]:
    if live is None or live.get("status") != "unhealthy":
        return []
    return [Reason("live", Health.FAIL, str(live.get("reason") or "the synthetic event did not go through"))]
