"""The wall clock of front and jobs jumps in the middle of the loop: nothing is lost and nothing waits for the lost hour."""

from __future__ import annotations

import pytest

HOUR_MS = 3_600_000
JUMPS = {"an hour back": -HOUR_MS, "a day ahead": 24 * HOUR_MS}


@pytest.mark.parametrize("jump", JUMPS)
@pytest.mark.parametrize("moment", ["before the words", "while the review runs", "after the review"])
def test_the_loop_is_closed_all_the_same(moment, jump, product, undisturbed):
    expected = undisturbed("the correction and the card")
    product.warm()

    def leap(now: str) -> None:
        if now == moment:
            product.write("clock", str(JUMPS[jump]))

    leap("before the words")
    (product.faults / "hold").touch()
    product.replay("interrupted_text")
    product.until(lambda: product.pids("child"), "the reviewer")
    leap("while the review runs")
    (product.faults / "hold").unlink()
    product.until_reviewed()
    leap("after the review")
    product.begin_later()
    assert product.ask_later()
    product.answer_later()
    product.until_calm()
    made = product.picture()
    for name in ("signals", "reports", "lessons", "revisions", "incidents", "audit", "projection", "deliveries", "prompts and stops"):
        assert made[name] == expected[name], name
    assert [one["text"] for one in made["events"]] == [one["text"] for one in expected["events"]]
    product.check_leftovers()
