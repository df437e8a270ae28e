"""`afl install` and `afl uninstall`."""

from __future__ import annotations

from typing import Any

import click

from afl_core.cli.options import Answer, common


@click.command(help="Connect the coding agents found here. Run it again after an upgrade: it says what changed.")
@click.option("--dry-run", is_flag=True, help="Show every step and every edit; change nothing.")
@click.option("--host", "hosts", multiple=True, metavar="NAME", help="Connect only this host (may be repeated).")
@click.option("--replace-existing", is_flag=True, help="Replace an installation of another product in the same place; it is backed up.")
@click.option(
    "--schedule/--no-schedule",
    default=None,
    help="Let the service manager run what hooks miss. Default: yes, for your own home, where it can.",
)
@click.option(
    "--claude-plugin", is_flag=True, help="Put Claude Code's hooks into a plug-in folder instead of its settings. Without it: back."
)
@common
def install(
    answer: Answer, dry_run: bool, hosts: tuple[str, ...], replace_existing: bool, schedule: bool | None, claude_plugin: bool
) -> None:
    """Plan, and unless it is a dry run, apply."""
    from afl_core.api.home import Home
    from afl_core.setup.install import apply_install, plan_install

    with Home(answer.home) as home:
        plugins = ("claude",) if claude_plugin else ()
        plan = plan_install(home, hosts=hosts or None, replace_existing=replace_existing, schedule=schedule, plugins=plugins)
        if dry_run:
            body = {**_plan(plan), "changes": [one.document() for one in plan.differences]}
            answer.give({"command": "install", "dry_run": True, **body}, _planned("install", plan))
            return
        result = apply_install(plan)
    body = {
        "build": result.build,
        "hosts": list(result.hosts),
        "changed": result.changed,
        "done": list(result.done),
        "changes": [one.document() for one in result.differences],
        "warnings": list(result.warnings),
    }
    answer.give(
        {"command": "install", "dry_run": False, **body},
        _done(result.done, result.warnings, "everything is in place already", "next: afl doctor"),
    )


@click.command(help="Disconnect the coding agents and stop the worker. Memory and keys stay; their places are told.")
@click.option("--remove-files", is_flag=True, help="Also delete the pack (hook, prompts, rules); never the memory.")
@click.option("--dry-run", is_flag=True, help="Show every step and every edit; change nothing.")
@common
def uninstall(answer: Answer, remove_files: bool, dry_run: bool) -> None:
    """Plan, and unless it is a dry run, apply."""
    from afl_core.api.home import Home
    from afl_core.setup.uninstall import apply_uninstall, plan_uninstall

    with Home(answer.home) as home:
        plan = plan_uninstall(home, remove_files=remove_files)
        if dry_run:
            answer.give({"command": "uninstall", "dry_run": True, **_plan(plan)}, _planned("uninstall", plan))
            return
        result = apply_uninstall(plan)
    body = {"changed": result.changed, "done": list(result.done), "kept": list(result.kept)}
    answer.give(
        {"command": "uninstall", "dry_run": False, **body},
        [*_done(result.done, (), "nothing was installed here", ""), *(f"kept: {path}" for path in result.kept)],
    )


def _plan(plan: Any) -> dict[str, Any]:
    return {
        "steps": list(plan.steps),
        "edits": [{"path": str(edit.path), "diff": edit.diff} for edit in plan.edits],
        "warnings": list(getattr(plan, "warnings", ())),
    }


def _planned(command: str, plan: Any) -> list[str]:
    lines = [f"- would {step[0].lower()}{step[1:]}" if step else "" for step in plan.steps] or ["nothing to do"]
    for edit in plan.edits:
        if edit.diff:
            lines += ["", *edit.diff.rstrip("\n").splitlines()]
    lines += [f"note: {warning}" for warning in getattr(plan, "warnings", ())]
    lines += [f"kept: {path}" for path in getattr(plan, "kept", ())]
    return [f"afl {command} --dry-run: nothing was changed", *lines]


def _done(done: tuple[str, ...], warnings: tuple[str, ...], nothing: str, after: str) -> list[str]:
    lines = [f"- {step}" for step in done] or [nothing]
    return [*lines, *(f"note: {warning}" for warning in warnings), *([after] if after and done else [])]
