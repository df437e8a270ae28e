"""A person at the real CLI's screen: it asks about hooks that are not trusted, and runs those that are."""

from __future__ import annotations

import pytest

from afl_core.testing.openai_api import MockOpenAI, Step, shell, structured, text

pytestmark = pytest.mark.real_cli

TITLE = Step(structured({"title": "Title"}), last="Generate a concise", repeat=True)
"""The CLI asks the model for a title after the first prompt."""


def test_at_its_start_it_asks_the_person_about_hooks_that_are_not_trusted(hooked):
    with MockOpenAI([TITLE]) as api:
        it = hooked(api)
        with it.sandbox.interactive(ready="Hooks need review") as terminal:
            terminal.wait_for("2 hooks", timeout=120)
        assert it.ran() == []
        assert api.requests == []


def test_after_the_dialogue_it_asks_nothing_and_the_context_is_in_the_turns_request(hooked):
    with MockOpenAI([TITLE, Step(text("Fine then."), last="say hello", repeat=True)]) as api:
        it = hooked(api)
        it.approve()
        with it.sandbox.interactive() as terminal:
            assert "Hooks need review" not in terminal.screen()
            terminal.submit("say hello", timeout=120)
            terminal.wait_for("Fine then", timeout=120)
            [turn] = [seen for seen in api.requests if "CARD-7" in seen.system_text]
            assert "say hello" in turn.last_user_text
        assert it.ran()[0] == "UserPromptSubmit"
        [record] = [record for record in it.sandbox.records() if record["type"] == "session_meta"]
        assert record["payload"]["source"] == "cli"


def test_a_tool_call_of_the_mock_runs_for_real(codex):
    with MockOpenAI([shell("echo one > made.txt"), Step(text("Done."), last=".")]) as api:
        sandbox = codex(api)
        run = sandbox.exec("make it")
        assert (run.returncode, run.answer) == (0, "Done.")
        assert (sandbox.project / "made.txt").read_text(encoding="utf-8") == "one\n"
        assert "exec_command" in api.requests[0].tool_names
