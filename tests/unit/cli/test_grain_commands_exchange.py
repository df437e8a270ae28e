"""Memory that goes to a file and comes from one, by hand."""

from __future__ import annotations

import json

import pytest
from grain_commands import SECRET, asked

from afl_core.api.memory import Memory

pytest.importorskip("afl_core.exchange")


@pytest.fixture
def bundle(grains, tmp_path):
    """A bundle of two facts of two namespaces, and the file it came from."""
    grains("add", "fact", "acme", "tier", "gold")
    grains("add", "fact", "acme", "tier", "lead", "--ns", "other")
    path = tmp_path / "all.bundle"
    status, said = grains("export", str(path))
    assert (status, said) == (0, f"{path}: 2 grains\n")
    return path


def test_a_bundle_is_taken_over_once_however_often_it_is_imported(grains, bundle, tmp_path):
    there = ("--db", str(tmp_path / "there.afl"))
    assert asked(grains, "import", str(bundle), *there, "--dry-run")["added"] == 2
    assert not (tmp_path / "there.afl").exists()
    first = asked(grains, "import", str(bundle), *there)
    assert (first["format"], first["added"], first["already"]) == ("afl-bundle/1", 2, 0)
    dry = asked(grains, "import", str(bundle), *there, "--dry-run")
    assert (dry["added"], dry["dry_run"]) == (0, True)
    assert asked(grains, "import", str(bundle), *there)["added"] == 0
    assert "acme tier gold" in grains("recall", "acme", *there)[1]


def test_one_namespace_can_be_exported_and_a_star_means_all(grains, bundle, tmp_path):
    path = str(tmp_path / "some.bundle")
    assert asked(grains, "export", path, "--ns", "other")["grains"] == 1
    assert asked(grains, "export", path, "--ns", "*")["grains"] == 2


def test_a_bundle_on_standard_output_has_no_place_for_json(grains, bundle):
    status, said = grains("export", "--json")
    assert (status, "--json needs a FILE" in said) == (1, True)


def test_what_a_file_is_in_and_how_to_answer_are_both_a_format(grains, tmp_path):
    path = tmp_path / "rows.jsonl"
    path.write_text('{"subject": "acme", "relation": "tier", "object": "gold"}\n')
    status, said = grains("import", str(path), "--format", "facts", "--format", "json")
    assert status == 0
    assert json.loads(said)["format"] == "facts"
    status, said = grains("import", str(path), "--format", "facts")
    assert (status, said) == (0, f"{path} (facts, 1 row): 0 added, 1 already there\n")
    assert grains("import", str(path), "--format", "moon")[0] == 1
    assert grains("recall", "--format", "facts")[0] == 1


def test_rows_that_cannot_be_taken_are_named_and_the_others_are_taken(grains, tmp_path):
    path = tmp_path / "rows.jsonl"
    path.write_text('{"subject": "acme", "relation": "tier", "object": "gold"}\n{"subject": "acme"}\nnot json\n')
    status, said = grains("import", str(path))
    assert status == 0
    assert "1 added" in said
    assert "2 skipped" in said
    assert "  line 2: " in said
    assert "  line 3: " in said


def test_two_machines_that_said_different_things_show_a_fork(grains, bundle, tmp_path):
    there = ("--db", str(tmp_path / "there.afl"))
    grains("import", str(bundle), *there)
    for name, word in (("notes.afl", "silver"), ("there.afl", "bronze")):
        with Memory(tmp_path / name) as memory:
            memory.supersede(memory.latest("acme", "tier")["hash"], object=word)
    grains("export", str(bundle), *there)
    grains("import", str(bundle))
    first, *heads, advice = grains("forks")[1].splitlines()
    assert first == "acme tier (in shared): 2 heads"
    assert sorted(line.split("  ")[-2].strip().split()[-1] for line in heads) == ["bronze", "silver"]
    [fork] = asked(grains, "forks")["forks"]
    assert len(fork["heads"]) == 2
    assert "afl merge" in advice
    merged = asked(grains, "merge", "acme", "tier", "platinum")
    assert (merged["fields"]["object"], grains("forks")[1]) == ("platinum", "nothing is forked\n")
    asked(grains, "undo", fork["heads"][0]["hash"])
    assert len(asked(grains, "forks")["forks"]) == 1


def test_a_tool_log_is_redacted_on_its_way_into_the_homes_store(afl, world, fed, tmp_path):
    path = tmp_path / "log.jsonl"
    path.write_text(json.dumps({"tool_name": "t", "content": f"denied for {SECRET}", "is_error": True, "id": "c-1"}) + "\n")
    status, said = afl("import", str(path), "--json")
    assert status == 0
    assert json.loads(said)["added"] == 1
    assert SECRET not in "\n".join(world.db.iterdump())


def test_a_file_that_is_missing_and_one_of_no_format_are_named(grains, tmp_path):
    assert "AFL-EXCHANGE-001" in grains("import", str(tmp_path / "gone"))[1]
    (tmp_path / "diary").write_text("dear diary\n")
    assert "AFL-EXCHANGE-002" in grains("import", str(tmp_path / "diary"))[1]


def test_an_import_whose_texts_are_not_redacted_says_so(grains, tmp_path):
    facts, log = tmp_path / "facts.jsonl", tmp_path / "log.jsonl"
    facts.write_text('{"subject": "srv", "relation": "password", "object": "hunter2"}\n', encoding="utf-8")
    log.write_text('{"tool_name": "Bash", "content": "fine", "call_id": "c1"}\n', encoding="utf-8")
    told = "the texts are stored as they are: what comes in a bundle is not redacted"
    assert told not in grains("import", str(log), "--redact")[1]
    assert told not in grains("import", str(facts), "--redact")[1]
    assert asked(grains, "recall", "srv")["grains"][0]["object"].startswith("[REDACTED")
    grains("import", str(facts))
    assert asked(grains, "recall", "srv")["grains"][0]["object"] == "hunter2"
    grains("export", str(tmp_path / "all.bundle"))
    assert told in grains("import", str(tmp_path / "all.bundle"), "--redact")[1]


def test_facts_are_redacted_on_their_way_into_the_homes_store(afl, world, fed, tmp_path):
    path = tmp_path / "facts.jsonl"
    rows = [{"subject": "srv", "relation": "password", "object": "hunter2hunter"}, {"subject": "ci", "relation": "token", "object": SECRET}]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    for added, already in ((2, 0), (0, 2)):
        status, said = afl("import", str(path), "--json")
        assert (status, json.loads(said)["added"], json.loads(said)["already"]) == (0, added, already)
    stored = "\n".join(world.db.iterdump())
    assert SECRET not in stored
    assert "hunter2hunter" not in stored


def test_an_export_takes_the_place_of_a_bundle_and_of_nothing_else_unasked(grains, bundle, tmp_path):
    diary = tmp_path / "diary.txt"
    diary.write_text("dear diary")
    assert "AFL-EXCHANGE-011" in grains("export", str(diary))[1]
    assert diary.read_text() == "dear diary"
    assert grains("export", str(bundle))[0] == grains("export", str(diary), "--force")[0] == 0
    assert diary.read_bytes() == bundle.read_bytes()
    (tmp_path / "new.bundle").touch()
    assert "there is nothing in the namespace 'nobodys'" in grains("export", str(tmp_path / "new.bundle"), "--ns", "nobodys")[1]
