"""What the agent said and did: text, calls, results, denials, interruptions, compactions, and context that reached the model."""

from __future__ import annotations

import json

import pytest

from afl_core.model.observation import Compacted, ContextShown, Cut, Denial, Said, Speaker, ToolCalled, ToolReturned

PERSON, AGENT, MACHINE = Speaker.PERSON, Speaker.AGENT, Speaker.MACHINE


def test_an_interrupted_answer_is_kept_as_far_as_it_came(briefly):
    asked, answer, cut, correction, done = briefly("interrupted_text")

    assert asked == ("Said", PERSON, "refactor the module")
    assert answer[:2] == ("Said", AGENT)
    assert answer[2].startswith("I will rewrite the module using the old API")
    assert answer[3] is True
    assert cut == ("Cut",)
    assert correction == ("Said", PERSON, "no, do not use the old API, use the new one")
    assert done == ("Said", AGENT, "OK, using the new API.")


def test_an_interrupted_command_is_a_call_a_denied_result_and_a_cut(observe):
    observations = observe("interrupted_tool")
    called, returned, cut = observations[2:5]

    assert (type(called), type(returned), type(cut)) == (ToolCalled, ToolReturned, Cut)
    assert (called.name, json.loads(called.input_json)["command"]) == ("Bash", "touch ran; sleep 30")
    assert (returned.call_id, returned.is_error, returned.denial, returned.exit_code) == (called.call_id, True, Denial.PERSON, None)
    assert called.turn == returned.turn == cut.turn != observations[5].turn


def test_words_with_a_denial_name_the_call_they_reject(observe):
    (called,) = [one for one in observe("denied_feedback") if isinstance(one, ToolCalled)]
    (returned,) = [one for one in observe("denied_feedback") if isinstance(one, ToolReturned)]
    words = observe("denied_feedback")[-2]

    assert returned.denial is Denial.PERSON
    assert (words.text, words.rejects, words.steering) == ("do not delete, move it to /tmp", called.call_id, False)
    assert words.spot.offset == returned.spot.offset
    assert words.spot.part > returned.spot.part


def test_words_with_a_permission_that_was_given_steer_and_reject_nothing(made):
    record = {
        "type": "user",
        "message": {"content": [{"type": "tool_result", "tool_use_id": "t1", "content": "ok"}]},
        "userFeedback": "but be quick",
        "permissionDecision": {"decision": "accept", "source": "user_temporary"},
    }
    returned, words = made(record)

    assert returned.denial is Denial.NONE
    assert (words.text, words.rejects, words.steering) == ("but be quick", None, True)


@pytest.mark.parametrize(
    ("fields", "denial"),
    [
        ({}, Denial.NONE),
        ({"permissionDecision": {"decision": "accept", "source": "config"}}, Denial.NONE),
        ({"toolDenialKind": "user-rejected"}, Denial.PERSON),
        ({"toolDenialKind": "user-rejected", "permissionDecision": {"decision": "reject", "source": "user_reject"}}, Denial.PERSON),
        ({"toolDenialKind": "user-rejected", "permissionDecision": {"decision": "reject", "source": "config"}}, Denial.POLICY),
        ({"toolDenialKind": "user-rejected", "permissionDecision": {"decision": "reject", "source": "hook"}}, Denial.POLICY),
        ({"toolDenialKind": "user-rejected", "permissionDecision": {"decision": "reject", "source": 7}}, Denial.POLICY),
        ({"toolDenialKind": "rule"}, Denial.POLICY),
        ({"permissionDecision": {"decision": "reject", "source": "user_reject"}}, Denial.PERSON),
    ],
)
def test_a_denial_is_a_persons_only_when_its_source_says_so(made, fields, denial):
    block = {"type": "tool_result", "tool_use_id": "t1", "content": "no", "is_error": True}
    (returned,) = made({"type": "user", "message": {"content": [block]}, **fields})

    assert returned.denial is denial


def test_a_denial_by_configuration_is_policy(observe):
    (returned,) = [one for one in observe("denied_headless") if isinstance(one, ToolReturned)]

    assert returned.denial is Denial.POLICY


def test_results_tell_outcome_and_exit_code_only_where_the_host_does(observe):
    results = [(one.is_error, one.exit_code, one.text.partition("\n")[0]) for one in observe("tools") if isinstance(one, ToolReturned)]

    assert results == [
        (False, None, "good"),
        (True, 3, "Exit code 3"),
        (True, None, "File does not exist. Note: your current working directory is /home/dev/project."),
        (False, None, "parallel"),
        (
            False,
            None,
            "File created successfully at: /home/dev/project/new.txt (file state is current in your context — no need to Read it back)",
        ),
        (
            False,
            None,
            "The file /home/dev/project/new.txt has been updated successfully. (file state is current in your context — no need to Read it back)",
        ),
        (True, None, "<tool_use_error>String to replace not found in file."),
        (True, None, "<tool_use_error>Error: No such tool available: NoSuchTool</tool_use_error>"),
    ]


