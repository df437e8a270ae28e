"""What the doctor says to somebody who has just begun, or whose machine changed: one clear sentence each, and a next step that helps."""

from __future__ import annotations

import contextlib
import json
import shutil
import subprocess
import sys

import pytest

from afl_core.api.home import Home
from afl_core.plugins.registry import Registry
from afl_core.settings.paths import Paths
from afl_core.setup.doctor import doctor
from afl_core.setup.install import apply_install, plan_install
from afl_core.setup.stop import stop_front
from afl_core.setup.uninstall import apply_uninstall, plan_uninstall
from afl_core.spec.health import Health
from afl_core.testing.second_host import add_second_host


@pytest.fixture
def environ(home):
    claude = home / "claude"
    claude.write_text("#!/bin/sh\n")
    claude.chmod(0o700)
    yield {"HOME": str(home), "PATH": "/nowhere", "AGENT_FEEDBACK_LOOP_CLAUDE_COMMAND": str(claude)}
    with contextlib.suppress(Exception):
        stop_front(Paths(home))


def examine(home, environ):
    with Home(str(home), environ) as opened:
        return doctor(opened)


def install(home, environ, **wanted):
    with Home(str(home), environ) as opened:
        return apply_install(plan_install(opened, **wanted))


def uninstall(home, environ):
    with Home(str(home), environ) as opened:
        return apply_uninstall(plan_uninstall(opened))


def told(report, name):
    return [(line.sentence, line.hint) for line in report.lines if line.name == name]


def afl(home, environ, *arguments):
    return subprocess.run(
        [sys.executable, "-m", "afl_core.cli.main", *arguments],
        env={**environ, "PYTHONPATH": ":".join(sys.path)},
        capture_output=True,
        encoding="utf-8",
        timeout=60,
        cwd=home,
    )


def test_nothing_installed_with_a_coding_agent_there(home, environ):
    report = examine(home, environ)
    assert told(report, "installed") == [(f"nothing is installed in {home}; Claude Code can be connected", "run: afl install")]
    assert not report.healthy
    assert report.as_json()["clis"]["claude"]["hostCommand"] == str(home / "claude")


def test_nothing_installed_and_no_coding_agent(home, environ):
    (home / "claude").unlink()
    [(sentence, hint)] = told(examine(home, environ), "installed")
    assert sentence == f"nothing is installed in {home}, and no coding agent was found there"
    assert hint.startswith("install one of these first: ")
    assert "Claude Code" in hint
    assert hint.endswith("; then run: afl install")


def test_nothing_installed_and_no_plug_in_at_all(home, environ, monkeypatch):
    monkeypatch.setattr(Registry, "hosts", lambda _self: {})
    monkeypatch.setattr(Registry, "redactors", lambda _self: [])
    report = examine(home, environ)
    assert "afl-providers-claude" in told(report, "installed")[0][1]
    assert told(report, "redaction")[0][1] == "install afl-redactors, then run: afl install"


def test_nothing_installed_in_a_home_that_cannot_be_written(home, environ):
    home.chmod(0o500)
    try:
        [(sentence, hint)] = told(examine(home, environ), "directories")
    finally:
        home.chmod(0o700)
    assert f"{home} cannot be written" in sentence
    assert "writable" in hint


def test_a_home_that_is_none_is_said_instead_of_an_error(home, environ):
    report = examine(home / "nowhere", environ)
    assert any("is not a directory" in sentence for sentence, _ in told(report, "directories"))


def test_an_install_that_found_no_coding_agent(home, environ):
    (home / "claude").unlink()
    install(home, environ)
    report = examine(home, environ)
    [(sentence, hint)] = told(report, "hosts")
    assert sentence == "no coding agent is connected"
    assert "Claude Code" in hint
    (home / "claude").write_text("#!/bin/sh\n")
    (home / "claude").chmod(0o700)
    assert told(examine(home, environ), "hosts") == [("no coding agent is connected", "run: afl install")]


def test_a_host_removed_after_install_is_named_with_both_ways_out(home, environ):
    (home / ".claude").mkdir()
    install(home, environ)
    (home / "claude").unlink()
    shutil.rmtree(home / ".claude")
    report = examine(home, environ)
    lines = told(report, "host claude")
    assert lines == [
        (
            "Claude Code was connected, and is not found on this machine now",
            "install it again, then run: afl install; or disconnect it: afl uninstall",
        )
    ]
    claude = report.as_json()["clis"]["claude"]
    assert (claude["status"], claude["absent"], claude["hostAvailable"]) == ("not_found", True, False)
    assert report.reasons[0].sentence == "no selected host works: claude (it was not found on this machine)"


