"""A host whose settings hold comments and that writes them back from memory: install, doctor and uninstall."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import time
from pathlib import Path

import attrs
import pytest

from afl_core.api.home import Home
from afl_core.plugins.registry import Registry
from afl_core.settings.paths import Paths
from afl_core.setup.doctor import doctor
from afl_core.setup.edit_json_comments import blanked
from afl_core.setup.install import apply_install, plan_install
from afl_core.setup.stop import stop_front
from afl_core.setup.uninstall import apply_uninstall, plan_uninstall
from afl_core.spec.health import Health
from afl_core.spec.host import HookEvent, HostManifest, HostPlace

SETTINGS = b'// mine\n{\n\t"ui": {"theme": "dark"}, // a theme\n\t"vim": false /* not yet */\n}\n'


class CommentingHost:
    """A host with comments in its settings, timeouts in milliseconds, and a command that is a script."""

    name = "other"

    def manifest(self):
        return HostManifest(
            name="other",
            label="Other",
            events=(HookEvent("Ask", "prompt", 5, injects=True), HookEvent("End", "stop", 5)),
            fields={"session": "id", "prompt": "text", "answer": "said"},
            envelope={"Ask": {"extra": "{context}"}},
            noop="{}",
            limit_chars=None,
            limit_bytes=9000,
            timeout_unit_ms=1,
            comments=True,
            rewrites_settings=True,
        )

    def locate(self, home, environ):
        folder = Path(home) / ".other"
        return HostPlace(folder, folder / "settings.json", Path(home) / "bin" / "other", present=folder.is_dir())

    def owns_command(self, command):
        return "/feedback-loop/hook/hook.py" in command and " other " in command


@pytest.fixture(autouse=True)
def _other(monkeypatch):
    ours = Registry.hosts
    monkeypatch.setattr(Registry, "hosts", lambda self: {**ours(self), "other": CommentingHost()})


@pytest.fixture
def settings(home):
    (home / ".other").mkdir()
    (home / "bin").mkdir()
    (home / "bin" / "other").write_text("#!/bin/sh\nread line\n", encoding="ascii")
    (home / "bin" / "other").chmod(0o700)
    path = home / ".other" / "settings.json"
    path.write_bytes(SETTINGS)
    yield path
    with contextlib.suppress(Exception):
        stop_front(Paths(home))


@pytest.fixture
def environ(home):
    return {"HOME": str(home), "PATH": os.defpath}


def install(home, environ, **wanted):
    with Home(str(home), environ) as opened:
        return apply_install(plan_install(opened, hosts=["other"], **wanted))


def uninstall(home, environ):
    with Home(str(home), environ) as opened:
        return apply_uninstall(plan_uninstall(opened))


def examine(home, environ):
    with Home(str(home), environ) as opened:
        return doctor(opened)


def said(report, name="host other"):
    return [(line.sentence, line.hint) for line in report.lines if line.health is Health.FAIL and line.name == name]


def test_install_and_uninstall_leave_the_comments_and_in_the_end_the_very_bytes(home, environ, settings):
    install(home, environ)
    after = settings.read_bytes()
    hooks = json.loads(blanked(after))["hooks"]
    assert {event: hooks[event][0]["hooks"][0]["timeout"] for event in hooks} == {"Ask": 5000, "End": 5000}
    assert set(hooks["Ask"][0]) == {"hooks"}
    assert after.startswith(b"// mine\n{\n\t")
    assert b'"vim": false, /* not yet */\n' in after
    assert said(examine(home, environ)) == []

    uninstall(home, environ)
    assert settings.read_bytes() == SETTINGS


def test_what_a_person_added_with_comments_stays_when_we_go(home, environ, settings):
    install(home, environ)
    settings.write_bytes(settings.read_bytes().replace(b"// mine", b"// mine\n// and more"))
    uninstall(home, environ)
    assert settings.read_bytes() == SETTINGS.replace(b"// mine", b"// mine\n// and more")


def test_hooks_that_a_running_session_wrote_away_are_told_from_hooks_that_were_never_there(home, environ, settings):
    install(home, environ)
    settings.write_bytes(SETTINGS.replace(b"false", b"true"))
    ((sentence, hint),) = said(examine(home, environ))
    assert "are gone: a session of Other that ran then wrote its settings back from memory" in sentence
    assert hint == "close every session of Other, then run: afl install"

    install(home, environ)
    assert said(examine(home, environ)) == []


def test_hooks_taken_out_together_with_other_settings_are_only_missing(home, environ, settings):
    install(home, environ)
    settings.write_bytes(b'{"new": 1}')
    ((sentence, _hint),) = said(examine(home, environ))
    assert "has no hook of ours for Ask, End" in sentence


@pytest.mark.parametrize(
    ("switch", "told"),
    [
        (b'"hooksConfig": {"enabled": false}', "switches all hooks off (hooksConfig.enabled: false)"),
        (b'"disableAllHooks": true', "switches all hooks off (disableAllHooks: true)"),
    ],
)
def test_a_switch_among_comments_is_found(home, environ, settings, switch, told):
    settings.write_bytes(SETTINGS.replace(b'"vim": false', switch))
    install(home, environ)
    assert any(told in sentence for sentence, _hint in said(examine(home, environ)))


def test_a_single_hook_that_is_switched_off_is_named(home, environ, settings):
    install(home, environ)
    command = json.loads(blanked(settings.read_bytes()))["hooks"]["End"][0]["hooks"][0]["command"]
    off = b'"hooksConfig": {"disabled": [' + json.dumps(command).encode() + b"]}, "
    settings.write_bytes(settings.read_bytes().replace(b'"ui"', off + b'"ui"'))
    report = examine(home, environ)
    assert any("switches our hook for End off" in sentence for sentence, _hint in said(report))
    assert report.as_json()["clis"]["other"]["connected"] is False


def test_a_hook_that_has_a_name_is_switched_off_by_it_and_not_by_its_command(home, environ, settings, monkeypatch):
    named = attrs.evolve(CommentingHost().manifest(), entry={"name": "ours"})
    monkeypatch.setattr(CommentingHost, "manifest", lambda _self: named)
    install(home, environ)
    [group] = json.loads(blanked(settings.read_bytes()))["hooks"]["End"]
    assert group["hooks"][0]["name"] == "ours"
    before = settings.read_bytes()
    for off, is_connected in ((group["hooks"][0]["command"], True), ("ours", False)):
        written = b'"hooksConfig": {"disabled": [' + json.dumps(off).encode() + b"]}, "
        settings.write_bytes(before.replace(b'"ui"', written + b'"ui"'))
        assert examine(home, environ).as_json()["clis"]["other"]["connected"] is is_connected


def test_a_file_the_host_does_not_start_with_is_a_failure_of_the_doctor(home, environ, settings):
    install(home, environ)
    settings.write_bytes(settings.read_bytes() + b"/* and so on")
    assert any("a comment without an end" in sentence for sentence, _hint in said(examine(home, environ)))


@pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="arguments can be told apart on Linux only")
def test_install_warns_while_the_host_runs_and_only_then(home, environ, settings):
    def warnings():
        with Home(str(home), environ) as opened:
            return [line for line in plan_install(opened, hosts=["other"]).warnings if "is running" in line]

    assert warnings() == []
    # As npm installs it: a link to a script that an interpreter of another name runs.
    node = home / "node"
    node.symlink_to("/bin/sh")
    (home / "link").symlink_to(home / "bin" / "other")
    editor = subprocess.Popen(["/bin/sh", "-c", "read line", str(home / "bin" / "other")], stdin=subprocess.PIPE)
    session = subprocess.Popen([str(node), str(home / "link")], stdin=subprocess.PIPE)
    try:
        deadline = time.monotonic() + 60
        while not (told := warnings()) and time.monotonic() < deadline:
            time.sleep(0.02)
        assert len(told) == 1
        assert f"Other is running (process {session.pid})" in told[0]
    finally:
        for process in (editor, session):
            process.send_signal(signal.SIGKILL)
            process.communicate()
    assert warnings() == []

    install(home, environ)
    assert warnings() == []
