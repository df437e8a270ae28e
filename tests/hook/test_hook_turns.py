"""What each event of a host becomes, through the real hook and the real front."""

from __future__ import annotations

import json

from afl_core.store.intake import context_of
from afl_core.vault.seal import key_id_of, keyed_hash, unseal, unwrap


def test_a_first_prompt_starts_the_front_is_stored_and_gets_the_hosts_no_op(rendered):
    assert rendered.prompt("hello there") == b"{}"

    (row,) = rendered.intake()
    assert (row["kind"], row["session_id"], row["state"], row["turn"]) == ("prompt", "claude:s1", "new", "p")
    assert rendered.spooled() == []


def test_the_payload_is_sealed_with_a_key_only_the_vault_opens_and_the_text_is_named_by_its_keyed_hash(rendered):
    payload = json.dumps(rendered.prompt_payload("the secret word")).encode()
    rendered.fire("UserPromptSubmit", payload)

    (row,) = rendered.intake()
    (key,) = rendered.rows("SELECT * FROM vault_keys WHERE purpose = 'intake'")
    with open(rendered.paths.public_key, "rb") as public, open(rendered.paths.name_key, "rb") as names:
        data_key = unwrap(rendered.private_key, public.read(), key["key_id"], key["wrapped"])
        assert row["text_mac"] == keyed_hash(names.read(), "text", b"the secret word")
    assert key_id_of(row["sealed"]) == key["key_id"]
    assert unseal(data_key, context_of(row["intake_id"]), row["sealed"]) == payload
    with open(rendered.paths.database, "rb") as database:
        assert b"secret word" not in database.read()


def test_a_card_is_put_into_the_envelope_of_the_host_and_recorded_as_emitted(rendered):
    rendered.add_card("l1", "CARD ONE")
    reply = json.loads(rendered.prompt("do the thing"))

    assert reply["hookSpecificOutput"]["hookEventName"] == "UserPromptSubmit"
    assert "CARD ONE" in reply["hookSpecificOutput"]["additionalContext"]
    (delivery,) = rendered.rows("SELECT * FROM deliveries")
    assert (delivery["state"], delivery["intake_id"]) == ("emitted", rendered.intake()[0]["intake_id"])
    assert f"nonce={delivery['nonce']}" in reply["hookSpecificOutput"]["additionalContext"]


def test_a_compaction_opens_a_new_epoch_and_gives_the_cards_again(rendered):
    rendered.add_card("l1", "CARD ONE")
    rendered.prompt("do the thing")
    reply = json.loads(rendered.fire("SessionStart", {"session_id": "s1", "cwd": str(rendered.home), "source": "compact"}))

    assert "CARD ONE" in reply["hookSpecificOutput"]["additionalContext"]
    assert rendered.rows("SELECT epoch FROM sessions")[0]["epoch"] == 2
    assert [row["epoch"] for row in rendered.rows("SELECT epoch FROM deliveries ORDER BY epoch")] == [1, 2]


def test_an_ordinary_session_start_gives_nothing_and_keeps_the_epoch(rendered):
    rendered.add_card("l1", "CARD ONE")
    rendered.prompt("do the thing")
    assert rendered.fire("SessionStart", {"session_id": "s1", "cwd": str(rendered.home), "source": "resume"}) == b"{}"
    assert rendered.rows("SELECT epoch FROM sessions")[0]["epoch"] == 1


def test_a_session_ends_and_a_later_prompt_resumes_it(rendered):
    rendered.prompt("first")
    rendered.fire("SessionEnd", {"session_id": "s1", "cwd": str(rendered.home), "reason": "other"})
    assert rendered.rows("SELECT ended_ms FROM sessions")[0]["ended_ms"] is not None
    rendered.prompt("second")
    assert rendered.rows("SELECT ended_ms FROM sessions")[0]["ended_ms"] is None


def test_the_answer_of_a_stop_is_kept_with_its_own_hash(rendered):
    rendered.prompt("first")
    rendered.fire("Stop", {"session_id": "s1", "cwd": str(rendered.home), "last_assistant_message": "done"})
    stop = rendered.intake()[1]
    with open(rendered.paths.name_key, "rb") as names:
        assert (stop["kind"], stop["text_mac"]) == ("stop", keyed_hash(names.read(), "text", b"done"))