def test_one_of_two_hosts_removed_is_disconnected_by_naming_the_other(home, environ, monkeypatch):
    add_second_host(monkeypatch)
    (home / ".claude").mkdir()
    (home / ".other").mkdir()
    install(home, environ)
    shutil.rmtree(home / ".other")
    report = examine(home, environ)
    assert report.healthy
    assert "or disconnect it: afl install --host claude" in told(report, "host other")[0][1]
    result = install(home, environ, hosts=["claude"])
    assert result.changed
    assert examine(home, environ).reasons == ()


def test_a_redactor_that_was_there_at_install_and_is_gone(home, environ, monkeypatch):
    (home / ".claude").mkdir()
    install(home, environ)
    monkeypatch.setattr(Registry, "redactors", lambda _self: [])
    report = examine(home, environ)
    assert not report.healthy
    assert ("no redactor is installed, so nothing can be kept or reviewed", "install afl-redactors, then run: afl install") in told(
        report, "redaction"
    )


def test_one_redactor_of_several_that_is_gone_is_named(home, environ, monkeypatch):
    (home / ".claude").mkdir()
    ours = Registry.redactors
    with monkeypatch.context() as patch:
        patch.setattr(Registry, "redactors", lambda self: [*ours(self), ("acme", ours(self)[0][1])])
        install(home, environ)
    report = examine(home, environ)
    assert not report.healthy
    assert any("acme" in sentence for sentence, _ in told(report, "redaction"))


def test_after_an_uninstall_the_next_step_is_to_install(home, environ):
    (home / ".claude").mkdir()
    install(home, environ)
    uninstall(home, environ)
    assert told(examine(home, environ), "hosts") == [("no coding agent is connected", "run: afl install")]


def test_the_first_line_says_what_is_wrong_and_the_status_is_one(home, environ):
    done = afl(home, environ, "doctor")
    assert done.returncode == 1
    assert done.stdout.splitlines()[0] == f"unhealthy: nothing is installed in {home}; Claude Code can be connected"
    assert done.stderr == ""


def test_degraded_is_status_zero_and_says_so_in_the_first_line(home, environ):
    (home / ".claude").mkdir()
    install(home, environ)
    assert examine(home, environ).as_json()["verdict"] == "healthy"
    settings = home / ".claude/settings.json"
    settings.write_text(settings.read_text().replace(" -I -S ", " -I -S -B ", 1))
    done = afl(home, environ, "doctor")
    assert done.returncode == 0, done.stdout
    assert done.stdout.startswith("healthy, but degraded: ")
    assert afl(home, environ, "doctor", "--json").stdout.count('"verdict": "degraded"') == 1


def test_every_line_that_is_not_well_has_a_next_step(home, environ, monkeypatch):
    add_second_host(monkeypatch)
    reports = [examine(home, environ)]
    (home / ".claude").mkdir()
    (home / ".other").mkdir()
    install(home, environ)
    (home / "claude").unlink()
    shutil.rmtree(home / ".other")
    reports.append(examine(home, environ))
    (home / ".agent/feedback-loop/hook/hook.py").unlink()
    (home / ".claude/settings.json").write_text("{")
    reports.append(examine(home, environ))
    for report in reports:
        for line in report.lines:
            if line.health is Health.FAIL or (line.health is Health.WARN and line.name != "keystore"):
                assert line.hint, line
                assert line.hint != "run: afl doctor", line


READ_ONLY = """
mount --bind "$1" "$1" && mount -o remount,ro,bind "$1" || exit 77
"$2" -m afl_core.cli.main doctor --live --json
echo "status $?"
"""


@pytest.mark.skipif(shutil.which("unshare") is None, reason="a file system of its own can be mounted on Linux only")
def test_an_installed_home_that_can_only_be_read_is_said_to_be_that_and_no_next_step_writes_to_it(home, environ):
    (home / ".claude").mkdir()
    install(home, environ)
    done = subprocess.run(
        ["unshare", "-Urm", "sh", "-c", READ_ONLY, "sh", str(home), sys.executable],
        env={**environ, "PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "PYTHONPATH": ":".join(sys.path), "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        encoding="utf-8",
        timeout=120,
    )
    if done.returncode == 77 or "unshare" in done.stderr:
        pytest.skip("no file system may be mounted here")
    document, _, status = done.stdout.rpartition("status ")
    body = json.loads(document)
    failed = {line["name"]: line for line in body["lines"] if line["health"] == "fail"}
    assert int(status) == 1
    assert failed.keys() == {"directories", "database", "host claude", "live"}
    for name in ("directories", "database", "host claude"):
        assert "cannot be written" in failed[name]["sentence"]
        assert "writable" in failed[name]["hint"]
    assert failed["live"]["hint"] == "mend what failed above first"
