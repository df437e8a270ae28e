"""What is stored of a secret, and what happens when nobody can tell whether there is one."""

from __future__ import annotations

import json
import os
import pathlib

import attrs
import pytest

from afl_core.capture.limits import MESSAGE_CHARS
from afl_core.model.errors import RedactionError
from afl_core.model.event import EventKind
from afl_core.redaction.chain import Chain
from afl_core.spec.redactor import Redaction

SECRETS = ("Tr0ub4dor&3x", "ghp_16C7e42F292c6912E7710c838347Ae178B4a", "AKIAIOSFODNN7EXAMPLQ", "hunter2secret")
PEM = "-----BEGIN RSA PRIVATE KEY-----\n" + "\n".join("MIIEow" + "Ab3d" * 14 for _ in range(26)) + "\n-----END RSA PRIVATE KEY-----"


class Broken:
    name, version = "broken", "1"

    def __init__(self):
        self.is_broken = True

    def redact(self, text):
        if self.is_broken:
            raise RuntimeError("no judgement")
        return Redaction(text)


def every_byte(root):
    """(path, bytes) of everything below the data directory."""
    for folder, _, names in os.walk(root):
        for name in names:
            path = pathlib.Path(folder) / name
            yield path, path.read_bytes()


def test_no_secret_is_in_any_file_of_the_data_directory(world, tape):
    password, token, key, shown = SECRETS
    tape.person(f"the password: {password} and token {token}").agent(f"I use {password}").call(
        "c1", command=f"curl -H 'Authorization: Bearer {token}'"
    )
    tape.result("c1", f"Exit code 1\naws_access_key_id = {key}", True).agent(f"so {key} is wrong").steering(f"use {password} then")
    tape.call("c2", command="cat .env").result("c2", f"DB_PASSWORD={shown}").agent(f"it is {shown}").cut().person(PEM)
    world.hook("prompt", f"and my password is {password}", at=tape.start)
    world.absorb()
    texts = "\n".join(world.events("text"))
    assert world.db.execute("SELECT count(*) FROM events").fetchone()[0] > 8
    for secret in (*SECRETS, "MIIEow"):
        assert secret not in texts
        for path, data in every_byte(world.home.paths.data):
            assert secret.encode() not in data, path


def test_the_raw_words_open_with_the_keystore(world, tape):
    tape.person(f"the password: {SECRETS[0]}")
    world.absorb()
    (text,) = world.events("text")
    assert SECRETS[0] in world.raw(text)


