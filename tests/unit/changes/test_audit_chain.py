"""The audit chain names the first row that does not hold, whatever was done to it."""

from __future__ import annotations

import sqlite3
from contextlib import closing

import attrs
from hypothesis import given
from hypothesis import strategies as st

from afl_core.changes.audit import START, Broken, record, row_hash, verify_chain
from afl_core.store import audit as rows
from afl_core.store.connection import connect
from afl_core.store.migrate import open_or_create
from afl_core.store.schema import MIGRATIONS

NOW = 1_767_225_600_000


def chain(length):
    db = sqlite3.connect(":memory:", isolation_level=None)
    db.executescript("".join(MIGRATIONS))
    for n in range(1, length + 1):
        record(db, actor="user:me", action="lesson.disable", target=f"L{n % 3}", body={"n": n}, reason=f"reason {n}", now=NOW + n)
    return db


def test_an_empty_chain_holds():
    with closing(chain(0)) as db:
        assert verify_chain(db) is None


def test_rows_are_numbered_and_each_follows_the_one_before():
    with closing(chain(3)) as db:
        found = list(rows.rows(db))
    assert [row.n for row in found] == [1, 2, 3]
    assert [row.previous for row in found] == [START, found[0].hash, found[1].hash]


def test_the_hash_of_a_row_is_pinned():
    with closing(chain(1)) as db:
        assert next(rows.rows(db)).hash == "6e156de426d935ec586c499ebaa133b17c9fb65a9c87f0ce55872f974ed8913f"


@given(st.integers(1, 8), st.data())
def test_any_altered_column_of_any_row_is_found_there(length, data):
    with closing(chain(length)) as db:
        n = data.draw(st.integers(1, length))
        column = data.draw(st.sampled_from(["at_ms", "actor", "action", "target", "body_hash", "reason_hash", "previous", "hash"]))
        db.execute(f"UPDATE audit SET {column} = ? WHERE n = ?", (7 if column == "at_ms" else "0" * 63 + "1", n))
        broken = verify_chain(db)
        assert broken is not None
        assert broken.n == n


@given(st.integers(1, 8), st.data())
def test_a_removed_row_is_named_even_when_it_was_the_last(length, data):
    with closing(chain(length)) as db:
        n = data.draw(st.integers(1, length))
        db.execute("DELETE FROM audit WHERE n = ?", (n,))
        assert verify_chain(db) == Broken(n, f"row {n} is missing")


@given(st.integers(2, 8), st.data())
def test_two_rows_that_changed_places_are_found(length, data):
    with closing(chain(length)) as db:
        n = data.draw(st.integers(1, length - 1))
        db.execute("UPDATE audit SET n = -1 WHERE n = ?", (n,))
        db.execute("UPDATE audit SET n = ? WHERE n = ?", (n, n + 1))
        db.execute("UPDATE audit SET n = ? WHERE n = -1", (n + 1,))
        broken = verify_chain(db)
        assert broken is not None
        assert broken.n == n


def test_an_altered_text_breaks_the_chain_at_its_row_and_an_erased_one_does_not():
    with closing(chain(3)) as db:
        second = list(rows.rows(db))[1]
        db.execute("UPDATE audit_texts SET text = 'another reason' WHERE hash = ?", (second.reason_hash,))
        assert verify_chain(db) == Broken(2, "a text of row 2 was altered")
        db.execute("DELETE FROM audit_texts WHERE hash = ?", (second.reason_hash,))
        assert verify_chain(db) is None
        assert rows.text(db, second.reason_hash) is None


def test_a_row_put_in_by_hand_is_found():
    with closing(chain(2)) as db:
        db.execute("INSERT INTO audit SELECT 3, at_ms, actor, action, target, body_hash, reason_hash, hash, hash FROM audit WHERE n = 2")
        assert verify_chain(db) == Broken(3, "row 3 was altered")


def test_a_row_that_was_altered_with_a_matching_hash_breaks_the_next_one():
    with closing(chain(3)) as db:
        forged = attrs.evolve(list(rows.rows(db))[1], actor="user:somebody else")
        db.execute("UPDATE audit SET actor = ?, hash = ? WHERE n = 2", (forged.actor, row_hash(forged)))
        assert verify_chain(db) == Broken(3, "row 3 does not follow row 2")


def test_an_altered_last_row_with_a_matching_hash_is_not_the_recorded_end():
    with closing(chain(2)) as db:
        forged = attrs.evolve(list(rows.rows(db))[1], actor="user:somebody else")
        db.execute("UPDATE audit SET actor = ?, hash = ? WHERE n = 2", (forged.actor, row_hash(forged)))
        assert verify_chain(db) == Broken(2, "row 2 is not the recorded end of the chain")


def test_the_chain_itself_holds_no_words():
    with closing(chain(2)) as db:
        assert "reason 1" not in "".join(str(tuple(row)) for row in db.execute("SELECT * FROM audit"))


def test_a_chain_that_grows_while_it_is_read_holds(tmp_path, monkeypatch):
    open_or_create(str(tmp_path / "m.afl"))
    with closing(connect(tmp_path / "m.afl")) as db, closing(connect(tmp_path / "m.afl")) as other:
        told = {"actor": "user:me", "action": "lesson.disable", "target": "L", "body": {}, "reason": ""}
        record(db, **told, now=NOW)
        read = rows.head

        def grown(db):
            record(other, **told, now=NOW + 1)
            return read(db)

        monkeypatch.setattr(rows, "head", grown)
        assert verify_chain(db) is None
        assert not db.in_transaction
        assert len(list(rows.rows(db))) == 2
