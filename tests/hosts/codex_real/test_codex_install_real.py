"""Install gets our hooks trusted by the real CLI, doctor sees what it really runs, uninstall takes the trust back."""

from __future__ import annotations

import json
import os
import stat
import tomllib

import pytest

from afl_core.api.home import Home
from afl_core.plugins.registry import Registry
from afl_core.setup.doctor import doctor
from afl_core.setup.install import apply_install, plan_install
from afl_core.setup.uninstall import apply_uninstall, plan_uninstall
from afl_core.spec.health import Health
from afl_core.testing.openai_api import MockOpenAI
from afl_providers_codex.manifest import MANIFEST
from afl_providers_codex.place import COMMAND_VARIABLE

pytestmark = pytest.mark.real_cli

ODD = b'# mine, with a \xc3\xa9\r\nmodel = "gpt-5-mock"\r\n'


@pytest.fixture(autouse=True)
def only_codex(monkeypatch, codex_host):
    monkeypatch.setattr(Registry, "hosts", lambda _self: {"codex": codex_host})


@pytest.fixture
def run(home, codex_bin):
    """Run one of install, uninstall, doctor in the sandbox's home."""
    (home / ".codex").mkdir()
    environ = {"HOME": str(home), "PATH": os.environ["PATH"], COMMAND_VARIABLE: str(codex_bin)}

    def act(what, dry=False):
        with Home(str(home), environ) as opened:
            if what == "doctor":
                return doctor(opened)
            plan, apply = (plan_install, apply_install) if what == "install" else (plan_uninstall, apply_uninstall)
            return plan(opened) if dry else apply(plan(opened))

    return act


def trust_lines(report):
    return [(line.health, line.sentence, line.hint) for line in report.lines if line.name == "trust codex"]


STEP = f"let Codex CLI trust our {len(MANIFEST.events)} hooks"


def test_install_trusts_once_and_then_finds_everything_in_place(run, home):
    config = home / ".codex/config.toml"
    config.write_bytes(ODD)
    assert STEP in run("install", dry=True).steps
    assert config.read_bytes() == ODD
    done = run("install")
    assert STEP in done.done
    assert not [warning for warning in done.warnings if "Codex" in warning]
    assert config.read_bytes().count(b"trusted_hash") == len(MANIFEST.events)
    again = run("install")
    assert (again.changed, again.done) == (False, ())


def test_uninstall_puts_the_untouched_configuration_back_byte_for_byte_with_its_mode(run, home):
    config = home / ".codex/config.toml"
    config.write_bytes(ODD)
    config.chmod(0o640)
    run("install")
    assert config.read_bytes() != ODD
    run("uninstall")
    assert config.read_bytes() == ODD
    assert stat.S_IMODE(config.stat().st_mode) == 0o640
    assert run("uninstall").changed is False


def test_a_configuration_that_trust_alone_made_is_gone_after_uninstall(run, home):
    run("install")
    assert (home / ".codex/config.toml").exists()
    run("uninstall")
    assert not (home / ".codex/config.toml").exists()


def test_where_the_person_wrote_since_only_our_trust_goes(run, home):
    config = home / ".codex/config.toml"
    config.write_bytes(ODD)
    run("install")
    with config.open("a") as file:
        file.write('\n[hooks.state."/theirs:stop:0:0"]\ntrusted_hash = "sha256:1"\n')
    planned = run("uninstall", dry=True)
    assert "let Codex CLI forget its trust in our hooks" in planned.steps
    done = run("uninstall").done
    left = config.read_text(encoding="utf-8")
    assert left.count("trusted_hash") == 1
    assert "/theirs:stop:0:0" in left
    assert "# mine, with a é" in left
    assert any("forgot its trust" in line for line in done)


def test_trust_that_went_missing_is_a_step_of_the_next_install(run, home):
    run("install")
    (home / ".codex/config.toml").write_bytes(ODD)
    plan = run("install", dry=True)
    assert plan.steps == (STEP,)
    assert run("install").done == (STEP,)
    run("uninstall")  # the person wrote in between, so no copy is known to be what they want back
    assert b"trusted_hash" not in (home / ".codex/config.toml").read_bytes()


