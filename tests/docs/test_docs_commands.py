"""Every command is in the reference with every argument and option it takes, and every documented one exists."""

from __future__ import annotations

import re

import click
import pytest

from afl_core.cli.main import COMMANDS, cli

COMMON = {"--home", "--json", "--format", "--verbose", "--help"}


@pytest.fixture(autouse=True)
def no_plugins(monkeypatch):
    """Commands that plug-ins add on this machine are not core's to document."""
    monkeypatch.setattr("afl_core.cli.main._plugin_commands", lambda _context: {})


@pytest.fixture
def commands_page(page):
    return page("docs/reference/commands.md")


def tree(command, name, context):
    """(whole name, command) of a command and all below it."""
    yield name, command
    if isinstance(command, click.Group):
        for below in command.list_commands(context):
            yield from tree(command.get_command(context, below), f"{name} {below}", context)


def whole_tree():
    return dict(tree(cli, "afl", click.Context(cli)))


def takes(command):
    """Long names of options, and arguments in capitals."""
    options = {
        name for parameter in command.params if isinstance(parameter, click.Option) for name in parameter.opts if name.startswith("--")
    }
    return options, {
        re.sub(r"[\[\]]", "", parameter.make_metavar(click.Context(command)))
        for parameter in command.params
        if isinstance(parameter, click.Argument)
    }


def test_every_command_has_a_section_and_every_section_is_of_a_command(commands_page, code):
    told = [code(title)[0] for level, title in commands_page.headings if level == 2 and title.startswith("`afl")]
    assert sorted(told) == sorted(whole_tree())


def test_every_section_names_exactly_what_its_command_takes(commands_page, code):
    for name, command in whole_tree().items():
        told = {code(row.cells["option"])[0] for row in commands_page.rows if row.heading == f"`{name}`"}
        options, arguments = takes(command)
        assert told == (options - COMMON) | arguments, name


def test_options_every_command_takes_are_taken_by_every_command(commands_page, code):
    told = {code(row.cells["option"])[0] for row in commands_page.rows if row.heading == "Options every command takes"}
    assert told == COMMON
    for name, command in whole_tree().items():
        assert takes(command)[0] >= COMMON - {"--help"}, name


def test_every_section_says_what_its_command_does_in_the_words_of_its_help(commands_page):
    for name, command in whole_tree().items():
        if name != "afl":
            first = (command.help or "").split(".")[0].split(" (")[0].split(":")[0].split(";")[0].rstrip()
            assert first.lower() in " ".join(commands_page.section(f"`{name}`").split()).lower(), name


@pytest.mark.parametrize(
    "arguments",
    [[], ["--help"], ["-h"], *([name, "--help"] for name in COMMANDS), *([name] for name in ("capture", "memory", "review", "plugins"))],
)
def test_help_ends_with_zero(arguments, capsys):
    from afl_core.cli.main import main

    assert main(arguments) == 0
    assert "Usage:" in capsys.readouterr().out


def test_wrong_usage_ends_with_one_and_the_documented_code(capsys):
    from afl_core.cli.main import main

    assert main(["reconcile", "--nothing"]) == 1
    assert "AFL-USAGE-001" in capsys.readouterr().err
