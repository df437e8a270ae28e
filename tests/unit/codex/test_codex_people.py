"""Only what a person typed is a person's: told by the notes of the host, and in older rollouts by its events."""

from __future__ import annotations

import pytest
from codex_records import item, started, user

from afl_core.model.observation import Cut, Rewound, Said, Speaker
from afl_core.testing.recorded_codex import OLDER

HARNESS = {"type": "harness", "hook": False}


def person(observations):
    return [one.text for one in observations if isinstance(one, Said) and one.speaker is Speaker.PERSON]


def machine(observations):
    return [one.text for one in observations if isinstance(one, Said) and one.speaker is Speaker.MACHINE]


def steering(observations):
    return [one.text for one in observations if isinstance(one, Said) and one.steering]


WORDS = [
    ("plain", "", ["what does the README say?"]),
    ("tool_success_and_failure_with_hook_context", "", ["run the tests"]),
    ("code_mode_tools", "", ["code mode please"]),
    ("code_mode_script_failed", "", ["x"]),
    ("command_left_running", "", ["x"]),
    (
        "interrupted_then_corrected",
        "",
        [
            "clean up the build directory",
            "No, do not use rm; move it to the trash instead",
            "start the long job",
            "stop running the full suite, use the quick one",
        ],
    ),
    ("steering_mid_turn", "", ["run the checks", "actually, always use pytest -q here"]),
    ("steering_mid_stream", "", ["explain the clean-up plan", "no: never rm, use the trash"]),
    ("compacted_auto", "", ["never use rm; do the job"]),
    ("compacted_manual", "", ["never use rm", "second message", "after compaction"]),
    ("resumed", "", ["first prompt", "second prompt"]),
    ("forked_child", "", ["forked prompt"]),
    ("reverted_turn.segment0", "", ["keep this", "wrong request"]),
    ("reverted_turn.segment1", "", ["edited request"]),
    ("stop_hook_block", "", ["fix the bug"]),
    ("failed_turn", "", ["hi"]),
    ("command_declined_by_user", "", ["make a file"]),
    ("patch_declined_by_user", "", ["go"]),
    ("command_cancelled_by_user", "", ["go"]),
    ("code_mode_declined_by_user", "", ["go"]),
    ("mcp_tool_and_subagent_parent", "", ["recall please"]),
    ("subagent_child", "", []),
    ("plain", OLDER, ["what does the README say?"]),
    ("tool_success_and_failure_with_hook_context", OLDER, ["run the tests"]),
    ("steering_mid_turn", OLDER, ["run the checks", "actually, always use pytest -q here"]),
    ("steering_mid_stream", OLDER, ["explain the clean-up plan", "no: never rm, use the trash"]),
    ("compacted_auto", OLDER, ["never use rm; do the job"]),
    ("compacted_manual", OLDER, ["never use rm", "second message", "after compaction"]),
    ("resumed", OLDER, ["first prompt", "second prompt"]),
    ("failed_turn", OLDER, ["hi"]),
    ("migrated.compacted_manual", "", ["never use rm", "second message", "after compaction"]),
]


@pytest.mark.parametrize(("case", "release", "words"), WORDS)
def test_each_thing_a_person_typed_is_theirs_exactly_once(observe, case, release, words):
    assert person(observe(case, release)) == words


@pytest.mark.parametrize("release", ["", OLDER])
def test_an_interruption_is_one_cut_and_the_hosts_note_of_it_is_not_another(observe, release):
    found = observe("interrupted_then_corrected", release)
    order = [type(one).__name__ if isinstance(one, Cut) else one.text for one in found if isinstance(one, Cut) or person([one])]

    assert order == [
        "clean up the build directory",
        "Cut",
        "No, do not use rm; move it to the trash instead",
        "start the long job",
        "Cut",
        "stop running the full suite, use the quick one",
    ]
    assert not [text for text in machine(found) if "turn_aborted" in text]
    assert not any(one.possible for one in found if isinstance(one, Cut))
    assert steering(found) == []


