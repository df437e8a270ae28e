"""What a person, or a program, is told when a command ends badly: a code, a sentence, the next step; the cause when it is asked for."""

from __future__ import annotations

import json
import os
import re
import sqlite3
import sys
import traceback
from collections.abc import Sequence
from itertools import pairwise
from shlex import quote

import click

from afl_core.api.errors import understood
from afl_core.model.errors import AflError

USAGE = "AFL-USAGE-001"
STOPPED = "AFL-USAGE-002"
DEFECT = "AFL-DEFECT-001"


def told(bad: BaseException, given: Sequence[str]) -> int:
    """Say it on standard error, and with --json also as an object on standard output; gives the exit code."""
    error = _for(known(bad), given)
    try:
        for line in error.lines():
            click.echo(line, err=True)
        if "--verbose" in given:
            _cause(bad, error)
        if "--json" in given or ("json" in given and "--format" in given) or "--format=json" in given:
            click.echo(
                json.dumps({"error": {"code": error.code, "message": error.sentence, "next": error.hint}}, ensure_ascii=False, indent=2)
            )
            sys.stdout.flush()
    except OSError:
        sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115 - nobody can be told any more
    return error.exit_code


_STEP = re.compile(r"run: afl( [a-z-]+)+")
_ABOUT_A_FILE = re.compile(r"run: afl (verify|forks|forget|sweep|export)\b")


def _for(error: AflError, given: Sequence[str]) -> AflError:
    """The next step for the home, and the memory file, that the command was given."""
    if _STEP.fullmatch(error.hint):
        names = ("--home", "--db") if _ABOUT_A_FILE.match(error.hint) else ("--home",)
        said = {name: value for name in names if (value := _value_of(name, given)) is not None}
        error.hint += "".join(f" {name} {quote(value)}" for name, value in said.items())
    return error


def _value_of(name: str, given: Sequence[str]) -> str | None:
    after = [following for one, following in pairwise(given) if one == name]
    joined = [one.partition("=")[2] for one in given if one.startswith(f"{name}=")]
    return next(iter((*after, *joined)), None)


def known(bad: BaseException) -> AflError:
    """Any exception as an error of this product's family. What nobody foresaw is named by its type and place, never by its words."""
    if isinstance(bad, AflError):
        return bad
    if isinstance(bad, (click.Abort, KeyboardInterrupt)):
        return AflError("stopped", code=STOPPED)
    if isinstance(bad, click.ClickException):
        context = getattr(bad, "ctx", None)
        return AflError(bad.format_message(), code=USAGE, hint=f"{context.command_path if context else 'afl'} --help")
    if isinstance(bad, (sqlite3.Error, OSError)):
        return understood(bad)
    place = traceback.extract_tb(bad.__traceback__)[-1:]
    where = f" at {os.path.basename(place[0].filename)}:{place[0].lineno}" if place else ""
    return AflError(
        f"a defect of this product: {type(bad).__name__}{where}", code=DEFECT, hint="run it again with --verbose and report what it prints"
    )


def _cause(bad: BaseException, error: AflError) -> None:
    """What foreign errors say may quote a text: it is shown as it would be kept, or without their words where that cannot be told."""
    from afl_core.api.redaction import shown

    if error.code == DEFECT:
        whole = shown("".join(traceback.format_exception(bad)))
        click.echo("".join(traceback.format_tb(bad.__traceback__)) + type(bad).__name__ if whole is None else whole, err=True)
    cause = bad.__cause__ if isinstance(bad, AflError) else bad
    if cause is not None and error.code not in (USAGE, STOPPED):
        said = shown(str(cause))
        click.echo(f"  cause: {type(cause).__name__}" + ("" if said is None else f": {said}"), err=True)
