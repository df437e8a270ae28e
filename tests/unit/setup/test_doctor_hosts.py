"""The doctor runs what is configured, exactly as it is configured, and says what is wrong with it."""

from __future__ import annotations

import contextlib
import json
import os

import pytest

from afl_core.api.home import Home
from afl_core.settings.paths import Paths
from afl_core.setup.doctor import doctor
from afl_core.setup.install import apply_install, plan_install
from afl_core.setup.stop import is_free, stop_front
from afl_core.spec.health import Health
from afl_core.store import status
from afl_core.store.connection import connect, writing


@pytest.fixture
def environ(home):
    (home / ".claude").mkdir()
    claude = home / "claude"
    claude.write_text("#!/bin/sh\n")
    claude.chmod(0o700)
    environ = {"HOME": str(home), "PATH": os.defpath, "AGENT_FEEDBACK_LOOP_CLAUDE_COMMAND": str(claude)}
    with Home(str(home), environ) as opened:
        apply_install(plan_install(opened))
    yield environ
    with contextlib.suppress(Exception):
        stop_front(Paths(home))


def examine(home, environ, **wanted):
    with Home(str(home), environ) as opened:
        return doctor(opened, **wanted)


def settings_of(home):
    return home / ".claude/settings.json"


def said(report, health):
    return [line.sentence for line in report.lines if line.health is health]


def test_a_fresh_install_is_healthy_over_the_selected_host(home, environ):
    report = examine(home, environ)
    assert said(report, Health.FAIL) == []
    assert (report.healthy, report.degraded) == (True, False)
    body = report.as_json()
    claude = body["clis"]["claude"]
    for name in (
        "selected",
        "configured",
        "runnable",
        "connected",
        "promptConnected",
        "backstopConnected",
        "reviewerAvailable",
        "operational",
    ):
        assert claude[name] is True, name
    assert claude["reviewerExecutable"] == str(home / "claude")
    assert (body["operational"]["readyClis"], body["operational"]["unavailableClis"]) == (["claude"], [])
    assert body["runtime"]["expectedBuild"] == body["runtime"]["runtimeBuild"]
    assert body["runtime"]["schemaVersion"] == body["runtime"]["expectedSchemaVersion"]
    json.dumps(body)


def test_a_health_question_stores_nothing(home, environ):
    examine(home, environ)
    db = connect(Paths(home).database)
    for table in ("intake", "sessions", "projects", "events"):
        assert db.execute(f"SELECT count(*) FROM {table}").fetchone()[0] == 0, table
    db.close()


def test_a_missing_hook_file_is_named(home, environ):
    (home / ".agent/feedback-loop/hook/hook.py").unlink()
    report = examine(home, environ)
    assert not report.healthy
    assert any("the hook file" in sentence and "is missing" in sentence for sentence in said(report, Health.FAIL))
    assert report.as_json()["files"]["hook"] is False


def test_a_missing_interpreter_is_named(home, environ):
    command = json.loads(settings_of(home).read_text())["hooks"]["Stop"][0]["hooks"][0]["command"]
    python = command.split("'")[3]
    settings_of(home).write_text(settings_of(home).read_text().replace(python, "/nowhere/python3"))
    report = examine(home, environ)
    assert not report.healthy
    assert any("the Python /nowhere/python3 is missing" in sentence for sentence in said(report, Health.FAIL))


def test_a_hook_that_breaks_is_found_although_its_status_is_success(home, environ):
    (home / ".agent/feedback-loop/hook/client.py").write_text("raise RuntimeError\n")
    report = examine(home, environ)
    assert not report.healthy
    assert report.as_json()["clis"]["claude"]["runnable"] is False
    assert any("no worker answered" in sentence for sentence in said(report, Health.FAIL))


def test_hooks_taken_out_by_hand_are_missed(home, environ):
    body = json.loads(settings_of(home).read_text())
    del body["hooks"]["Stop"]
    settings_of(home).write_text(json.dumps(body))
    report = examine(home, environ)
    assert not report.healthy
    claude = report.as_json()["clis"]["claude"]
    assert (claude["promptConnected"], claude["backstopConnected"], claude["connected"]) == (True, False, False)
    assert any("no hook of ours for Stop" in sentence for sentence in said(report, Health.FAIL))


@pytest.mark.parametrize("content", [b"{broken", b'{"hooks": {}} // comment'])
def test_settings_the_host_silently_ignores_are_a_failure(home, environ, content):
    settings_of(home).write_bytes(content)
    report = examine(home, environ)
    assert not report.healthy
    assert any("cannot use its settings" in sentence for sentence in said(report, Health.FAIL))


@pytest.mark.parametrize("name", ["settings.json", "settings.local.json"])
def test_a_switch_that_turns_all_hooks_off_is_found(home, environ, name):
    path = home / ".claude" / name
    body = json.loads(path.read_text()) if path.exists() else {}
    path.write_text(json.dumps({**body, "disableAllHooks": True}))
    report = examine(home, environ)
    assert not report.healthy
    assert report.as_json()["clis"]["claude"]["connected"] is False
    assert any(str(path) in sentence and "disableAllHooks" in sentence for sentence in said(report, Health.FAIL))


