"""The command line's manners: exit codes, options before and after the command, errors with a code and a next step."""

from __future__ import annotations

import json
import pathlib

import click
import pytest

from afl_core.cli.main import COMMANDS, cli, main
from afl_core.cli.options import Answer
from afl_core.files.private import ensure_private_dir
from afl_core.settings.paths import Paths
from afl_core.store import ledger
from afl_core.store.connection import connect, writing
from afl_core.store.migrate import create_or_migrate


@pytest.fixture
def stored(home: pathlib.Path) -> pathlib.Path:
    """A home that has a database."""
    paths = Paths(home)
    ensure_private_dir(paths.run, paths.home)
    create_or_migrate(paths.database, paths.backups, paths.home)
    return home


def groups() -> list[str]:
    context = click.Context(cli)
    return [name for name in COMMANDS if isinstance(cli.get_command(context, name), click.Group)]


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["--help"],
        ["-h"],
        *([name] for name in groups()),
        *([name, "--help"] for name in COMMANDS),
        *([name, "-h"] for name in COMMANDS),
    ],
)
def test_help_is_printed_and_is_no_error(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(arguments) == 0
    assert capsys.readouterr().out.startswith("Usage: ")


@pytest.mark.parametrize(
    "arguments",
    [
        ["moon"],
        ["paths", "--moon"],
        ["memory", "moon"],
        ["memory", "list", "--limit"],
        ["capture", "on", "off"],
        ["review", "list", "--limit", "0"],
        ["--format", "xml", "paths"],
    ],
)
def test_a_usage_error_exits_1_with_a_code_and_the_help_to_read(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(arguments) == 1
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.startswith("afl: AFL-USAGE-001: ")
    assert "  next: afl" in printed.err
    assert printed.err.rstrip().endswith("--help")


@pytest.mark.parametrize(
    "where",
    [
        ["--home", "{home}", "--json", "paths"],
        ["paths", "--home", "{home}", "--json"],
        ["--home", "{home}", "paths", "--format", "json"],
        ["--format", "json", "paths", "--home", "{home}"],
    ],
)
def test_common_options_stand_before_or_after_the_command(where: list[str], home: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([part.format(home=home) for part in where]) == 0
    assert json.loads(capsys.readouterr().out)["home"] == str(home)


@pytest.mark.parametrize(
    "where",
    [
        ["--home", "{home}", "--json", "capture", "status"],
        ["capture", "--json", "--home", "{home}", "status"],
        ["capture", "status", "--home", "{home}", "--json"],
    ],
)
def test_common_options_stand_at_every_level_of_a_group(where: list[str], stored: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([part.format(home=stored) for part in where]) == 0
    assert json.loads(capsys.readouterr().out)["policy"]["enabled"] is True


def test_an_error_is_one_line_of_what_and_one_of_what_next(home: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["memory", "list", "--home", str(home)]) == 1
    first, second = capsys.readouterr().err.splitlines()
    assert first.startswith("afl: AFL-STORE-001: ")
    assert second == f"  next: run: afl install --home {home}"


def test_the_cause_is_shown_when_it_is_asked_for(home: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["memory", "list", "--home", str(home), "--verbose"]) == 1
    assert "  cause: OperationalError: " in capsys.readouterr().err


def test_capture_is_switched_and_says_that_memory_goes_on(stored: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["capture", "off", "--home", str(stored)]) == 0
    assert capsys.readouterr().out == "capture is off: no evidence is kept; cards are given back\n"
    assert main(["capture", "status", "--home", str(stored), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["policy"]["enabled"] is False
    assert main(["capture", "on", "--home", str(stored)]) == 0
    assert "capture is on" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["memory", "list"], "nothing was learnt here yet"),
        (["memory", "explain"], "no session was seen yet"),
        (["review", "list"], "no review yet"),
        (["review", "trends"], "no small fault was found here yet"),
    ],
)
def test_an_empty_store_answers_in_words_and_in_json(
    arguments: list[str], words: str, stored: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*arguments, "--home", str(stored)]) == 0
    assert capsys.readouterr().out.strip() == words
    assert main([*arguments, "--home", str(stored), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["action"] == arguments[1]


@pytest.mark.parametrize(
    "arguments", [["memory", "show", "moon"], ["memory", "explain", "moon"], ["review", "show", "moon"], ["review", "retry", "moon"]]
)
def test_what_is_not_there_is_an_error_that_says_where_to_look(
    arguments: list[str], stored: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*arguments, "--home", str(stored)]) == 1
    error = capsys.readouterr().err
    assert "moon" in error
    assert "  next: " in error


def test_a_plan_of_nothing_says_so_without_empty_lines(home: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--home", str(home), "uninstall", "--dry-run"]) == 0
    assert capsys.readouterr().out == "afl uninstall --dry-run: nothing was changed\nnothing to do\n"


def test_a_damaged_database_is_an_error_and_no_traceback(stored: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    database = pathlib.Path(Paths(stored).database)
    raw = bytearray(database.read_bytes())
    raw[4096:] = b"\xa5" * (len(raw) - 4096)
    database.write_bytes(raw)
    assert main(["memory", "list", "--home", str(stored)]) == 1
    error = capsys.readouterr().err
    assert error.startswith("afl: AFL-STORE-012: ")
    assert "  next: " in error


def test_what_a_model_wrote_cannot_drive_the_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    Answer(None, as_json=False).give({}, ["a\x1b]0;pwned\x07b\x1b[2J\u202ec\td"])
    assert capsys.readouterr().out == "a\ufffd]0;pwned\ufffdb\ufffd[2J\ufffdc\td\n"


@pytest.mark.parametrize("text", ["می\u200cخواهم تست\u200cها", "ක්\u200dෂ", "\U0001f469\u200d\U0001f469\u200d\U0001f467"])
def test_a_joiner_that_is_a_part_of_how_a_word_is_written_stays(capsys: pytest.CaptureFixture[str], text: str) -> None:
    Answer(None, as_json=False).give({}, [text, "a\u200db", "\u200c\u200cx", text[0] + "\u200c\u200c"])
    assert capsys.readouterr().out.splitlines() == [text, "a\ufffdb", "\ufffd\ufffdx", text[0] + "\u200c\ufffd"]


def test_a_plugins_failures_can_be_forgotten_after_it_was_repaired(stored: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    db = connect(Paths(stored).database)
    with writing(db):
        ledger.write(db, ledger.LedgerRow("redactors", "redact", 3, "ValueError at rules.py:1", 1, 2**53))
    db.close()
    assert main(["plugins", "retry", "redactors", "--home", str(stored)]) == 0
    assert capsys.readouterr().out == "redactors: forgot its failures in redact\n"
    assert main(["plugins", "retry", "redactors", "--home", str(stored)]) == 0
    assert "nothing was held against it" in capsys.readouterr().out
    assert main(["plugins", "retry", "moon", "--home", str(stored)]) == 1
    assert "no plug-in is called 'moon'" in capsys.readouterr().err


def test_an_error_is_an_object_on_standard_output_where_json_was_asked_for(home: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["memory", "list", "--home", str(home), "--json"]) == 1
    printed = capsys.readouterr()
    assert json.loads(printed.out)["error"]["code"] == "AFL-STORE-001"
    assert json.loads(printed.out)["error"]["next"] == f"run: afl install --home {home}"
    assert printed.err.startswith("afl: AFL-STORE-001: ")


def test_a_defect_is_one_line_without_its_words_and_a_traceback_only_when_asked_for(
    stored: pathlib.Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_arguments: object) -> None:
        raise LookupError("a person's words")

    monkeypatch.setattr("afl_core.api.capture.read", broken)
    assert main(["capture", "status", "--home", str(stored)]) == 1
    error = capsys.readouterr().err
    assert "AFL-DEFECT-001: a defect of this product: LookupError at test_command_line.py:" in error
    assert "words" not in error
    assert main(["capture", "status", "--home", str(stored), "--verbose"]) == 1
    assert "Traceback" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [("AFL_NOW_MS", "soon", "AFL_NOW_MS is 'soon'"), ("AGENT_FEEDBACK_LOOP_REVIEW_MAX_AGE", "x", "REVIEW_MAX_AGE")],
)
def test_a_bad_variable_is_an_error_by_name(
    name: str, value: str, words: str, stored: pathlib.Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(name, value)
    assert main(["capture", "off", "--home", str(stored)]) == 1
    assert words in capsys.readouterr().err


def test_an_empty_home_is_refused_and_never_taken_for_the_real_one(capsys: pytest.CaptureFixture[str]) -> None:
    for arguments in (["--home", "", "paths"], ["paths", "--home", ""], ["memory", "--home=", "list"]):
        assert main(arguments) == 1
        assert "AFL-PATH-009" in capsys.readouterr().err


def test_a_data_directory_that_is_a_file_is_an_error_with_its_path(home: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    (home / ".agent").mkdir()
    (home / ".agent" / "feedback-loop-data").write_text("x")
    assert main(["memory", "list", "--home", str(home)]) == 1
    assert "feedback-loop-data" in capsys.readouterr().err
