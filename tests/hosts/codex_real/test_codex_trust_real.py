"""The real CLI runs exactly the hooks that our dialogue with its server got trusted, and forgets them again."""

from __future__ import annotations

import json
import os
import stat
import tomllib

import pytest

from afl_core.testing.openai_api import MockOpenAI

pytestmark = pytest.mark.real_cli

TRUSTED = {"UserPromptSubmit": "trusted", "Stop": "trusted"}
UNTRUSTED = {"UserPromptSubmit": "untrusted", "Stop": "untrusted"}


def state(sandbox):
    return tomllib.loads(sandbox.config_path.read_text()).get("hooks", {}).get("state", {})


def test_an_untrusted_hook_does_not_run_and_the_person_is_told_nothing(hooked):
    with MockOpenAI(["Hello."]) as api:
        it = hooked(api)
        run = it.sandbox.exec("say hello")
        assert (run.returncode, run.answer, it.ran()) == (0, "Hello.", [])
        assert "hook" not in run.stderr.lower()
        assert "CARD-7" not in api.requests[0].raw


def test_after_the_dialogue_the_hook_runs_and_its_context_is_in_the_request(hooked):
    with MockOpenAI(["Hello."]) as api:
        it = hooked(api)
        report = it.approve()
        assert (report.changed, report.reason, it.look()) == (True, "", TRUSTED)
        run = it.sandbox.exec("say hello")
        assert (run.returncode, it.ran()) == (0, ["UserPromptSubmit", "Stop"])
        assert "CARD-7" in api.requests[0].system_text


def test_a_second_dialogue_writes_nothing(hooked):
    with MockOpenAI() as api:
        it = hooked(api)
        it.approve()
        before = (it.sandbox.config_path.read_bytes(), os.stat(it.sandbox.config_path).st_mtime_ns)
        assert it.approve().changed is False
        assert (it.sandbox.config_path.read_bytes(), os.stat(it.sandbox.config_path).st_mtime_ns) == before


def test_a_hook_that_was_changed_since_does_not_run_until_it_is_trusted_again(hooked):
    with MockOpenAI(["One.", "Two."]) as api:
        it = hooked(api)
        it.approve()
        it.sandbox.write_hooks(it.commands, timeout=6)
        assert it.look() == {"UserPromptSubmit": "modified", "Stop": "modified"}
        it.sandbox.exec("first")
        assert it.ran() == []
        assert it.approve().changed
        it.sandbox.exec("second")
        assert it.ran() == ["UserPromptSubmit", "Stop"]


def test_what_the_person_switched_off_stays_off(hooked):
    with MockOpenAI(["Hello."]) as api:
        it = hooked(api)
        key = f"{it.sandbox.hooks_path}:stop:0:0"
        with it.sandbox.config_path.open("a") as file:
            file.write(f"\n[hooks.state.{json.dumps(key)}]\nenabled = false\n")
        assert it.look() == {"UserPromptSubmit": "untrusted", "Stop": "disabled"}
        report = it.approve()
        assert report.changed
        assert it.look() == {"UserPromptSubmit": "trusted", "Stop": "disabled"}
        assert state(it.sandbox)[key] == {"enabled": False}
        it.sandbox.exec("say hello")
        assert it.ran() == ["UserPromptSubmit"]
        it.distrust()
        assert state(it.sandbox)[key] == {"enabled": False}


def test_the_persons_own_hooks_keep_their_place_and_their_trust(hooked, home):
    with MockOpenAI(["Hello."]) as api:
        it = hooked(api)
        theirs = f"touch {home}/theirs"
        hooks = json.loads(it.sandbox.hooks_path.read_text())
        hooks["hooks"]["Stop"].insert(0, {"hooks": [{"type": "command", "command": theirs, "timeout": 5}]})
        hooks["hooks"]["SessionStart"] = [{"hooks": [{"type": "command", "command": f"touch {home}/untrusted", "timeout": 5}]}]
        it.sandbox.hooks_path.write_text(json.dumps(hooks))
        mine, it.commands["Stop"] = it.commands["Stop"], theirs  # as if the person had trusted their own
        prompt = it.commands.pop("UserPromptSubmit")
        it.approve()
        it.commands.update(Stop=mine, UserPromptSubmit=prompt)
        before = state(it.sandbox)
        assert it.approve().changed
        assert before.items() <= state(it.sandbox).items()
        assert len(state(it.sandbox)) == 3
        it.sandbox.exec("say hello")
        assert sorted(it.ran()) == ["Stop", "UserPromptSubmit"]
        assert (home / "theirs").exists()
        assert not (home / "untrusted").exists()
        assert it.distrust().changed
        assert state(it.sandbox) == before


def test_a_configuration_that_cannot_be_read_is_named_by_place_and_nothing_of_it_is_repeated(hooked):
    with MockOpenAI() as api:
        it = hooked(api)
        with it.sandbox.config_path.open("a") as file:
            file.write('\n[[broken "SECRET-9"\n')
        report = it.approve()
        assert {finding.state.value for finding in report.findings} == {"unavailable"}
        assert str(it.sandbox.config_path) in report.reason
        assert "SECRET-9" not in report.reason


def test_with_hooks_switched_off_as_a_whole_ours_are_missing(hooked):
    with MockOpenAI() as api:
        it = hooked(api)
        with it.sandbox.config_path.open("a") as file:
            file.write("\n[features]\nhooks = false\n")
        assert it.look() == {"UserPromptSubmit": "missing", "Stop": "missing"}


def test_a_linked_configuration_directory_is_found_by_the_key_the_cli_itself_uses(hooked, home):
    with MockOpenAI(["Hello."]) as api:
        it = hooked(api)
        it.sandbox.config.rename(home / "real")
        it.sandbox.config.symlink_to(home / "real")
        assert it.approve().changed
        it.sandbox.exec("say hello")
        assert it.ran() == ["UserPromptSubmit", "Stop"]


def test_a_turn_whose_hook_file_is_gone_completes_with_exactly_one_request(hooked, home):
    with MockOpenAI(["Hello."]) as api:
        it = hooked(api)
        hook = home / "gone/hook.py"
        for event in it.commands:
            inner = f"test -r '{hook}' && '/usr/bin/env' -i '{hook}' codex {event} 2>/dev/null || :"
            it.commands[event] = "/bin/sh -c '" + inner.replace("'", "'\\''") + "'"
        it.sandbox.write_hooks(it.commands)
        assert it.approve().changed
        assert it.look() == TRUSTED
        run = it.sandbox.exec("say hello")
        assert (run.returncode, run.answer, len(api.requests)) == (0, "Hello.", 1)


def test_the_mode_of_the_configuration_is_what_the_cli_makes_of_it(hooked):
    with MockOpenAI() as api:
        it = hooked(api)
        it.sandbox.config_path.chmod(0o644)
        it.approve()
        assert stat.S_IMODE(it.sandbox.config_path.stat().st_mode) == 0o600