def test_doctor_says_of_each_state_what_it_is_and_what_to_do(run, home):
    run("install")
    report = run("doctor")
    assert trust_lines(report) == [(Health.OK, f"Codex CLI trusts our {len(MANIFEST.events)} hooks", "")]
    body = report.as_json()["clis"]["codex"]
    assert (body["promptTrustStatus"], body["backstopTrustStatus"], body["status"]) == ("trusted", "trusted", "trusted")
    assert (body["hostAvailable"], body["inspectionScope"], body["activeDesktopState"]) == (True, "spawned_app_server", "not_observed")
    assert body["runnable"]

    (home / ".codex/config.toml").unlink()
    report = run("doctor")
    assert [(health, hint) for health, _, hint in trust_lines(report)] == [(Health.FAIL, "run: afl install")]
    body = report.as_json()["clis"]["codex"]
    assert (body["status"], body["runnable"], body["promptConnected"], report.healthy) == ("untrusted", False, False, False)

    run("install")
    stop = f"{home / '.codex/hooks.json'}:stop:0:0"
    config = home / ".codex/config.toml"
    config.write_text(config.read_text().replace(f'[hooks.state."{stop}"]\n', f'[hooks.state."{stop}"]\nenabled = false\n'))
    report = run("doctor")
    body = report.as_json()["clis"]["codex"]
    assert (body["promptTrustStatus"], body["backstopTrustStatus"], body["status"], body["runnable"]) == (
        "trusted",
        "disabled",
        "disabled",
        False,
    )
    [(health, sentence, _)] = trust_lines(report)
    assert health is Health.FAIL
    assert "Stop" in sentence
    assert run("install").changed is False
    run("uninstall")


def test_a_host_that_cannot_be_asked_is_a_warning_and_no_failed_install(run, home):
    config = home / ".codex/config.toml"
    config.write_bytes(b"[[broken\n")
    done = run("install")
    assert STEP not in done.done
    assert any("could not be asked" in warning and "afl install" in warning for warning in done.warnings)
    assert json.loads((home / ".codex/hooks.json").read_text())["hooks"]
    assert config.read_bytes() == b"[[broken\n"
    assert trust_lines(run("doctor"))[0][0] is Health.WARN
    run("uninstall")
    assert config.read_bytes() == b"[[broken\n"


def test_the_installed_command_runs_in_the_real_cli_and_a_deleted_pack_costs_nothing(run, codex, home):
    with MockOpenAI(["One.", "Two."]) as api:
        sandbox = codex(api)
        run("install")
        assert sandbox.exec("first").answer == "One."
        seen = run("doctor").as_json()["clis"]["codex"]["lastSeen"]
        assert "UserPromptSubmit" in seen
        (home / ".agent").rename(home / "gone")
        assert sandbox.exec("second").answer == "Two."
        assert len(api.requests) == 2
        (home / "gone").rename(home / ".agent")
        run("uninstall")


def test_a_hook_behind_ours_that_the_person_switched_off_is_still_off_when_ours_are_gone(run, home):
    config, hooks = home / ".codex/config.toml", home / ".codex/hooks.json"
    run("install")
    document = json.loads(hooks.read_bytes())
    theirs = {"hooks": [{"type": "command", "command": "true", "timeout": 7}]}
    document["hooks"]["Stop"].append(theirs)
    hooks.write_text(json.dumps(document))
    key = f'"{hooks}:stop:1:0"'
    config.write_text(config.read_text() + f'\n[hooks.state.{key}]\nenabled = false\ntrusted_hash = "sha256:old"\n')
    run("uninstall")
    assert json.loads(hooks.read_bytes()) == {"hooks": {"Stop": [theirs]}}
    left = config.read_text()
    assert f'"{hooks}:stop:0:0"' in left
    assert "enabled = false" in left
    assert key not in left


def test_a_group_put_before_ours_holds_none_of_our_trust_after_the_next_install(run, home):
    config, hooks = home / ".codex/config.toml", home / ".codex/hooks.json"
    run("install")
    document = json.loads(hooks.read_bytes())
    document["hooks"]["Stop"].insert(0, {"hooks": [{"type": "command", "command": "true", "timeout": 7}]})
    hooks.write_text(json.dumps(document))
    assert run("install", dry=True).steps == (STEP,)
    run("install")
    state = tomllib.loads(config.read_text())["hooks"]["state"]
    assert f"{hooks}:stop:0:0" not in state
    assert set(state[f"{hooks}:stop:1:0"]) == {"trusted_hash"}
    assert len(state) == len(MANIFEST.events)
    assert [health for health, _, _ in trust_lines(run("doctor"))] == [Health.OK]
    assert run("install").changed is False
    document["hooks"]["Stop"].pop(0)
    hooks.write_text(json.dumps(document))
    run("install")
    assert f"{hooks}:stop:1:0" not in tomllib.loads(config.read_text())["hooks"]["state"]
    assert [health for health, _, _ in trust_lines(run("doctor"))] == [Health.OK]
    run("uninstall")
    assert b"trusted_hash" not in (config.read_bytes() if config.exists() else b"")


def test_a_file_of_hooks_that_the_host_ignores_is_named_with_the_reason(run, home):
    hooks = home / ".codex/hooks.json"
    hooks.write_text('{"hooks": {}, "mine": 1}')
    [warning] = [warning for warning in run("install").warnings if warning.startswith("Codex CLI")]
    assert f"Codex cannot read {hooks} and runs no hook of it: unknown field …" in warning
    [(health, sentence, hint)] = trust_lines(run("doctor"))
    assert (health, hint) == (Health.FAIL, "put that right, then run: afl install")
    assert str(hooks) in sentence
