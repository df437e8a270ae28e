"""Whatever the host writes again, everything is told once; and whatever a person says again is told again."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from afl_core.model.observation import Compacted, ContextShown
from afl_providers_gemini.host import GeminiHost

TEXTS = st.sampled_from(["continue", "no", "fix the parser", "continue\n\nno", "a & b"])
SUMMARIES = [
    "<state_snapshot>all of it</state_snapshot>",
    "<scratchpad>what was it?</scratchpad>\n<state_snapshot>a</state_snapshot>",
    "A summary.",
]
"""The host asks the model for the first form, lets it think aloud before, and takes whatever comes."""

STEPS = st.sampled_from(["answered", "tools", "cut", "rejected", "resumed", "compressed", "rewound", "injected"])


def run(chat, call, steps, *, opening=True):
    """Drive a log through `steps`, each with the words of its prompt; returns what should be told, one line each."""
    told = []
    for number, (step, words) in enumerate(steps):
        if step == "resumed":
            chat.resumed()
        elif step == "compressed":
            chat.compressed(f"<state_snapshot>{number}</state_snapshot>")
            told.append("compacted")
        elif step == "rewound":
            chat.write({"$rewindTo": f"id-{chat.count}"})
            chat.history = chat.history[:-2] or chat.history
            chat.resync()
            told.append("goes back")
        elif step == "cut":
            chat.person(words, kept=False).cut()
            told += [f"person {words}", "cut"]
        elif step == "rejected":
            chat.person(words, kept=False).agent("Writing.", call(f"c{number}", "write_file", **DENIED), kept=False).rejected(
                opening=opening
            )
            told += [f"person {words}", "agent Writing.", "calls write_file", "returns error person", "cut"]
        elif step == "injected":
            chat.person(words, "<hook_context>m</hook_context>").agent("Noted.")
            told += ["shown m", f"person {words}", "agent Noted."]
        else:
            calls = [call(f"c{number}a"), call(f"c{number}b")] if step == "tools" else []
            chat.person(words).agent("Noted.", *calls)
            told += [f"person {words}", "agent Noted.", *["calls read_file", "returns ok"] * len(calls)]
    return told


DENIED = {"status": "cancelled", "error": "[Operation Cancelled] Reason: User denied execution."}


@given(st.lists(st.tuples(STEPS, TEXTS), max_size=12))
def test_no_order_of_cuts_rejections_resumptions_and_compactions_tells_anything_twice_or_not_at_all(chats, steps):
    chat = chats.Chat().header()
    expected = run(chat, chats.call, steps)

    assert sorted(chat.told()) == sorted(expected)
    assert [one for one in chat.told() if not one.startswith("shown")] == [one for one in expected if not one.startswith("shown")]


@given(st.lists(st.tuples(st.sampled_from(["answered", "rejected", "injected"]), TEXTS), max_size=8))
def test_a_history_that_lost_its_opening_in_a_rewind_is_known_by_its_first_words(chats, steps):
    chat = chats.Chat().header()
    steps = [("answered", "the very first words"), ("answered", "others"), ("rewound", ""), *steps]

    assert chats.persons(chat.observations()) == []
    expected = run(chat, chats.call, steps, opening=False)

    assert [one for one in chat.told() if not one.startswith("shown")] == [one for one in expected if not one.startswith("shown")]


@given(steps=st.lists(st.tuples(STEPS, TEXTS), max_size=8), cuts=st.lists(st.integers(0, 60), max_size=6))
def test_how_the_log_is_read_in_pieces_makes_no_difference_and_what_is_not_wanted_says_nothing(chats, steps, cuts):
    chat = chats.Chat().header()
    run(chat, chats.call, steps)
    lines = chats.lines_of(chat.log)
    whole, last = GeminiHost().parse(lines, {})
    found, state, start = [], {}, 0
    for end in [*sorted(min(cut, len(lines)) for cut in cuts), len(lines)]:
        wanted = [line for line in lines[start:end] if GeminiHost().wants(line.data[:400])]
        some, state = GeminiHost().parse(wanted, json.loads(json.dumps(state, sort_keys=True)))
        found, start = found + some, end

    assert found == whole
    assert state == last


def test_the_same_words_twice_are_said_twice_even_right_after_a_cut(chats, chat):
    chat.header().person("continue", kept=False).cut().person("continue").agent("Yes.").person("continue")

    assert chats.persons(chat.observations()) == ["continue", "continue", "continue"]


def test_words_known_and_written_the_moment_of_the_cut_are_a_repetition(chats, chat):
    chat.header().person("one").agent("Yes.").person("two", kept=False).agent("No.", kept=False).rejected(opening=False)

    assert chats.persons(chat.observations()) == ["one", "two"]


def test_a_run_whose_end_is_missing_ends_by_itself(chats, chat):
    chat.header().person("one").agent("Yes.").person("two", kept=False).rejected()
    chat.log = chat.log[: chat.log.rindex(b'{"$set":{"messages"')]
    chat.person("three")

    assert chats.persons(chat.observations()) == ["one", "two", "three"]


def test_a_conversation_loaded_from_elsewhere_was_not_said_here(chats, chat):
    chat.header()
    chat.history += [{"role": "user", "parts": [{"text": "said in another session"}]}, {"role": "model", "parts": [{"text": "Yes."}]}]
    chat.now += 5_000
    chat.rejected()
    chat.person("and this here")

    assert chat.told() == ["cut", "person and this here"]


def test_more_prompts_than_are_remembered_change_nothing(chats, chat):
    chat.header()
    for number in range(400):
        chat.person(f"prompt {number}").agent(f"answer {number}")
    chat.person("stop", kept=False).rejected()
    chat.rejected(opening=False)

    assert chats.persons(chat.observations()) == [*(f"prompt {number}" for number in range(400)), "stop"]


def test_a_history_that_begins_with_an_answer_is_known_by_the_moment(chats, chat):
    chat.header().person("one").agent("Yes.").person("two", kept=False).rejected().rejected(opening=False).rejected()
    chat.person("three")

    assert chats.persons(chat.observations()) == ["one", "two", "three"]


@pytest.mark.parametrize("times", [1, 3])
@pytest.mark.parametrize("summary", SUMMARIES)
def test_a_summary_begins_one_epoch_however_often_it_is_repeated(chats, chat, summary, times):
    chat.header().person("one").agent("Yes.").compressed(summary)
    for _ in range(times):
        chat.resumed().person("two", kept=False).rejected()

    assert len([one for one in chat.observations() if isinstance(one, Compacted)]) == 1


@pytest.mark.parametrize("summary", SUMMARIES)
def test_a_summary_is_nobodys_words_wherever_it_is_repeated(chats, chat, summary):
    chat.header().person("one").agent("Yes.").compressed(summary, kept=0)
    chat.person("two", kept=False).rejected(opening=False)

    assert [one for one in chat.told() if not one.startswith(("cut", "compacted"))] == ["person one", "agent Yes.", "person two"]


def test_each_compaction_begins_an_epoch(chats, chat):
    chat.header().person("one").agent("Yes.").compressed("first").person("two").agent("Yes.").compressed("second")

    assert len([one for one in chat.observations() if isinstance(one, Compacted)]) == 2


def test_a_summary_that_only_stands_in_repeated_records_is_found_too(chats, chat):
    chat.header().person("one").agent("Yes.")
    chat.history = [chat.history[0], {"role": "user", "parts": [{"text": "<state_snapshot>x</state_snapshot>"}]}]
    chat.person("two", kept=False).rejected()

    assert len([one for one in chat.observations() if isinstance(one, Compacted)]) == 1


def test_a_message_that_quotes_a_summary_is_no_compaction(chats, chat):
    chat.header().person('what is "text":"<state_snapshot>" in this file?').agent("A tag.").resync()

    assert chat.told() == ['person what is "text":"<state_snapshot>" in this file?', "agent A tag."]


def test_a_repeated_context_is_not_shown_again(chat):
    chat.header().person("one", "<hook_context>m</hook_context>").agent("Yes.").person("two", kept=False).rejected().resumed()

    assert len([one for one in chat.observations() if isinstance(one, ContextShown)]) == 1


def test_calls_that_end_one_by_one_are_each_told_when_they_end(chats, chat):
    chat.header().person("go")
    record = chat.message("gemini", "Working.", model="m")
    first, second = chats.call("a"), chats.call("b", status="executing")
    chat.write({**record, "toolCalls": [first, second]}).write({**record, "toolCalls": [first, {**second, "status": "success"}]})
    chat.write({**record, "toolCalls": [first, {**second, "status": "success"}], "tokens": {"input": 1}})

    assert chat.told() == ["person go", "agent Working.", "calls read_file", "returns ok", "calls read_file", "returns ok"]
