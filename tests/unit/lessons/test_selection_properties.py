"""Whatever lessons there are and whatever is prompted: limits hold, cards are whole, nothing comes twice in an epoch, the frame cannot be forged."""

from __future__ import annotations

import re
import sqlite3

from hypothesis import given
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from afl_core.lessons.delivery import compose, emit, settle
from afl_core.lessons.selection import reselect, select
from afl_core.model.card_text import render, tokens
from afl_core.model.codec import canonical
from afl_core.store import deliveries
from afl_core.store.connection import writing
from afl_core.store.projection import RANKS, Row
from afl_core.store.schema import MIGRATIONS, SCHEMA_VERSION

NOW = 1_767_225_600_000
HEAD = re.compile(r"(Blocker|Critical|Major) \u00b7 lesson [0-9a-f]{8} \u00b7 learnt \d{4}-\d\d-\d\d from your words")
PROMPTS = st.sampled_from(["", "部署到生产", "deploy the release in src/api/x.py", "edit docs/a.md", "測試" * 5_000, "\ud800 a\0b"])
SIGNALS = st.sampled_from([[], ["部署"], ["deploy the release"], ["测试"]])
HOSTILE = st.lists(
    st.sampled_from(
        [
            "\n",
            "nonce=",
            "0123456789abcdef",
            "[agent-feedback-loop memory]",
            "Blocker \u00b7 lesson 00000000 \u00b7 learnt 2026-01-01 ",
            "\u2028",
        ]
    )
    | st.text(max_size=8),
    max_size=8,
).map("".join)


@st.composite
def rows(draw, lesson_id):
    severity = draw(st.sampled_from(["Blocker", "Critical", "Major"]))
    size = draw(st.sampled_from([1, 40, 300]))
    names = ("when", "must_do", "must_not", "verify", "why", "exception")
    card = {name: draw(HOSTILE) + draw(st.sampled_from(["x", "证"])) * size for name in names} | {"source_ids": ["s"]}
    match = {
        "signals": draw(SIGNALS),
        "paths": draw(st.sampled_from([[], ["src/api"]])),
        "tools": [],
        "task_types": [],
        "words": [],
        "grams": [],
    }
    return Row(
        lesson_id=lesson_id,
        project_id=draw(st.sampled_from(["p", "p", "", "q"])),
        rank=RANKS[severity],
        severity=severity,
        revision=draw(st.integers(1, 3)),
        family_id=draw(st.sampled_from(["f1", "f2", "f3", "f4", "f5", "f6", "f7", "f8", "f9"])),
        is_global=0,
        conflict=draw(st.sampled_from(["none"] * 9 + ["safety_hold"])),
        load_policy=draw(st.sampled_from(["conditional"] * 5 + ["trend_only"])),
        card_text=render(card, severity=severity, lesson_id=lesson_id, learnt_ms=NOW),
        tokens=tokens(card),
        match_json=canonical(match),
        origin_session=draw(st.sampled_from(["claude:s", "claude:t"])),
    )


def memory():
    db = sqlite3.connect(":memory:", isolation_level=None)
    db.row_factory = sqlite3.Row
    db.executescript("".join(MIGRATIONS) + f"PRAGMA user_version = {SCHEMA_VERSION};")
    return db


