"""How calls end: outcome, exit code, denial, and what the person said in a tool's dialogue."""

from __future__ import annotations

import pytest

from afl_core.model.observation import Cut, Denial, ToolCalled, ToolReturned


def one(chats, **fields):
    chat = chats.Chat().header().person("go").agent("Working.", chats.call("c1", **fields))
    return next(seen for seen in chat.observations() if isinstance(seen, ToolReturned))


@pytest.mark.parametrize(
    ("fields", "is_error", "exit_code", "denial"),
    [
        ({}, False, None, Denial.NONE),
        ({"status": "error", "error": "File not found"}, True, None, Denial.NONE),
        ({"status": "success", "error": "it says success"}, True, None, Denial.NONE),
        ({"name": "run_shell_command", "output": "Output: x\nExit Code: 3\nProcess Group PGID: 9"}, True, 3, Denial.NONE),
        ({"name": "run_shell_command", "output": "Output: Exit Code: 3"}, False, None, Denial.NONE),
        ({"name": "run_shell_command", "output": "Output: \nExit Code: 7\nlast line\nExit Code: 1"}, True, 1, Denial.NONE),
        (
            {"name": "run_shell_command", "output": "<untrusted_context>\nOutput: x\nExit Code: -9\n</untrusted_context>"},
            True,
            -9,
            Denial.NONE,
        ),
        ({"name": "read_file", "output": "Exit Code: 3"}, False, None, Denial.NONE),
        ({"status": "cancelled", "error": "[Operation Cancelled] Reason: User denied execution."}, True, None, Denial.PERSON),
        ({"status": "cancelled", "error": "[Operation Cancelled] User cancelled operation"}, True, None, Denial.PERSON),
        ({"status": "cancelled", "error": "[Operation Cancelled] Reason: Operation cancelled by user"}, True, None, Denial.PERSON),
        ({"name": "exit_plan_mode", "output": "Plan rejected. User feedback: no"}, False, None, Denial.PERSON),
        ({"name": "exit_plan_mode", "output": "Plan rejected. No feedback provided."}, False, None, Denial.PERSON),
        (
            {"name": "exit_plan_mode", "output": "User cancelled the plan approval dialog. The plan was not approved"},
            False,
            None,
            Denial.PERSON,
        ),
        ({"name": "enter_plan_mode", "output": "User cancelled entering Plan Mode."}, False, None, Denial.PERSON),
        ({"name": "ask_user", "output": "User dismissed ask_user dialog without answering."}, False, None, Denial.PERSON),
        ({"name": "read_file", "output": "Plan rejected. User feedback: no"}, False, None, Denial.NONE),
        ({"name": "exit_plan_mode", "output": "Plan approved."}, False, None, Denial.NONE),
        ({"status": "error", "error": "Tool execution denied by policy. Ask."}, True, None, Denial.POLICY),
        ({"status": "error", "error": 'Tool execution for "Shell" denied by policy.'}, True, None, Denial.POLICY),
        ({"status": "error", "error": "Tool execution blocked: not here"}, True, None, Denial.POLICY),
    ],
)
def test_an_ending_is_read_from_the_state_and_the_text(chats, fields, is_error, exit_code, denial):
    returned = one(chats, **fields)

    assert (returned.is_error, returned.exit_code, returned.denial) == (is_error, exit_code, denial)


def test_a_call_has_its_arguments_as_json_and_its_result_the_time_it_ended(chats):
    chat = chats.Chat().header().person("go").agent("Working.", chats.call("c1", args={"b": 1, "a": "ü"}))
    called, returned = [seen for seen in chat.observations() if isinstance(seen, ToolCalled | ToolReturned)]

    assert (called.call_id, called.name, called.input_json) == ("c1", "read_file", '{"b":1,"a":"ü"}')
    assert returned.call_id == "c1"
    assert returned.at_ms == chat.now
    assert returned.duration_ms is None


def test_a_call_that_the_cut_stopped_is_what_the_cut_points_at(chats):
    chat = chats.Chat().header().person("go").agent("Working.").cancelled()
    stopped = chats.call("c1", "run_shell_command", status="cancelled", error="[Operation Cancelled] Reason: Operation cancelled by user")
    chat.message("gemini", "", model="m", toolCalls=[stopped])

    assert chat.told()[-4:] == ["cut", "calls run_shell_command", "returns error person", "cut"]


def test_refusing_one_of_several_calls_does_not_cut_the_turn(chats):
    refused = chats.call("c2", status="cancelled", error="[Operation Cancelled] Reason: User denied execution.")
    chat = chats.Chat().header().person("go").agent("Working.", chats.call("c1"), refused).agent("Then without.")

    assert not [seen for seen in chat.observations() if isinstance(seen, Cut)]


QUESTIONS = {
    "questions": [
        {"question": "Which?", "options": [{"label": "unittest"}, {"label": "pytest"}, {"label": "a, b"}]},
        {"question": "Why?", "options": []},
    ]
}


@pytest.mark.parametrize(
    ("answers", "words"),
    [
        ('{"answers":{"0":"pytest"}}', []),
        ('{"answers":{"0":"a, b, pytest"}}', []),
        ('{"answers":{"0":"nose2, never pytest"}}', ["nose2, never pytest"]),
        ('{"answers":{"0":"pytest","1":"because"}}', ["because"]),
        ('{"answers":{"1":"  "}}', []),
        ('{"answers":{"9":"not asked"}}', []),
        ('{"answers":[1]}', []),
        ("User dismissed ask_user dialog without answering.", []),
        ("[" * 50_000, []),
    ],
)
def test_an_answer_that_is_no_offered_label_is_the_persons(chats, answers, words):
    chat = chats.Chat().header().person("go").agent("", chats.call("q", "ask_user", answers, args=QUESTIONS))

    assert chats.persons(chat.observations()) == ["go", *words]


def test_the_reason_for_refusing_a_plan_rejects_the_call(chats):
    text = "Plan rejected. User feedback: no new files\n\nThe plan is stored at: /p\nRevise the plan based on the feedback."
    chat = chats.Chat().header().person("go").agent("", chats.call("p", "exit_plan_mode", text, resultDisplay="Feedback: no new files"))

    assert chat.told()[-1] == "person rejecting no new files"
    assert chat.observations()[-1].rejects == "p"


def test_a_plan_refused_without_a_word_has_no_words(chats):
    text = "Plan rejected. No feedback provided.\n"
    chat = chats.Chat().header().person("go").agent("", chats.call("p", "exit_plan_mode", text, resultDisplay="Rejected (no feedback)"))

    assert chats.persons(chat.observations()) == ["go"]


def test_a_result_with_context_of_hooks_behind_it_is_told_without(chats):
    behind = "\n\n<hook_context>a &lt;b&gt;</hook_context>\n\n<hook_context>c</hook_context>"

    assert one(chats, output=f"<untrusted_context>\nOutput: x\n</untrusted_context>{behind}").text == "Output: x"
    assert one(chats, output="it holds <hook_context>x</hook_context> inside").text == "it holds <hook_context>x</hook_context> inside"
