"""A compaction takes the card out of the model's context; the real Claude Code gets it again as its session starts anew, under a new nonce."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.real_cli


def test_the_card_comes_back_after_a_compaction(card_comes_back):
    assert card_comes_back("claude", "/compact", "(?i)summar") == [(1, "reached"), (2, "reached")]
