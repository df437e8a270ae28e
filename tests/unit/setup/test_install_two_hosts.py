"""With two hosts, either both are connected or neither; health counts only those that were chosen."""

from __future__ import annotations

import json
import os
from pathlib import Path

import attrs
import pytest

from afl_core.api.home import Home
from afl_core.model.errors import SetupError
from afl_core.plugins.registry import Registry
from afl_core.setup.doctor import doctor
from afl_core.setup.install import apply_install, plan_install
from afl_core.setup.uninstall import apply_uninstall, plan_uninstall
from afl_core.spec.health import Health
from afl_core.spec.host import HookEvent, HostManifest, HostPlace


class OtherHost:
    """A second host with a settings file of the same kind."""

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
        )

    def locate(self, home, environ):
        folder = Path(home) / ".other"
        return HostPlace(folder, folder / "settings.json", None, present=folder.is_dir())

    def owns_command(self, command):
        return "/feedback-loop/hook/hook.py" in command and " other " in command


@pytest.fixture(autouse=True)
def two(monkeypatch):
    ours = Registry.hosts
    monkeypatch.setattr(Registry, "hosts", lambda self: {**ours(self), "other": OtherHost()})


@pytest.fixture
def environ(home):
    for name in (".claude", ".other"):
        (home / name).mkdir()
        (home / name / "settings.json").write_text('{"mine": 1}\n')
    return {"HOME": str(home), "PATH": os.defpath}


def plan(home, environ, **wanted):
    with Home(str(home), environ) as opened:
        return plan_install(opened, **wanted)


def read(home, name):
    return json.loads((home / name / "settings.json").read_text())


def test_both_hosts_found_are_connected_and_disconnected(home, environ):
    made = plan(home, environ)
    assert made.hosts == ("claude", "other")
    apply_install(made)
    assert set(read(home, ".other")["hooks"]) == {"Ask", "End"}
    assert "hooks" in read(home, ".claude")
    with Home(str(home), environ) as opened:
        apply_uninstall(plan_uninstall(opened))
    assert read(home, ".claude") == read(home, ".other") == {"mine": 1}


def test_when_the_second_file_changes_in_between_the_first_is_put_back(home, environ):
    made = plan(home, environ)

    def meddle(step):
        if step == "settings:replaced:0":
            (home / ".other/settings.json").write_text('{"mine": 2}\n')

    with pytest.raises(SetupError):
        apply_install(made, meddle)
    assert read(home, ".claude") == {"mine": 1}
    assert read(home, ".other") == {"mine": 2}
    apply_install(plan(home, environ))
    assert "hooks" in read(home, ".claude")
    assert "hooks" in read(home, ".other")
    with Home(str(home), environ) as opened:
        apply_uninstall(plan_uninstall(opened))
    assert (read(home, ".claude"), read(home, ".other")) == ({"mine": 1}, {"mine": 2})


def test_a_second_file_that_cannot_be_edited_leaves_the_first_alone(home, environ):
    (home / ".other/settings.json").write_text("{broken")
    with pytest.raises(SetupError):
        plan(home, environ)
    assert read(home, ".claude") == {"mine": 1}
    assert not (home / ".agent").exists()


def test_the_chosen_host_is_remembered_and_the_other_only_mentioned(home, environ):
    apply_install(plan(home, environ, hosts=["other"]))
    assert read(home, ".claude") == {"mine": 1}
    again = plan(home, environ)
    assert not again.changes
    assert again.hosts == ("other",)
    assert any("claude is here too" in warning for warning in again.warnings)


def test_a_host_that_is_not_chosen_is_absent_for_the_doctor_and_costs_no_health(home, environ):
    apply_install(plan(home, environ, hosts=["other"]))
    with Home(str(home), environ) as opened:
        report = doctor(opened)
    claude = report.as_json()["clis"]["claude"]
    assert (claude["selected"], claude["connected"]) == (False, False)
    [line] = [line for line in report.lines if line.name == "host claude"]
    assert line.health is Health.ABSENT
    assert report.as_json()["operational"]["unavailableClis"] == ["other"]


def test_dropping_one_host_disconnects_it_alone(home, environ):
    apply_install(plan(home, environ))
    apply_install(plan(home, environ, hosts=["claude"]))
    assert read(home, ".other") == {"mine": 1}
    assert "hooks" in read(home, ".claude")


def test_a_provider_that_was_removed_is_said_and_its_hooks_are_left(home, environ, monkeypatch):
    apply_install(plan(home, environ))
    monkeypatch.setattr(Registry, "hosts", lambda _self: {"other": OtherHost()})
    made = plan(home, environ)
    assert any("no plug-in provides it" in warning and "claude" in warning for warning in made.warnings)
    apply_install(made)
    assert "hooks" in read(home, ".claude")


def test_a_name_that_stands_in_no_command_is_refused(home, environ, monkeypatch):
    class Odd(OtherHost):
        def manifest(self):
            return attrs.evolve(super().manifest(), events=(HookEvent("Ask; rm", "prompt", 5),))

    monkeypatch.setattr(Registry, "hosts", lambda _self: {"other": Odd()})
    with pytest.raises(SetupError) as caught:
        plan(home, environ)
    assert caught.value.code == "AFL-SETUP-023"
