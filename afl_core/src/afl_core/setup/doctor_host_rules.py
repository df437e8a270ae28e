"""How one host is, judged from the facts that were found of it. Pure; `docs/reference/doctor.md` has the same table in words.

Facts are the keys of `clis.<host>` that examinations fill: `selected`, `provided`, `absent`, `settings`, `settingsProblem`, `switchedOffIn`,
`events` (by name: `kind`, `configured`, `asWritten`, `problem`, `trust`, `disabled`), `reviewerAvailable`, `reviewerReason`. The rest follows from
them, here. Where an event has no `trust`, the one of its kind counts: `promptTrustStatus`, `backstopTrustStatus`.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping
from typing import Any, NamedTuple

import attrs

from afl_core.spec.trust import TrustState

TRUSTED = TrustState.TRUSTED.value
UNKNOWN = TrustState.UNAVAILABLE.value
REFUSED = (TrustState.MODIFIED.value, TrustState.UNTRUSTED.value, TrustState.DISABLED.value, TrustState.MISSING.value)
"""With these the host does not run the hook."""

SIDES = {"prompt": "promptTrustStatus", "stop": "backstopTrustStatus"}
"""Where the trust in the hooks of a kind may stand instead."""

TRUST_ORDER = (*REFUSED, UNKNOWN, TRUSTED)
"""Of several hooks the first of these is told."""


class Standing(enum.Enum):
    """WORKING: all of it. IMPAIRED: something is missing. BROKEN: a hook stands there and cannot run. ABSENT: not selected, so nothing is asked of it."""

    WORKING = "working"
    IMPAIRED = "impaired"
    BROKEN = "broken"
    ABSENT = "absent"


STATUSES: Mapping[str, tuple[Standing, str]] = {
    "absent": (Standing.ABSENT, "not selected at install"),
    "no_plugin": (Standing.IMPAIRED, "it was connected, and no plug-in provides it now"),
    "not_found": (Standing.IMPAIRED, "it was connected, and is not found on this machine now"),
    "settings_unusable": (Standing.BROKEN, "its settings file cannot be read, so it ignores all of it"),
    "switched_off": (Standing.BROKEN, "its settings switch all hooks off"),
    "modified": (Standing.BROKEN, "it trusted another command than the one that stands there"),
    "untrusted": (Standing.BROKEN, "nobody has trusted our hook yet"),
    "disabled": (Standing.BROKEN, "a person disabled our hook"),
    "missing": (Standing.BROKEN, "our hook stands in its settings, and it does not know it"),
    "not_runnable": (Standing.BROKEN, "a configured command was run and does not work"),
    "not_configured": (Standing.IMPAIRED, "a hook of ours is not in its settings"),
    "unavailable": (Standing.IMPAIRED, "it could not be asked whether it trusts our hook"),
    "not_as_written": (Standing.IMPAIRED, "a command works, but is not the one install writes"),
    "reviewer_unavailable": (Standing.IMPAIRED, "its hooks run, its sessions cannot be reviewed"),
    "not_examined": (Standing.IMPAIRED, "nobody could look whether it works"),
    "trusted": (Standing.WORKING, "all of it works, and it trusts our hooks"),
    "runnable": (Standing.WORKING, "all of it works; it asks for no trust"),
}
"""Every word of `status`, the first cause first; what it makes of the host, and what it means."""


class Finding(NamedTuple):
    """One thing that is wrong: a word of `STATUSES` and a sentence."""

    word: str
    sentence: str

    @property
    def standing(self) -> Standing:
        """What it makes of the host."""
        return STATUSES[self.word][0]


@attrs.frozen
class Side:
    """The hooks of one kind: `prompt`, or the `backstop` that sees the agent's answer. `trust` None: the host asks for none, or nobody looked."""

    configured: bool
    connected: bool
    trust: str | None


@attrs.frozen
class HostVerdict:
    """`status` is one word for the first thing that is wrong; `connected`: its hooks run; `operational`: its sessions are reviewed too."""

    standing: Standing
    status: str
    reasons: tuple[str, ...]
    configured: bool
    runnable: bool
    connected: bool
    operational: bool
    prompt: Side
    backstop: Side

    def document(self) -> dict[str, Any]:
        """The keys of `clis.<host>` that follow from its facts."""
        return {
            "standing": self.standing.value,
            "status": self.status,
            "reason": "; ".join(self.reasons),
            "configured": self.configured,
            "runnable": self.runnable,
            "connected": self.connected,
            "operational": self.operational,
            "promptConfigured": self.prompt.configured,
            "backstopConfigured": self.backstop.configured,
            "promptConnected": self.prompt.connected,
            "backstopConnected": self.backstop.connected,
            "promptTrustStatus": self.prompt.trust,
            "backstopTrustStatus": self.backstop.trust,
        }


