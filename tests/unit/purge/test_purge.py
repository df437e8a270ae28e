"""What an older rule set let into the index is taken out of every text, with its quotes and its bytes, and memory goes on working."""

from __future__ import annotations

import json

import pytest

from afl_core.api import redaction
from afl_core.api.purge import ACTION, purge
from afl_core.changes.audit import verify_chain
from afl_core.changes.history import body_of
from afl_core.model.errors import RedactionError
from afl_core.model.grain import GrainType, formed, stored
from afl_core.redaction.chain import Chain
from afl_core.store import audit, cursors, grains, index_state, lessons, rewrites, texts
from afl_core.store.connection import writing


def scanned(world):
    totals = redaction.Totals()
    return list(redaction.scan(world.home, (), totals, store=True)), totals


def event(world, event_id):
    return world.db.execute("SELECT text FROM events WHERE event_id = ?", (event_id,)).fetchone()[0]


def test_the_world_has_secrets_in_every_column_of_words(world, filled):
    full = {
        f"{column.table}.{column.name}"
        for column in texts.WORDS
        if any(secret in text for _, text in texts.of_column(world.db, column) for secret in filled.SECRETS)
    }
    named = {f"{column.table}.{column.name}" for column in texts.WORDS}
    assert named - full == {"events.tool_name", "lessons.class_id", "projection.match_json", "effects.corrective_action"}
    assert filled.left(world)


def test_no_byte_of_a_secret_is_left_in_the_data_directory(world, filled):
    done = purge(world.home)
    assert filled.left(world) == []
    assert done.copies == 1
    assert {path.name for path, _ in filled.bytes_of(world)} >= {"settings.json.1"}
    found, totals = scanned(world)
    assert [one for one in found if one.spots] == []
    assert totals.verdict is redaction.Verdict.CLEAN


def test_a_text_keeps_everything_else(world, filled):
    purge(world.home)
    assert event(world, "plain") == "nothing to hide here"
    assert event(world, "said").startswith("No! You logged in with password: [REDACTED:")
    assert event(world, "said").endswith("] but you never ran them. Run them before you claim anything.")
    assert event(world, "echo").startswith("As before I use [REDACTED:")
    counts = json.loads(world.db.execute("SELECT manifest_json FROM events WHERE event_id = 'said'").fetchone()[0])
    assert sum(counts.values()) == 1


def test_every_quote_is_still_an_exact_part_of_what_it_quotes(world):
    purge(world.home)
    said, act = event(world, "said"), event(world, "act")
    (row,) = lessons.every(world.db)
    fields = lessons.fields_of(world.db, row.lesson_id)
    receipt = json.loads(world.db.execute("SELECT body_json FROM receipts").fetchone()[0])
    (quote,) = world.db.execute("SELECT quote FROM incidents").fetchone()
    for evidence in (fields["evidence"][0], receipt["lessons"][0]["evidence_refs"][0]):
        assert evidence["feedback_quote"] in said
        assert evidence["feedback_quote"] == quote
        assert evidence["referent_quote"] in act
        assert evidence["referent_quote"].endswith("]")
    (report,) = world.db.execute("SELECT text FROM reports").fetchone()
    assert f'"{quote}"' in report


def test_a_quote_of_words_that_stay_is_not_judged_without_what_stands_around_them(world, monkeypatch):
    from afl_core.spec.redactor import Finding, Redaction

    class AtTheEnd:
        """Finds a last word only where nothing comes before `you`: a quote alone, never the text it is from."""

        name, version = "end", "1"

        def redact(self, text):
            if text != "you never ran them":
                return Redaction(text)
            return Redaction(text[:14] + "[REDACTED:end]", (Finding("end", 14, 18),))

    world.db.execute("UPDATE events SET text = replace(text, 'password: Zebra-7731-quilt', 'care')")
    for table, column in (("incidents", "quote"), ("receipts", "body_json")):
        world.db.execute(f"UPDATE {table} SET {column} = replace({column}, 'with password: Zebra-7731-quilt but you', 'you')")
    monkeypatch.setattr(type(world.home), "chain", Chain([("test", AtTheEnd())], world.home.guard, lambda word: word))
    purge(world.home)
    assert world.db.execute("SELECT quote FROM incidents").fetchone()[0] == "you never ran them"
    receipt = json.loads(world.db.execute("SELECT body_json FROM receipts").fetchone()[0])
    assert receipt["lessons"][0]["evidence_refs"][0]["feedback_quote"] == "you never ran them"


def test_what_shows_and_undoes_decisions_goes_on_after_a_purge(world, capsys):
    from afl_core.cli.main import main

    purge(world.home)
    home = ["--home", world.home.paths.home]
    for command in (["memory", "changes"], ["memory", "list", "--all"], ["review", "list"]):
        assert main([*command, *home]) == 0, command
    said = capsys.readouterr().out
    assert "redact.purge" in said
    n = next(row.n for row in audit.rows(world.db) if row.action == "lesson.add")
    assert main(["memory", "undo", str(n), *home]) == 1
    assert "AFL-CHANGE-009" in capsys.readouterr().err
    (row,) = lessons.every(world.db)
    for act in ("disable", "enable"):
        assert main(["memory", act, row.lesson_id, *home]) == 0


def test_grains_have_the_addresses_of_what_they_hold_now(world):
    before = {row[0] for row in world.db.execute("SELECT hash FROM grains")}
    purge(world.home)
    rows = world.db.execute("SELECT hash, type, fields_json FROM grains").fetchall()
    assert len(rows) == len(before)
    for row in rows:
        assert stored(row[1], row[2]).hash == row[0]
        assert row[0] not in before
    after = {row[0] for row in rows}
    for statement in (
        "SELECT hash FROM grains WHERE head > 0",
        "SELECT grain_hash FROM lessons",
        "SELECT grain_hash FROM lesson_revisions",
        "SELECT superseded_by FROM grains WHERE superseded_by <> 'withdrawn'",
    ):
        assert {row[0] for row in world.db.execute(statement)} <= after


