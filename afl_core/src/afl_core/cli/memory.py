"""`afl memory list|show|explain|disable|enable|changes|undo|import-native`."""

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
@click.argument("directory", required=False, type=click.Path(exists=True, file_okay=False))
@click.option("--global", "only_global", is_flag=True, help="Only the global ones.")
@click.option("--all", "every", is_flag=True, help="Of all projects, and those that were retracted.")
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
            one["gist"],
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
    lines.append(f"  {'Id':<10} {one['lesson_id']}")
    if "retracted_by" in one:
        lines.append(
            f"  {'Retracted':<10} by change {one['retracted_by']} at {moment(one['retracted_ms'])} UTC; bring it back with:"
            f" afl memory undo {one['retracted_by']}"
        )
    card = one["card"] or {}
    lines += [f"  {label:<10} {card[key]}" for key, label in LABELS if key in card]
    lines += [f"  {'Evidence':<10} “{reference['feedback_quote']}”" for reference in one["evidence"] or [] if isinstance(reference, dict)]
    lines += [f"  {'Record':<10} {_record(one)}"]
    lines += [
        f"  {'Delivered':<10} {moment(delivery['emitted_ms'])} UTC to {delivery['session_id']}: {delivery['state']}"
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
    lines = [f"session {told['session_id']} (times in UTC)"]
    for prompt in told["prompts"]:
        what = {"prompt": "prompt", "session_start": "new context window"}.get(prompt["kind"], prompt["kind"])
        words = f" “{prompt['words']}”" if prompt["words"] else ""
        lines.append(f"{what} {moment(prompt['at_ms'])}{words}")
        lines += [f"  hold: {hold}" for hold in prompt["holds"]]
        lines += [f"  {_at_prompt(one)}" for one in sorted(prompt["lessons"], key=lambda one: one["reason"] != "given")]
        if not prompt["lessons"]:
            lines.append("  the project has no lesson")
    return lines if len(lines) > 1 else [*lines, "  no prompt of it was seen yet"]


def _at_prompt(one: dict[str, Any]) -> str:
    card = ", ".join(part for part in (one["gist"], "" if one["status"] == "active" else f"now {one['status']}") if part)
    said = f"{one['state']} ({_because(one['match'])})" if one["reason"] == "given" else one["meaning"]
    what = "given" if one["reason"] == "given" else "left out"
    named = " ".join(part for part in (one["severity"], one["short_id"], card and f"({card})") if part)
    return f"{what}: {named}: {said}"


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
@click.option("--reason", default="", help="Why, in at most 500 characters; redacted and kept with the change.")
@common
def disable(answer: Answer, lesson: str, reason: str) -> None:
    """Switch off."""
    _switch(answer, lesson, reason, on=False)


@memory.command("enable", help="Give this lesson to agents again.")
@click.argument("lesson")
@click.option("--reason", default="", help="Why, in at most 500 characters; redacted and kept with the change.")
@common
def enable(answer: Answer, lesson: str, reason: str) -> None:
    """Switch on."""
    _switch(answer, lesson, reason, on=True)


def _called(done: dict[str, Any]) -> str:
    return f"{done['short_id']} ({done['gist']})" if done["gist"] else str(done["short_id"])


def _switch(answer: Answer, lesson: str, reason: str, *, on: bool) -> None:
    from afl_core.api import lessons as api
    from afl_core.api.home import Home

    with Home(answer.home) as home:
        done = api.switched(home, lesson, on=on, reason=reason)
    word = "enabled" if on else "disabled"
    answer.give({"command": "memory", "action": word, **done}, [f"{_called(done)} is {word}; undo with: afl memory undo {done['change']}"])


@memory.command("changes", help="The newest changes of what agents will be told, by number.")
@click.option("--limit", type=click.IntRange(1, 1000), default=20, show_default=True)
@common
def changes(answer: Answer, limit: int) -> None:
    """List the audit chain."""
    from afl_core.api import lessons as api
    from afl_core.api.home import Home

    with Home(answer.home) as home:
        found = api.changed(home, limit)
    rows = [
        (
            str(one["n"]),
            moment(one["at_ms"]),
            one["actor"],
            one["action"] if one["undoes"] is None else f"{one['action']} of {one['undoes']}",
            one["short_id"] or one["action"].partition(".")[0] + " " + one["target"][:12],
            one["gist"],
            "(erased)" if one["reason"] is None else one["reason"],
        )
        for one in found
    ]
    answer.give(
        {"command": "memory", "action": "changes", "changes": found},
        table(rows, ("n", "when (UTC)", "by", "action", "of", "card", "reason")) or ["nothing was changed yet"],
    )


@memory.command("undo", help="Undo one change by its number (see `memory changes`); undoing an undo does the change again.")
@click.argument("change", type=int)
@click.option("--reason", default="", help="Why, in at most 500 characters; redacted and kept with the change.")
@common
def undo(answer: Answer, change: int, reason: str) -> None:
    """Undo."""
    from afl_core.api import lessons as api
    from afl_core.api.home import Home

    with Home(answer.home) as home:
        done = api.undone(home, change, reason=reason)
    line = f"change {change} ({done['action']} of {_called(done)}) is undone by change {done['change']}"
    answer.give({"command": "memory", "action": "undo", **done}, [f"{line}; take that back with: afl memory undo {done['change']}"])


@memory.command(
    "import-native",
    help="Remember what the coding agent's own memory holds of your guidance for a directory's project (default: this one).",
)
@click.argument("directory", required=False, type=click.Path(exists=True, file_okay=False))
@click.option("--host", metavar="NAME", help="Only the memory of this host.")
@click.option("--dry-run", is_flag=True, help="Say what would be imported; change nothing.")
@common
def import_native(answer: Answer, directory: str | None, host: str | None, dry_run: bool) -> None:
    """Import."""
    from afl_core.api.home import Home
    from afl_core.api.native_memory import imported

    with Home(answer.home) as home:
        rows = imported(home, directory, host, dry_run=dry_run)
    lines = table([(one["host"], one["file"], one["action"], one["reason"]) for one in rows], ("host", "file", "action", "reason"))
    answer.give(
        {"command": "memory", "action": "import-native", "dry_run": dry_run, "notes": rows}, lines or ["there is no such memory here"]
    )