def judge_host(facts: Mapping[str, Any]) -> HostVerdict:
    """The verdict. Facts that are missing are not known: they are no fault, and prove nothing."""
    events = {name: {**one, "trust": _trust(facts, one)} for name, one in (facts.get("events") or {}).items()}
    usable = not facts.get("settingsProblem") and not facts.get("switchedOffIn")
    configured = usable and bool(events) and all(one.get("configured") is True for one in events.values())
    runnable = usable and any(map(_runs, events.values())) and all(_runs(one) for one in events.values() if one.get("configured"))
    selected = bool(facts.get("selected"))
    connected = selected and configured and runnable and facts.get("provided") is not False
    operational = connected and facts.get("reviewerAvailable") is True
    findings = _findings(facts, events) if selected else []
    if selected and not operational and all(one.word == "not_as_written" for one in findings):
        findings.append(Finding("not_examined", "nobody could look whether it works"))
    findings.sort(key=lambda one: list(STATUSES).index(one.word))
    trust = _worst(events.values())
    return HostVerdict(
        standing=_standing(selected, findings),
        status=findings[0].word if findings else ("absent" if not selected else trust or "runnable"),
        reasons=tuple(one.sentence for one in findings),
        configured=configured,
        runnable=runnable,
        connected=connected,
        operational=operational,
        prompt=_side(events, "prompt", usable),
        backstop=_side(events, "stop", usable),
    )


def _trust(facts: Mapping[str, Any], one: Mapping[str, Any]) -> str | None:
    """How the host sees one hook; one that its settings switch off is like one that a person disabled."""
    if one.get("disabled"):
        return TrustState.DISABLED.value
    found = one.get("trust") or facts.get(SIDES.get(str(one.get("kind")), ""))
    return None if found is None else str(found)


def _standing(selected: bool, findings: list[Finding]) -> Standing:
    if not selected:
        return Standing.ABSENT
    if any(one.standing is Standing.BROKEN for one in findings):
        return Standing.BROKEN
    return Standing.IMPAIRED if findings else Standing.WORKING


def _findings(facts: Mapping[str, Any], events: Mapping[str, Mapping[str, Any]]) -> list[Finding]:
    """Everything that is wrong, the first cause first."""
    found: list[Finding] = []
    if facts.get("provided") is False:
        return [Finding("no_plugin", "no plug-in provides it now")]
    if facts.get("absent"):
        found.append(Finding("not_found", "it was not found on this machine"))
    if problem := facts.get("settingsProblem"):
        return [*found, Finding("settings_unusable", f"it ignores its settings: {problem}")]
    if place := facts.get("switchedOffIn"):
        found.append(Finding("switched_off", f"{place} switches all hooks off"))
    found += _hook_findings(events, str(facts.get("reason") or ""))
    if facts.get("reviewerAvailable") is False:
        found.append(
            Finding(
                "reviewer_unavailable",
                f"its sessions cannot be reviewed: {facts.get('reviewerReason') or 'no reviewer'}",
            )
        )
    return found


def _hook_findings(events: Mapping[str, Mapping[str, Any]], reason: str) -> list[Finding]:
    """What is wrong with hooks; `reason` is why the host's trust could not be asked."""
    there = {name: one for name, one in events.items() if one.get("configured")}
    found = [
        Finding(state, f"it does not run our hook for {', '.join(names)}: {state}")
        for state in REFUSED
        if (names := [name for name, one in there.items() if one.get("trust") == state])
    ]
    for problem in dict.fromkeys(one["problem"] for one in there.values() if one.get("problem")):
        names = [name for name, one in there.items() if one.get("problem") == problem]
        found.append(Finding("not_runnable", f"the command for {', '.join(names)} does not work: {problem}"))
    if missing := [name for name, one in events.items() if one.get("configured") is False]:
        found.append(Finding("not_configured", f"no hook of ours for {', '.join(missing)}"))
    if unknown := [name for name, one in there.items() if one.get("trust") == UNKNOWN]:
        why = f": {reason}" if reason else ""
        found.append(Finding(UNKNOWN, f"whether it trusts our hook for {', '.join(unknown)} could not be asked{why}"))
    if other := [name for name, one in there.items() if one.get("asWritten") is False]:
        found.append(Finding("not_as_written", f"the command for {', '.join(other)} is not the one install writes"))
    return found


def _runs(one: Mapping[str, Any]) -> bool:
    """Whether this hook was proved to run: it stands there, its command was run and answered, and the host is not known to refuse it."""
    return one.get("configured") is True and one.get("problem") == "" and one.get("trust") in (None, TRUSTED)


def _worst(events: Any) -> str | None:
    states = {one.get("trust") for one in events}
    return next((state for state in TRUST_ORDER if state in states), None)


def _side(events: Mapping[str, Mapping[str, Any]], kind: str, usable: bool) -> Side:
    ours = [one for one in events.values() if one.get("kind") == kind]
    return Side(
        configured=usable and bool(ours) and all(one.get("configured") is True for one in ours),
        connected=usable and bool(ours) and all(map(_runs, ours)),
        trust=_worst(ours),
    )
