"""Every setting, policy key and environment variable is in the reference with its default and its bounds, and nothing else is."""

from __future__ import annotations

import ast
import json
import re

import attrs
import pytest

from afl_core.settings.schema import Policy, Settings

VARIABLE = re.compile(r"(AFL|AGENT_FEEDBACK_LOOP)_[A-Z0-9_]*[A-Z0-9]")
NO_VARIABLES = {"AFL_API_VERSION"}
"""Named like one, but an attribute of a plug-in's module."""


def bounds(field):
    low, high, choices = (field.metadata.get(name) for name in ("low", "high", "choices"))
    if choices:
        return ", ".join(choices)
    if low is None:
        return "-"
    return f"at least {low:,}" if high is None else f"{low:,} to {high:,}"


@pytest.fixture
def settings_page(page):
    return page("docs/reference/settings.md")


def test_every_setting_is_documented_in_order_with_its_variable_default_and_bounds(settings_page, code):
    rows = settings_page.table("setting", "variable", "default", "bounds", "meaning")
    told = [(code(row.cells["setting"]), code(row.cells["variable"]), code(row.cells["default"]), row.cells["bounds"]) for row in rows]
    assert told == [([field.name], [field.metadata["env"]], [json.dumps(field.default)], bounds(field)) for field in attrs.fields(Settings)]
    assert all(row.cells["meaning"] for row in rows)


def test_every_key_of_the_policy_is_documented_with_its_default_and_choices(settings_page, code):
    rows = settings_page.table("key", "default", "choices", "meaning")
    told = [(code(row.cells["key"]), code(row.cells["default"]), row.cells["choices"]) for row in rows]
    assert told == [([field.name], [json.dumps(field.default)], bounds(field)) for field in attrs.fields(Policy)]


def test_every_variable_that_the_source_names_is_documented_and_no_other(settings_page, sources, code):
    named = {
        node.value
        for module in sources
        if not module.name.startswith(("afl_core/testing/", "afl_core/demo/"))
        for node in ast.walk(module.tree)
        if isinstance(node, ast.Constant)
        for node in [ast.Constant(node.value.decode("ascii", "replace") if isinstance(node.value, bytes) else node.value)]
        if isinstance(node.value, str) and VARIABLE.fullmatch(node.value)
    }
    named |= {field.metadata["env"] for field in attrs.fields(Settings)}
    told = {name for row in settings_page.rows for name in code(row.cells.get("variable", "")) if VARIABLE.fullmatch(name)}
    assert told == named - NO_VARIABLES


def test_the_settings_file_in_the_reference_is_one_that_loads(settings_page, tmp_path):
    from afl_core.settings.load import load_policy, load_settings

    blocks = [fence for fence in settings_page.fences if fence.language == "toml"]
    assert len(blocks) == 2
    for fence, load in zip(blocks, (lambda file: load_settings(file, {}), load_policy), strict=True):
        path = tmp_path / "file.toml"
        path.write_text(fence.text, "utf-8")
        load(path)
