"""`afl redact` shows, finds and takes out, tells rule and place and never a value, and its exit codes say how it went."""

from __future__ import annotations

import io
import json
import os
import sys

import pytest

from afl_core.cli.main import main
from afl_core.plugins.discovery import Found
from afl_core.plugins.registry import Registry
from afl_core.redaction import files
from afl_core.store import texts
from afl_core.store.connection import writing

SECRET = "ghp_" + "k3Zr9QpLx2Vt7Bn5Ws8Yd4Fg6Hj1Mc0Ra3Te"


@pytest.fixture
def tree(home):
    """A folder with one secret in two files."""
    root = home / "work"
    (root / "sub").mkdir(parents=True)
    (root / "plain.txt").write_text("nothing here\n", "utf-8")
    (root / "a.env").write_text(f"X=1\nTOKEN={SECRET}\n", "utf-8")
    (root / "sub" / "b.txt").write_text(f"one {SECRET} two {SECRET}\n", "utf-8")
    return root


def document(said):
    return json.loads(said)


def test_explain_shows_the_text_first_and_then_each_place(afl, world):
    status, said = afl("redact", "explain", f"first\nuse {SECRET} now")
    assert status == 0
    assert said.splitlines()[:2] == ["first", "use [REDACTED:github-token] now"]
    assert said.splitlines()[2:] == ["line 2, column 5: github-token"]


def test_explain_reads_standard_input(afl, world, monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(f"token {SECRET}\n".encode()), encoding="utf-8"))
    status, said = afl("redact", "explain", "-", "--json")
    assert status == 0
    assert document(said)["text"] == "token [REDACTED:github-token]\n"
    assert document(said)["replacements"] == [{"rule": "github-token", "line": 1, "column": 7}]


def test_explain_says_when_nothing_is_replaced(afl, world):
    assert afl("redact", "explain", "an ordinary sentence") == (0, "an ordinary sentence\nnothing is replaced\n")


def test_explain_refuses_what_is_too_long(afl, world, monkeypatch):
    monkeypatch.setattr("afl_core.api.redaction.EXPLAIN_BYTES", 10)
    status, said = afl("redact", "explain", "0123456789a")
    assert (status, "AFL-REDACT-007" in said) == (1, True)


def test_explain_and_scan_need_no_install_and_leave_nothing(home, tree, capsys):
    other = home / "other"
    other.mkdir()
    assert main(["redact", "explain", SECRET, "--home", str(other)]) == 0
    assert main(["redact", "scan", str(tree), "--home", str(other)]) == 1
    assert capsys.readouterr().out.startswith("[REDACTED:github-token]\n")
    assert list(other.iterdir()) == []


def test_a_scan_tells_rule_and_place_and_never_a_value(afl, world, tree):
    status, said = afl("redact", "scan", str(tree))
    assert status == 1
    lines = said.splitlines()
    assert lines[:3] == [f"{tree}/a.env:2:7: github-token", f"{tree}/sub/b.txt:1:5: github-token", f"{tree}/sub/b.txt:1:50: github-token"]
    assert lines[3:] == ["3 found in 2 of 3 texts", "  github-token: 3"]
    assert SECRET not in said


def test_a_scan_as_json_tells_the_same(afl, world, tree):
    status, said = afl("redact", "scan", str(tree), "--json")
    body = document(said)
    assert status == 1
    assert [one["path"] for one in body["files"]] == [f"{tree}/a.env", f"{tree}/sub/b.txt"]
    assert body["files"][0]["findings"] == [{"rule": "github-token", "line": 2, "column": 7}]
    assert body["totals"]["rules"] == {"github-token": 3}
    assert SECRET not in said


def test_a_scan_that_finds_nothing_ends_with_zero(afl, world, tree):
    assert afl("redact", "scan", str(tree / "plain.txt")) == (0, "0 found in 0 of 1 texts\n")


def test_a_scan_looks_through_this_directory_by_default(afl, world, tree, monkeypatch):
    monkeypatch.chdir(tree)
    status, said = afl("redact", "scan")
    assert (status, said.splitlines()[0]) == (1, "./a.env:2:7: github-token")


def test_a_file_that_cannot_be_read_ends_a_scan_with_two(afl, world, tree):
    status, said = afl("redact", "scan", str(tree / "plain.txt"), str(tree / "missing"))
    assert status == 2
    assert f"{tree}/missing: not looked through: No such file or directory" in said
    assert afl("redact", "scan", str(tree / "a.env"), str(tree / "missing"))[0] == 1


def test_without_a_redactor_a_scan_ends_with_two(afl, world, tree, monkeypatch):
    monkeypatch.setattr("afl_core.api.home.discover", lambda _cache: (Found("core", "afl_core.builtins", "afl-core", "0"),))
    status, said = afl("redact", "scan", str(tree))
    assert (status, "AFL-REDACT-002" in said) == (2, True)
    assert afl("redact", "explain", "x")[0] == 1


