"""The `afl` command: a lazy group, so that asking for help costs no more than click itself. Prints errors and chooses exit codes; decides nothing."""

from __future__ import annotations

import importlib
import os
import sys

import click

from afl_core.model.errors import AflError

COMMANDS = {
    "install": ("afl_core.cli.setup:install", "Connect the coding agents found here."),
    "uninstall": ("afl_core.cli.setup:uninstall", "Disconnect them; memory stays."),
    "doctor": ("afl_core.cli.doctor:doctor", "Check that everything works, by running it."),
    "paths": ("afl_core.cli.paths:paths", "Show where things lie."),
    "capture": ("afl_core.cli.capture:capture", "Switch the keeping of evidence on or off."),
    "memory": ("afl_core.cli.memory:memory", "Show what was learnt and what was given to agents."),
    "add": ("afl_core.cli.grains:add", "Store a fact or another grain."),
    "search": ("afl_core.cli.finding:search", "Find grains by free text."),
    "recall": ("afl_core.cli.finding:recall", "Find grains about a subject."),
    "history": ("afl_core.cli.finding:history", "Show what was said of a thing before."),
    "forks": ("afl_core.cli.finding:forks", "Show things that copies disagree about."),
    "merge": ("afl_core.cli.changing:merge", "End a fork: say what is right."),
    "supersede": ("afl_core.cli.changing:supersede", "Put something new in the place of a grain."),
    "retract": ("afl_core.cli.changing:retract", "Take a grain back."),
    "undo": ("afl_core.cli.changing:undo", "Bring a grain back that was superseded, merged or taken back."),
    "forget": ("afl_core.cli.forgetting:forget", "Erase grains, down to their bytes."),
    "sweep": ("afl_core.cli.after_forgetting:sweep", "End a forget that broke off."),
    "allow": ("afl_core.cli.after_forgetting:allow", "Let a value in again that was forgotten for good."),
    "verify": ("afl_core.cli.finding:verify", "Check that a memory is whole."),
    "import": ("afl_core.cli.exchange:import_", "Take grains over from a file."),
    "export": ("afl_core.cli.exchange:export", "Write grains to a bundle."),
    "record-tool-call": ("afl_core.cli.grains:record_tool_call", "Store one call of a tool."),
    "recall-hook": ("afl_core.cli.hooks_by_hand:recall_hook", "For a prompt hook: print the memories that fit."),
    "capture-stop": ("afl_core.cli.hooks_by_hand:capture_stop", "For a stop hook: keep what a transcript tells."),
    "review": ("afl_core.cli.review:review", "Show reviews and what they found."),
    "reconcile": ("afl_core.cli.reconcile:reconcile", "Read what hooks missed and run what is due, now."),
    "reconcile-daemon": ("afl_core.cli.reconcile:reconcile_daemon", "Stay and run a pass whenever something waits."),
    "redact": ("afl_core.cli.redact:redact", "Show, find and take out what must not be kept."),
    "plugins": ("afl_core.cli.plugins:plugins", "Show the plug-ins and how they are doing."),
}
"""Core's commands: where each lives and its one line in `afl --help`."""


class LazyGroup(click.Group):
    """Imports a command when it is called. Names that are not core's are looked up among the plug-ins."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Core's commands and those of plug-ins."""
        return [*COMMANDS, *(spec for spec in _plugin_commands(ctx) if spec not in COMMANDS)]

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        """Import it."""
        target = COMMANDS.get(name, (None, ""))[0] or _plugin_commands(ctx).get(name, (None, ""))[0]
        if target is None:
            return None
        module, _, attribute = target.partition(":")
        command = getattr(importlib.import_module(module), attribute)
        if not isinstance(command, click.Command):
            raise AflError(f"{target} is not a click command", code="AFL-PLUGIN-005", hint="report this to the plug-in's author")
        return command

    def invoke(self, ctx: click.Context) -> object:
        """A reader that goes away is no error: said here, because click itself would end the process with 1."""
        try:
            return super().invoke(ctx)
        except BrokenPipeError:
            _reader_gone()
            raise click.exceptions.Exit(0) from None

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """One line a command, without importing any."""
        with formatter.section("Commands"):
            extra = _plugin_commands(ctx)
            formatter.write_dl(
                [
                    *((name, line) for name, (_, line) in COMMANDS.items()),
                    *((name, line) for name, (_, line) in extra.items() if name not in COMMANDS),
                ]
            )


def _reader_gone() -> None:
    """Nothing more can be said: what Python still holds of it goes nowhere."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)


def _plugin_commands(ctx: click.Context) -> dict[str, tuple[str, str]]:
    from afl_core.api.commands import plugin_commands

    return plugin_commands(ctx.find_root().params.get("home"))


@click.group(cls=LazyGroup, invoke_without_command=True, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 120})
@click.option("--home", metavar="PATH", help="Use another home directory.")
@click.option("--db", metavar="FILE", help="Use a memory file of its own (commands about grains only).")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.option("--format", "output_format", type=click.Choice(["text", "json"]), help="`--format json` equals --json.")
@click.option("--verbose", is_flag=True, help="Show the cause of an error.")
@click.version_option(package_name="afl-core", prog_name="afl")
@click.pass_context
def cli(ctx: click.Context, /, **_options: object) -> None:
    """Feedback memory for coding agents: corrections become small cards that come back only when they matter."""
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())


def main(arguments: list[str] | None = None) -> int:
    """Run the command and return the exit code: 0 done or nothing to do, 1 any error; `afl redact scan` has its own."""
    given = sys.argv[1:] if arguments is None else arguments
    try:
        result = cli.main(args=given, prog_name=os.path.basename(sys.argv[0]) if arguments is None else "afl", standalone_mode=False)
        code = result if isinstance(result, int) else 0
        sys.stdout.flush()
    except click.exceptions.Exit as left:
        code = left.exit_code
    except BrokenPipeError:
        _reader_gone()
        code = 0
    except (Exception, KeyboardInterrupt) as bad:  # noqa: BLE001 - the last net: whatever it is, a person gets one line and a next step
        from afl_core.cli.failing import told

        code = told(bad, given)
    if arguments is None:
        sys.exit(code)
    return code


if __name__ == "__main__":
    main()
