"""What people are shown of lessons and their changes: one id, the first words, reasons, and a way back from everything."""

from __future__ import annotations

import json

import pytest

from afl_core.changes import audit
from afl_core.model.card_text import short_id
from afl_core.store import intake
from afl_core.store.connection import writing

SECRET = "ghp_" + "k3Zr9QpLx2Vt7Bn5Ws8Yd4Fg6Hj1Mc0Ra3Te"
GIST = "about to say that a migration of the whole database is…"


def change_of(said):
    return said.rsplit(" ", 1)[1].strip()


def test_a_lesson_is_named_by_its_short_id_and_its_first_words_everywhere(afl, lesson):
    whole, _ = lesson
    said = [afl("memory", "list"), afl("memory", "disable", short_id(whole)), afl("memory", "changes")]
    said.append(afl("memory", "undo", change_of(said[1][1])))
    said.append(afl("memory", "enable", short_id(whole)))
    for status, text in said:
        assert status == (1 if "already" in text else 0)
        assert short_id(whole) in text
        assert GIST in text
        assert whole not in text


def test_the_whole_id_is_in_the_full_view(afl, lesson):
    whole, _ = lesson
    for reference in (short_id(whole), short_id(whole)[:5], whole, whole[:7]):
        _, text = afl("memory", "show", reference)
        assert f"Id         {whole}" in text


def test_an_error_names_the_lesson_as_the_list_does(afl, lesson):
    afl("memory", "disable", lesson[0])
    status, text = afl("memory", "disable", lesson[0])
    assert status == 1
    assert f"lesson {short_id(lesson[0])} ({GIST}) is disabled already" in text
    assert "  next: " in text


def test_undoing_the_change_that_brought_a_lesson_keeps_it_in_view_and_can_be_undone(afl, lesson):
    whole, added = lesson
    status, text = afl("memory", "undo", str(added))
    assert status == 0
    assert f"change {added} (lesson.add of {short_id(whole)} ({GIST})) is undone by change" in text
    back = change_of(text)
    assert afl("memory", "list")[1] == "nothing was learnt here yet\n"
    assert "retracted" in afl("memory", "list", "--all")[1]
    status, text = afl("memory", "show", short_id(whole))
    assert status == 0
    assert "· retracted ·" in text
    assert "Must do    run it" in text
    assert f"bring it back with: afl memory undo {back}" in text
    status, text = afl("memory", "disable", short_id(whole))
    assert status == 1
    assert f"next: bring it back first: afl memory undo {back}" in text
    assert afl("memory", "undo", back)[0] == 0
    assert short_id(whole) in afl("memory", "list")[1]


def test_changes_show_which_one_an_undo_undid_and_why(afl, lesson):
    afl("memory", "disable", lesson[0], "--reason", "too broad\n for us")
    _, text = afl("memory", "changes", "--json")
    off = json.loads(text)["changes"][0]
    assert (off["action"], off["reason"], off["undoes"]) == ("lesson.disable", "too broad for us", None)
    afl("memory", "undo", str(off["n"]), "--reason", "not at all")
    _, text = afl("memory", "changes")
    assert text.splitlines()[0].split("  ")[0] == "n"
    newest, before = text.splitlines()[1:3]
    assert f"change.undo of {off['n']}" in newest
    assert newest.endswith("not at all")
    assert before.endswith("too broad for us")
    assert text.count("UTC") == 1


def test_a_change_that_is_no_lessons_is_not_named_like_one(afl, world, lesson):
    with writing(world.db):
        audit.record(world.db, actor="reviewer:test", action="review.commit", target="f" * 32, body={}, reason="", now=world.now)
    _, text = afl("memory", "changes")
    assert "review ffffffffffff" in text.splitlines()[1]
    assert short_id("f" * 32) not in text


def test_a_reason_is_redacted_before_it_is_kept(afl, world, lesson):
    assert afl("memory", "disable", lesson[0], "--reason", f"it quotes {SECRET}")[0] == 0
    assert SECRET not in "\n".join(world.db.iterdump())
    _, text = afl("memory", "changes")
    assert "it quotes " in text
    assert SECRET not in text


@pytest.mark.parametrize("command", [("disable", "{lesson}"), ("undo", "{change}")])
def test_a_reason_that_is_too_long_is_refused_and_nothing_changes(afl, world, lesson, command):
    before = list(world.db.iterdump())
    wanted = [part.format(lesson=lesson[0], change=lesson[1]) for part in command]
    status, text = afl("memory", *wanted, "--reason", "x" * 501)
    assert status == 1
    assert "AFL-CHANGE-010: the reason has 501 characters, at most 500 are kept" in text
    assert list(world.db.iterdump()) == before
    assert afl("memory", *wanted, "--reason", "x" * 500)[0] == 0


@pytest.mark.parametrize("command", [("memory", "list"), ("review", "list"), ("review", "trends")])
def test_a_directory_that_is_not_there_is_an_error(afl, command):
    status, text = afl(*command, "/nope")
    assert status == 1
    assert "'/nope' does not exist" in text


def test_an_explanation_goes_prompt_by_prompt(afl, world, home, lesson):
    world.session(home / "t.jsonl", project=lesson_project(world))
    with writing(world.db):
        intake.add(world.db, prompt_row(world, "i1", world.now + 60_000))
    status, text = afl("memory", "explain")
    assert status == 0
    assert "session claude:s-1 (times in UTC)\nprompt 2026-" in text
    assert f"left out: Major {short_id(lesson[0])} ({GIST}): nothing is recorded of it here" in text
    afl("memory", "undo", str(lesson[1]))
    assert f"({GIST}, now retracted)" in afl("memory", "explain")[1]


def lesson_project(world):
    return world.db.execute("SELECT project_id FROM lessons").fetchone()[0]


def prompt_row(world, ident, at):
    return intake.Intake(
        intake_id=ident,
        host="claude",
        event="UserPromptSubmit",
        kind="prompt",
        session_id="claude:s-1",
        turn=None,
        source=None,
        cwd="",
        project_id="p-1",
        transcript_path=None,
        transcript_size=0,
        text_mac=None,
        sealed=None,
        total_bytes=1,
        received_ms=at,
        state="ignored",
    )


def test_notes_of_a_hosts_own_memory_are_imported_and_told_file_by_file(afl, world, home, tmp_path):
    from afl_core.testing.recorded import project_slug

    memory = home / ".claude/projects" / project_slug(tmp_path) / "memory"
    memory.mkdir(parents=True)
    (memory / "a.md").write_text("---\nname: a\nmetadata:\n  type: feedback\n---\nAlways run the tests.\n")
    (memory / "b.md").write_text("---\nname: b\nmetadata:\n  type: project\n---\nIt is a shop.\n")
    status, said = afl("memory", "import-native", str(tmp_path), "--dry-run")
    assert status == 0
    assert "imported" in said
    assert world.db.execute("SELECT count(*) FROM grains").fetchone()[0] == 0
    for expected in ("imported", "known"):
        status, said = afl("memory", "import-native", str(tmp_path), "--json")
        notes = json.loads(said)["notes"]
        assert [(one["host"], one["file"], one["action"], one["reason"]) for one in notes] == [
            ("claude", "a.md", expected, ""), ("claude", "b.md", "skipped", "no feedback"),
        ]  # fmt: skip
    status, said = afl("memory", "import-native", str(tmp_path), "--host", "nobody")
    assert status == 1
    assert "no plug-in knows a memory of the host 'nobody'" in said
