"""The words around the cards that an agent is given. Decides nothing and reads nothing.

The front runs through this file.
"""

from __future__ import annotations

from collections.abc import Sequence

FIRST_LINE = "[agent-feedback-loop memory]"
HOLD_LINE = "[agent-feedback-loop checkpoint hold]"
NONCE = "nonce="
NONCE_DIGITS = 16


def assemble(cards: Sequence[str], nonce: str, hold_text: str) -> str:
    """The injected text: the hold first, a blank line, then the cards between the first line and the nonce line; '' for nothing."""
    parts = [hold_text] if hold_text else []
    if cards:
        parts.append("\n".join((FIRST_LINE, *cards, NONCE + nonce)))
    return "\n\n".join(parts)
