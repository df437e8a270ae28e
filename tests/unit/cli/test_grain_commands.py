"""A memory by hand: what is added is found, told in one line each or in full, corrected and forgotten."""

from __future__ import annotations

import json
import os
import pathlib
import re
import shutil

import capture_world
import pytest
from grain_commands import SECRET, asked

from afl_core.api.memory import Memory


def test_a_fact_in_three_words_is_found_by_its_subject_and_by_free_text(grains):
    status, said = grains("add", "fact", "acme", "deploy_target", "us-east-1", "--confidence", "0.9")
    assert status == 0
    assert re.fullmatch(r"[0-9a-f]{12}  fact: acme deploy_target us-east-1\n", said)
    for found in (grains("recall", "acme"), grains("recall", "acme", "deploy_target"), grains("search", "where is the deploy_target")):
        assert re.fullmatch(r"[0-9a-f]{12}  fact        acme deploy_target us-east-1  \(now\)\n", found[1])
    [one] = asked(grains, "recall", "acme")["grains"]
    assert (one["object"], one["confidence"], one["type"]) == ("us-east-1", 0.9, "fact")
    assert len(one["hash"]) == 64


def test_a_fact_that_is_said_already_is_not_stored_again(grains):
    first = asked(grains, "add", "fact", "acme", "tier", "gold")
    again = asked(grains, "add", "fact", "--field", "subject=acme", "--field", "relation=tier", "--field", "object=gold")
    assert again["hash"] == first["hash"]
    assert len(asked(grains, "recall", "acme")["grains"]) == 1


def test_fields_are_text_unless_they_are_numbers_by_nature_or_said_to_be_json(grains):
    given = ("object=y", "confidence=0.25", "tags=a, b", "tags=c", 'extra:={"n": [1, true]}')
    fields = asked(grains, "add", "fact", "x", "is", "y", *(part for one in given for part in ("--field", one)))["fields"]
    assert fields["object"] == "y"
    assert fields["confidence"] == 0.25
    assert fields["tags"] == ["a", "b", "c"]
    assert fields["extra"] == {"n": [1, True]}
    assert asked(grains, "add", "fact", "--field", "subject=x", "--field", "relation=n", "--field", "object=42")["fields"]["object"] == "42"


def test_all_fields_can_be_one_json_object_or_come_from_standard_input(grains, fed):
    asked(grains, "add", "observation", "--json-fields", '{"content": "the owl hoots", "importance": 0.5}')
    fed('{"name": "knitting", "description": "two needles"}')
    skill = asked(grains, "add", "skill", "--json-fields", "-", "--field", "practice_count=3")
    assert skill["fields"]["practice_count"] == 3
    assert "the owl hoots" in grains("search", "owl")[1]
    assert "knitting: two needles" in grains("search", "needles")[1]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["add", "fact", "acme"], "AFL-USAGE-001: a fact is said as SUBJECT RELATION OBJECT"),
        (["add", "event", "a", "b", "c"], "AFL-USAGE-001: a fact is said as"),
        (["add", "moon", "--field", "a=b"], "AFL-MODEL-003: 'moon' is no type of a grain; there are fact, event"),
        (["add", "fact", "--field", "subject=a"], "AFL-MODEL-003: fact.relation is missing or blank"),
        (["add", "event", "--field", "content"], "AFL-USAGE-001: Invalid value for '--field': 'content' is not name=value"),
        (["add", "fact", "a", "b", "c", "--confidence", "1.5"], "AFL-USAGE-001"),
        (["add", "event", "--json-fields", "{"], "AFL-MODEL-002: what --json-fields was given is not valid JSON"),
        (["add", "event", "--json-fields", "[1]"], "AFL-MODEL-002: what --json-fields was given is not a JSON object"),
        (["add", "fact", "a", "b", "c", "--field", "confidence=high"], "AFL-MODEL-002: confidence is not valid JSON"),
        (["add", "fact", "a", "b", "c", "--ns", "project:p-1"], "AFL-MODEL-006: namespace 'project:p-1' is written only by its owner"),
        (["add", "fact", "a", "b", "c", "--ns", "*"], "AFL-USAGE-001: this command works in one namespace"),
        (["record-tool-call", "--name", "t", "--result", "r", "--input", "nope"], "AFL-MODEL-002: what --input was given"),
        (["search", "x", "--type", "moon"], "AFL-USAGE-001: Invalid value for '--type'"),
        (["forget"], "AFL-USAGE-001: say what to forget"),
        (["forget", "abcdef", "--subject", "x"], "AFL-USAGE-001: say what to forget"),
        (["forget", "--session", "s", "--subject", "x"], "AFL-USAGE-001: say what to forget"),
        (["recall", "--ns", ""], "AFL-USAGE-001: --ns was given without a name"),
    ],
)
def test_what_is_wrong_is_named_and_nothing_is_stored(grains, arguments, words):
    grains("add", "fact", "there", "is", "one")
    status, said = grains(*arguments)
    assert status == 1
    assert words in said
    assert len(asked(grains, "recall", "--ns", "*")["grains"]) == 1


