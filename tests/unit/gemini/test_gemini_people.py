"""Only what a person typed is a person's, part by part."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from afl_core.capture.payload import own_words
from afl_core.model.observation import ContextShown, Said, Speaker
from afl_providers_gemini import texts
from afl_providers_gemini.manifest import APPENDED, MANIFEST, PREPENDED


def said(chat):
    return [(one.speaker.value, one.text) for one in chat.observations() if isinstance(one, Said)]


def test_a_prompt_of_one_text_is_the_persons(chat):
    assert said(chat.header().person("fix it")) == [("person", "fix it")]


def test_messages_queued_meanwhile_are_one_message(chat):
    assert said(chat.header().person("one\n\ntwo")) == [("person", "one\n\ntwo")]


@pytest.mark.parametrize("opening", [*MANIFEST.machine_prefixes, *texts.FILED_PREFIXES])
def test_a_text_that_opens_as_the_hosts_own_is_nobodys(chat, opening):
    assert "person" not in {speaker for speaker, _ in said(chat.header().person(opening + " and more"))}


def test_the_host_that_says_go_on_is_the_machine(chat):
    assert said(chat.header().person("Please continue.")) == [("machine", "Please continue.")]


def test_the_opening_beside_the_first_prompt_is_dropped_when_the_record_is_new(chats, chat):
    chat.header().person("one", kept=False)
    assert said(chat) == [("person", "one")]


def test_contexts_before_in_front_of_and_behind_the_words_are_shown_and_the_words_are_left(chat):
    chat.header().person(
        '<hook_context>&lt;a&gt; &amp; "q"</hook_context>\n\nfix it', "<hook_context>b</hook_context>", "<hook_context>c</hook_context>"
    )
    shown = [one.text for one in chat.observations() if isinstance(one, ContextShown)]

    assert shown == ['<a> &amp; "q"', "b", "c"]
    assert said(chat) == [("person", "fix it")]


def test_a_context_in_a_record_of_its_own_is_nobodys_words(chat):
    assert chat.header().person("<hook_context>memory</hook_context>").told() == ["shown memory"]


def test_tool_results_are_never_a_persons_words(chat):
    chat.header().person("go")
    chat.message("user", [{"text": "not typed"}, {"functionResponse": {"id": "a", "name": "n", "response": {"output": "x"}}}])

    assert said(chat) == [("person", "go")]


def test_the_update_of_a_running_plan_beside_tool_results_is_steering(chat):
    chat.header().person("go")
    text = "User steering update:\n<user_input>\nuse tabs\n</user_input>\nInternal instruction: Re-evaluate the active plan."
    chat.message("user", [{"text": text}, {"functionResponse": {"id": "a", "name": "n", "response": {"output": "x"}}}])

    assert chat.told() == ["person go", "person steering use tabs"]


def test_the_reason_of_a_hook_that_made_the_agent_go_on_is_the_machines(chat):
    chat.header().person("finish").agent("Done.").person("Run the tests.", displayContent=[{"text": "finish"}])

    assert said(chat)[-1] == ("machine", "Run the tests.")


def test_a_reason_without_that_note_cannot_be_told_from_a_prompt(chat):
    chat.header().person("finish").agent("Done.").person("Run the tests.")

    assert said(chat)[-1] == ("person", "Run the tests.")


def test_the_note_of_a_loop_is_the_machines(chat):
    chat.header().person("go").person("System: Potential loop detected. Details: x.", displayContent=[{"text": "go"}])

    assert said(chat)[-1][0] == "machine"


def test_what_a_command_sent_is_the_machines(chat):
    chat.header().person("Review all of it, thoroughly.", displayContent=[{"text": "/review"}])

    assert said(chat) == [("machine", "Review all of it, thoroughly.")]


def test_words_around_a_named_file_are_the_persons_and_the_file_is_not(chat):
    parts = [
        "look at @src/a.py",
        "\n--- Content from referenced files ---",
        "\nContent from @src/a.py:\n",
        "secret()",
        "\n--- End of content ---",
    ]
    chat.header().person(*parts, displayContent=[{"text": "look at @a.py"}]).agent("Yes.")
    chat.person("Run the tests.", displayContent=[{"text": "look at @a.py"}])

    assert said(chat) == [("person", "look at @src/a.py"), ("agent", "Yes."), ("machine", "Run the tests.")]


def test_a_chosen_agent_is_no_word_of_the_persons(chat):
    note = "\n<system_note>\nThe user has explicitly selected the following agent(s): x. Please use it.\n</system_note>\n"

    assert said(chat.header().person("@x look", note)) == [("person", "@x look")]


def test_in_a_subagents_log_nobody_is_a_person(chats):
    chat = chats.Chat().header(kind="subagent")
    chat.person("do this").agent("", chats.call("q", "ask_user", '{"answers":{"0":"mine"}}', args={"questions": [{"question": "?"}]}))

    assert "person" not in {speaker for speaker, _ in said(chat)}


def test_an_image_beside_the_words_is_left_out(chat):
    chat.header().message("user", [{"text": "look"}, {"inlineData": {"mimeType": "image/png", "data": "AAAA"}}])

    assert said(chat) == [("person", "look")]


def test_content_that_is_bare_text_or_a_list_of_texts_is_read_too(chat):
    chat.header()
    chat.message("user", "bare")
    chat.message("user", ["a", "b"])

    assert said(chat) == [("person", "bare"), ("person", "ab")]


def test_what_the_host_says_in_the_agents_name_is_not_the_agents(chat):
    chat.header().person("go")
    chat.message("gemini", [{"text": "Got it. Thanks for the additional context!"}])
    chat.message("gemini", [{"text": "thinking", "thought": True}], model="m")

    assert said(chat) == [("person", "go")]


PIECES = st.sampled_from(
    [*(mark for pair in (*PREPENDED, *APPENDED) for mark in pair), "words", "\n", " ", "<", "&lt;", "The user has explicitly selected"]
)


@given(st.lists(PIECES, max_size=8))
def test_the_words_of_a_record_are_the_words_that_the_hook_saw(pieces):
    text = "".join(pieces)
    assert texts.own_words(texts.contexts(text)[1]) == own_words(text, MANIFEST.prepended, MANIFEST.appended)


@given(st.text())
def test_the_speaker_is_always_one_of_ours(text):
    assert isinstance(texts.is_machine_text(text), bool)
    assert Speaker.PERSON.value == "person"
