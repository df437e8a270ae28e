"""Ask a host, through its own server, whether it runs our hooks, and let it trust or forget them. The adapter knows the language, here is the carrying."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import attrs

from afl_core.api.home import Home
from afl_core.model.errors import ProcessError
from afl_core.plugins.isolation import describe
from afl_core.processes.dialogue import dialogue
from afl_core.processes.environment import child_environment
from afl_core.setup.selection import Selected
from afl_core.spec.host import HostPlace
from afl_core.spec.trust import AsksTrust, TrustDialogue, TrustFinding, TrustReport, TrustState, WantedHook

Speak = Callable[[AsksTrust, tuple[WantedHook, ...], Path], TrustDialogue]
"""Chooses the dialogue to hold."""

REASON_CHARS = 500
"""Characters of a reason that are kept."""


@attrs.frozen
class Asked:
    """What a host said, and the command that said it; '' when none answered."""

    report: TrustReport
    command: str = ""


def looking(adapter: AsksTrust, wanted: tuple[WantedHook, ...], cwd: Path) -> TrustDialogue:
    """Only look."""
    return adapter.trust_dialogue(wanted, cwd, approve=False)


def approving(adapter: AsksTrust, wanted: tuple[WantedHook, ...], cwd: Path) -> TrustDialogue:
    """Trust what the person did not switch off."""
    return adapter.trust_dialogue(wanted, cwd, approve=True)


def distrusting(adapter: AsksTrust, wanted: tuple[WantedHook, ...], cwd: Path) -> TrustDialogue:
    """Forget it again."""
    return adapter.distrust_dialogue(wanted, cwd)


def asks_trust(one: Selected) -> AsksTrust | None:
    """The host's adapter where the host runs a hook only after it was trusted."""
    return one.adapter if isinstance(one.adapter, AsksTrust) else None


def wanted_hooks(one: Selected, home: Home, python: str) -> tuple[WantedHook, ...]:
    """The hooks as install writes them."""
    return tuple(WantedHook(entry.event, entry.command, one.settings_path) for entry in one.entries(home.paths, python))


def place_of(one: Selected) -> HostPlace:
    """The place as the adapter knows it."""
    return HostPlace(one.config_dir, one.settings_path, one.binary, one.present)


def ask_host(home: Home, one: Selected, wanted: tuple[WantedHook, ...], speak: Speak) -> Asked:
    """Hold one dialogue, with the first server that answers; whatever goes wrong is the report's reason, never an error."""
    adapter = asks_trust(one)
    if adapter is None or not wanted:
        return Asked(TrustReport(()))
    environ = {**home.reviewer_environ, "HOME": home.paths.home}
    try:
        place = place_of(one)
        environment = child_environment(environ, one.manifest.routing_env, adapter.trust_environment(place, environ))
        commands = adapter.trust_commands(place, environ)
        # The home is a directory that is there, and no project whose hooks are somebody else's.
        return _ask_in_turn(commands, lambda: speak(adapter, wanted, Path(home.paths.home)), environment, home.paths.home, wanted)
    except Exception as bad:  # noqa: BLE001 - a plug-in's error is what the report says; install and doctor go on
        return Asked(unavailable(wanted, f"{one.name} could not be asked: {describe(bad, verbatim=False)}"))


def unavailable(wanted: tuple[WantedHook, ...], reason: str) -> TrustReport:
    """Nothing is known of any of them."""
    findings = tuple(TrustFinding(hook.event, TrustState.UNAVAILABLE) for hook in wanted)
    return TrustReport(findings, reason=" ".join(reason.split())[:REASON_CHARS])


def _ask_in_turn(
    commands: tuple[tuple[str, ...], ...],
    begin: Callable[[], TrustDialogue],
    environment: Mapping[str, str],
    cwd: str,
    wanted: tuple[WantedHook, ...],
) -> Asked:
    """One after the other until one has answered the first message; that one's word is final, an error of it too."""
    reasons = []
    for argv in commands:
        answered = False
        try:
            with dialogue(argv, environment=environment, cwd=cwd) as held:
                talk, answer = begin(), None
                while True:
                    try:
                        ask = talk.send(answer)
                    except StopIteration as end:
                        return Asked(end.value, argv[0])
                    if ask.answer_id is None:
                        held.tell(ask.message)
                        answer = None
                    else:
                        answer = held.ask(ask.message, ask.answer_id)
                        answered = True
        except ProcessError as bad:
            if answered:
                return Asked(unavailable(wanted, bad.sentence), argv[0])
            reasons.append(bad.sentence)
    return Asked(unavailable(wanted, "; ".join(reasons) or "there is no command to ask"))
