"""What the agent said and did: a call and its result once each, whichever record tells them, with what only the better record knows."""

from __future__ import annotations

import json

import pytest
from codex_records import call, item, output, started, user

from afl_core.model.observation import Compacted, ContextShown, Denial, Said, Speaker, ToolCalled, ToolReturned
from afl_core.testing.recorded_codex import OLDER, RecordedCodex


def agent(observations):
    return [one.text for one in observations if isinstance(one, Said) and one.speaker is Speaker.AGENT]


def calls(observations):
    return [(one.name, json.loads(one.input_json)) for one in observations if isinstance(one, ToolCalled)]


def results(observations):
    return [(one.is_error, one.exit_code, one.denial.value) for one in observations if isinstance(one, ToolReturned)]


@pytest.mark.parametrize("release", ["", OLDER])
def test_the_agents_texts_are_told_once_and_its_reasoning_never(observe, release):
    found = observe("tool_success_and_failure_with_hook_context", release)

    assert agent(found) == ["Running the tests.", "All tests pass now."]
    assert "It failed; try again." not in str(found)


def test_a_question_to_the_person_is_a_call_and_words_with_names_of_their_own(observe):
    found = observe("question_to_the_user")

    assert agent(found) == ["Which colour?\n- red\n- blue", "ok"]
    assert [name for name, _given in calls(found)] == ["request_user_input_async"]
    assert results(found) == [(False, None, "none")]


@pytest.mark.parametrize("release", ["", OLDER])
def test_no_two_things_of_a_rollout_have_the_same_name(observe, release):
    for case in RecordedCodex.names("rollouts", release):
        names = [(one.native_id, one.spot.part) for one in observe(case, release) if getattr(one, "native_id", None)]
        assert len(set(names)) == len(names), case


@pytest.mark.parametrize("case", ["compacted_auto", "compacted_manual"])
@pytest.mark.parametrize("release", ["", OLDER])
def test_a_compaction_is_told_once_and_its_summary_is_nobodys_words(observe, case, release):
    found = observe(case, release)

    assert sum(isinstance(one, Compacted) for one in found) == 1
    assert "SUMMARY" not in str(found)
    assert "Another language model" not in str(found)
    assert not [one for one in found if isinstance(one, Said) and one.recovered]


@pytest.mark.parametrize("release", ["", OLDER])
def test_commands_and_patches_have_their_outcome_once(observe, release):
    found = observe("tool_success_and_failure_with_hook_context", release)

    assert [name for name, _given in calls(found)] == ["exec_command", "exec_command", "apply_patch", "apply_patch"]
    patched = None if release == "" else 0
    assert results(found) == [(True, 3, "none"), (False, 0, "none"), (False, patched, "none"), (True, None, "none")]
    returned = [one for one in found if isinstance(one, ToolReturned)]
    assert [one.call_id for one in returned] == [one.call_id for one in found if isinstance(one, ToolCalled)]
    assert all(one.duration_ms is not None for one in returned)


def test_the_host_measures_a_command_better_than_its_text_does(observe):
    (returned,) = [one for one in observe("steering_mid_turn") if isinstance(one, ToolReturned)]

    assert (returned.text, returned.duration_ms, returned.exit_code) == ("checked\n", 2886, 0)


def test_a_script_and_the_calls_inside_it_are_calls_of_their_own(observe):
    found = observe("code_mode_tools")

    assert [(name, sorted(given)) for name, given in calls(found)] == [
        ("exec", ["input"]),
        ("exec_command", ["cmd"]),
        ("apply_patch", ["changes"]),
    ]
    assert calls(found)[1][1] == {"cmd": "echo hi; exit 3"}
    assert results(found) == [(True, 3, "none"), (False, None, "none"), (False, None, "none")]


def test_a_script_that_failed_and_a_tool_that_is_not_there_are_errors(observe):
    found = observe("code_mode_script_failed")

    assert [name for name, _given in calls(found)] == ["exec", "exec_command", "exec", "nosuch"]
    assert results(found) == [(False, 0, "none"), (True, None, "none"), (True, None, "none"), (True, None, "none")]


def test_a_command_that_goes_on_returns_when_it_ends_and_looking_at_it_is_another_call(observe):
    found = observe("command_left_running")

    assert [name for name, _given in calls(found)] == ["exec_command", "exec_command", "write_stdin"]
    assert [(one.call_id, one.is_error, one.exit_code) for one in found if isinstance(one, ToolReturned)] == [
        ("call_mock_2_0", True, None),
        ("call_mock_3_0", True, None),
        ("call_mock_1_0", True, -1),
    ]
    assert calls(found)[1] == ("exec_command", "{bad")