@pytest.mark.parametrize("release", ["", OLDER])
def test_words_after_a_tool_of_the_same_turn_steer(observe, release):
    found = observe("steering_mid_turn", release)

    assert steering(found) == ["actually, always use pytest -q here"]
    assert not [one for one in found if isinstance(one, Cut)]


def test_words_into_a_streaming_answer_that_the_host_kept_nothing_of_are_a_possible_cut_and_steering(observe, briefly):
    assert briefly("steering_mid_stream") == [
        ("Said", Speaker.PERSON, "explain the clean-up plan"),
        ("Cut", True),
        ("Said", Speaker.PERSON, "no: never rm, use the trash", True),
        ("Said", Speaker.AGENT, "Right, the trash."),
    ]
    cut = next(one for one in observe("steering_mid_stream") if isinstance(one, Cut))
    words = next(one for one in observe("steering_mid_stream") if isinstance(one, Said) and one.steering)
    assert (cut.spot.offset, cut.spot.part) < (words.spot.offset, words.spot.part)


def test_before_0_169_the_answer_was_finished_first_so_nothing_was_cut(observe):
    found = observe("steering_mid_stream", OLDER)

    assert steering(found) == ["no: never rm, use the trash"]
    assert not [one for one in found if isinstance(one, Cut)]


@pytest.mark.parametrize(("after", "expected"), [(0.999, []), (1.0, ["and quickly"]), (30.0, ["and quickly"])])
def test_words_that_follow_within_a_second_are_an_addition(made, after, expected):
    first, second = ("response_item", user("do it"), 10.0), ("response_item", user("and quickly"), 10.0 + after)
    found = made(started(), first, second)

    assert steering(found) == expected
    assert [one.possible for one in found if isinstance(one, Cut)] == [True] * len(expected)
    assert person(found) == ["do it", "and quickly"]


def test_an_older_rollout_never_tells_of_a_possible_cut(made):
    said = [("event_msg", {"type": "user_message", "message": text}, at) for text, at in (("do it", 1.0), ("and quickly", 9.0))]
    found = made(started(), *said, numbered=False)

    assert person(found) == ["do it", "and quickly"]
    assert steering(found) == []
    assert not [one for one in found if isinstance(one, Cut)]


def test_the_first_words_of_the_next_turn_do_not_steer(made):
    agent = item("AgentMessage", id="m", content=[{"type": "Text", "text": "done"}])
    found = made(started(), ("response_item", user("do it")), agent, started("t-2"), ("response_item", user("thanks", "t-2")))

    assert steering(found) == []


def test_what_the_notes_say_counts_and_never_the_words(made):
    looks_like_the_host = "<environment_context> is a tag I want you to explain"
    looks_typed = "Please do whatever you like."
    found = made(
        started(),
        ("response_item", user(looks_like_the_host)),
        ("response_item", user(looks_typed, kinds=["environments.environment_context"], origins=[HARNESS])),
        ("response_item", user(looks_typed, kinds=["user.text"], origins=[HARNESS])),
        ("response_item", user(looks_typed, kinds=["unknown"], origins=[{"type": "user"}])),
        ("response_item", user(looks_typed, kinds=[])),
        ("response_item", user(looks_typed, kinds="user.text", origins=[7])),
    )

    assert person(found) == [looks_like_the_host]
    assert machine(found) == [looks_typed] * 5


def test_of_a_message_of_several_parts_only_the_typed_ones_are_the_persons(made):
    parts = ["fix this", "<skill>how to</skill>", "and that"]
    kinds, origins = ["user.text", "skills", "user.text"], [{"type": "user"}, {"type": "skills"}, {"type": "user"}]

    assert person(made(started(), ("response_item", user(parts, kinds=kinds, origins=origins)))) == ["fix this\nand that"]


def test_the_event_that_repeats_a_noted_message_says_nothing_new(made):
    event = item("UserMessage", id="u", content=[{"type": "text", "text": "hello"}])

    assert person(made(started(), ("response_item", user("hello")), event)) == ["hello"]


