"""The front killed around a prompt: nothing a person said is lost or there twice, and a card that was given to nobody is given again."""

from __future__ import annotations

import copy

import pytest

STEPS = {
    "in the transaction that keeps a prompt": "afl_core.worker.turn:keep:after",
    "after a prompt was kept, before the reply": "afl_core.worker.serve:take:after",
}


@pytest.mark.parametrize("nth", [1, 2, 3])
@pytest.mark.parametrize("step", STEPS)
def test_the_next_front_goes_on_where_the_killed_one_was(step, nth, product, undisturbed):
    expected = undisturbed("the correction and the card")
    product.warm()
    product.crash_at(STEPS[step], nth)
    product.story()
    product.until(product.crashed, "the kill")
    product.until_calm()
    assert product.picture() == expected
    product.check_leftovers()


def test_the_words_of_the_first_prompt_ever_are_found_in_the_transcript_when_the_front_dies_over_it(product, undisturbed):
    expected = copy.deepcopy(undisturbed("the correction and the card"))
    product.crash_at("afl_core.worker.turn:keep:after", 2)
    product.story()
    product.until(product.crashed, "the kill")
    product.until_calm()
    made = product.picture()
    for one in (*made["events"], *expected["events"]):
        del one["seen"]  # there was no spool key yet, so no hook saw it
    del made["prompts and stops"], expected["prompts and stops"]
    assert made == expected
    product.check_leftovers()


def test_the_next_hook_starts_a_front_and_the_review_that_waits(product, undisturbed):
    expected = undisturbed("the correction and the card")
    product.crash_at("afl_core.worker.keyring:Keyring.rotate_spool_key:after")
    product.replay("interrupted_text")
    product.until(product.crashed, "the kill")
    product.kill("jobs")
    product.begin_later()
    product.until_reviewed()
    assert product.ask_later()
    product.answer_later()
    product.until_calm()
    assert product.picture() == expected
    product.check_leftovers()


@pytest.mark.parametrize("step", ["afl_core.worker.drain:keep_spooled:after", "afl_core.worker.drain:_keep:after"])
def test_what_waits_in_the_spool_is_kept_once_when_the_front_dies_over_it(step, product, undisturbed):
    expected = undisturbed("the correction and the card")
    # The first kill sends a prompt to the spool, the second meets the front that drains it.
    product.warm()
    product.replay("interrupted_text")
    product.until_reviewed()
    product.kill("jobs")  # it drains the spool too
    product.crash_at("afl_core.worker.turn:keep:after", then=step)
    assert product.ask_later() == ""
    product.until(lambda: product.crashed(2), "both kills")
    product.answer_later()
    product.begin_later()
    product.until_calm()
    assert product.ask_later(2)
    product.answer_later(2)
    product.until_calm()
    made = product.picture()
    for name in ("signals", "reviews", "reports", "lessons", "revisions", "deliveries", "incidents", "audit", "projection"):
        assert made[name] == expected[name], name
    later = [row for row in made["prompts and stops"] if row[0].endswith("0002")]
    assert [(row[1], row[2], row[3]) for row in later] == [
        ("prompt", "turn-1", "joined"),
        ("prompt", "turn-2", "joined"),
        ("stop", "turn-1", "joined"),
        ("stop", "turn-2", "joined"),
    ]
    product.check_leftovers()


@pytest.mark.parametrize(
    ("step", "recorded"),
    [("afl_core.lessons.delivery:emit:after", False), ("afl_core.worker.serve:take:after", True)],
    ids=["in the transaction of the emission", "after the emission was committed"],
)
def test_a_card_whose_front_died_before_the_reply_is_given_with_the_next_prompt(step, recorded, product):
    product.replay("interrupted_text")
    product.until_reviewed()
    product.begin_later()
    product.crash_at(step)
    assert product.ask_later() == ""
    product.until(product.crashed, "the kill")
    assert product.one("SELECT count(*) FROM deliveries") == recorded
    product.answer_later()
    product.until_calm()
    if recorded:  # the transcript does not show it, so nobody believes that it arrived
        assert product.rows("SELECT state, emissions FROM deliveries") == [("unconfirmed", 1)]

    given = product.ask_later(2)
    assert "Use the new API" in given
    product.answer_later(2)
    product.until_calm()
    assert product.rows("SELECT state, emissions FROM deliveries") == [("reached", 1 + recorded)]
    assert product.one("SELECT count(*) FROM intake WHERE kind = 'prompt' AND session_id LIKE '%0002'") == 2
    product.check_leftovers()