def test_how_a_watched_command_ended_is_told_by_its_own_call_only(made):
    found = made(
        call("c-1"),
        output("Wall time: 1.0 seconds\nProcess running with session ID 7\nOutput:\na"),
        call("c-2", "write_stdin", '{"session_id": 7}'),
        item("CommandExecution", id="c-1", status="failed", exit_code=4, aggregated_output="a\nb\n"),
        output("Wall time: 2.0 seconds\nProcess exited with code 4\nOutput:\nb", "c-2"),
    )

    assert [(one.call_id, one.is_error, one.exit_code) for one in found if isinstance(one, ToolReturned)] == [
        ("c-1", True, 4),
        ("c-2", False, None),
    ]


@pytest.mark.parametrize("release", ["", OLDER])
def test_a_command_the_person_interrupted_was_stopped_by_the_person_and_ends_once(observe, release):
    found = observe("interrupted_then_corrected", release)
    (returned,) = [one for one in found if isinstance(one, ToolReturned)]

    assert (returned.is_error, returned.denial, returned.call_id) == (True, Denial.PERSON, "call_mock_4_0")
    assert returned.turn == next(one.turn for one in found if isinstance(one, ToolCalled))


def test_what_ends_after_the_next_turn_began_keeps_its_own_turn_and_makes_no_steering(made):
    late = item("CommandExecution", "t-1", id="exec-1", command=["/bin/sh", "-c", "sleep 9"], status="failed", exit_code=-1)
    first, second = ("response_item", user("next", "t-2"), 4.0), ("response_item", user("and this", "t-2"), 4.5)
    found = made(started("t-1"), ("response_item", user("go")), started("t-2"), first, late, second)

    assert [one.turn for one in found if isinstance(one, ToolCalled | ToolReturned)] == ["t-1", "t-1"]
    assert not [one for one in found if isinstance(one, Said) and one.steering]


@pytest.mark.parametrize("case", ["command_declined_by_user", "patch_declined_by_user", "command_cancelled_by_user"])
def test_what_the_person_declined_did_not_run(observe, case):
    found = observe(case)

    assert results(found) == [(True, None, "person")]
    assert [one.duration_ms for one in found if isinstance(one, ToolReturned)] == [None]


def test_what_the_person_declined_inside_a_script_ended_the_script_unless_it_went_on(observe):
    found = observe("code_mode_declined_by_user")

    assert [name for name, _given in calls(found)] == ["exec", "exec", "apply_patch", "exec"]
    assert results(found) == [(True, None, "person"), (True, None, "person"), (True, None, "person"), (False, None, "none")]


def test_what_a_rule_declined_was_not_the_persons_doing(made):
    declined = item("CommandExecution", id="exec-1", command=["ls"], status="declined", aggregated_output="forbidden by a rule")

    assert results(made(declined)) == [(True, None, "policy")]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('exec_command failed: CreateProcess { message: "Rejected(\\"rejected by user\\")" }', (True, None, "person")),
        ('exec_command failed: CreateProcess { message: "Rejected(\\"forbidden by a rule\\")" }', (True, None, "policy")),
        ("exec command rejected by user", (True, None, "person")),
        ("patch rejected by user", (True, None, "person")),
        ("aborted by user after 1.9s", (True, None, "person")),
        ("Wall time: 2.2 seconds\naborted by user", (True, None, "person")),
        ("Chunk ID: a1\nWall time: 0.1 seconds\nProcess exited with code 3\nOutput:\nx", (True, 3, "none")),
        ("Chunk ID: a1\nWall time: 0.1 seconds\nProcess exited with code -9\nOutput:\n", (True, -9, "none")),
        ("Exit code: 0\nWall time: 0 seconds\nOutput:\nrejected by user", (False, 0, "none")),
        ("Exit code: 1\nWall time: 0 seconds\nOutput:\nfailed", (True, 1, "none")),
        ("apply_patch verification failed: no such file", (True, None, "none")),
        ("unsupported call: nosuch", (True, None, "none")),
        ("failed to parse function arguments: EOF", (True, None, "none")),
        ("Script failed\nWall time 0.1 seconds\nOutput:\n", (True, None, "none")),
        ("Script failed\nWall time 0.1 seconds\nOutput:\n\nhi\nScript error:\npatch rejected by user", (True, None, "person")),
        ("Script failed\nWall time 0.1 seconds\nOutput:\npatch rejected by user\nScript error:\nboom", (True, None, "none")),
        ("Script completed\nWall time 0.1 seconds\nOutput:\nScript failed", (False, None, "none")),
        ("the report says: rejected by user, aborted by user, Process exited with code 9", (False, None, "none")),
        ("line one\nProcess exited with code 9\n", (False, None, "none")),
        ("", (False, None, "none")),
    ],
)
def test_an_outcome_is_read_from_what_the_host_puts_before_a_tools_own_text(made, text, expected):
    assert results(made(call(), output(text), numbered=False)) == [expected]