def test_namespaces_are_apart_and_all_are_read_with_a_star(grains):
    grains("add", "fact", "a", "is", "shared")
    grains("add", "fact", "a", "is", "mine", "--ns", "mine")
    assert [one["object"] for one in asked(grains, "recall", "a")["grains"]] == ["shared"]
    assert [one["object"] for one in asked(grains, "recall", "a", "--ns", "mine")["grains"]] == ["mine"]
    assert len(asked(grains, "search", "shared mine", "--ns", "*")["grains"]) == 2
    assert grains("recall", "b")[1] == "nothing was found in the namespace 'shared'\n"
    assert grains("recall", "b", "--ns", "*")[1] == "nothing was found in any namespace\n"


def test_the_file_can_be_named_before_and_after_the_command_and_by_the_variable(grains, tmp_path, monkeypatch):
    grains("add", "fact", "in", "the", "variable's")
    other = str(tmp_path / "other.afl")
    grains("--db", other, "add", "fact", "in", "the", "other")
    assert "other" in grains("recall", "in", "--db", other)[1]
    assert "variable's" in grains("recall", "in")[1]
    third = str(tmp_path / "third.afl")
    assert "AFL-STORE-042" in grains("--db", other, "recall", "in", "--db", third)[1]
    assert "AFL-STORE-001" in grains("recall", "in", "--home", str(tmp_path))[1], (
        "a home that is named is meant, whatever the variable says"
    )
    assert "AFL-STORE-040" in grains("recall", "in", "--db", "")[1]


def test_a_command_about_the_home_refuses_a_file(grains, tmp_path):
    status, said = grains("--db", str(tmp_path / "x.afl"), "paths")
    assert (status, "takes no --db" in said) == (1, True)


def test_history_tells_what_was_said_before_and_what_became_of_it(grains, tmp_path):
    first = asked(grains, "add", "fact", "acme", "tier", "silver")["hash"]
    with Memory(tmp_path / "notes.afl") as memory:
        second = memory.supersede(first, object="gold")
    _, said = grains("history", "acme", "tier")
    newest, oldest = said.splitlines()
    assert newest.startswith(second[:12])
    assert "gold" in newest
    assert oldest.endswith(f"(superseded by {second[:12]}, now)")
    told = asked(grains, "history", "acme", "tier")["grains"]
    assert [(one["hash"], one["superseded_by"], one["fields"]["object"]) for one in told] == [
        (second, None, "gold"),
        (first, second, "silver"),
    ]


def test_a_recorded_tool_call_is_a_grain_of_its_own_each_time(grains):
    given = ("record-tool-call", "--name", "deploy", "--result", "rate limited 429", "--is-error", "--thread", "s-1")
    first, second = asked(grains, *given), asked(grains, *given, "--input", '{"n": 1}', "--call-id", "c-7")
    assert first["hash"] != second["hash"]
    assert first["call_id"].startswith("auto:")
    assert second["call_id"] == "c-7"
    assert second["fields"]["input"] == {"n": 1}
    assert second["fields"]["session_id"] == "s-1"
    assert second["fields"]["is_error"] is True
    assert "deploy failed: rate limited 429" in grains("search", "429")[1]


