"""What an install says of the one before it, from the two pointer files alone."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from afl_core.setup import upgrade
from afl_core.setup.upgrade import Change

BEFORE = {
    "build": "1.0+a",
    "version": "1.0",
    "python": "/old/python",
    "data_root": "/data",
    "schema_version": 1,
    "site": ["/old"],
    "hosts": {"one": {}, "two": {}},
    "redactors": ["ours", "acme"],
    "installed_ms": 1,
}


def test_a_first_install_changes_nothing_that_was_there():
    assert upgrade.changes({}, BEFORE, hook_files=["client.py"], commands=["one"]) == []
    assert upgrade.warnings({}, BEFORE) == []


def test_hosts_that_come_and_go_are_told_one_by_one():
    after = {**BEFORE, "hosts": {"two": {}, "three": {}}}
    assert upgrade.changes(BEFORE, after) == [Change("host", None, "three"), Change("host", "one", None)]
    assert upgrade.lines(upgrade.changes(BEFORE, after)) == ["connect three", "no longer connect one"]


def test_a_redactor_that_is_no_longer_expected_is_a_warning():
    after = {**BEFORE, "redactors": ["ours"]}
    assert upgrade.changes(BEFORE, after) == [Change("redactors", ["ours", "acme"], ["ours"])]
    [warning] = upgrade.warnings(BEFORE, after)
    assert "acme" in warning
    assert upgrade.warnings(after, BEFORE) == []


def test_the_schema_is_told_to_programs_and_left_to_the_step_that_brings_it():
    found = upgrade.changes(BEFORE, {**BEFORE, "schema_version": 2})
    assert [one.document() for one in found] == [{"what": "schema", "from": 1, "to": 2}]
    assert upgrade.lines(found) == []


def test_other_places_of_packages_are_said_when_nothing_else_says_it():
    assert upgrade.lines(upgrade.changes(BEFORE, {**BEFORE, "site": ["/new"]})) == ["change where the packages are found"]
    both = upgrade.changes(BEFORE, {**BEFORE, "site": ["/new"], "build": "1.0+b"})
    assert upgrade.lines(both) == ["change the build from 1.0+a to 1.0+b"]


def test_only_a_version_with_smaller_numbers_is_a_way_back():
    for old, new, is_back in [
        ("0.9", "0.10", False),
        ("0.10", "0.9", True),
        ("1.0", "1.0.1", False),
        ("1.0.1", "1.0", True),
        ("1.0rc1", "1.0", False),
        ("odd", "1.0", False),
    ]:
        said = upgrade.warnings({**BEFORE, "version": old}, {**BEFORE, "version": new})
        assert any("goes back" in warning for warning in said) is is_back, (old, new)


POINTERS = st.fixed_dictionaries(
    {"build": st.sampled_from(["a", "b"])},
    optional={
        "version": st.text(max_size=3),
        "python": st.text(max_size=3),
        "data_root": st.text(max_size=3),
        "schema_version": st.integers(0, 3),
        "site": st.lists(st.text(max_size=2), max_size=2),
        "hosts": st.dictionaries(st.text(max_size=2), st.just({}), max_size=2),
        "redactors": st.lists(st.text(max_size=2), max_size=2),
        "installed_ms": st.integers(0, 9),
    },
)


@given(POINTERS, POINTERS)
def test_what_is_the_same_is_not_told_and_what_is_told_differs(before, after):
    found = upgrade.changes(before, after)
    assert all(one.before != one.after for one in found)
    if upgrade.same_install(before, after):
        assert found == []
    assert upgrade.changes(before, before) == []