def test_an_older_rollout_tells_of_a_command_that_goes_on_by_its_output(made):
    assert results(made(call(), output("Process running with session ID 7\n"), numbered=False)) == [(False, None, "none")]


def test_an_mcp_call_has_its_servers_name_and_its_result(observe, made):
    found = observe("mcp_tool_and_subagent_parent")

    assert [name for name, _given in calls(found)] == ["mcp__fbmem__recall", "spawn_agent"]
    assert results(found) == [(False, None, "none"), (False, None, "none")]
    failed = made(
        call("c-1", "recall", "{}", namespace="mcp__fbmem"),
        item("McpToolCall", id="c-1", server="fbmem", tool="recall", status="failed", error={"message": "no answer"}),
        item("McpToolCall", id="exec-2", server="fbmem", tool="recall", arguments={"q": 1}, status="completed", result={"isError": True}),
    )
    assert [name for name, _given in calls(failed)] == ["mcp__fbmem__recall", "mcp__fbmem__recall"]
    assert [one[0] for one in results(failed)] == [True, True]
    assert next(one.text for one in failed if isinstance(one, ToolReturned)) == "no answer"


def test_a_command_the_person_ran_in_the_terminal_is_no_call_of_the_agents(made):
    assert made(started(), item("CommandExecution", id="01a2-user", command=["ls"], status="completed", exit_code=0)) == []


def test_the_inputs_of_other_kinds_of_calls_are_json_too(made):
    custom = ("response_item", {"type": "custom_tool_call", "name": "apply_patch", "call_id": "c-1", "input": "*** Begin\n"})
    local = ("response_item", {"type": "local_shell_call", "call_id": "c-2", "action": {"type": "exec", "command": ["ls"]}})

    assert calls(made(custom, local)) == [
        ("apply_patch", {"input": "*** Begin\n"}),
        ("local_shell", {"type": "exec", "command": ["ls"]}),
    ]


@pytest.mark.parametrize("release", ["", OLDER])
def test_what_hooks_put_into_the_context_is_shown(observe, release):
    shown = [one.text for one in observe("tool_success_and_failure_with_hook_context", release) if isinstance(one, ContextShown)]

    assert shown == ["FBMEM session context", "FBMEM: run tests with pytest -q"]


def test_context_is_shown_again_after_a_compaction_that_dropped_it(observe):
    told = [type(one).__name__ for one in observe("compacted_auto") if isinstance(one, ContextShown | Compacted)]

    assert told == ["ContextShown", "ContextShown", "Compacted", "ContextShown"]


def compaction(*kept, message="the summary"):
    return ("compacted", {"message": message, "replacement_history": list(kept)})


def recovered(observations):
    return [one for one in observations if isinstance(one, Said) and one.recovered]


def test_words_that_only_a_compaction_kept_are_recovered_under_their_own_id_and_are_no_steering(made):
    known = user("seen", native_id="msg_1")
    lost = user("lost", "t-0", native_id="msg_0")
    summary = user("the summary", kinds=["compaction.summary"], origins=[{"type": "harness", "hook": False}])
    found = made(started(), ("response_item", known), compaction(lost, known, summary), compaction(lost, known, summary))

    assert [(one.text, one.native_id, one.turn, one.steering, one.speaker) for one in recovered(found)] == [
        ("lost", "msg_0", "t-0", False, Speaker.PERSON)
    ]


def test_without_ids_recovered_words_get_a_name_that_stays(made):
    def plain(text):
        return {"type": "message", "role": "user", "content": [{"type": "input_text", "text": text}]}

    records = (
        started(),
        ("event_msg", {"type": "user_message", "message": "seen"}),
        compaction(plain("lost"), plain("seen"), plain("<environment_context>x"), plain("the summary")),
    )
    first, second = recovered(made(*records, numbered=False)), recovered(made(*records, numbered=False))

    assert [one.text for one in first] == ["lost"]
    assert first == second
    assert first[0].native_id.startswith("kept:")


def test_only_the_last_24_messages_of_a_compaction_are_looked_at(made):
    kept = [user(f"words {number}", native_id=f"msg_{number}") for number in range(40)]

    assert [one.text for one in recovered(made(compaction(*kept)))] == [f"words {number}" for number in range(16, 40)]


def test_what_a_fork_brought_from_its_origin_is_not_recovered_in_it(made):
    fork = {"id": "fork", "forked_from_id": "origin", "timestamp": "2026-11-30T07:17:30.000Z"}
    old, new = (
        user(text, native_id=f"msg_{uuid}")
        for text, uuid in (("old", "01a22b50-0000-7000-8000-000000000001"), ("new", "01a22b51-0000-7000-8000-000000000002"))
    )

    assert [one.text for one in recovered(made(("session_meta", fork), compaction(old, new)))] == ["new"]