def test_a_redactor_that_fails_on_one_file_leaves_that_file_named(afl, world, tree, monkeypatch):
    class Picky:
        name, version = "picky", "1"

        def redact(self, text):
            if "nothing here" in text:
                raise ValueError(text)
            from afl_core.spec.redactor import Redaction

            return Redaction(text)

    monkeypatch.setattr(Registry, "redactors", lambda _self: [("picky", Picky())])
    status, said = afl("redact", "scan", str(tree))
    assert status == 2
    assert f"{tree}/plain.txt: not looked through: AFL-REDACT-003" in said
    assert "nothing here" not in said


def test_what_is_left_out_is_counted_and_what_is_too_large_is_named(afl, world, tree, monkeypatch):
    monkeypatch.setattr(files, "MAX_FILE_BYTES", 1_000)
    (tree / "large.txt").write_text(SECRET + " " + "x" * 1_000, "utf-8")
    (tree / "picture.bin").write_bytes(b"\x89PNG\0" + SECRET.encode())
    (tree / "link.txt").symlink_to(tree / "a.env")
    os.mkfifo(tree / "pipe")
    for name in (".git", "node_modules"):
        (tree / name).mkdir()
        (tree / name / "inside.txt").write_text(SECRET, "utf-8")
    status, said = afl("redact", "scan", str(tree))
    assert status == 1
    assert f"{tree}/large.txt: left out: too large" in said
    assert "left out: 1 binary, 2 folder, 1 huge, 1 special, 1 symlink" in said
    assert "3 found in 2 of 3 texts" in said


def test_a_file_that_is_too_large_ends_a_scan_with_two(afl, world, tree, monkeypatch):
    monkeypatch.setattr(files, "MAX_FILE_BYTES", 1_000)
    (tree / "sub" / "b.txt").write_text("x" * 1_001, "utf-8")
    status, said = afl("redact", "scan", str(tree / "sub"))
    assert (status, f"{tree}/sub/b.txt: left out: too large" in said) == (2, True)
    assert document(afl("redact", "scan", str(tree / "sub"), "--json")[1])["totals"]["missed"] == 1


def test_what_is_named_and_is_no_text_ends_a_scan_with_two_and_below_a_folder_with_zero(afl, world, home):
    root = home / "odd"
    root.mkdir()
    (root / "picture.bin").write_bytes(b"\x89PNG\0")
    os.mkfifo(root / "pipe")
    assert afl("redact", "scan", str(root))[0] == 0
    for named in (["picture.bin"], ["pipe"], ["", "pipe"], ["pipe", ""]):
        assert afl("redact", "scan", *(str(root / name) for name in named))[0] == 2
    assert f"{root}/picture.bin: left out: binary" in afl("redact", "scan", str(root / "picture.bin"))[1]
    assert afl("redact", "scan", "/dev/null")[0] == 2


def test_paths_that_overlap_count_a_file_once(afl, world, tree):
    for paths in ((tree, tree), (tree, tree / "sub"), (tree / "sub", tree), (tree / "a.env", tree), (tree, tree / "sub" / "b.txt")):
        status, said = afl("redact", "scan", *map(str, paths))
        assert (status, "3 found in 2 of 3 texts" in said) == (1, True)
    assert "1 found in 1 of 1 texts" in afl("redact", "scan", str(tree / "a.env"), f"{tree}/sub/../a.env")[1]


def test_a_folder_that_is_left_out_is_read_where_it_is_named_beside_the_one_above(afl, world, tree):
    (tree / "venv").mkdir()
    (tree / "venv" / "c.env").write_text(f"TOKEN={SECRET}\n", "utf-8")
    assert "4 found in 3 of 4 texts" in afl("redact", "scan", str(tree), str(tree / "venv"))[1]


def test_a_file_name_cannot_write_lines_or_move_the_cursor(afl, world, home):
    root = home / "names"
    root.mkdir()
    (root / "a\nb\tc\x1b[2K\rd.env").write_text(f"TOKEN={SECRET}\n", "utf-8")
    status, said = afl("redact", "scan", str(root))
    assert status == 1
    assert said.splitlines()[0] == f"{root}/a\ufffdb\ufffdc\ufffd[2K\ufffdd.env:1:7: github-token"


def test_closed_standard_input_is_said(afl, world, words, monkeypatch):
    words.event(world.db, "e1", f"use {SECRET}", offset=1)
    monkeypatch.setattr(sys, "stdin", None)
    for command in (("redact", "explain", "-"), ("redact", "purge"), ("add", "fact", "--json-fields", "-")):
        status, said = afl(*command)
        assert (status, "AFL-USAGE-004" in said, "AFL-DEFECT" in said) == (1, True, False)
    status, said = afl("import", "-")
    assert (status, "standard input is closed" in said, "AFL-DEFECT" in said) == (1, True, False)


def test_a_purge_with_nothing_to_do_does_not_ask(afl, world, monkeypatch):
    for nothing in (io.StringIO(""), None):
        monkeypatch.setattr(sys, "stdin", nothing)
        assert afl("redact", "purge") == (0, "nothing is in the index that the rules of now would not let in\n")
        status, said = afl("redact", "purge", "--json")
        assert (status, document(said)["texts"]) == (0, {})


