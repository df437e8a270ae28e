"""What a reviewer's plug-in gives back, checked, and what it raises, named. Knows no receipt."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Iterator

from afl_core.model.errors import ReviewError
from afl_core.plugins.isolation import describe
from afl_core.spec.reviewer import ReviewerAnswer, Usage


@contextlib.contextmanager
def named(plugin: str) -> Iterator[None]:
    """Turn what a plug-in raises into a `ReviewError` (reviewer_broken) with the plug-in, and the error's type and place, in its sentence."""
    try:
        yield
    except ReviewError:
        raise
    except Exception as bad:
        sentence = f"reviewer {plugin} raised {describe(bad, verbatim=False)}"
        raise ReviewError(sentence, reason="reviewer_broken", code="AFL-REVIEW-017") from bad


def checked(answer: object) -> ReviewerAnswer:
    """The answer, when everything in it but the receipt can be stored; raises `TypeError` or `ValueError` otherwise."""
    if not isinstance(answer, ReviewerAnswer):
        raise TypeError("no ReviewerAnswer")
    usage: object = answer.usage
    if not isinstance(usage, Usage):
        raise TypeError("no Usage")
    _text(answer.reason or "").encode("utf-8")  # a lone surrogate is a ValueError
    _text(usage.model or "").encode("utf-8")
    _text(answer.detail)
    if not all(type(count) is int and 0 <= count < 2**53 for count in (usage.input_tokens, usage.output_tokens)):
        raise ValueError("a number of tokens is none")
    cost: object = usage.cost_usd
    if cost is not None and not (isinstance(cost, int | float) and 0 <= cost < math.inf):
        raise ValueError("the cost is no amount")
    if answer.counts not in (None, True, False):
        raise TypeError("counts is no truth value")
    return answer


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError("a text is none")
    return value