def test_only_what_the_index_does_not_say_in_full_is_sealed(world, tape):
    tape.person("plain words").agent("plain answer").call("c1", command="ls -l").result("c1", "Exit code 1\nfailed", True)
    world.absorb()
    assert world.events("blob") == [None] * 4
    assert list(world.home.blobs.names()) == []

    long = "word " * (MESSAGE_CHARS // 4)
    tape.person(f"the password: {SECRETS[0]}").agent(long).call("c2", command="ls").result("c2", "what a success says")
    world.absorb()
    sealed = [world.raw(text) for text, blob in world.events("text", "blob") if blob is not None]
    assert len(sealed) == 3
    assert all(all(said in raw for said in (SECRETS[0], long, "what a success says")) for raw in sealed)
    assert "ls" not in [json.loads(line).get("raw") for line in sealed[0].splitlines()]


def test_the_cursor_holds_no_word_of_the_conversation(world, tape):
    words = ["elephant", "giraffe", "marmalade", "zeppelin", "buttermilk"]
    tape.person(f"the {words[0]} and password: Tr0ub4dor&3x").agent(f"a {words[1]}").call("c1", "Bash", command=words[2])
    tape.result("c1", words[3], True).steering(words[4]).cut()
    world.absorb()
    row = " ".join(str(value) for value in world.db.execute("SELECT * FROM cursors").fetchone())
    assert "c1" in row
    assert not [word for word in (*words, "Tr0ub4dor", "password") if word in row]


def test_a_call_id_that_could_carry_text_is_not_remembered_in_the_cursor(world, tape):
    tape.person("go").call("secret words " * 30)
    world.absorb()
    assert "secret words" not in str(tuple(world.db.execute("SELECT * FROM cursors").fetchone()))


@pytest.mark.parametrize("length", [120_000, 131_072, 140_000, 200_000])
@pytest.mark.parametrize("where", [0.0, 0.32, 0.327, 0.33, 0.47, 0.49, 0.5, 0.66, 0.67, 0.99])
def test_no_part_of_a_private_key_survives_wherever_a_long_message_is_cut(world, tape, length, where):
    filler = "word " * (length // 5)
    at = int(len(filler) * where) // 5 * 5
    tape.person(filler[:at] + PEM + "\n" + filler[at:])
    world.absorb()
    (text,) = world.events("text")
    assert "MIIEow" not in text
    assert len(text) < 131_072 + 200


@pytest.mark.parametrize("shift", [-1500, -900, -300, 0, 300, 900, 1500])
@pytest.mark.parametrize("from_end", [False, True])
def test_a_private_key_that_lies_across_a_cut_is_seen_whole(world, tape, shift, from_end):
    cut, total = 65_536, 200_000  # as much is kept at each end
    middle = (total - cut if from_end else cut) + shift
    filler = "word " * (total // 5)
    begin = middle - len(PEM) // 2
    text = filler[: begin - 1] + "\n" + PEM + "\n" + filler[: total - begin - len(PEM) - 1]
    assert len(text) == total
    tape.person(text)
    world.absorb()
    (kept,) = world.events("text")
    assert "MIIEow" not in kept
    assert "characters left out" in kept


def test_a_long_message_keeps_its_head_and_its_tail_and_says_what_it_left_out(world, tape):
    tape.person("begin " + "middle " * 40_000 + "end")
    world.absorb()
    text, completeness = world.events("text", "completeness")[0]
    assert (text[:6], text[-4:], completeness) == ("begin ", " end", "head_and_tail")
    assert "characters left out" in text
    assert len(text) <= 131_072 + 100


def test_a_redactor_that_fails_stores_nothing_and_the_pass_after_its_repair_stores_all(world, tape):
    tape.person("one").agent("two")
    broken = Broken()
    chain = Chain([*world.home.registry.redactors(), ("test", broken)], world.home.guard, lambda secret: secret)
    tools = world.tools(chain=chain)
    with pytest.raises(RedactionError):
        world.sync(tape.path, tools=tools)
    assert world.events() == []
    assert world.db.execute("SELECT count(*) FROM cursors").fetchone()[0] == 0
    assert list(world.home.blobs.names()) == []
    broken.is_broken = False
    world.sync(tape.path, tools=tools)
    assert world.messages() == [("user", "one"), ("assistant", "two")]


def test_a_redactor_that_fails_keeps_hook_only_words_waiting(world, monkeypatch):
    ident = world.hook("prompt", "only a hook", at=world.now - 600_000)
    broken = Broken()
    with monkeypatch.context() as patched:
        patched.setattr(type(world.home), "chain", Chain([("test", broken)], world.home.guard, lambda secret: secret))
        with pytest.raises(RedactionError):
            world.absorb()
        assert world.states() == {ident: "new"}
    assert world.absorb().adopted == 1


def test_what_repeats_a_secret_shown_long_before_is_never_stored_queued_told_or_kept_as_a_grain_in_the_clear(world, tape, monkeypatch):
    import afl_core.worker.absorb as absorbing

    monkeypatch.setattr(absorbing, "TAIL_FIRST_BYTES", 1000)
    world.now = tape.start + 60_000
    tape.person("the password: Zebra-7731-quilt")
    for number in range(400):
        tape.agent(f"step {number} " + "filler words " * 60)
    tape.person("go on").call("c1", command="deploy Zebra-7731-quilt now").result("c1", "no Zebra-7731-quilt here", True)
    tape.person("as I said, Zebra-7731-quilt")
    told, kept = [], []
    monkeypatch.setattr(world.home.registry, "tell", lambda _hook, **what: told.append(what["event"]["text"]))

    def look(step):
        if step == "committed":
            kept.extend([world.rows(), world.waiting()])

    world.absorb(checkpoint=look)
    assert len(told) == 405
    assert len(world.rows()["grains"]) == 1
    assert ("as I said, [REDACTED:repeated-secret]", 0) in world.waiting()
    assert "Zebra" not in str((told, kept, world.rows()))


def test_an_adapter_that_fails_is_named_and_moves_nothing(world, tape):
    tape.person("one")

    class Adapter:
        name = "faulty"

        def wants(self, head):
            return True

        def parse(self, lines, state):
            raise KeyError("type")

    from afl_core.model.errors import CaptureError

    with pytest.raises(CaptureError, match="faulty") as caught:
        world.sync(tape.path, adapter=Adapter())
    assert caught.value.code == "AFL-CAPTURE-006"
    assert world.db.execute("SELECT count(*) FROM cursors").fetchone()[0] == 0
    assert world.home.guard.ledger.read("faulty", "parse").failures == 1


def test_an_adapter_that_keeps_too_much_state_is_named_and_moves_nothing(world, tape):
    tape.person("one")

    class Adapter:
        name = "greedy"

        def wants(self, head):
            return True

        def parse(self, lines, state):
            return [], {"kept": "x" * 20_000}

    from afl_core.model.errors import CaptureError

    with pytest.raises(CaptureError, match="greedy") as caught:
        world.sync(tape.path, adapter=Adapter())
    assert caught.value.code == "AFL-CAPTURE-005"


def test_ids_and_texts_no_database_can_hold_do_not_stop_the_reader(world, tape):
    tape.person("one")

    class Adapter:
        name = "wild"
        wants = staticmethod(bool)

        def parse(self, lines, state):
            observations, state = world.adapter.parse(lines, state)
            wild = [attrs.evolve(one, text="half \ud800 pair", native_id="id\ud800" + "x" * 900, turn="\0") for one in observations]
            return wild, state

    world.sync(tape.path, adapter=Adapter())
    (text, native_id, turn) = world.events("text", "native_id", "turn")[0]
    assert (text, len(native_id), turn) == ("half ? pair", 512, "\ufffd")


def test_distinct_words_that_redact_alike_stay_distinct_events_with_their_own_raw(world, tape):
    tape.person("password: Aa1111bb").person("password: Bb2222cc")
    world.absorb()
    texts = world.events("text")
    assert texts[0] == texts[1]
    assert len({row[0] for row in world.db.execute("SELECT text_mac FROM events")}) == 2
    raw = world.raw(texts[0])
    assert "Aa1111bb" in raw
    assert "Bb2222cc" in raw
    assert json.loads(raw.splitlines()[0]) == {"session": "claude:s-1"}


def test_a_turn_cut_has_neither_text_nor_raw(world, tape):
    tape.person("x").cut()
    world.absorb()
    row = world.db.execute("SELECT text, blob, text_mac FROM events WHERE kind = ?", (EventKind.TURN_CUT.value,)).fetchone()
    assert tuple(row) == ("", None, None)


def test_what_is_read_of_a_failed_tools_text_begins_with_all_that_is_watched_of_any():
    from afl_core.capture import limits

    assert limits.TOOL_ERROR_CHARS // 2 + limits.MARGIN_CHARS >= limits.WATCHED_CHARS


@pytest.mark.parametrize("size", [3_000, 9_000, 15_000, 40_000])
@pytest.mark.parametrize("failed", [True, False])
def test_a_secret_in_the_watched_beginning_of_a_tools_text_is_hidden_afterwards_whether_it_failed_or_not(world, tape, size, failed):
    text = "x " * 1_000 + "password=Hb72-kqq0Zw " + "y " * ((size - 2_000) // 2)
    tape.person("go").call("c1").result("c1", text, failed).agent("so I use Hb72-kqq0Zw from now on")
    world.absorb()
    assert "Hb72" not in "".join(world.events("text"))
