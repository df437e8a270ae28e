"""Which scripted step answers which request."""

from __future__ import annotations

import http.client

import pytest

from afl_core.testing.anthropic_api import MockAnthropic, Step, http_error, reviewing, structured, text
from afl_core.testing.failure import KitError

BASH = [{"name": "Bash"}]


def said(answer):
    return answer.json()["content"][0]["text"]


def test_steps_answer_in_order_and_each_once(ask):
    with MockAnthropic(["first", "second"]) as api:
        assert [said(ask(api)), said(ask(api))] == ["first", "second"]
        assert ask(api).status == 400


def test_a_request_that_no_step_fits_is_refused_and_shown_without_a_step(ask):
    with MockAnthropic([Step(text("never"), last="turtles")]) as api:
        assert ask(api, "hello").status == 400
        assert [(request.step, request.status) for request in api.requests] == [(None, 400)]
        assert len(api.unused) == 1


def test_a_default_answers_what_no_step_fits(ask):
    with MockAnthropic([], default=text("anything")) as api:
        assert said(ask(api)) == "anything"


@pytest.mark.parametrize(
    ("condition", "prompt", "fields"),
    [
        ({"last": "turt.es$"}, "about turtles", {}),
        ({"raw": '"temperature": 0.5'}, "x", {"temperature": 0.5}),
        ({"system": "reviewer"}, "x", {"system": [{"type": "text", "text": "You are a reviewer."}]}),
        ({"tools": True}, "x", {"tools": BASH}),
        ({"tools": False}, "x", {"tools": []}),
        ({"tools": "Bash"}, "x", {"tools": BASH}),
    ],
)
def test_a_step_answers_only_the_request_that_fulfils_its_condition(ask, condition, prompt, fields):
    opposite = {"tools": BASH} if condition == {"tools": False} else {}
    with MockAnthropic([Step(text("fits"), **condition)], default=text("other")) as api:
        assert said(ask(api, "nothing of it", **opposite)) == "other"
        assert said(ask(api, prompt, **fields)) == "fits"


def test_every_condition_of_a_step_must_hold(ask):
    with MockAnthropic([Step(text("both"), last="turtles", tools="Bash")], default=text("other")) as api:
        assert said(ask(api, "turtles")) == "other"
        assert said(ask(api, "birds", tools=BASH)) == "other"
        assert said(ask(api, "turtles", tools=BASH)) == "both"


def test_the_last_user_message_is_searched_with_its_tool_results_and_not_the_earlier_ones(ask):
    messages = [
        {"role": "user", "content": "early"},
        {"role": "assistant", "content": "x"},
        {"role": "user", "content": [{"type": "tool_result", "content": [{"type": "text", "text": "exit 3"}]}]},
    ]
    with MockAnthropic([Step(text("wrong"), last="early"), Step(text("right"), last="exit 3")]) as api:
        assert said(ask(api, messages=messages)) == "right"


def test_a_repeating_step_is_never_used_up(ask):
    with MockAnthropic([Step(text("again"), repeat=True)]) as api:
        assert [said(ask(api)) for _ in range(3)] == ["again"] * 3


def test_steps_can_be_added_while_it_runs(ask):
    with MockAnthropic([]) as api:
        api.add("late")
        assert said(ask(api)) == "late"


def test_a_callable_gets_the_body_and_returns_the_reply_or_words(ask):
    with MockAnthropic([lambda body: f"you said {body['messages'][0]['content']}", lambda _: http_error(418)]) as api:
        assert said(ask(api, "turtles")) == "you said turtles"
        assert ask(api).status == 418


def test_a_reviewer_answers_from_the_prompt_only_where_structured_output_is_offered(ask):
    with MockAnthropic([reviewing(lambda body: {"model": body["model"]})], default=text("no schema")) as api:
        assert said(ask(api)) == "no schema"
        [call] = ask(api, tools=[{"name": "StructuredOutput"}]).json()["content"]
        assert (call["name"], call["input"]) == ("StructuredOutput", {"model": "m"})


def test_a_callable_that_raises_is_told_to_the_client_and_raised_when_the_block_ends(ask):
    def broken(body):
        raise ValueError("no turtles")

    with pytest.raises(KitError, match="no turtles"), MockAnthropic([broken]) as api:
        assert ask(api).status == 400


def test_a_callable_that_returns_no_reply_is_refused(ask):
    with pytest.raises(KitError, match="answered int"), MockAnthropic([lambda _: 7]) as api:
        ask(api)


def test_a_reviewer_that_returns_no_object_is_refused(ask):
    with pytest.raises(KitError, match="must be an object"), MockAnthropic([reviewing(lambda _: None)]) as api:
        assert ask(api, tools=[{"name": "StructuredOutput"}]).status == 400


def test_arguments_that_are_no_json_are_told_when_the_block_ends(ask):
    with pytest.raises(KitError, match="not JSON serializable"), MockAnthropic([structured({"x": {1, 2}})]) as api:
        with pytest.raises(http.client.RemoteDisconnected):
            ask(api)
        assert api.requests[0].done


def test_the_error_of_the_test_itself_is_not_hidden_by_the_scripts(ask):
    with pytest.raises(AssertionError), MockAnthropic([lambda _: structured(None)]) as api:
        ask(api)
        raise AssertionError
