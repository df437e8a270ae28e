"""A fresh database in memory's own schema."""

from __future__ import annotations

import sqlite3

import pytest

from afl_core.store.connection import connect
from afl_core.store.schema import APPLICATION_ID, MIGRATIONS, SCHEMA_VERSION


@pytest.fixture
def db(tmp_path):
    """An open connection to an empty database of ours."""
    path = tmp_path / "store.sqlite3"
    made = sqlite3.connect(path)
    made.executescript("".join(MIGRATIONS) + f"PRAGMA application_id = {APPLICATION_ID}; PRAGMA user_version = {SCHEMA_VERSION};")
    made.close()
    opened = connect(path)
    yield opened
    opened.close()
