"""Codex CLI, as it was recorded, keeps the scenario suite of the public kit."""

from __future__ import annotations

import capture_world
import codex_stage

from afl_core.testing.codex_recordings import codex_recording
from afl_core.testing.contracts.scenarios import RULES, CannotTell, HostScenarios, Recording

CONTEXT = "<card nonce=00c0ffee00c0ffee>Quote the command before you call anything done.</card>"
NEW_API = "no, do not use the old API, use the new one"

CASES = {
    "plain": {"request": "say hello", "answer": "Hello from the mock."},
    "tool_success": {"request": "run it"},
    "tool_failure": {"request": "run it"},
    "interrupted_then_corrected": {"request": "run the suite", "correction": "no, not the whole suite, only the quick tests"},
    "interrupted_before_output": {"request": "refactor the module", "correction": NEW_API},
    "steering_additive": {"request": "refactor the module", "addition": "and use the new API"},
    "steering_corrective": {"request": "do the long thing", "correction": "also: never use sleep here"},
    "rejected_without_words": {"request": "clean up", "correction": "do not delete it"},
    "complaint": {"request": "fix the tests", "complaint": "you never ran them", "answer": "All tests pass."},
    "compacted": {"before": "first question", "after": "second question", "summary": "SUMMARYMARK"},
    "resumed": {"request": "first prompt", "later": "second prompt", "answer": "First answer."},
    "rewound": {"request": "alpha prompt", "undone": "beta prompt", "instead": "gamma prompt"},
    "forked": {"shared": "first prompt", "new": "fork prompt", "answer": "Forked answer."},
    "subagent": {"request": "use a subagent", "task": "Please check.", "work": "Sub checking"},
    "machine_prompts": {"request": "use a subagent", "prompt": "<subagent_notification>"},
    "injected": {"request": "say hello", "context": CONTEXT},
    "same_text_twice": {"request": "go on"},
}
"""Scenario -> the words in its scene."""

OTHER_WAYS = {
    "steering_additive": ("steering_queued", {"request": "weather please", "addition": "in Celsius"}),
    "steering_corrective": ("steering_mid_stream", {"request": "refactor the module", "correction": NEW_API}),
}
"""Scenario -> another scene of it and the words in that."""


class TestScenarios(HostScenarios):
    """On recorded sessions."""

    host = "codex"

    def plugins(self):
        return capture_world.CODEX_PLUGINS

    def recording(self, scenario: str) -> Recording | CannotTell:
        if scenario in codex_stage.CANNOT:
            return CannotTell(codex_stage.CANNOT[scenario])
        return codex_recording(codex_stage.SAME_SCENE.get(scenario, scenario), **CASES[scenario])


class TestOtherWays(HostScenarios):
    """The same for scenarios that can happen in two ways."""

    host = "codex"

    def plugins(self):
        return capture_world.CODEX_PLUGINS

    def recording(self, scenario: str) -> Recording | CannotTell:
        if scenario in OTHER_WAYS:
            name, words = OTHER_WAYS[scenario]
            return codex_recording(name, **words)
        if RULES[scenario].optional:
            return CannotTell("it happens in one way only, which is told above")
        return codex_recording(scenario, **CASES[scenario])
