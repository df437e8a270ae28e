"""With two hosts selected, each is judged for itself and tried through its own command; what one lacks is named although the other works."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import sqlite3

import pytest

from afl_core.api.home import Home
from afl_core.model.ids import new_id
from afl_core.settings.paths import Paths
from afl_core.setup import doctor_canary
from afl_core.setup.doctor import doctor
from afl_core.setup.fire import run_command, shell_of
from afl_core.setup.install import apply_install, plan_install
from afl_core.setup.stop import stop_front
from afl_core.spec.health import Health
from afl_core.store import sessions
from afl_core.store.connection import connect, writing
from afl_core.testing import second_host
from afl_core.worker.absorb import absorb

TABLES = ("intake", "sessions", "projects", "events", "sightings", "queue", "deliveries")


@pytest.fixture
def environ(home, monkeypatch):
    second_host.add_second_host(monkeypatch)
    claude = home / "claude"
    claude.write_text("#!/bin/sh\n")
    claude.chmod(0o700)
    for name in (".claude", ".other"):
        (home / name).mkdir()
    (home / ".other/login").write_text("")
    environ = {"HOME": str(home), "PATH": os.defpath, "AGENT_FEEDBACK_LOOP_CLAUDE_COMMAND": str(claude)}
    if shell := shutil.which("bash"):
        environ["SHELL"] = shell
    with Home(str(home), environ) as opened:
        apply_install(plan_install(opened))
    yield environ
    with contextlib.suppress(Exception):
        stop_front(Paths(home))


def examine(home, environ, **wanted):
    with Home(str(home), environ) as opened:
        return doctor(opened, **wanted)


def settings(home, name="other"):
    return home / f".{name}/settings.json"


def change(home, event, make):
    body = json.loads(settings(home).read_text())
    handler = body["hooks"][event][0]["hooks"][0]
    handler["command"] = make(handler["command"])
    settings(home).write_text(json.dumps(body))


def without(home, event):
    body = json.loads(settings(home).read_text())
    del body["hooks"][event]
    settings(home).write_text(json.dumps(body))


def rows_left(home):
    db = connect(Paths(home).database)
    with contextlib.closing(db):
        return {table: count for table in TABLES if (count := db.execute(f"SELECT count(*) FROM {table}").fetchone()[0])}


def blobs_left(home):
    return [path for path in (home / ".agent/feedback-loop-data/blobs").rglob("*") if path.is_file()]


def test_two_hosts_that_work_are_healthy_and_both_are_ready(home, environ):
    report = examine(home, environ)
    assert (report.healthy, report.degraded, report.reasons) == (True, False, ())
    body = report.as_json()
    assert body["operational"]["readyClis"] == ["claude", "other"]
    assert body["reviewers"]["other"] == {
        "cli": "other",
        "name": "other-reviewer",
        "label": "Other, isolated",
        "mode": "isolated_cli_process",
        "available": True,
        "assurance": "process_lifecycle_isolated",
        "command": "/bin/other",
        "reason": "",
    }


def test_a_host_whose_reviewer_cannot_be_used_degrades_and_is_named_with_the_reason(home, environ):
    (home / ".other/login").unlink()
    report = examine(home, environ)
    assert (report.healthy, report.degraded) == (True, True)
    [reason] = report.reasons
    assert (reason.about, reason.sentence) == ("other", "its sessions cannot be reviewed: nobody is logged in")
    body = report.as_json()
    assert (body["clis"]["other"]["connected"], body["clis"]["other"]["operational"]) == (True, False)
    assert body["reviewers"]["other"]["assurance"] == "unavailable"
    assert body["operational"]["unavailableClis"] == ["other"]


def test_hooks_taken_out_of_one_host_degrade(home, environ):
    without(home, "End")
    report = examine(home, environ)
    assert (report.healthy, report.degraded) == (True, True)
    other = report.as_json()["clis"]["other"]
    assert (other["status"], other["promptConnected"], other["backstopConnected"]) == ("not_configured", True, False)
    assert report.as_json()["verdict"] == "degraded"


def test_a_hook_of_one_host_that_cannot_run_makes_the_home_unhealthy(home, environ):
    change(home, "End", lambda _command: "exit 3")
    # What is no command of ours is not one that stands there; ours with another interpreter is.
    assert examine(home, environ).as_json()["clis"]["other"]["status"] == "not_configured"
    change(home, "Ask", lambda command: command.replace("-I -S", "-I -S -Q"))
    report = examine(home, environ)
    assert not report.healthy
    assert report.as_json()["clis"]["other"]["status"] == "not_runnable"
    assert report.as_json()["clis"]["claude"]["operational"] is True


def test_a_provider_that_is_gone_degrades_and_is_named(home, environ, monkeypatch):
    with monkeypatch.context() as patch:
        from afl_core.plugins.registry import Registry

        hosts = Registry.hosts
        patch.setattr(Registry, "hosts", lambda self: {name: one for name, one in hosts(self).items() if name != "other"})
        report = examine(home, environ)
    assert (report.healthy, report.degraded) == (True, True)
    assert report.as_json()["clis"]["other"]["status"] == "no_plugin"


def test_live_tries_every_selected_host_and_leaves_nothing(home, environ):
    report = examine(home, environ, live=True)
    live = report.as_json()["live"]
    assert live["status"] == "healthy", report.reasons
    for name in ("claude", "other"):
        assert live[name] == {"status": "healthy", "step": None, "reason": "", **dict.fromkeys(doctor_canary.STEPS, True)}
    assert (live["configuredStore"], live["encryption"], live["syntheticExcluded"], live["removed"]) == (True, True, True, True)
    assert rows_left(home) == {}
    assert blobs_left(home) == []
    assert report.as_json()["clis"]["other"]["lastSeen"] == {}


def test_live_names_the_host_and_the_step_that_failed_and_the_others_are_still_tried(home, environ):
    front = json.loads((home / ".agent/feedback-loop/front.json").read_text())
    front["hosts"]["other"]["fields"]["session"] = "somewhere-else"
    (home / ".agent/feedback-loop/front.json").write_text(json.dumps(front))
    report = examine(home, environ, live=True)
    live = report.as_json()["live"]
    assert (live["status"], live["other"]["status"], live["other"]["step"]) == ("unhealthy", "unhealthy", "stored")
    assert live["claude"]["status"] == "healthy"
    assert not report.healthy
    assert any("other, at the step stored" in line.sentence for line in report.lines if line.name == "live" and line.health is Health.FAIL)


def test_live_passes_over_a_host_without_a_hook_for_prompts_and_says_why(home, environ):
    without(home, "Ask")
    report = examine(home, environ, live=True)
    live = report.as_json()["live"]
    assert (live["status"], live["other"]["status"]) == ("healthy", "skipped")
    assert "would not run our hook" in live["other"]["reason"]


def test_live_without_a_redactor_fails_at_the_step_that_needs_one(home, environ, monkeypatch):
    from afl_core.plugins.registry import Registry

    monkeypatch.setattr(Registry, "redactors", lambda _self: [])
    report = examine(home, environ, live=True)
    live = report.as_json()["live"]
    assert (live["claude"]["step"], live["claude"]["stored"], live["claude"]["removed"]) == ("opened", True, True)
    assert rows_left(home) == {}


def test_a_synthetic_prompt_is_born_as_what_no_review_takes_and_gets_no_card(home, environ):
    native = sessions.CANARY + new_id()
    command = json.loads(settings(home).read_text())["hooks"]["Ask"][0]["hooks"][0]["command"]
    payload = doctor_canary.payload_of(second_host.MANIFEST, native, str(home))
    assert set(json.loads(payload)) == {"thread", "text", "dir"}
    _printed, problem = run_command(command, environ, str(home), payload, shell=shell_of(second_host.MANIFEST, environ))
    assert problem == ""
    with Home(str(home), environ) as opened:
        opened.registry  # noqa: B018 - the plug-ins are loaded before the store is watched
        session_id = sessions.session_id_of("other", native)
        assert doctor_canary._arrived(opened.db, session_id) is not None
        assert absorb(opened, session_id, patient=False).adopted == 1
        [row] = opened.db.execute("SELECT data_class, role FROM events WHERE session_id = ?", (session_id,))
        assert tuple(row) == ("synthetic_canary", "user")
        assert opened.db.execute("SELECT count(*) FROM queue").fetchone()[0] == 0
        assert opened.db.execute("SELECT count(*) FROM status WHERE name LIKE 'hook_seen:other:%'").fetchone()[0] == 0
        assert doctor_canary.remove_session(opened, opened.db, session_id, set()) == []
    assert rows_left(home) == {}
    assert blobs_left(home) == []


def test_a_project_that_was_known_before_outlives_the_synthetic_session_in_it(home, environ):
    db = connect(Paths(home).database)
    with contextlib.closing(db), writing(db):
        sessions.add_project(db, "kept", root="/kept", kind="directory", lineage=None, now=1)
    assert examine(home, environ, live=True).healthy
    assert rows_left(home) == {"projects": 1}


def test_what_a_killed_doctor_left_is_removed_by_the_next(home, environ):
    native = sessions.CANARY + new_id()
    with Home(str(home), environ) as opened, writing(opened.db):
        for name, age in ((native, 3_600_000), (native + "-new", 0)):
            now = opened.clock() - age
            sessions.add_project(opened.db, name, root="/p", kind="directory", lineage=None, now=now)
            sessions.touch(
                opened.db,
                sessions.session_id_of("other", name),
                host="other",
                native_id=name,
                project_id=name,
                cwd="/p",
                transcript_path=None,
                at_ms=now,
            )
    examine(home, environ, live=True)
    db = sqlite3.connect(Paths(home).database)
    with contextlib.closing(db):
        assert [row[0] for row in db.execute("SELECT native_id FROM sessions")] == [native + "-new"]


def test_the_shell_is_the_persons_own_only_for_a_host_that_uses_it():
    assert shell_of(second_host.MANIFEST, {"SHELL": "/bin/sh"}) == "/bin/sh"
    assert shell_of(second_host.MANIFEST, {"SHELL": "/nowhere/fish"}) == "/bin/sh"
    assert shell_of(second_host.MANIFEST, {"SHELL": "bash"}) == "/bin/sh"