def test_what_a_machine_sends_as_a_prompt_is_neither_kept_nor_given_cards(rendered):
    rendered.add_card("l1", "CARD ONE")
    assert rendered.prompt("<task-notification>finished</task-notification>") == b"{}"
    assert rendered.fire("UserPromptSubmit", rendered.prompt_payload("inner", agent_id="a1")) == b"{}"
    assert [(row["state"], row["sealed"], row["text_mac"]) for row in rendered.intake()] == [("ignored", None, None)] * 2
    assert rendered.rows("SELECT * FROM deliveries") == []


def test_capture_switched_off_keeps_no_row_but_still_gives_cards(rendered):
    rendered.add_card("l1", "CARD ONE")
    rendered.rows("INSERT INTO meta VALUES ('capture_enabled', '0')")
    assert b"CARD ONE" in rendered.prompt("do the thing")
    assert rendered.intake() == []


def test_memory_switched_off_gives_no_cards_and_still_keeps_the_row_from_the_next_prompt_on(rendered):
    rendered.add_card("l1", "CARD ONE")
    assert b"CARD ONE" in rendered.prompt("do the thing")
    rendered.write_front_file(memory_enabled=False)
    assert rendered.prompt("do another thing", session="s2") == b"{}"
    assert len(rendered.intake()) == 2


def test_every_session_keeps_the_project_it_was_first_seen_in(rendered):
    (rendered.home / "repo" / ".git" / "objects").mkdir(parents=True)
    (rendered.home / "repo" / ".git" / "refs").mkdir()
    (rendered.home / "repo" / ".git" / "HEAD").write_text("ref: refs/heads/main\n", "utf-8")
    rendered.fire("UserPromptSubmit", rendered.prompt_payload("one", cwd=str(rendered.home / "repo")))
    rendered.fire("UserPromptSubmit", rendered.prompt_payload("two", cwd="/"))
    (project,) = rendered.rows("SELECT * FROM projects")
    assert (project["root"], project["kind"]) == (str(rendered.home / "repo" / ".git"), "git")
    assert {row["project_id"] for row in rendered.intake()} == {project["project_id"]}


def test_the_size_of_the_transcript_at_the_moment_of_the_hook_is_kept(rendered):
    rendered.prompt("before there is a file")
    (rendered.home / "t.jsonl").write_bytes(b"x" * 77)
    rendered.prompt("after")
    assert [row["transcript_size"] for row in rendered.intake()] == [None, 77]


def test_a_payload_without_a_session_is_counted_and_not_kept(rendered):
    assert rendered.fire("UserPromptSubmit", {"prompt": "whose?"}) == b"{}"
    assert rendered.intake() == []
    assert rendered.counts() == {"no_session": 1}


def test_a_payload_that_is_no_json_is_counted_and_not_kept(rendered):
    assert rendered.fire("UserPromptSubmit", b"not json") == b"{}"
    assert rendered.fire("UserPromptSubmit", b"[1]") == b"{}"
    assert rendered.fire("UserPromptSubmit", b"") == b"{}"
    assert (rendered.intake(), rendered.counts()) == ([], {"bad_payload": 3})


def test_an_event_the_pack_does_not_know_is_answered_with_the_no_op_and_goes_nowhere(rendered):
    assert rendered.fire("SomethingNew", {"session_id": "s1"}) == b"{}"
    assert rendered.fronts() == []


def test_the_doctors_own_prompt_is_kept_and_gets_no_card(rendered):
    rendered.add_card("lesson-1", "always")
    assert b"always" in rendered.prompt("anything", session="s1")
    assert rendered.prompt("anything", session="afl-canary-1") == b"{}"
    assert [row["native_id"] for row in rendered.rows("SELECT native_id FROM sessions ORDER BY native_id")] == ["afl-canary-1", "s1"]
    assert [row["session_id"] for row in rendered.rows("SELECT session_id FROM deliveries")] == ["claude:s1"]