def test_a_grain_of_many_lines_and_control_characters_is_one_plain_line(grains):
    grains("add", "observation", "--field", "content=owl\x1b[2J\n  hoots \u202e" + "very " * 99)
    _, said = grains("search", "owl")
    assert said.count("\n") == 1
    assert "owl\ufffd[2J hoots \ufffdvery very" in said
    assert "…" in said
    assert "\x1b[2J" in asked(grains, "search", "owl")["grains"][0]["content"]


# ------------------------------------------------------------------------------------------------------------------------------- forgetting


def test_what_is_to_go_is_shown_and_goes_only_when_that_is_confirmed(grains, fed):
    address = asked(grains, "add", "fact", "pat", "likes", "tea")["hash"]
    status, said = grains("forget", address[:8], "--dry-run")
    assert (status, said.splitlines()[1]) == (0, "1 grain would be erased")
    assert "pat likes tea" in said
    fed("n\n", terminal=True)
    status, said = grains("forget", address[:8])
    assert status == 1
    assert "pat likes tea" in said
    assert "AFL-USAGE-002: stopped" in said
    assert len(asked(grains, "recall", "pat")["grains"]) == 1
    fed("y\n", terminal=True)
    status, said = grains("forget", address[:8])
    assert status == 0
    assert "forgot 1 grain\n" in said
    assert asked(grains, "recall", "pat")["grains"] == []


def test_without_a_terminal_nothing_goes_unless_it_is_said(grains):
    address = asked(grains, "add", "fact", "pat", "likes", "tea")["hash"]
    status, said = grains("forget", address)
    assert status == 1
    assert "AFL-USAGE-003: nothing was forgotten: 1 grain would go, and nobody is there to be asked" in said
    told = asked(grains, "forget", address, "--yes")
    assert (told["forgotten"], told["hashes"], told["dry_run"]) == (1, [address], False)


def test_a_subject_goes_with_its_parts_and_not_with_who_is_only_called_alike(grains, tmp_path):
    for subject in ("pat", "pat#visit1", "patricia"):
        grains("add", "fact", subject, "likes", "marzipan-pigs")
    assert asked(grains, "forget", "--subject", "pat", "--dry-run")["forgotten"] == 0
    assert asked(grains, "forget", "--subject", "pat", "--yes")["forgotten"] == 2
    assert [one["subject"] for one in asked(grains, "recall")["grains"]] == ["patricia"]
    assert grains("forget", "--subject", "pat", "--yes")[1] == "nothing to forget\n"


def test_the_words_of_what_was_forgotten_are_nowhere_in_the_files(grains, tmp_path):
    address = asked(grains, "add", "fact", "pat", "likes", "marzipan-pigs")["hash"]
    grains("search", "marzipan-pigs")
    assert grains("forget", address, "--yes")[0] == 0
    assert [path.name for path in tmp_path.iterdir() if path.is_file() and b"marzipan" in path.read_bytes()] == []


def test_a_value_that_is_kept_out_cannot_be_added_in_another_spelling(grains):
    address = asked(grains, "add", "fact", "pat", "likes", "Marzipan")["hash"]
    assert grains("forget", address, "--keep-out", "--yes")[1].endswith("forgot 1 grain; the values stay out\n")
    status, said = grains("add", "fact", "PAT", "likes", "ｍarzipan")
    assert status == 1
    assert "AFL-STORE-030" in said


def test_many_grains_are_shown_as_some_and_a_number(grains):
    grains("add", "fact", "pat", "likes", "0")
    for number in range(1, 23):
        grains("add", "fact", "pat", f"likes{number}", "tea")
    _, said = grains("forget", "--subject", "pat", "--dry-run")
    assert said.splitlines()[-2:] == ["… and 3 more", "23 grains would be erased"]


