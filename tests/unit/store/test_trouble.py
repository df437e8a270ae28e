"""What to do about a database that cannot be used: a home's store and a memory file of somebody's own have different next steps."""

from __future__ import annotations

import contextlib
import os
import sqlite3

import pytest

from afl_core import Memory
from afl_core.model.errors import AflError
from afl_core.settings.paths import STORE
from afl_core.store import trouble


@pytest.mark.parametrize("words", ["database disk image is malformed", "database or disk is full", "unable to open database file", "odd"])
def test_a_memory_file_is_never_mended_with_what_is_for_a_home(words):
    home, own = (trouble.explain(sqlite3.DatabaseError(words), path) for path in (f"/h/data/{STORE}", "/h/notes.afl"))
    assert home.code == own.code
    assert home.hint != own.hint
    for word in ("install", "doctor", "spool", "AFL_DATA_ROOT"):
        assert word not in own.hint
    assert trouble.HOMES == STORE


@pytest.mark.parametrize(
    ("kind", "code"), [("text", "AFL-STORE-002"), ("other", "AFL-STORE-002"), ("folder", "AFL-PATH-006"), ("damaged", "AFL-STORE-012")]
)
def test_a_file_that_is_no_memory_is_named_with_its_own_next_step(tmp_path, kind, code):
    path = tmp_path / "notes.afl"
    if kind == "text":
        path.write_text("dear diary, " * 200)
        os.chmod(path, 0o600)
    elif kind == "other":
        with contextlib.closing(sqlite3.connect(path)) as other:
            other.executescript("PRAGMA application_id = 7; CREATE TABLE t (x)")
        os.chmod(path, 0o600)
    elif kind == "folder":
        path.mkdir()
    else:
        Memory(path).close()
        data = bytearray(path.read_bytes())
        data[100:2000] = b"\xff" * 1900
        path.write_bytes(data)
    with pytest.raises(AflError) as bad:
        Memory(path)
    assert (bad.value.code, str(path) in bad.value.sentence, bool(bad.value.hint)) == (code, True, True)
    assert "install" not in bad.value.hint