def test_the_only_host_without_a_reviewer_is_connected_but_nothing_works(home, environ):
    report = examine(home, {**environ, "AGENT_FEEDBACK_LOOP_CLAUDE_COMMAND": "/nowhere/claude"})
    claude = report.as_json()["clis"]["claude"]
    assert (claude["connected"], claude["operational"], claude["status"]) == (True, False, "reviewer_unavailable")
    assert "/nowhere/claude" in claude["reason"]
    assert (report.healthy, report.degraded) == (False, True)


def test_when_events_were_last_seen_is_said(home, environ):
    db = connect(Paths(home).database)
    with writing(db):
        status.put(db, "hook_seen:claude:Stop", {}, 1_700_000_000_000)
    db.close()
    report = examine(home, environ)
    assert report.as_json()["clis"]["claude"]["lastSeen"] == {"Stop": 1_700_000_000_000}
    [line] = [line for line in report.lines if line.name == "last seen claude"]
    assert "Stop" in line.sentence
    assert " d ago" in line.sentence


def test_a_worker_of_an_earlier_build_makes_way_while_it_is_asked(home, environ):
    first = examine(home, environ)
    (home / ".agent/feedback-loop-data/settings.toml").write_text('reviewer_env_allowlist = "A"\n')
    stale = examine(home, environ)
    assert any("run: afl install" in line.hint for line in stale.lines if line.name == "runtime")
    with Home(str(home), environ) as opened:
        apply_install(plan_install(opened))
    report = examine(home, environ)
    assert report.healthy, said(report, Health.FAIL)
    assert report.as_json()["runtime"]["runtimeBuild"] != first.as_json()["runtime"]["runtimeBuild"]


def test_a_command_of_another_shape_is_run_as_it_is(home, environ):
    wanted = json.loads(settings_of(home).read_text())
    command = wanted["hooks"]["Stop"][0]["hooks"][0]["command"]
    wanted["hooks"]["Stop"][0]["hooks"][0]["command"] = command.replace(" -I -S ", " -I -S -B ")
    settings_of(home).write_text(json.dumps(wanted))
    report = examine(home, environ)
    assert report.healthy
    assert any("is not the one install writes" in sentence for sentence in said(report, Health.WARN))


def test_live_stores_opens_and_removes_a_synthetic_event(home, environ):
    report = examine(home, environ, live=True)
    assert report.as_json()["live"]["status"] == "healthy", said(report, Health.FAIL)
    assert report.healthy
    db = connect(Paths(home).database)
    for table in ("intake", "sessions", "projects", "events", "queue"):
        assert db.execute(f"SELECT count(*) FROM {table}").fetchone()[0] == 0, table
    assert db.execute("SELECT count(*) FROM vault_keys WHERE purpose = 'synthetic_canary'").fetchone()[0] == 0
    db.close()
    assert [path for path in (home / ".agent/feedback-loop-data/blobs").rglob("*") if path.is_file()] == []


def test_live_with_capture_off_is_skipped_and_says_so(home, environ):
    db = connect(Paths(home).database)
    with writing(db):
        status.set_meta(db, "capture_enabled", "0")
    db.close()
    report = examine(home, environ, live=True)
    assert report.as_json()["live"]["status"] == "skipped"
    assert report.healthy


def test_live_without_the_private_key_fails_and_still_removes_its_event(home, environ):
    (home / ".agent/feedback-loop-keys/vault.key").unlink()
    report = examine(home, environ, live=True)
    assert report.as_json()["live"]["status"] == "unhealthy"
    assert not report.healthy
    db = connect(Paths(home).database)
    assert db.execute("SELECT count(*) FROM intake").fetchone()[0] == 0
    db.close()


def test_stopping_ends_the_worker_and_only_it(home, environ):
    examine(home, environ)
    paths = Paths(home)
    assert not is_free(paths)
    assert "stopped the worker" in stop_front(paths)
    assert is_free(paths)
    assert stop_front(paths) == ""


def test_a_front_file_that_cannot_be_read_is_a_failure(home, environ):
    (home / ".agent/feedback-loop/front.json").write_text("{broken")
    for report in (examine(home, environ), examine(home, environ)):  # the front notices a changed file at its next event
        last = report
    assert not last.healthy or any("front.json" in line.sentence for line in last.lines)
    assert any("front.json" in sentence for sentence in said(last, Health.WARN) + said(last, Health.FAIL))


def test_a_shell_that_mutes_hooks_is_mentioned(home, environ):
    assert any("AFL_HEALTH" in sentence for sentence in said(examine(home, {**environ, "AFL_HEALTH": "1"}), Health.WARN))


def test_a_reviewer_command_of_the_settings_file_counts(home, environ):
    data = home / ".agent/feedback-loop-data/settings.toml"
    data.write_text(f'claude_command = "{home}/claude"\n')
    without = {name: value for name, value in environ.items() if name != "AGENT_FEEDBACK_LOOP_CLAUDE_COMMAND"}
    assert examine(home, without).as_json()["clis"]["claude"]["reviewerAvailable"] is True
