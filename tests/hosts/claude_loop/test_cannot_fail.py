"""The configured command cannot fail: with any part of it removed, also under a live session, the real CLI answers as if it were not there."""

from __future__ import annotations

import os
import pathlib
import shutil

import pytest

from afl_core.testing.anthropic_api import MockAnthropic, Step
from afl_core.testing.claude_keys import leave

pytestmark = pytest.mark.real_cli


def _remove_hook(home):
    pathlib.Path(home.paths.hook).unlink()


def _remove_pack(home):
    shutil.rmtree(home.paths.pack)


def _remove_everything(home):
    folder = pathlib.Path(home.paths.pack).parent
    while folder.exists():  # a living worker may write another file meanwhile
        shutil.rmtree(folder, ignore_errors=True)


def _break_client(home):
    pathlib.Path(home.paths.hook_dir, "client.py").write_text("raise SystemExit(2)\n", "utf-8")
    shutil.rmtree(pathlib.Path(home.paths.hook_dir, "__pycache__"), ignore_errors=True)


def _make_unreadable(home):
    os.chmod(home.paths.hook, 0)


REMOVALS = [_remove_hook, _remove_pack, _remove_everything, _break_client]


@pytest.mark.parametrize("remove", REMOVALS, ids=lambda one: one.__name__.strip("_"))
def test_a_headless_run_makes_one_request_and_answers_normally(installed, remove):
    with MockAnthropic([Step("Hello from the model.", repeat=True)]) as api:
        product = installed(api)
        with product.open() as home:
            remove(home)
        run = product.sandbox.headless("say hello")
        assert run.returncode == 0, run
        assert run.envelope["result"] == "Hello from the model."
        assert len(api.requests) == 1


@pytest.mark.parametrize("remove", REMOVALS, ids=lambda one: one.__name__.strip("_"))
def test_a_session_started_before_the_removal_goes_on(installed, remove):
    with MockAnthropic([Step("First answer here.\n"), Step("Second answer here.\n")]) as api:
        product = installed(api)
        with product.sandbox.interactive("--permission-mode", "acceptEdits") as terminal:
            terminal.submit("first question")
            terminal.wait_for("First answer here")
            with product.open() as home:
                remove(home)
            terminal.submit("second question")
            terminal.wait_for("Second answer here")
            assert leave(terminal) == 0
        assert len(api.requests) == 2
        assert "hook error" not in api.requests[1].conversation_text
