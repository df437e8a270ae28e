"""`afl forget`: what is to go is shown first; it goes when that is confirmed."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

import click

from afl_core.cli.grain_lines import counted, lines
from afl_core.cli.opening import Asked, Opened, on_memory
from afl_core.cli.options import plain
from afl_core.cli.standard_input import is_terminal
from afl_core.model.errors import AflError

if TYPE_CHECKING:
    from collections.abc import Callable


SHOWN = 20
"""Grains that are shown before they go; of more their number is said."""
UNASKED = "AFL-USAGE-003"


@click.command(
    help="Erase grains, down to their bytes: by their addresses, every fact about a subject and its parts, or all of a session. What is to go is"
    " shown first, and goes when you say so. What hooks captured may go too, and is not captured again. This cannot be undone."
)
@click.argument("hashes", nargs=-1, metavar="[HASH]...")
@click.option("--subject", metavar="NAME", help="Every fact about this subject and its parts (`pat`, `pat#visit1`, never `patricia`).")
@click.option(
    "--session", metavar="ID", help="Every grain of this session (also the host's own id), in every namespace unless --ns names one."
)
@click.option("--keep-out", is_flag=True, help="Let the values stay out from now on, in every spelling.")
@click.option("--dry-run", is_flag=True, help="Only show what would go.")
@click.option("--yes", is_flag=True, help="Do not ask.")
@on_memory
def forget(
    asked: Asked, hashes: tuple[str, ...], subject: str | None, session: str | None, keep_out: bool, dry_run: bool, yes: bool
) -> None:
    """Forget."""
    if [bool(hashes), subject is not None, session is not None].count(True) != 1:
        raise click.UsageError("say what to forget, in one way: addresses of grains, --subject or --session", click.get_current_context())
    if hashes and asked.ns is not None:
        raise click.UsageError("an address is one grain's, in whatever namespace: leave --ns out", click.get_current_context())
    told = {"command": "forget", "subject": subject, "session": session, "keep_out": keep_out}
    with asked.memory(one_ns=session is None) as opened:
        memory = opened.memory
        erase = _erasing(opened, hashes, subject, session)
        found = erase(dry_run=True)
        shown = lines((memory.get(one) for one in found[:SHOWN]), opened.now())
        if len(found) > SHOWN:
            shown.append(f"… and {len(found) - SHOWN} more")
        if dry_run or not found:
            end = f"{counted(len(found))} would be erased" if found else "nothing to forget"
            asked.answer.give({**told, "dry_run": dry_run, "hashes": found, "forgotten": 0}, [*shown, end])
            return
        if not yes:
            _confirmed(shown, len(found))
        if hashes:  # the grains that were shown, whatever else begins alike by now
            erase = functools.partial(memory.forget_many, found)
        gone = erase(keep_out=keep_out)
    ends = f"forgot {counted(len(gone))}" + ("; the values stay out" if keep_out else "")
    asked.answer.give({**told, "dry_run": False, "hashes": gone, "forgotten": len(gone)}, [*(shown if yes else []), ends])


def _erasing(opened: Opened, hashes: tuple[str, ...], subject: str | None, session: str | None) -> Callable[..., list[str]]:
    from afl_core.api.by_hand import session_of

    memory = opened.memory
    if hashes:
        return functools.partial(memory.forget_many, hashes)
    if subject is not None:
        return functools.partial(memory.forget_subject, subject)
    return functools.partial(memory.forget_session, session_of(opened.home, memory, str(session)), opened.ns or "*")


def _confirmed(shown: list[str], count: int) -> None:
    for line in shown:
        click.echo(plain(line), err=True)
    if not is_terminal():
        raise AflError(
            f"nothing was forgotten: {counted(count)} would go, and nobody is there to be asked",
            code=UNASKED,
            hint="look at what --dry-run shows, then give --yes",
        )
    click.confirm(f"erase {counted(count)} for good?", abort=True, err=True)
