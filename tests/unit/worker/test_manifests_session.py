"""What a session's own variables change on the prompt path."""

from __future__ import annotations

import pytest

from afl_core.worker.manifests import EMPTY, for_session

SWITCH, BUDGET = "AGENT_FEEDBACK_LOOP_MEMORY_ENABLED", "AGENT_FEEDBACK_LOOP_MEMORY_BUDGET"


@pytest.mark.parametrize(
    ("value", "expected"), [("0", False), ("off", False), ("No", False), ("1", True), ("true", True), ("", True), ("perhaps", True)]
)
def test_a_session_can_switch_memory_off_for_itself(value, expected):
    assert for_session(EMPTY, {SWITCH: value}).memory_enabled is expected


def test_a_session_can_switch_memory_on_where_the_file_has_it_off():
    assert for_session(EMPTY._replace(memory_enabled=False), {SWITCH: "yes"}).memory_enabled
    assert not for_session(EMPTY._replace(memory_enabled=False), {}).memory_enabled


@pytest.mark.parametrize(("value", "expected"), [("500", 500), ("-1", 0), ("many", 0), ("", 0)])
def test_a_session_can_set_its_budget(value, expected):
    assert for_session(EMPTY, {BUDGET: value}).memory_budget == expected
