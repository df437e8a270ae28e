"""The main job on the real Claude Code: a person stops and corrects the agent, and a card reaches the model in a later session."""

from __future__ import annotations

import json
import re

import pytest

from afl_core.api import lessons, reviews
from afl_core.demo.reviewer import answer
from afl_core.testing.anthropic_api import MockAnthropic, Step, reviewing, text
from afl_core.testing.claude_keys import interrupt, leave

pytestmark = pytest.mark.real_cli

WRONG = text("I will rewrite the module with the old API because that seems right.\n\nFirst I remove", chunk=10, pause=0.02, hold=True)
CORRECTION = "no, do not use the old API, use the new one"
LATER = "please rewrite the client module so that it calls the new API everywhere"


def review_of(body):
    """Answer the reviewer's request from the evidence in it, as the schema asks."""
    words = json.dumps(body["messages"], ensure_ascii=False)
    said = "\n".join(block["text"] if isinstance(block, dict) else block for message in body["messages"] for block in _blocks(message))
    found = re.search(r"<afl_evidence>\s*(\{.*\})\s*</afl_evidence>", said, re.DOTALL)
    assert found, words[:2000]
    return {"result": answer(json.loads(found.group(1)))}


def _blocks(message):
    content = message["content"]
    return [content] if isinstance(content, str) else [block for block in content if block.get("type") == "text"]


def interrupted_and_corrected(installed, api):
    """One interactive session in which the person interrupts and corrects."""
    with installed.sandbox.interactive("--permission-mode", "acceptEdits") as terminal:
        terminal.submit("refactor the module")
        terminal.wait_for("with the old API")
        interrupt(terminal)
        api.wait_aborted()
        terminal.submit(CORRECTION)
        terminal.wait_for("using the new API")
        assert leave(terminal) == 0


def test_a_correction_becomes_a_card_that_reaches_the_model_in_a_later_session(installed):
    steps = [
        Step(WRONG, last="refactor the module"),
        Step("OK, using the new API.\n", last="use the new one", tools=True),
        reviewing(review_of),
        Step("All calls use the new API.", last="rewrite the client module"),
    ]
    with MockAnthropic(steps) as api:
        product = installed(api)
        interrupted_and_corrected(product, api)

        done = product.until(lambda home: [one for one in reviews.listed(home, None, 5) if one["status"] == "completed"], "the review")
        assert done[0]["immediate"]
        [lesson] = product.until(lambda home: lessons.listed(home, None, every=True), "the lesson")
        assert lesson["severity"] == "Major"

        run = product.sandbox.headless(LATER)
        assert run.returncode == 0, run
        request = next(each for each in api.requests if LATER in each.conversation_text)
        assert "[agent-feedback-loop memory]" in request.conversation_text
        assert lesson["card"]["must_do"] in request.conversation_text
        nonce = re.findall(r"nonce=([0-9a-f]{16})", request.conversation_text)[-1]

        given = product.until(
            lambda home: [one for one in lessons.explained(home, run.session_id)["given"] if one["state"] == "reached"],
            "the proof of delivery",
        )
        assert [one["lesson_id"] for one in given] == [lesson["lesson_id"]]
        with product.open() as home:
            assert home.db.execute("SELECT nonce FROM deliveries").fetchall()[-1][0] == nonce
            runs = home.db.execute("SELECT reviewer, outcome, input_tokens, cost_usd FROM review_runs").fetchall()
            assert [(row[0], row[1]) for row in runs] == [("claude", "completed")]
            assert runs[0][2] > 0


def test_nothing_of_the_secret_in_a_prompt_lies_in_clear_in_the_data_directory(installed):
    secret = "ghp_" + "k3Zr9QpLx2Vt7Bn5Ws8Yd4Fg6Hj1Mc0Ra3Te"
    with MockAnthropic([Step("Noted.", repeat=True)]) as api:
        product = installed(api)
        run = product.sandbox.headless(f"remember that my token is {secret} for later")
        assert run.returncode == 0, run
        product.until(lambda home: home.db.execute("SELECT count(*) FROM events WHERE role = 'user'").fetchone()[0], "the event")
        with product.open() as home:
            text_of_event = home.db.execute("SELECT text FROM events WHERE role = 'user'").fetchone()[0]
            folder = home.paths.data
        assert "[REDACTED:" in text_of_event
        import pathlib

        for path in pathlib.Path(folder).rglob("*"):
            if path.is_file():
                assert secret.encode() not in path.read_bytes(), path
