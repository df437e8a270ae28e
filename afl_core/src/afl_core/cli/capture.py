"""`afl capture status|on|off`."""

from __future__ import annotations

import click

from afl_core.cli.options import Answer, HelpfulGroup, common


@click.group(cls=HelpfulGroup, help="Switch the keeping of evidence on or off. Cards are given back either way.")
def capture(**_options: object) -> None:
    """Group."""


def _give(answer: Answer, action: str, policy: dict[str, object]) -> None:
    kept = "evidence is kept" if policy["enabled"] else "no evidence is kept"
    given = "cards are given back" if policy["memory_enabled"] else "no cards are given back (AGENT_FEEDBACK_LOOP_MEMORY_ENABLED)"
    answer.give(
        {"command": "capture", "action": action, "policy": policy}, [f"capture is {'on' if policy['enabled'] else 'off'}: {kept}; {given}"]
    )


@capture.command("status", help="Show whether evidence is kept.")
@common
def status(answer: Answer) -> None:
    """Read."""
    from afl_core.api import capture as api
    from afl_core.api.home import Home

    with Home(answer.home) as home:
        _give(answer, "status", api.read(home))


@capture.command("on", help="Keep evidence.")
@common
def switch_on(answer: Answer) -> None:
    """Switch on."""
    _switch(answer, "on")


@capture.command("off", help="Keep no new evidence; what is there stays, cards are still given back.")
@common
def switch_off(answer: Answer) -> None:
    """Switch off."""
    _switch(answer, "off")


def _switch(answer: Answer, action: str) -> None:
    from afl_core.api import capture as api
    from afl_core.api.home import Home

    with Home(answer.home) as home:
        _give(answer, action, api.switch(home, action == "on"))
