"""`afl memory list|show|explain|disable|enable|changes|undo`."""

from __future__ import annotations

from typing import Any

import click

from afl_core.cli.options import Answer, HelpfulGroup, common, moment, table

LABELS = (
    ("when", "When"),
    ("must_do", "Must do"),
    ("must_not", "Must not"),
    ("verify", "Verify"),
    ("why", "Why"),
    ("exception", "Exception"),
)


@click.group(cls=HelpfulGroup, help="Show what was learnt and what was given to agents.")
def memory(**_options: object) -> None:
    """Group."""


@memory.command("list", help="Lessons of the project of a directory (default: this one), and the global ones.")
@click.argument("directory", required=False, type=click.Path(file_okay=False))
@click.option("--global", "only_global", is_flag=True, help="Only the global ones.")
@click.option("--all", "every", is_flag=True, help="Of all projects.")
@common
def list_(answer: Answer, directory: str | None, only_global: bool, every: bool) -> None:
    """List."""
    from afl_core.api import lessons as api
    from afl_core.api.home import Home

    with Home(answer.home) as home:
        found = api.listed(home, directory, only_global=only_global, every=every)
    rows = [
        (
            one["severity"],
            one["short_id"],
            one["status"],
            f"{one['revision']}",
            "global" if one["project_id"] is None else "project",
            _record(one),
            (one["card"] or {}).get("when", "")[:60],
        )
        for one in found
    ]
    answer.give(
        {"command": "memory", "action": "list", "lessons": found},
        table(rows, ("severity", "lesson", "status", "rev", "where", "record", "when")) or ["nothing was learnt here yet"],
    )


def _record(one: dict[str, Any]) -> str:
    return str(one["effect"]["words"]) if one["effect"] else "-"


@memory.command("show", help="One lesson in full: its card, evidence, revisions and deliveries.")
@click.argument("lesson")
@common
def show(answer: Answer, lesson: str) -> None:
    """Show."""
    from afl_core.api import lessons as api
    from afl_core.api.home import Home

    with Home(answer.home) as home:
        one = api.shown(home, lesson)
    answer.give({"command": "memory", "action": "show", "lesson": one}, _lines(one))


def _lines(one: dict[str, Any]) -> list[str]:
    lines = [
        f"{one['severity']} · {one['short_id']} · revision {one['revision']} · {one['status']} · {'global' if one['project_id'] is None else 'project ' + one['project_id'][:12]}"
    ]
    card = one["card"] or {}
    lines += [f"  {label:<10} {card[key]}" for key, label in LABELS if key in card]
    lines += [f"  {'Evidence':<10} “{reference['feedback_quote']}”" for reference in one["evidence"] or [] if isinstance(reference, dict)]
    lines += [f"  {'Record':<10} {_record(one)}"]
    lines += [
        f"  {'Delivered':<10} {moment(delivery['emitted_ms'])} to {delivery['session_id']}: {delivery['state']}"
        for delivery in one["deliveries"]
    ]
    return lines


@memory.command("explain", help="What a session was given, what was left out, and why (default: the session seen last).")
@click.argument("session", required=False)
@common
def explain(answer: Answer, session: str | None) -> None:
    """Explain."""
    from afl_core.api import lessons as api
    from afl_core.api.home import Home

    with Home(answer.home) as home:
        session = session or api.latest_session(home)
        if session is None:
            answer.give({"command": "memory", "action": "explain", "session": None}, ["no session was seen yet"])
            return
        told = api.explained(home, session)
    answer.give({"command": "memory", "action": "explain", **told}, _explained(told))


def _explained(told: dict[str, Any]) -> list[str]:
    lines = [f"session {told.get('session_id')}"]
    lines += [f"  given: {one['severity']} {one['short_id']}: {one['state']} ({_because(one['match'])})" for one in told["given"]]
    lines += [f"  left out: {one['severity']} {one['short_id']}: {one['meaning']}" for one in told["left"]]
    lines += [f"  hold: {hold}" for hold in told["holds"]]
    return lines if len(lines) > 1 else [*lines, "  nothing was given and nothing was left out"]


def _because(match: dict[str, Any]) -> str:
    return (
        "; ".join(
            f"{name}: {value if isinstance(value, str) else ', '.join(map(str, value)) if isinstance(value, list) else value}"
            for name, value in match.items()
        )
        or "no condition"
    )


@memory.command("disable", help="Do not give this lesson to agents any more; `memory enable` or `memory undo` brings it back.")
@click.argument("lesson")
@click.option("--reason", default="", help="Why; kept with the change.")
@common
def disable(answer: Answer, lesson: str, reason: str) -> None:
    """Switch off."""
    _switch(answer, lesson, reason, on=False)


@memory.command("enable", help="Give this lesson to agents again.")
@click.argument("lesson")
@click.option("--reason", default="", help="Why; kept with the change.")
@common
def enable(answer: Answer, lesson: str, reason: str) -> None:
    """Switch on."""
    _switch(answer, lesson, reason, on=True)


def _switch(answer: Answer, lesson: str, reason: str, *, on: bool) -> None:
    from afl_core.api import lessons as api
    from afl_core.api.home import Home

    with Home(answer.home) as home:
        done = api.switched(home, lesson, on=on, reason=reason)
    word = "enabled" if on else "disabled"
    answer.give(
        {"command": "memory", "action": word, **done}, [f"{done['lesson_id']} is {word}; undo with: afl memory undo {done['change']}"]
    )


@memory.command("changes", help="The newest changes of what agents will be told, by number.")
@click.option("--limit", type=click.IntRange(1, 1000), default=20, show_default=True)
@common
def changes(answer: Answer, limit: int) -> None:
    """List the audit chain."""
    from afl_core.api import lessons as api
    from afl_core.api.home import Home

    with Home(answer.home) as home:
        found = api.changed(home, limit)
    rows = [(str(one["n"]), moment(one["at_ms"]), one["actor"], one["action"], one["target"]) for one in found]
    answer.give(
        {"command": "memory", "action": "changes", "changes": found},
        table(rows, ("n", "when", "by", "action", "of")) or ["nothing was changed yet"],
    )


@memory.command("undo", help="Undo one change by its number (see `memory changes`).")
@click.argument("change", type=int)
@click.option("--reason", default="", help="Why; kept with the change.")
@common
def undo(answer: Answer, change: int, reason: str) -> None:
    """Undo."""
    from afl_core.api import lessons as api
    from afl_core.api.home import Home

    with Home(answer.home) as home:
        done = api.undone(home, change, reason=reason)
    answer.give({"command": "memory", "action": "undo", **done}, [f"change {change} is undone (change {done['change']})"])