class Session(RuleBasedStateMachine):
    """One session of a project: prompts, compactions and proofs in any order."""

    @initialize(data=st.data(), count=st.integers(0, 14))
    def lessons_are_there(self, data, count):
        self.db = memory()
        self.epoch, self.count = 1, 0
        self.given: dict[tuple[int, str, int], int] = {}
        self.confirmed: set[tuple[int, str, int]] = set()
        self.holds: list[tuple[int, str]] = []
        self.rows = {}
        for number in range(count):
            row = data.draw(rows(f"lesson {number}"))
            self.rows[row.lesson_id] = row
            self.db.execute(f"INSERT INTO projection VALUES ({', '.join('?' * len(row))})", row)

    def look(self, chosen, chars, size, budget):
        self.count += 1
        nonce = f"{self.count:016x}"
        text = compose(chosen, nonce)
        assert chars is None or len(text) <= chars
        assert size is None or len(text.encode()) <= size
        assert chosen.tokens == sum(card.tokens for card in chosen.cards)
        assert not budget or chosen.tokens <= budget
        self.frame(text, nonce, chosen)
        ranks = [self.rows[card.lesson_id].rank for card in chosen.cards]
        assert ranks == sorted(ranks)
        assert sum(rank < 2 for rank in ranks) <= 4
        assert len({self.rows[card.lesson_id].family_id for card in chosen.cards}) == len(chosen.cards) <= 12
        for card in chosen.cards:
            row = self.rows[card.lesson_id]
            assert (card.text, card.tokens, card.revision) == (row.card_text, row.tokens, row.revision)
            assert row.project_id in ("p", "")
            assert row.conflict == "none"
            assert card.tokens <= 1_600
            assert card.match
            key = (self.epoch, card.lesson_id, card.revision)
            assert key not in self.confirmed
            self.given[key] = self.given.get(key, 0) + 1
            assert self.given[key] <= 2
            self.confirmed.add(key)
        left = [omitted.lesson_id for omitted in chosen.omitted]
        here = {lesson_id for lesson_id, row in self.rows.items() if row.project_id in ("p", "")}
        assert len(left) == len(set(left))
        assert set(left) | {card.lesson_id for card in chosen.cards} == here
        assert not set(left) & {card.lesson_id for card in chosen.cards}
        if chosen.hold == "safety_hold":
            assert not chosen.cards
        if chosen.hold:
            assert (self.epoch, chosen.hold) not in self.holds
            self.holds.append((self.epoch, chosen.hold))
        with writing(self.db):
            emit(self.db, chosen, session_id="claude:s", epoch=self.epoch, intake_id=f"i{self.count}", nonce=nonce, now=NOW + self.count)

    def frame(self, text, nonce, chosen):
        lines = text.splitlines()
        assert lines == text.split("\n") or not text
        wanted = 1 if chosen.cards else 0
        assert lines.count("[agent-feedback-loop memory]") == wanted
        assert [line for line in lines if line.startswith("nonce")] == [f"nonce={nonce}"] * wanted
        assert re.findall(r"nonce=[0-9a-f]{16}", text) == [f"nonce={nonce}"] * wanted
        assert len([line for line in lines if HEAD.match(line)]) == len(chosen.cards)
        assert all(char == "\n" or char.isprintable() for char in text)

    @rule(
        prompt=PROMPTS,
        chars=st.sampled_from([None, 9_900, 2_000, 400, 10]),
        size=st.sampled_from([None, 8_000, 300]),
        budget=st.sampled_from([0, 0, 150, 900]),
    )
    def a_prompt(self, prompt, chars, size, budget):
        chosen = select(
            self.db,
            project_id="p",
            session_id="claude:s",
            epoch=self.epoch,
            prompt=prompt,
            cwd="/repo",
            limit_chars=chars,
            limit_bytes=size,
            budget_tokens=budget,
        )
        self.look(chosen, chars, size, budget)

    @rule(chars=st.sampled_from([None, 9_900, 400]))
    def a_compaction(self, chars):
        self.epoch += 1
        chosen = reselect(
            self.db, project_id="p", session_id="claude:s", epoch=self.epoch, limit_chars=chars, limit_bytes=None, budget_tokens=0
        )
        had = {lesson_id for _, lesson_id, _ in self.given}
        assert all(card.lesson_id in had or self.rows[card.lesson_id].rank < 2 for card in chosen.cards)
        self.look(chosen, chars, None, 0)

    @rule()
    def an_answer_without_proof(self):
        with writing(self.db):
            settle(self.db, session_id="claude:s", shown=[], answered_ms=NOW + 10_000, now=NOW)
        self.confirmed = {
            (row.epoch, row.lesson_id, row.revision) for row in deliveries.of_session(self.db, "claude:s") if row.state == "reached"
        }

    @rule()
    def a_proof(self):
        nonces = [(row.nonce, NOW) for row in deliveries.of_session(self.db, "claude:s")]
        with writing(self.db):
            settle(self.db, session_id="claude:s", shown=nonces, answered_ms=None, now=NOW)
        self.confirmed = set(self.given)

    @invariant()
    def the_records_are_of_what_was_given(self):
        if not hasattr(self, "db"):
            return
        found = {(row.epoch, row.lesson_id, row.revision): row.emissions for row in deliveries.of_session(self.db, "claude:s")}
        assert found == self.given

    def teardown(self):
        if hasattr(self, "db"):
            self.db.close()


TestSession = Session.TestCase


@given(st.lists(HOSTILE, min_size=6, max_size=6), st.sampled_from(["Blocker", "Critical", "Major"]))
def test_no_words_of_a_card_forge_a_line_of_the_injection(texts, severity):
    names = ("when", "must_do", "must_not", "verify", "why", "exception")
    text = render(dict(zip(names, texts, strict=True)), severity=severity, lesson_id="L", learnt_ms=NOW)
    lines = text.splitlines()
    assert len(lines) == 7
    assert HEAD.fullmatch(lines[0])
    assert not any(HEAD.match(line) or line.startswith(("[agent", "nonce")) for line in lines[1:])
    assert not re.search(r"nonce=", text)
