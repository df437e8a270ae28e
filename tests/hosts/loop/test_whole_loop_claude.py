"""The main job on the real Claude Code: a person stops and corrects the agent, and a card reaches the model in a later session."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.real_cli


def test_a_correction_becomes_a_card_that_reaches_the_model_in_a_later_session(installed):
    product = installed("claude")
    lesson = product.corrected("claude")
    [(kind, _referent)] = product.signals()
    assert kind == "interruption"
    product.given_later("claude", lesson)
    assert product.reconciled_sessions() == ["claude", "claude"]
    assert product.leaked() == []