# ------------------------------------------------------------------------------------------------------------------------------ verification


def test_a_whole_memory_and_a_damaged_one_are_told_apart(grains, tmp_path):
    address = asked(grains, "add", "fact", "acme", "tier", "gold")["hash"]
    assert grains("verify") == (0, "whole: 1 grain\n")
    with Memory(tmp_path / "notes.afl") as memory, memory._files.writer() as db:
        db.execute("UPDATE grains SET fields_json = replace(fields_json, 'gold', 'lead')")
    status, said = grains("verify")
    assert status == 1
    assert said.startswith(f"problem: grain {address[:12]} holds what has the address ")
    status, said = grains("verify", "--json")
    assert (status, json.loads(said)["ok"]) == (1, False)


# ------------------------------------------------------------------------------------------------------------------------- the home's store


def test_what_is_added_to_the_homes_store_is_redacted_and_the_command_says_so(afl, world, fed):
    status, said = afl("add", "fact", "acme", "token", SECRET)
    assert status == 0
    assert "redacted: 1 of its texts held a secret or personal data" in said
    status, said = afl(
        "record-tool-call", "--name", "t", "--result", f"denied for {SECRET}", "--input", json.dumps({"deep": [{"token": SECRET}]})
    )
    assert status == 0
    status, said = afl("add", "observation", "--field", f"content=it is {SECRET}", "--field", f"extra:={json.dumps([SECRET])}")
    assert status == 0
    assert SECRET not in "\n".join(world.db.iterdump())
    assert world.db.execute("SELECT count(*) FROM grains").fetchone()[0] == 3


@pytest.mark.parametrize("way", ["itself", "folder", "dots", "copy"])
def test_the_homes_store_is_known_however_it_is_named(afl, world, tmp_path, fed, way):
    path = pathlib.Path(world.home.paths.database)
    (tmp_path / "linked").symlink_to(path.parent)
    world.session(tmp_path / "t.jsonl")
    if way == "copy":
        world.db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        shutil.copy(path, tmp_path / "copy")
        os.chmod(tmp_path / "copy", 0o600)
    named = {
        "itself": path,
        "folder": tmp_path / "linked" / path.name,
        "dots": path.parent / ".." / path.parent.name / path.name,
        "copy": tmp_path / "copy",
    }[way]
    for arguments in (
        ["add", "fact", "acme", "token", SECRET],
        ["record-tool-call", "--name", "t", "--result", f"denied for {SECRET}"],
    ):
        status, said = afl(*arguments, "--db", str(named))
        assert (status, "redacted: 1 of its texts" in said) == (0, True)
    assert SECRET not in "\n".join(world.db.iterdump())
    assert SECRET not in afl("recall", "--db", str(named), "--json")[1]


def test_a_password_is_known_by_the_name_of_its_field_or_relation(afl, world, fed):
    afl("add", "fact", "acme", "password", "hunter2-Ab9!xyz")
    afl("record-tool-call", "--name", "t", "--result", "ok", "--input", '{"password": "hunter2-Ab9!xyz"}')
    assert "hunter2-Ab9!xyz" not in "\n".join(world.db.iterdump())


def test_names_are_kept_as_they_are_given(afl, fed):
    _, said = afl(
        "record-tool-call", "--name", "t", "--result", "ok", "--thread", "claude:0a1b", "--call-id", "toolu_01ABCdefGHIjkl2345", "--json"
    )
    assert json.loads(said)["fields"]["tool_call_id"] == "toolu_01ABCdefGHIjkl2345"
    assert json.loads(said)["fields"]["session_id"] == "claude:0a1b"


def test_a_file_of_its_own_holds_what_its_owner_wrote_unless_redaction_is_asked_for(grains, tmp_path):
    grains("add", "fact", "acme", "token", SECRET)
    assert asked(grains, "recall", "acme")["grains"][0]["object"] == SECRET
    assert SECRET not in grains("add", "fact", "acme", "other_token", SECRET, "--redact")[1]


