"""Options every command takes, before or after its name, and the two ways to answer: lines for people, JSON for programs."""

from __future__ import annotations

import functools
import json
import sys
from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeVar

import click

F = TypeVar("F", bound=Callable[..., Any])


class Answer:
    """How to answer and for which home."""

    def __init__(self, home: str | None, as_json: bool) -> None:
        self.home = home
        self.as_json = as_json

    def give(self, data: Any, lines: Iterable[str]) -> None:
        """Print the JSON, or the lines."""
        if self.as_json:
            click.echo(json.dumps(data, ensure_ascii=False, indent=2, sort_keys=False, default=str))
        else:
            for line in lines:
                click.echo(plain(line))

    def progress(self, line: str) -> None:
        """Say how long work goes on, on standard error, to people only."""
        if not self.as_json and sys.stderr.isatty():
            click.echo(line, err=True)


OUTPUTS = ("text", "json")


def common(function: F) -> F:
    """Add --home, --json, --format and --verbose, merged with what was said before the command's name; passes an `Answer` first."""
    return taking(())(function)


def taking(formats: Sequence[str]) -> Callable[[F], F]:
    """The same for a command whose --format also says what a file is in: these words, passed as `file_format` (None when none was said)."""

    def decorate(function: F) -> F:
        @click.option("--home", metavar="PATH", help="Use another home directory.")
        @click.option("--json", "as_json", is_flag=True, help="Print JSON.")
        @click.option("--format", "output_formats", type=click.Choice([*OUTPUTS, *formats]), multiple=True, help=_format_help(formats))
        @click.option("--verbose", is_flag=True, help="Show the cause of an error.")
        @click.pass_context
        @functools.wraps(function)
        def wrapped(
            ctx: click.Context, /, home: str | None, as_json: bool, output_formats: tuple[str, ...], verbose: bool, **more: Any
        ) -> Any:
            del verbose
            said = [context.params for context in _parents(ctx)]
            if any(params.get("db") is not None for params in said) and "db" not in ctx.params:
                raise click.UsageError("this command is about the home and takes no --db", ctx)
            home = home if home is not None else next((params["home"] for params in said if params.get("home") is not None), None)
            before = any(params.get("as_json") or params.get("output_format") == "json" for params in said)
            told = [one for one in output_formats if one in OUTPUTS]
            if formats:
                more["file_format"] = next((one for one in reversed(output_formats) if one in formats), None)
            return function(Answer(home, as_json or before or told[-1:] == ["json"]), **more)

        return wrapped  # type: ignore[return-value]

    return decorate


def _format_help(formats: Sequence[str]) -> str:
    return "`--format json` equals --json." if not formats else "What the file is in; `--format json` equals --json."


def _parents(ctx: click.Context) -> Iterable[click.Context]:
    parent = ctx.parent
    while parent is not None:
        yield parent
        parent = parent.parent


class HelpfulGroup(click.Group):
    """A group that takes the common options itself and prints its help when called without a command."""

    def __init__(self, *arguments: Any, **keywords: Any) -> None:
        keywords.setdefault("invoke_without_command", True)
        keywords.setdefault("context_settings", {"help_option_names": ["-h", "--help"]})
        super().__init__(*arguments, **keywords)
        self.params.extend(
            [
                click.Option(["--home"], metavar="PATH", help="Use another home directory."),
                click.Option(["--json", "as_json"], is_flag=True, help="Print JSON."),
                click.Option(["--format", "output_format"], type=click.Choice(["text", "json"]), help="`--format json` equals --json."),
                click.Option(["--verbose"], is_flag=True, help="Show the cause of an error."),
            ]
        )

    def invoke(self, ctx: click.Context) -> Any:
        """Show the help when nothing was asked."""
        if not ctx._protected_args and not ctx.args:  # noqa: SLF001 - click's own way to hold the command's name until it is resolved
            click.echo(ctx.get_help())
            return 0
        return super().invoke(ctx)


def plain(text: str) -> str:
    """What models and people wrote, without what a terminal would obey: control and format characters become the replacement character.

    The joiners of Persian, Sinhala and others stay where they are a part of how a word is written.
    """
    import unicodedata

    shown: list[str] = []
    for char in text:
        obeyed = char not in "\n\t" and unicodedata.category(char) in ("Cc", "Cf", "Co", "Cs")
        spelt = char in _JOINERS and shown and not shown[-1].isascii() and shown[-1] not in (*_JOINERS, "\ufffd")
        shown.append("\ufffd" if obeyed and not spelt else char)
    return "".join(shown)


_JOINERS = "\u200c\u200d"


def one_line(text: str) -> str:
    """The same for a name that stands in a line of its own: line breaks and tabs in it as well."""
    return plain(text.replace("\n", "\ufffd").replace("\t", "\ufffd"))


def moment(ms: int | None) -> str:
    """A time for people: UTC to the minute, or `never`."""
    import datetime as dt

    if ms is None:
        return "never"
    return dt.datetime.fromtimestamp(ms / 1000, tz=dt.UTC).strftime("%Y-%m-%d %H:%M")


def table(rows: Sequence[tuple[str, ...]], head: tuple[str, ...]) -> list[str]:
    """Aligned columns; nothing but the head's absence when there are no rows."""
    if not rows:
        return []
    widths = [max(len(row[column]) for row in (head, *rows)) for column in range(len(head))]
    return ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in (head, *rows)]