def test_a_grain_that_breaks_a_newer_rule_of_its_type_is_cleaned_too(world, filled):
    old = formed(GrainType.OBSERVATION, {"namespace": "shared", "seen": f"the token is {filled.TOKEN}"}, world.home.clock())
    with writing(world.db) as db:
        grains.insert(db, old)
    purge(world.home)
    assert grains.get(world.db, old.hash) is None
    assert filled.left(world) == []


def test_the_card_that_agents_are_given_is_the_new_one(world):
    purge(world.home)
    (card,) = world.db.execute("SELECT card_text FROM projection").fetchone()
    assert "run the tests without [REDACTED:" in card


def test_the_chain_of_decisions_holds_and_says_what_was_done_without_a_value(world, filled):
    purge(world.home)
    assert verify_chain(world.db) is None
    (row,) = [row for row in audit.rows(world.db) if row.action == ACTION]
    body = body_of(world.db, row)
    assert body["texts"]["events.text"] == 5
    assert body["versions"] == world.home.chain.versions
    assert sum(body["rules"].values()) > 10
    assert not [secret for secret in filled.SECRETS if secret in json.dumps(body)]


def test_a_purge_that_is_run_again_finds_nothing_and_changes_nothing(world, filled):
    purge(world.home)
    kept = {column: list(texts.of_column(world.db, column)) for column in texts.WORDS}
    again = purge(world.home)
    assert (again.texts, again.copies) == ({}, 0)
    assert {column: list(texts.of_column(world.db, column)) for column in texts.WORDS} == kept


def test_a_dry_run_counts_the_same_and_changes_nothing(world, filled):
    before = filled.review_world.dump(world.db)
    would = purge(world.home, dry_run=True)
    assert filled.review_world.dump(world.db) == before
    assert would == purge(world.home)


def test_what_was_found_is_blocked_when_it_is_said_again_in_the_session(world, filled):
    purge(world.home)
    known = cursors.secrets(world.db, filled.SESSION)
    assert known
    told = world.home.chain.redact(f"and now {filled.PASSWORD} once more", known).text
    assert told == "and now [REDACTED:repeated-secret] once more"


def test_the_store_remembers_the_rules_it_was_judged_with(world):
    versions = world.home.chain.versions
    assert index_state.needs_purge(world.db, versions) == "the index was never judged as a whole"
    purge(world.home)
    assert index_state.needs_purge(world.db, versions) == ""
    assert index_state.needs_purge(world.db, versions + "x") == "the index was last judged with other rules"


def test_a_redactor_that_fails_leaves_the_index_as_it_was(world, filled, monkeypatch):
    class Broken:
        name, version = "broken", "1"

        def redact(self, text):
            raise RuntimeError(text)

    before = filled.review_world.dump(world.db)
    broken = Chain([("test", Broken())], world.home.guard, lambda word: word)
    monkeypatch.setattr(type(world.home), "chain", broken)
    with pytest.raises(RedactionError) as caught:
        purge(world.home)
    assert caught.value.code == "AFL-REDACT-003"
    after = filled.review_world.dump(world.db)
    assert {name for name in before if before[name] != after[name]} <= {"plugin_ledger"}
    assert index_state.last_check(world.db) is None


def test_words_that_were_written_while_they_were_judged_are_judged_again(world, filled):
    written = []

    def meanwhile(step):
        if step == "planned" and not written:
            written.append(step)
            world.db.execute("UPDATE events SET text = text || ' and ' || text WHERE event_id = 'said'")

    purge(world.home, checkpoint=meanwhile)
    assert event(world, "said").count("[REDACTED:") == 2
    assert filled.left(world) == []


def test_a_reader_of_the_old_file_is_named_and_the_next_purge_ends_it(world, filled):
    from afl_core.store.connection import connect

    other = connect(world.home.paths.database)
    other.execute("BEGIN")
    other.execute("SELECT count(*) FROM events").fetchone()
    with pytest.raises(RedactionError) as caught:
        purge(world.home)
    assert caught.value.code == "AFL-REDACT-009"
    assert index_state.needs_purge(world.db, world.home.chain.versions) == "a purge of the index was not finished"
    other.close()
    purge(world.home)
    assert filled.left(world) == []
    assert index_state.needs_purge(world.db, world.home.chain.versions) == ""


def test_every_text_column_of_the_schema_is_looked_through_or_has_a_reason_why_not(world):
    tables = [row[0] for row in world.db.execute("SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'")]
    found = {f"{table}.{row[1]}" for table in tables for row in world.db.execute(f"PRAGMA table_info({table})") if row[2] == "TEXT"}
    reasons = [column for columns in texts.NO_WORDS.values() for column in columns]
    named = [*(f"{column.table}.{column.name}" for column in texts.WORDS), *texts.COPIES, *reasons]
    assert sorted(named) == sorted(found)


def test_the_last_grain_gets_a_place_that_none_had_when_it_is_rewritten(world):
    said, meant = (formed(GrainType.OBSERVATION, {"content": word}, 1) for word in ("said", "meant"))
    with writing(world.db) as db:
        grains.insert(db, said)
        taken = grains.last_seq(db)
        rewrites.put_grain(db, said.hash, said.body, meant, None)
        assert [one.grain for one in grains.in_order(db, taken, 10)] == [meant]
