"""A grain is found by its address without reading the table: half of the digits are indexed, and all of them are compared."""

from __future__ import annotations

import sqlite3

import pytest

from afl_core.memory import verify, write
from afl_core.model.errors import StoreError
from afl_core.model.grain import GrainType, HeadKey, make
from afl_core.store import beside, bundles, grains, lessons, projection, schema
from afl_core.store.connection import connect, writing
from afl_core.store.cover import PLAIN
from afl_core.store.migrate import open_or_create

NOW = 1_767_225_600_000
KEY = HeadKey("shared", "acme", "tier")


@pytest.fixture
def db(tmp_path):
    open_or_create(str(tmp_path / "m.afl"))
    made = connect(tmp_path / "m.afl")
    yield made
    made.close()


def fact(word, **more):
    return make(GrainType.FACT, {"subject": "acme", "relation": "tier", "object": word, **more}, NOW)


def plans(db, statement):
    """What SQLite does for a statement, a line each."""
    return [row[3] for row in db.execute(f"EXPLAIN QUERY PLAN {statement}")]


def test_nothing_that_names_an_address_reads_the_whole_table(db):
    first, second = fact("gold"), fact("silver")
    with writing(db):
        write.add(db, first)
        write.supersede(db, first.hash, second)
    asked = []
    db.set_trace_callback(asked.append)
    with writing(db):
        grains.get(db, first.hash)
        grains.place_of(db, first.hash)
        grains.type_of(db, first.hash)
        grains.addressed(db, first.hash[:8])
        grains.about(db, KEY, 5)
        grains.set_superseded(db, first.hash, second.hash)
        grains.derive(db, second.hash, first.hash)
        grains.set_heads(db, KEY, [second.hash])
        beside.ns_of(db, first.hash)
        lessons.fields_of(db, "none")
        lessons.text_of(db, first.hash)
        projection.rebuild(db, "none")
        list(verify._of_links(db))
        write.add(db, fact("iron"))
        grains.delete(db, second.hash)
    assert write.add_unopposed(db, make(GrainType.OBSERVATION, {"content": "quiet"}, NOW), PLAIN)
    with bundles.snapshot(db, None):
        list(bundles.rows(db, None))
        asked_of_bundles = len(asked)
    db.set_trace_callback(None)
    assert asked_of_bundles > 30
    explained = {statement: plans(db, statement) for statement in asked if is_explained(statement)}
    assert len(explained) > 20
    tables = {"grains", "g", "new", "old", "o"}
    assert {one for one, lines in explained.items() if any("SCAN" in line and tables & set(line.split()) for line in lines)} == set()


def is_explained(statement):
    """A statement of its own, over tables that still stand."""
    first = statement.lstrip().split(None, 1)[0].upper()
    return first in ("SELECT", "INSERT", "UPDATE", "DELETE", "WITH") and "told" not in statement and "terms" not in statement


def test_a_plan_that_reads_the_table_would_be_seen(db):
    assert any("SCAN" in line for line in plans(db, "SELECT seq FROM grains WHERE hash = 'a'"))
    propagated = "SELECT seq FROM grains WHERE substr(hash, 1, 32) = substr('a', 1, 32) AND hash = 'a'"
    assert any("SCAN" in line for line in plans(db, propagated))
    assert not any("SCAN" in line for line in plans(db, propagated.replace("AND hash", "AND +hash")))


def test_an_address_that_only_begins_like_one_that_is_there_is_another(db):
    grain = fact("gold")
    with writing(db):
        write.add(db, grain)
    for other in (grain.hash[:32] + "0" * 32, grain.hash[:63] + "g", grain.hash[:32], "", grain.hash[:-1]):
        assert grains.get(db, other) is None
        assert grains.place_of(db, other) is None
        with writing(db):
            grains.delete(db, other)
    for digits in (6, 31, 32, 33, 63, 64):
        assert grains.addressed(db, grain.hash[:digits]) == [grain.hash]
    assert grains.addressed(db, grain.hash[:40] + "g") == []
    assert grains.get(db, grain.hash).grain == grain


def test_one_address_has_one_row(db):
    grain = fact("gold")
    assert write.add_unopposed(db, grain, PLAIN)
    assert not write.add_unopposed(db, grain, PLAIN)
    with pytest.raises(sqlite3.IntegrityError), writing(db):
        grains.insert(db, grain)
    assert db.execute("SELECT count(*) FROM grains").fetchone()[0] == 1


def test_a_file_names_its_schema_in_a_table_that_every_step_renames(db):
    def marks():
        return {row[0] for row in db.execute("SELECT name FROM sqlite_master WHERE name GLOB 'schema_[0-9]*'")}

    assert marks() == {f"schema_{schema.SCHEMA_VERSION}"}
    assert db.execute("SELECT user_version FROM pragma_user_version").fetchone()[0] == schema.SCHEMA_VERSION
    later = schema.SCHEMA_VERSION + 1
    other = sqlite3.connect(db.execute("PRAGMA database_list").fetchone()[2])
    other.executescript(f"BEGIN IMMEDIATE; {schema.marked(later, 'CREATE TABLE later (x);')} PRAGMA user_version = {later}; COMMIT;")
    other.close()
    assert marks() == {f"schema_{later}"}
    with pytest.raises(StoreError) as refused:
        write.add_unopposed(db, fact("gold"), PLAIN)
    assert refused.value.code == "AFL-STORE-003"
