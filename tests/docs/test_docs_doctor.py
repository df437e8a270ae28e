"""The doctor's page says what the rules say, and every name of its document is there."""

from __future__ import annotations

import contextlib
import os

import pytest

from afl_core.api.home import Home
from afl_core.settings.paths import Paths
from afl_core.setup import upgrade
from afl_core.setup.doctor import doctor
from afl_core.setup.doctor_canary import STEPS
from afl_core.setup.doctor_host_rules import STATUSES
from afl_core.setup.install import apply_install, plan_install
from afl_core.setup.stop import stop_front

TEXT_NAMES = {"healthy", "degraded", "installed", "home", "verdict", "reasons", "lines"}
"""Named in the sentence before the table."""


@pytest.fixture
def doctor_page(page):
    return page("docs/reference/doctor.md")


@pytest.fixture
def body(home):
    claude = home / "claude"
    claude.write_text("#!/bin/sh\n")
    claude.chmod(0o700)
    environ = {"HOME": str(home), "PATH": os.defpath, "AGENT_FEEDBACK_LOOP_CLAUDE_COMMAND": str(claude)}
    with Home(str(home), environ) as opened:
        apply_install(plan_install(opened))
    with Home(str(home), environ) as opened:
        found = doctor(opened, live=True).as_json()
    yield found
    with contextlib.suppress(Exception):
        stop_front(Paths(home))


def named(page, code, *columns):
    return {name for row in page.table(*columns) for name in code(row.cells[columns[0]])}


def test_every_status_of_a_host_is_documented_in_order_with_what_it_makes_of_it(doctor_page, code):
    rows = [row.cells for row in doctor_page.table("status", "the host is", "meaning")]
    told = [(code(row["status"])[0], row["the host is"], row["meaning"]) for row in rows]
    assert told == [(word, standing.value, meaning) for word, (standing, meaning) in STATUSES.items()]


def test_every_step_of_the_live_check_is_documented_in_order(doctor_page, code):
    assert [code(row.cells["step"])[0] for row in doctor_page.table("step", "it holds when")] == list(STEPS)


def test_every_name_of_the_document_is_documented_and_no_other(doctor_page, code, body):
    assert named(doctor_page, code, "name", "holds") == body.keys() - TEXT_NAMES
    assert named(doctor_page, code, "`clis.<host>`", "holds") == body["clis"]["claude"].keys()
    for name in ("scheduler", "reconciliation", "operational", "reviewers"):
        [row] = [row for row in doctor_page.table("name", "holds") if code(row.cells["name"]) == [name]]
        found = body[name] if name != "reviewers" else body[name]["claude"]
        assert found.keys() <= set(code(row.cells["holds"])), name
    live = body["live"]
    assert live["claude"].keys() - {"status", "step", "reason"} == set(STEPS)
    for name in live.keys() - {"claude"}:
        assert f"`live.{name}`" in doctor_page.text, name


def test_every_kind_of_change_is_documented(doctor_page, code):
    before = {"build": 1, "version": 1, "python": 1, "data_root": 1, "schema_version": 1, "site": 1, "hosts": {"a": {}}, "redactors": []}
    after = {"hosts": {"b": {}}}
    found = upgrade.changes(before, after, hook_files=["client.py"], commands=["b"])
    assert named(doctor_page, code, "what", "changes when") == {one.what for one in found}
