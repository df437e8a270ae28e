"""Gemini CLI, as it was recorded, keeps the scenario suite of the public kit."""

from __future__ import annotations

import capture_world

from afl_core.plugins.discovery import Found
from afl_core.testing.contracts.scenarios import CannotTell, HostScenarios, Recording
from afl_core.testing.gemini_recordings import gemini_recording

PLUGINS = (*capture_world.PLUGINS, Found("gemini", "afl_providers_gemini.plugin", "afl-providers-gemini", "0"))
CONTEXT = "card nonce=00c0ffee00c0ffee: use <b>tabs</b> & spaces"

CASES = {
    "plain": ("plain", {"request": "say hello", "answer": "Hello from the mock model."}),
    "tool_success": ("tools", {"request": "do the tool dance"}),
    "tool_failure": ("tools", {"request": "do the tool dance"}),
    "interrupted_then_corrected": ("toolcancel", {"request": "run the long command", "correction": "stop running sleeps"}),
    "interrupted_before_output": (
        "interrupted",
        {"request": "Please rewrite the parser", "correction": "No, do not use regex. Use the tokenizer."},
    ),
    "steering_additive": ("queued", {"request": "weather please", "addition": "in Celsius"}),
    "steering_corrective": ("steered", {"request": "do the long thing", "correction": "also: never use sleep here"}),
    "rejected_with_words": ("plan_refused", {"request": "plan the move", "correction": "keep the old module"}),
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
    "forked": ("forked", {"shared": "first prompt", "new": "fork prompt", "answer": "Forked answer."}),
    "machine_prompts": ("ran_command", {"request": "what did it say", "prompt": "I ran the following shell command"}),
    "subagent": ("subagent", {"request": "use the agent", "task": "please inspect a.txt", "work": "sub result"}),
    "injected": ("injected_card", {"request": "say hello", "context": CONTEXT}),
    "same_text_twice": ("same_twice", {"request": "go on"}),
}
"""Scenario -> the recorded case and the words in it."""

MORE = {"rewound": {"only": "queue_rewind_clear-1"}}

CANNOT = {
    "withdrawn": "Escape before any output ends the turn, and leaves what it leaves of a turn that the person objects to; words that still wait"
    " in the queue can be taken back, and were then never sent",
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