def test_what_is_named_is_read_also_where_it_would_be_left_out(afl, world, tree):
    (tree / ".git").mkdir()
    (tree / ".git" / "config").write_text(f"url = https://x:{SECRET}@example.org/a.git\n", "utf-8")
    assert afl("redact", "scan", str(tree / ".git"))[0] == 1


def test_text_in_utf16_is_read(afl, world, tree):
    (tree / "wide.env").write_text(f"TOKEN={SECRET}\n", "utf-16")
    assert afl("redact", "scan", str(tree / "wide.env"))[0] == 1


def test_a_file_named_like_a_secret_is_not_told_by_its_name(afl, world, tree):
    (tree / f"{SECRET}.txt").write_text(SECRET, "utf-8")
    _, said = afl("redact", "scan", str(tree))
    assert SECRET not in said
    assert "[REDACTED:github-token]" in said


def test_no_more_places_are_told_than_the_limit_and_the_others_are_counted(afl, world, tree, monkeypatch):
    monkeypatch.setattr("afl_core.api.redaction.LISTED", 3)
    monkeypatch.setattr("afl_core.api.redaction.LISTED_IN_ONE", 2)
    (tree / "many.txt").write_text(f"{SECRET}\n" * 5, "utf-8")
    _, said = afl("redact", "scan", str(tree), "--json")
    body = document(said)
    assert sum(len(one["findings"]) for one in body["files"]) == 3
    assert sum(len(one["findings"]) + one["more"] for one in body["files"]) == body["totals"]["findings"] == 8


def test_the_index_is_looked_through_alone_or_beside_files(afl, world, words, tree):
    words.event(world.db, "e1", f"use {SECRET}", offset=1)
    status, said = afl("redact", "scan", "--store")
    assert status == 1
    assert said.splitlines()[0] == "store:events.text:e1:1:5: github-token"
    status, said = afl("redact", "scan", "--store", str(tree))
    assert "4 found" in said


def test_a_store_that_is_not_there_ends_a_scan_of_it_with_two(home, capsys):
    assert main(["redact", "scan", "--store", "--home", str(home)]) == 2
    assert "AFL-STORE-001" in capsys.readouterr().err


def test_a_purge_asks_and_does_nothing_without_an_answer(afl, world, words, monkeypatch):
    words.event(world.db, "e1", f"use {SECRET}", offset=1)
    monkeypatch.setattr(sys, "stdin", io.StringIO(""))
    status, said = afl("redact", "purge")
    assert status == 1
    assert "1 text would be rewritten in 1 project" in said
    assert "AFL-USAGE-002" in said
    assert SECRET in world.db.execute("SELECT text FROM events").fetchone()[0]


def test_a_purge_with_yes_rewrites_and_says_what(afl, world, words):
    words.event(world.db, "e1", f"use {SECRET}", offset=1)
    assert afl("redact", "purge", "--dry-run")[0] == 0
    status, said = afl("redact", "purge", "--yes")
    assert (status, said) == (0, "1 text rewritten in 1 project\n  events.text: 1\nby rule\n  github-token: 1\n")
    assert afl("redact", "purge", "--yes") == (0, "nothing is in the index that the rules of now would not let in\n")
    assert afl("redact", "scan", "--store")[0] == 0


def test_a_purge_as_json(afl, world, words):
    words.event(world.db, "e1", f"use {SECRET}", offset=1)
    body = document(afl("redact", "purge", "--yes", "--json")[1])
    assert (body["texts"], body["rules"], body["dry_run"]) == ({"events.text": 1}, {"github-token": 1}, False)


def test_an_option_that_no_redactor_has_is_refused_by_all_that_redacts(afl, world, home, monkeypatch):
    monkeypatch.setenv("AGENT_FEEDBACK_LOOP_REDACT_OPTIONS", "no-such-option")
    for command in (("redact", "explain", "x"), ("redact", "purge", "--yes"), ("redact", "options")):
        status, said = afl(*command)
        assert (status, "AFL-SETTINGS-006" in said) == (1, True)
    status, said = afl("redact", "scan", str(home))
    assert (status, "no redactor has the option 'no-such-option'" in said) == (2, True)


def test_words_of_a_foreign_error_are_shown_as_they_would_be_kept(afl, world, monkeypatch):
    def fails(*_arguments, **_more):
        raise RuntimeError(f"broken by {SECRET}")

    monkeypatch.setattr("afl_core.api.redaction.explain", fails)
    status, said = afl("redact", "explain", "x", "--verbose")
    assert status == 1
    assert "RuntimeError: broken by [REDACTED:github-token]" in said
    assert SECRET not in said


def test_the_columns_of_words_are_those_a_scan_reads(world):
    with writing(world.db):
        for column in texts.WORDS:
            assert list(texts.of_column(world.db, column)) is not None
