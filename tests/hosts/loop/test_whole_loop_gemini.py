"""The main job on the real Gemini CLI: a person stops and corrects the agent, and the card reaches it, and Codex, in later sessions."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.real_cli


def test_a_correction_in_gemini_becomes_a_card_there_and_in_codex(installed):
    product = installed("gemini", "codex")
    lesson = product.corrected("gemini")
    assert product.signals() == [("interruption", "turn_cut")]  # the host keeps nothing of the answer it broke off
    for name in ("gemini", "codex"):
        product.given_later(name, lesson)
    assert product.reconciled_sessions() == ["gemini", "gemini", "codex"]
    assert product.leaked() == []
