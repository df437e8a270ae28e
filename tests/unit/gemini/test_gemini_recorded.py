"""Every recorded chat log, told observation by observation."""

from __future__ import annotations

import json

import pytest

from afl_core.model.observation import ContextShown, Cut, Said, ToolCalled, ToolReturned
from afl_core.testing.recorded_gemini import RecordedGemini

REGEX = "agent " + " ".join(f"regex{number}" for number in range(3))
FORECAST = "agent The weather is fine. " + " ".join(f"Day {number}." for number in range(60))

EXPECTED = {
    "afteragent_retry": [
        "person finish the task",
        "agent Finished.",
        "machine Run the tests before finishing.",
        "agent Tests pass now.",
    ],
    "compressed": [
        "person first: please always use tabs",
        "agent Fine, noted.",
        "person second prompt about the parser",
        "agent Fine, noted.",
        "person third prompt about tests",
        "agent Fine, noted.",
        "compacted",
        "person after compress prompt",
        "agent Fine, noted.",
    ],
    "forked-1": ["person first prompt", "agent First answer."],
    "forked-2": ["person fork prompt", "agent Forked answer."],
    "injected": [
        "shown MEM-SessionStart <b>use tabs</b> & spaces",
        "shown MEM-BeforeAgent <b>use tabs</b> & spaces",
        "person hello there",
        "calls read_file",
        "returns ok",
        "agent Done.",
    ],
    "injected_card": [
        "shown card nonce=00c0ffee00c0ffee: use <b>tabs</b> & spaces",
        "person say hello",
        "agent Hello from the mock.",
    ],
    "interrupted": [
        "person Please rewrite the parser",
        "cut",
        "person No, do not use regex. Use the tokenizer.",
        "agent Understood: I will use the tokenizer instead.",
    ],
    "named_and_asked": [
        "person finish @a.py",
        "agent Fine, noted.",
        "machine Run the tests before finishing.",
        "agent Fine, noted.",
        "machine I ran the following shell command:\n```sh\necho hi from shell\n```\n\nThis produced the following result:\n```\nhi from shell\n```",
        "person ask me",
        "agent A question.",
        "calls ask_user",
        "returns ok",
        "person nose2 never pytest",
        "agent Fine, noted.",
    ],
    "named_file": ["person look at @a.py please", "agent Fine, noted."],
    "plain": ["person say hello", "agent Hello from the mock model."],
    "plan_refused": [
        "person plan the move",
        "agent Here is the plan.",
        "calls exit_plan_mode",
        "returns ok person",
        "person rejecting keep the old module",
        "agent A new plan then.",
    ],
    "queued": ["person weather please", FORECAST, "person in Celsius", "agent In Celsius then."],
    "ran_command": [
        "machine I ran the following shell command:\n```sh\necho one\n```\n\nThis produced the following result:\n```\none\n```",
        "person what did it say",
        "agent One it is.",
    ],
    "same_twice": ["person go on", "agent First answer.", "person go on", "agent Second answer."],
    "steered": [
        "person do the long thing",
        "agent Running.",
        "calls run_shell_command",
        "returns ok",
        "person steering also: never use sleep here",
        "agent Noted, no sleeps.",
    ],
    "queue_rewind_clear-1": [
        "shown SS-MEMORY",
        "person long answer please",
        REGEX,
        "person queued one\n\nqueued two",
        "agent Fine, noted.",
        "goes back",
        "person after rewind prompt",
        "agent Fine, noted.",
    ],
    "queue_rewind_clear-2": ["person after clear prompt", "agent Fine, noted."],
    "rejected": [
        "person good morning",
        "agent Sorry, docs/ it is.",
        "person create the file",
        "agent Creating it.",
        "calls write_file",
        "returns error person",
        "cut",
        "person I said docs/ not the root",
        "agent Sorry, docs/ it is.",
    ],
    "resume_lost": [
        "shown MEMORY",
        "person first prompt: use tabs",
        "agent First answer.",
        "person second prompt",
        "agent Second answer.",
    ],
    "resumed": [
        "person first prompt: use tabs",
        "agent Using the tool.",
        "calls read_file",
        "returns ok",
        "agent First answer.",
        "person second prompt after resume",
        "agent Second answer.",
    ],
    "rewound_rejected": [
        "person first prompt",
        "agent Fine, noted.",
        "person second prompt",
        "agent Fine, noted.",
        "person third prompt",
        "agent Fine, noted.",
        "goes back",
        "person write it",
        "agent Creating it.",
        "calls write_file",
        "returns error person",
        "cut",
        "person no, not there",
        "agent Fine, noted.",
    ],
    "subagent": ["person use the agent", "calls invoke_agent", "returns ok", "agent Main done."],
    "subagent-child": ["machine please inspect a.txt", "calls read_file", "returns ok", "calls complete_task", "returns ok"],
    "toolcancel": [
        "person run the long command",
        "agent Running.",
        "cut",
        "calls run_shell_command",
        "returns error person",
        "cut",
        "person stop running sleeps",
        "agent Noted.",
    ],
    "tools": [
        "person do the tool dance",
        "agent Let me look at the files.",
        "calls read_file",
        "returns ok",
        "calls read_file",
        "returns error",
        "calls run_shell_command",
        "returns error 3",
        "calls write_file",
        "returns ok",
        "agent All done: the answer is 42.",
    ],
}


def test_every_recorded_log_has_its_expectation():
    assert set(EXPECTED) == set(RecordedGemini.names("chats"))


@pytest.mark.parametrize("name", sorted(EXPECTED))
def test_a_recorded_log_tells_exactly_this(chats, observe, name):
    told = [chats.tell(one) for one in observe(name)]
    assert [REGEX if one.startswith(REGEX) else one for one in told] == EXPECTED[name]


@pytest.mark.parametrize("name", sorted(EXPECTED))
def test_nothing_has_the_same_id_and_part_as_another_and_each_is_where_its_record_is(observe, recorded_lines, name):
    told = [one for one in observe(name) if isinstance(one, Said | ToolCalled | ToolReturned | Cut)]
    ids = {line.offset: json.loads(line.data).get("id") for line in recorded_lines(name)}

    assert len({(one.native_id, one.spot.part) for one in told}) == len(told)
    assert all(one.native_id == ids[one.spot.offset] for one in told)
    assert all(one.at_ms for one in told)


@pytest.mark.parametrize("name", sorted(EXPECTED))
def test_everything_belongs_to_the_turn_that_the_last_prompt_began(chats, observe, name):
    turn = None
    for one in observe(name):
        if isinstance(one, ContextShown) or not hasattr(one, "turn"):
            continue
        if chats.persons([one]) and one.spot.part == 0 and not one.steering:
            turn = one.native_id
        assert one.turn == (turn or one.turn)


def test_thoughts_and_display_texts_are_never_told(observe):
    told = " ".join(str(one) for name in EXPECTED for one in observe(name))

    assert "I should read the file" in RecordedGemini.chat("tools").decode()
    assert "I should read the file" not in told


def test_a_failing_command_has_its_exit_code_and_the_text_without_the_wrapping(observe):
    (shell,) = [one for one in observe("tools") if isinstance(one, ToolReturned) and one.exit_code]

    assert shell.text.startswith("Output: out\nerr\nExit Code: 3\n")
    assert "untrusted_context" not in shell.text


def test_what_a_hook_put_behind_a_tools_result_is_left_out(observe):
    (read,) = [one for one in observe("injected") if isinstance(one, ToolReturned)]

    assert read.text.strip() == "hi"
