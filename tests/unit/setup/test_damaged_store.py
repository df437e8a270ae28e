"""A database that is damaged, or somebody else's, stops an install with the same advice the doctor gives, and is never taken for the earlier product."""

from __future__ import annotations

import os
import sqlite3

import pytest

from afl_core.api.home import Home
from afl_core.model.errors import StoreError
from afl_core.settings.paths import Paths
from afl_core.setup.database import Kind, damage_of, look_at_database
from afl_core.setup.doctor import doctor
from afl_core.setup.install import apply_install, plan_install
from afl_core.store import status
from afl_core.store.connection import connect, writing


@pytest.fixture
def environ(home):
    return {"HOME": str(home), "PATH": os.defpath}


@pytest.fixture
def installed(home, environ):
    with Home(str(home), environ) as opened:
        apply_install(plan_install(opened, hosts=[]))
    return Paths(home)


def refusal(home, environ):
    with pytest.raises(StoreError) as caught, Home(str(home), environ) as opened:
        plan_install(opened, hosts=[])
    return caught.value


def advice(home, environ):
    with Home(str(home), environ) as opened:
        [line] = [line for line in doctor(opened).lines if line.name == "database"]
    return line


def spoil_pages(path):
    size = os.path.getsize(path)
    with open(path, "r+b") as handle:
        for page in range(2, size // 4096):
            handle.seek(page * 4096)
            handle.write(b"\xff" * 64)


def spoil_schema(path):
    with open(path, "r+b") as handle:
        handle.seek(100)
        handle.write(b"\xff" * 2000)


@pytest.mark.parametrize("spoil", [spoil_pages, spoil_schema, lambda path: os.truncate(path, 3 * 4096)])
def test_a_damaged_database_stops_an_install_with_the_advice_the_doctor_gives(home, environ, installed, spoil):
    spoil(installed.database)
    refused = refusal(home, environ)
    assert refused.code == "AFL-STORE-012"
    assert advice(home, environ).hint == refused.hint
    assert "backups" in refused.hint


def test_the_advice_leads_to_a_home_that_works(home, environ, installed):
    spoil_pages(installed.database)
    refusal(home, environ)
    os.rename(installed.database, installed.database + ".mine")
    with Home(str(home), environ) as opened:
        apply_install(plan_install(opened, hosts=[]))
    assert advice(home, environ).sentence.startswith("schema")


def foreign_program(path):
    os.unlink(path)
    db = sqlite3.connect(path)
    db.execute("PRAGMA application_id = 1234")
    db.execute("CREATE TABLE lessons (x)")
    db.commit()
    db.close()


def corrupt_header(path):
    with open(path, "r+b") as handle:
        handle.write(b"\0" * 100)


def other_bytes(path):
    with open(path, "wb") as handle:
        handle.write(b"no database " * 500)


@pytest.mark.parametrize("make", [foreign_program, corrupt_header, other_bytes])
def test_a_file_that_is_not_ours_is_no_earlier_product_and_install_and_doctor_agree(home, environ, installed, make):
    make(installed.database)
    refused = refusal(home, environ)
    assert refused.code == "AFL-STORE-002"
    line = advice(home, environ)
    assert (line.sentence, line.hint) == (refused.sentence, refused.hint)
    assert "afl install" in refused.hint


def test_looking_for_damage_leaves_no_file_behind_and_sees_what_only_the_log_holds(installed):
    folder = os.path.dirname(installed.database)
    assert damage_of(installed.database) is None
    assert os.listdir(folder) == [os.path.basename(installed.database)]
    db = connect(installed.database)
    with writing(db):
        status.put(db, "x", {"text": "y" * 9000}, 1)
    assert os.path.getsize(installed.database + "-wal") > 0
    assert damage_of(installed.database) is None
    assert look_at_database(installed.database).kind is Kind.CURRENT
    db.close()


def test_a_locked_database_is_no_damaged_one(installed):
    db = sqlite3.connect(installed.database, isolation_level=None)
    db.execute("PRAGMA journal_mode = DELETE")
    db.execute("BEGIN EXCLUSIVE")
    assert damage_of(installed.database) is None
    db.execute("ROLLBACK")
    db.close()
