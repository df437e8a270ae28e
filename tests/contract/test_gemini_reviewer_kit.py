"""The Gemini reviewer keeps the contract of a reviewer provider, in both of its ways."""

from __future__ import annotations

from afl_core.spec.reviewer import Reviewer
from afl_core.testing.contracts.reviewer import ReviewerContract
from afl_providers_gemini import plugin
from afl_providers_gemini.reviewer import GeminiReviewer


class TestGeminiReviewer(ReviewerContract):
    """In the person's own home."""

    def make(self):
        return GeminiReviewer()

    def environment(self, directory):
        command = directory / "gemini"
        command.write_text("#!/bin/sh\n", encoding="ascii")
        command.chmod(0o755)
        return {"HOME": str(directory), "PATH": str(directory)}


class TestIsolatedGeminiReviewer(TestGeminiReviewer):
    """In a home of its own."""

    def environment(self, directory):
        key = {"GEMINI_API_KEY": "secret-value-1", "AGENT_FEEDBACK_LOOP_REVIEWER_ENV_ALLOWLIST": "GEMINI_API_KEY"}
        return {**super().environment(directory), **key}


def test_the_plug_in_registers_it():
    (reviewer,) = plugin.afl_reviewers()
    assert isinstance(reviewer, Reviewer)
    assert (reviewer.name, reviewer.host, reviewer.label) == ("gemini", "gemini", "Gemini CLI")
