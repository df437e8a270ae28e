"""Every named limit of the source is in the reference with its file and its value, and nothing else is."""

from __future__ import annotations

import ast

NO_LIMITS = ("afl_core/testing/", "afl_core/demo/")
FORMS = {
    "AFL_API_VERSION",
    "API_VERSION",
    "APPLICATION_ID",
    "DAY_MS",
    "FORMAT",
    "HEADER_BYTES",
    "KEY_BYTES",
    "KEY_ID_BYTES",
    "NONCE_BYTES",
    "SALT_BYTES",
    "TAG_BYTES",
}
"""Sizes and numbers that a format fixes, and versions: no limits of anything."""


def limits(sources, value):
    """(file, name) -> value of every public constant that is a number."""
    found = {}
    for module in sources:
        if module.name.startswith(NO_LIMITS):
            continue
        names = {}
        for node in module.tree.body:
            if isinstance(node, ast.ImportFrom) and node.module == "afl_core.model.clock":
                names["DAY_MS"] = 86_400_000
            if not isinstance(node, ast.Assign) or not isinstance(node.targets[0], ast.Name):
                continue
            name, number = node.targets[0].id, value(node.value, names)
            if number is None or not name.isupper():
                continue
            names[name] = number
            if not name.startswith("_") and name not in FORMS:
                found[module.name.removeprefix("afl_core/"), name] = number
    return found


def number_of(text):
    """A documented value: digits with thousands separated by commas, or several with a semicolon between."""
    parts = [float(part) if "." in part else int(part, 0) for part in text.replace(",", "").split(";")]
    return parts[0] if len(parts) == 1 else tuple(parts)


def test_every_named_limit_is_documented_with_its_file_and_value(page, sources, value, code):
    rows = page("docs/reference/limits.md").table("limit", "file", "value", "meaning")
    told = {(code(row.cells["file"])[0], code(row.cells["limit"])[0]): number_of(row.cells["value"]) for row in rows}
    assert told == limits(sources, value)
    assert len(told) == len(rows)
    assert all(row.cells["meaning"] for row in rows)