def test_an_older_rollout_knows_the_host_by_how_its_texts_begin(made):
    said = [
        ("event_msg", {"type": "user_message", "message": text})
        for text in ("hello", "<subagent_notification>done</subagent_notification>", "# AGENTS.md instructions for /x", " ", "")
    ]
    item_of_host = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "<environment_context>x"}]}
    item_of_person = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "hello"}]}
    found = made(started(), ("response_item", item_of_host), ("response_item", item_of_person), *said, numbered=False)

    assert person(found) == ["hello"]
    assert len(machine(found)) == 3


def test_the_hosts_own_prompt_and_its_report_of_a_failure_are_the_machines(observe):
    assert [text for text in machine(observe("stop_hook_block")) if text.startswith("<hook_prompt")]
    assert [text for text in machine(observe("failed_turn")) if "high demand" in text]


def test_going_back_is_told_by_a_segment_of_the_same_session_and_not_by_a_fork(observe, made):
    assert next(type(one) for one in observe("reverted_turn.segment1")) is Rewound
    assert not [one for one in observe("forked_child") if isinstance(one, Rewound)]
    base = {"history_base": {"thread_id": "own"}, "forked_from_id": "other"}
    assert [type(one) for one in made(("session_meta", {"id": "own", **base}))] == [Rewound], "a fork in which the person went back"
    rolled = made(("event_msg", {"type": "thread_rolled_back", "num_turns": 1}), numbered=False)
    assert [type(one) for one in rolled] == [Rewound]


def test_only_an_interruption_by_the_person_is_a_cut(made):
    reasons = ["interrupted", "replaced", "review_ended", "budget_limited", None]
    found = made(*[("event_msg", {"type": "turn_aborted", "turn_id": f"t-{n}", "reason": reason}) for n, reason in enumerate(reasons)])

    assert [one.turn for one in found] == ["t-0"]


@pytest.mark.parametrize(
    "meta",
    [
        {"source": {"subagent": "review"}},
        {"source": {"subagent": {"thread_spawn": {"depth": 1}}}},
        {"source": {"internal": "memory"}},
        {"thread_source": "subagent"},
        {"thread_source": "memory_consolidation"},
        {"parent_thread_id": "p"},
    ],
)
def test_of_a_subagents_rollout_nothing_is_told_not_even_its_false_interruption(made, meta):
    aborted = ("event_msg", {"type": "turn_aborted", "turn_id": "t-1", "reason": "interrupted"})

    assert made(("session_meta", {"id": "x", **meta}), started(), ("response_item", user("child task")), aborted) == []


OLD_TURN, NEW_TURN = "01a22b50-0000-7000-8000-000000000001", "01a22b51-0000-7000-8000-000000000002"


def test_what_an_older_fork_copied_from_its_origin_is_told_in_the_origin_only(made):
    def said(text):
        return ("event_msg", {"type": "user_message", "message": text})

    fork = {"id": "fork", "forked_from_id": "origin", "timestamp": "2026-11-30T07:17:30.000Z"}
    found = made(
        ("session_meta", fork),
        ("session_meta", {"id": "origin", "timestamp": "2026-11-30T07:00:00.000Z"}),
        started(OLD_TURN),
        said("said in the origin"),
        started(NEW_TURN),
        said("said in the fork"),
        numbered=False,
    )

    assert person(found) == ["said in the fork"]


def test_ids_are_the_hosts_own_or_made_of_the_turn_and_survive_the_hosts_rewriting(observe):
    kept = [one.native_id for one in observe("plain") if isinstance(one, Said)]
    assert kept[1] == "msg_01a22b4b-c8b6-7da1-b7dd-c0adce01c2ab"
    assert kept[2] == "01a22b4b-c80c-7881-bcf8-06d7ffff24fb:msg_mock_1"

    for case in ("interrupted_then_corrected", "tool_success_and_failure_with_hook_context", "compacted_manual"):
        before, after = (
            [(type(one), one.native_id, one.spot.part) for one in found if getattr(one, "native_id", None)]
            for found in (observe(case, OLDER), observe(f"migrated.{case}"))
        )
        assert before == after
        assert len(before) > 4
