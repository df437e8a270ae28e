"""Every statement binds its values by plain marks: Python 3.12.0 to 3.12.3 warn of numbered ones that are given a sequence."""

from __future__ import annotations

import ast
import pathlib
import re

import afl_core

ROOM = pathlib.Path(afl_core.__file__).parent
STATEMENT = re.compile(r"\b(SELECT|INSERT|UPDATE|DELETE)\b")
SOURCES = sorted(ROOM.rglob("*.py"))


def statements(path):
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        parts = node.values if isinstance(node, ast.JoinedStr) else [node]
        text = "".join(str(part.value) for part in parts if isinstance(part, ast.Constant))
        if STATEMENT.search(text):
            yield text


def test_a_numbered_mark_is_seen_in_plain_and_in_filled_texts(tmp_path):
    path = tmp_path / "one.py"
    path.write_text('a = "SELECT ?1"\nb = f"SELECT {a} WHERE b = ?2"\nc = "really?1"\n', encoding="utf-8")
    assert list(statements(path)) == ["SELECT ?1", "SELECT  WHERE b = ?2", "SELECT "]


def test_no_statement_numbers_its_marks():
    found = [(path.relative_to(ROOM), one) for path in SOURCES for one in statements(path)]
    assert len(found) > 100
    assert [one for one in found if re.search(r"\?\d", one[1])] == []
