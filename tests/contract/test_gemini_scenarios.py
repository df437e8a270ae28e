"""Gemini CLI, as it was recorded, keeps the scenario suite of the public kit."""

from __future__ import annotations

import capture_world

from afl_core.plugins.discovery import Found
from afl_core.testing.contracts.scenarios import CannotTell, HostScenarios, Recording
from afl_core.testing.gemini_recordings import gemini_recording

PLUGINS = (*capture_world.PLUGINS, Found("gemini", "afl_providers_gemini.plugin", "afl-providers-gemini", "0"))
CONTEXT = "card nonce=00c0ffee00c0ffee: use tabs"

CASES = {
    "plain": ("plain", {"request": "say hello", "answer": "Hello from the mock model."}),
    "tool_success": ("tools", {"request": "do the tool dance"}),
    "tool_failure": ("tools", {"request": "do the tool dance"}),
    "interrupted_then_corrected": ("toolcancel", {"request": "run the long command", "correction": "stop running sleeps"}),
    "interrupted_before_output": (
        "interrupted",
        {"request": "Please rewrite the parser", "correction": "No, do not use regex. Use the tokenizer."},
    ),
    "rejected_without_words": ("rejected", {"request": ("good morning", "create the file"), "correction": "I said docs/ not the root"}),
    "complaint": (
        "resumed",
        {"request": "first prompt: use tabs", "complaint": "second prompt after resume", "answer": "First answer."},
    ),
    "compacted": (
        "compressed",
        {
            "before": ("first: please always use tabs", "second prompt about the parser", "third prompt about tests"),
            "after": "after compress prompt",
            "summary": "<state_snapshot>",
        },
    ),
    "resumed": ("resumed", {"request": "first prompt: use tabs", "later": "second prompt after resume", "answer": "First answer."}),
    "rewound": (
        "queue_rewind_clear",
        {"request": "long answer please", "undone": "queued one\n\nqueued two", "instead": "after rewind prompt"},
    ),
    "subagent": ("subagent", {"request": "use the agent", "task": "please inspect a.txt", "work": "sub result"}),
    "injected": ("injected", {"request": "hello there", "context": CONTEXT}),
    "same_text_twice": ("resumed", {"request": "first prompt: use tabs"}),
}
"""Scenario -> the recorded case and the words in it."""

MORE = {
    "rewound": {"only": "queue_rewind_clear-1"},
    # What was injected then had no nonce, and nobody was recorded who said the same thing twice.
    "injected": {"swaps": {"MEM-BeforeAgent &lt;b&gt;use tabs&lt;/b&gt; & spaces": CONTEXT}},
    "same_text_twice": {"swaps": {"second prompt after resume": "first prompt: use tabs"}},
}

CANNOT = {
    "withdrawn": "a prompt that was sent cannot be taken back: Escape before any output ends the turn like any other",
    "steering_additive": "what is typed while the agent works waits for the turn's end and becomes a prompt of its own",
    "steering_corrective": "what is typed while the agent works waits for the turn's end and becomes a prompt of its own",
    "rejected_with_words": "the question before a tool runs takes no words",
    "forked": "a session cannot be forked",
    "machine_prompts": "the host writes into the conversation, but only where a hook refused an answer, which ours never do",
}


class TestScenarios(HostScenarios):
    """On recorded sessions."""

    host = "gemini"

    def plugins(self):
        return PLUGINS

    def recording(self, scenario: str) -> Recording | CannotTell:
        if scenario in CANNOT:
            return CannotTell(CANNOT[scenario])
        name, words = CASES[scenario]
        return gemini_recording(name, **MORE.get(scenario, {}), **words)
