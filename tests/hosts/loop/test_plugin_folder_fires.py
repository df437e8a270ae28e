"""Hooks in a plug-in folder on the real CLI: they fire and inject like those in the settings, and after a swap each prompt is seen exactly once."""

from __future__ import annotations

import json
import subprocess

import pytest

from afl_core.setup.install import apply_install, plan_install

pytestmark = pytest.mark.real_cli

MUST_DO = "Name the production cluster before every deploy"


def add_card(home):
    """A card that every prompt of every project gets."""
    rule = '{"paths":[],"tools":[],"task_types":[],"signals":[],"words":[],"grams":[]}'
    home.db.execute(
        "INSERT INTO projection VALUES ('l', '', 0, 'Blocker', 1, 'f', 1, 'none', 'conditional', ?, 20, ?, '')", (MUST_DO, rule)
    )


def install(product, *plugins):
    with product.open() as home:
        apply_install(plan_install(home, plugins=plugins))


def one_session(product, words):
    """A headless session; gives how often the card is in what the model was sent."""
    product.claude.expect(words, f"An answer to {words}.")
    run = product.claude.ask(words)
    assert run.returncode == 0, run
    return product.claude.told(product.claude.asking(words)).count(MUST_DO)


def seen(product, words):
    """How many prompts of these words the front took, once their session's end has arrived."""

    def found(home):
        rows = home.db.execute(
            "SELECT (SELECT count(*) FROM intake WHERE kind = 'prompt' AND session_id = s.session_id) FROM sessions AS s"
            " JOIN events USING (session_id) WHERE text = ? AND s.ended_ms IS NOT NULL",
            (words,),
        ).fetchall()
        return [row[0] for row in rows]

    return product.until(found, f"the session of {words!r}")


def test_hooks_in_the_folder_fire_and_inject_and_a_swap_leaves_exactly_one(installed):
    product = installed("claude")
    with product.open() as home:
        add_card(home)
    counts, prompts = [], []
    for words, plugins in (("deploy one", ("claude",)), ("deploy two", ()), ("deploy three", ("claude",))):
        install(product, *plugins)
        counts.append(one_session(product, words))
        prompts.append(seen(product, words))
    assert counts == [1, 1, 1]
    assert prompts == [[1], [1], [1]]


def test_the_host_lists_the_folder_as_a_plug_in_without_an_error(installed):
    product = installed("claude")
    install(product, "claude")
    sandbox = product.claude.sandbox
    folder = sandbox.config / "skills/agent-feedback-loop"
    run = [sandbox.binary, "plugin", "validate", folder, "--strict"]
    checked = subprocess.run(run, env=sandbox.environment, capture_output=True, text=True, encoding="utf-8", timeout=120)
    assert checked.returncode == 0, checked
    run = [sandbox.binary, "plugin", "list"]
    listed = subprocess.run(run, env=sandbox.environment, capture_output=True, text=True, encoding="utf-8", timeout=120)
    assert "agent-feedback-loop@skills-dir" in listed.stdout
    assert json.loads((folder / ".claude-plugin/plugin.json").read_text("utf-8"))["name"] == "agent-feedback-loop"