def test_every_result_names_a_call_that_came_before_it(observe):
    for case in ("tools", "steering", "subagent", "subagent.subagent", "ask_question"):
        open_calls = set()
        for one in observe(case):
            if isinstance(one, ToolCalled):
                open_calls.add(one.call_id)
            elif isinstance(one, ToolReturned):
                assert one.call_id in open_calls


def test_a_long_command_took_as_long_as_it_took(observe):
    (returned,) = [one for one in observe("steering") if isinstance(one, ToolReturned)]
    (delegated,) = [one for one in observe("subagent") if isinstance(one, ToolReturned)]

    assert returned.duration_ms == 5410  # from the call's time to the result's
    assert delegated.duration_ms == 1019  # told by the host


def test_a_choice_among_offered_labels_is_not_the_persons_wording(made):
    questions = [
        {"question": "Which?", "options": [{"label": "pytest"}, {"label": "a, b"}]},
        {"question": "Many?", "multiSelect": True, "options": [{"label": "x"}, {"label": "y, z"}]},
        {"question": "More?", "multiSelect": True, "options": [{"label": "x"}]},
    ]
    call = {
        "type": "assistant",
        "message": {"content": [{"type": "tool_use", "id": "t1", "name": "AskUserQuestion", "input": {"questions": questions}}]},
    }
    answers = {"Which?": "pytest", "Many?": "y, z, x", "More?": "x, and never w", "Unasked?": "pytest"}
    result = {
        "type": "user",
        "message": {"content": [{"type": "tool_result", "tool_use_id": "t1", "content": "answered"}]},
        "toolUseResult": {"questions": questions, "answers": answers},
    }

    assert [one.text for one in made(call, result)[2:]] == ["x, and never w"]


def test_another_tools_result_cannot_pass_as_a_persons_answer(made):
    call = {"type": "assistant", "message": {"content": [{"type": "tool_use", "id": "t1", "name": "mcp__x__y", "input": {}}]}}
    result = {
        "type": "user",
        "message": {"content": [{"type": "tool_result", "tool_use_id": "t1", "content": "answered"}]},
        "toolUseResult": {"questions": [{"question": "q"}], "answers": {"q": "delete everything"}},
    }

    assert [type(one) for one in made(call, result)] == [ToolCalled, ToolReturned]


def test_a_compaction_opens_a_new_epoch_where_it_stands(observe):
    assert [type(one) for one in observe("autocompacted")][5:8] == [ToolReturned, Compacted, ContextShown]
    assert len([one for one in observe("compacted") if isinstance(one, Compacted)]) == 1


def test_a_subagents_compaction_and_context_are_not_the_sessions(made):
    boundary = {"type": "system", "subtype": "compact_boundary", "isSidechain": True}
    context = {"type": "attachment", "attachment": {"type": "hook_additional_context", "content": ["x"]}, "isSidechain": True}

    assert made(boundary, context) == []


def test_context_the_host_showed_is_read_back_joined(observe, made):
    shown = [one.text for one in observe("hook_context") if isinstance(one, ContextShown)]

    assert shown[:2] == ["MARK-SessionStart", "MARK-UserPromptSubmit"]
    (both,) = made({"type": "attachment", "attachment": {"type": "hook_additional_context", "content": ["one", "two"]}})
    assert both.text == "one\ntwo"


def test_thinking_is_never_read(made):
    blocks = [{"type": "thinking", "thinking": "secret"}, {"type": "redacted_thinking", "data": "x"}, {"type": "text", "text": "Done."}]
    observations = made({"type": "assistant", "message": {"content": blocks}})

    assert [(one.text, one.spot.part) for one in observations] == [("Done.", 2)]


@pytest.mark.parametrize("record", [{"isApiErrorMessage": True}, {"message": {"model": "<synthetic>"}}])
def test_a_failure_the_host_reports_in_the_agents_name_is_the_machines(made, record):
    message = {"content": [{"type": "text", "text": "API Error: 400 bad request"}], **record.get("message", {})}
    (said,) = made({"type": "assistant", **record, "message": message})

    assert isinstance(said, Said)
    assert said.speaker is MACHINE


def test_times_are_milliseconds_and_places_are_bytes(observe, recorded_lines):
    first = observe("plain")[0]
    starts = {line.offset: json.loads(line.data) for line in recorded_lines("plain")}

    assert starts[first.spot.offset]["uuid"] == first.native_id
    assert starts[first.spot.offset]["timestamp"] == "2026-11-30T07:34:43.532Z"
    assert first.at_ms == 1_796_024_083_532
