"""Claude Code, as it was recorded, keeps the scenario suite of the public kit."""

from __future__ import annotations

import capture_world

from afl_core.testing.claude_recordings import claude_recording
from afl_core.testing.contracts.scenarios import CannotTell, HostScenarios, Recording

CONTEXT = "<card nonce=00c0ffee00c0ffee>Quote the command before you call anything done.</card>"

CASES = {
    "plain": ("one_turn", {"request": "say hello", "answer": "Hello from the mock."}),
    "tool_success": ("one_tool", {"request": "run it"}),
    "complaint": ("complaint", {"request": "fix the tests", "complaint": "you never ran them", "answer": "All tests pass."}),
    "resumed": ("resumed_turns", {"request": "first prompt", "later": "second prompt", "answer": "First answer."}),
    "forked": ("forked_turns", {"shared": "first prompt", "new": "fork prompt", "answer": "Forked answer."}),
    "injected": ("injected", {"request": "say hello", "context": CONTEXT}),
    "same_text_twice": ("said_twice", {"request": "go on"}),
    "tool_failure": ("tools", {"request": "try tools"}),
    "interrupted_then_corrected": (
        "interrupted_text",
        {"request": "refactor the module", "correction": "no, do not use the old API, use the new one"},
    ),
    "withdrawn": ("interrupted_early", {"request": "first try prompt", "instead": "second try prompt", "answer": "second reply"}),
    "steering_additive": ("queued", {"request": "weather please", "addition": "actually in Celsius"}),
    "steering_corrective": ("steering", {"request": "do the long thing", "correction": "also: never use sleep here"}),
    "rejected_with_words": ("denied_feedback", {"request": "clean up", "correction": "do not delete, move it to /tmp"}),
    "rejected_without_words": ("denied_esc", {"request": "clean up", "correction": "do not delete it"}),
    "compacted": (
        "compacted",
        {"before": ("first question", "second question"), "after": "third question", "summary": "SUMMARYMARK"},
    ),
    "rewound": ("rewound", {"request": "alpha prompt", "undone": "beta prompt", "instead": "gamma prompt"}),
    "subagent": ("subagent_bg", {"request": "use a subagent", "task": "Please check.", "work": "Sub checking"}),
    "machine_prompts": ("subagent_bg", {"request": "use a subagent", "prompt": "<task-notification>"}),
}
"""Scenario -> the recorded case and the words in it."""

CANNOT = {
    "interrupted_before_output": "Escape before any output gives the prompt back to the person: it is withdrawn, not interrupted",
}


class TestScenarios(HostScenarios):
    """On recorded sessions."""

    host = "claude"

    def plugins(self):
        return capture_world.PLUGINS

    def recording(self, scenario: str) -> Recording | CannotTell:
        if scenario in CANNOT:
            return CannotTell(CANNOT[scenario])
        name, words = CASES[scenario]
        return claude_recording(name, **words)
