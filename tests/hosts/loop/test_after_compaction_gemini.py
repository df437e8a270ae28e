"""A compaction takes the card out of the model's context; the real Gemini CLI gets it again with the next prompt, for no hook tells of its compaction, under a new nonce."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.real_cli


def test_the_card_comes_back_after_a_compaction(card_comes_back):
    assert card_comes_back("gemini", "/compress", "state_snapshot", "state_snapshot") == [(1, "reached"), (2, "reached")]