def test_the_homes_store_takes_no_passphrase(afl, tmp_path, fed):
    (tmp_path / "pass").write_text("open sesame\n")
    status, said = afl("add", "fact", "a", "b", "c", "--passphrase-file", str(tmp_path / "pass"))
    assert (status, "AFL-STORE-041" in said) == (1, True)


def test_lessons_are_read_with_their_namespace_and_have_a_way_of_their_own_to_go(afl, lesson, fed):
    assert afl("search", "migration")[1] == "nothing was found in the namespace 'shared'\n"
    _, said = afl("search", "migration", "--ns", "*", "--json")
    [one] = json.loads(said)["grains"]
    assert one["type"] == "lesson"
    for more in (["--dry-run"], ["--yes"]):
        status, said = afl("forget", one["hash"], *more)
        assert (status, "AFL-MODEL-009" in said, "afl memory disable" in said) == (1, True, True)


def test_what_hooks_captured_is_shown_and_forgotten_by_its_address_or_as_a_session(afl, world, home, fed):
    world.session(home / "t.jsonl")
    tape = capture_world.Tape(home / "t.jsonl").person("go")
    for call in ("c1", "c2", "c3"):
        tape.call(call, command=f"sing {call}").result(call, "Exit code 1", True)
    world.absorb()
    _, said = afl("recall", "--ns", "*", "--json")
    first = next(one["hash"] for one in json.loads(said)["grains"] if one["tool_call_id"] == "c1")
    status, said = afl("forget", first[:12], "--dry-run")
    assert (status, "Bash failed: Exit code 1" in said, "1 grain would be erased" in said) == (0, True, True)
    assert afl("forget", first[:12], "--yes")[1].endswith("forgot 1 grain\n")
    assert afl("forget", "--session", capture_world.SESSION, "--ns", "shared", "--dry-run")[1] == "nothing to forget\n"
    for more in ([], ["--ns", "*"]):
        for session in (capture_world.SESSION, capture_world.SESSION.partition(":")[2]):
            assert "2 grains would be erased" in afl("forget", "--session", session, "--dry-run", *more)[1]
    told = json.loads(afl("forget", "--session", capture_world.SESSION, "--yes", "--json")[1])
    assert (told["forgotten"], told["session"], told["subject"]) == (2, capture_world.SESSION, None)
    assert "sing" not in "\n".join(world.db.iterdump())


# ------------------------------------------------------------------------------------------------------------------------------ sealed files


def test_a_sealed_memory_opens_with_the_passphrase_in_a_file_or_from_a_terminal(grains, fed, tmp_path, monkeypatch):
    (tmp_path / "pass").write_text("open sesame\nnot this\n")
    with_file = ("--passphrase-file", str(tmp_path / "pass"))
    assert grains("add", "fact", "acme", "tier", "marzipan", *with_file)[0] == 0
    assert "marzipan" in grains("search", "marzipan", *with_file)[1]
    assert b"marzipan" not in (tmp_path / "notes.afl").read_bytes()
    status, said = grains("search", "marzipan")
    assert (status, "AFL-STORE-034" in said, "--passphrase-file FILE" in said) == (1, True, True)
    monkeypatch.setattr("click.prompt", lambda *_text, **_how: "open sesame")
    fed("", terminal=True)
    assert "marzipan" in grains("search", "marzipan")[1]
    (tmp_path / "pass").write_text("wrong\n")
    assert "AFL-VAULT-022" in grains("search", "marzipan", *with_file)[1]
    for held, words in (
        (b"\n", "has to be the passphrase"),
        (b"\xff\xfe\n", "is not UTF-8 text"),
        (b"x" * 70_000, "is longer than 65536 bytes"),
        (b"\xef\xbb\xbfopen sesame\r\n", "marzipan"),  # as an editor of Windows writes it
    ):
        (tmp_path / "pass").write_bytes(held)
        assert words in grains("search", "marzipan", *with_file)[1]


# ---------------------------------------------------------------------------------------------------------------------- after a forgetting
