"""Only what a person typed is a person's: prompts, steering, words in permission prompts, answers."""

from __future__ import annotations

import json

import pytest

from afl_core.model.observation import Cut, Said, Speaker
from afl_core.spec.host import Line
from afl_providers_claude.host import ClaudeHost


def person(observations):
    return [one.text for one in observations if isinstance(one, Said) and one.speaker is Speaker.PERSON]


def machine(observations):
    return [one.text for one in observations if isinstance(one, Said) and one.speaker is Speaker.MACHINE]


@pytest.mark.parametrize(
    ("case", "words"),
    [
        ("plain", ["say hello"]),
        ("resumed", ["first prompt", "second prompt", "third prompt"]),
        ("interrupted_early", ["first try prompt", "second try prompt"]),
        ("interrupted_text", ["refactor the module", "no, do not use the old API, use the new one"]),
        ("interrupted_tool", ["run the tests", "wrong, use pytest -q"]),
        ("queued", ["weather please", "actually in Celsius"]),
        ("steering", ["do the long thing", "also: never use sleep here"]),
        ("sdk_steering", ["do the long thing", "also: never use sleep"]),
        ("ask_question", ["set up tests", "use nose2, never pytest"]),
        ("denied_feedback", ["clean up", "do not delete, move it to /tmp"]),
        ("denied_esc", ["clean up", "do not delete it"]),
        ("denied_headless", ["fetch it"]),
        ("rewound", ["alpha prompt", "beta prompt", "gamma prompt"]),
        ("compacted", ["first question", "second question", "third question"]),
        ("autocompacted", ["long work"]),
        ("commands.before_clear", ["first question"]),
        ("commands.after_clear", ["after clear"]),
        ("subagent", ["use a subagent"]),
        ("subagent_bg", ["use a subagent"]),
        ("subagent.subagent", []),
        ("subagent_bg.subagent", []),
        ("hook_context", ["say hello"]),
        ("tools", ["try tools"]),
    ],
)
def test_each_thing_a_person_typed_is_theirs_exactly_once(observe, case, words):
    assert person(observe(case)) == words


@pytest.mark.parametrize(
    ("case", "openings"),
    [
        ("subagent_bg", ["<task-notification>"]),
        ("commands.before_clear", ["<command-message>", "<bash-input>", "<bash-stdout>"]),
        ("commands.after_clear", ["<command-name>"]),
        ("subagent.subagent", ["Please check."]),
    ],
)
def test_the_hosts_own_messages_are_the_machines(observe, case, openings):
    said = machine(observe(case))

    assert len(said) == len(openings)
    assert all(text.startswith(opening) for text, opening in zip(said, openings, strict=True))


def test_a_compaction_summary_and_its_echo_are_nobodys_words(observe):
    said = [one.text for one in observe("compacted") if isinstance(one, Said)]

    assert not [text for text in said if "SUMMARYMARK" in text or "Compacted (ctrl" in text]


def test_steering_says_so_and_belongs_to_the_running_turn(observe):
    prompt, steering = [one for one in observe("steering") if isinstance(one, Said) and one.speaker is Speaker.PERSON]

    assert (prompt.steering, steering.steering) == (False, True)
    assert steering.turn == prompt.turn is not None


def test_a_prompt_that_waited_for_the_answers_end_is_a_turn_of_its_own_and_no_steering(observe):
    first, second = [one for one in observe("queued") if isinstance(one, Said) and one.speaker is Speaker.PERSON]

    assert not second.steering
    assert first.turn != second.turn


def test_a_fork_keeps_the_ids_of_what_it_copied_although_the_host_renames_its_turn(observe):
    original, copied = observe("forked.original"), observe("forked.fork")[:2]

    assert [(one.native_id, one.text) for one in copied] == [(one.native_id, one.text) for one in original]
    assert copied[0].turn != original[0].turn


def test_a_rewound_prompt_hangs_where_the_prompt_it_replaces_hung(observe):
    _, beta, gamma = [one for one in observe("rewound") if isinstance(one, Said) and one.speaker is Speaker.PERSON]

    assert beta.parent_id == gamma.parent_id is not None


def test_the_correction_hangs_under_the_interruption(observe):
    observations = observe("interrupted_text")
    (cut,) = [one for one in observations if isinstance(one, Cut)]
    correction = observations[observations.index(cut) + 1]

    assert correction.parent_id == cut.native_id
    assert correction.text == "no, do not use the old API, use the new one"


def user(content, **fields):
    return {"type": "user", "uuid": "u", "message": {"role": "user", "content": content}, **fields}


@pytest.mark.parametrize(
    "fields",
    [
        {"isMeta": True},
        {"isCompactSummary": True},
        {"isVisibleInTranscriptOnly": True},
        {"repeatsCompactSummary": True},
    ],
)
def test_text_the_host_put_in_for_the_model_is_not_said_at_all(made, fields):
    assert made(user("you are wrong", **fields)) == []


@pytest.mark.parametrize(
    "fields",
    [
        {"isSidechain": True},
        {"isSidechain": "no"},
        {"rowSource": "harness"},
        {"origin": {"kind": "task-notification"}},
        {"origin": {"kind": 1}},
        {"origin": "human"},
        {"promptSource": "system"},
    ],
)
def test_a_prompt_of_doubtful_origin_is_the_machines(made, fields):
    (said,) = made(user("you are wrong", **fields))

    assert said.speaker is Speaker.MACHINE


@pytest.mark.parametrize("fields", [{}, {"origin": {"kind": "human"}}, {"promptSource": "sdk", "rowSource": "local"}])
def test_text_blocks_are_one_message_without_the_hosts_reminders(made, fields):
    content = [
        {"type": "image", "source": {}},
        {"type": "text", "text": "<system-reminder>\nbe brief\n</system-reminder>"},
        {"type": "text", "text": "you are"},
        {"type": "text", "text": "wrong"},
    ]
    (said,) = made(user(content, **fields))

    assert (said.speaker, said.text, said.spot.part) == (Speaker.PERSON, "you are\nwrong", 2)


def test_a_person_who_types_the_interruption_note_interrupts_nothing(made):
    (said,) = made(user("[Request interrupted by user]", origin={"kind": "human"}))

    assert isinstance(said, Said)


def test_an_interruption_in_a_subagents_file_is_not_counted_again(made):
    note = [{"type": "text", "text": "[Request interrupted by user]"}]

    assert [type(one) for one in made(user(note, rowSource="harness"))] == [Cut]
    assert [type(one) for one in made(user(note, rowSource="harness", isSidechain=True))] == [Said]
    assert made(user(note, isSidechain=True))[0].speaker is Speaker.MACHINE


@pytest.mark.parametrize(
    ("attachment", "speaker"),
    [
        ({"origin": {"kind": "human"}}, Speaker.PERSON),
        ({"origin": {"kind": "task-notification"}}, Speaker.MACHINE),
        ({"commandMode": "task-notification"}, Speaker.MACHINE),
        ({"commandMode": "prompt"}, Speaker.PERSON),
    ],
)
def test_a_message_taken_up_in_mid_turn_is_judged_by_its_own_origin(made, attachment, speaker):
    (said,) = made({"type": "attachment", "uuid": "a", "attachment": {"type": "queued_command", "prompt": "never sleep", **attachment}})

    assert (said.speaker, said.steering, said.text) == (speaker, True, "never sleep")


def test_a_queue_record_repeats_a_prompt_and_is_not_counted(made):
    assert made({"type": "queue-operation", "operation": "enqueue", "content": "never sleep"}) == []


def test_half_a_surrogate_pair_cannot_reach_the_store(made):
    (said,) = made(user("broken \ud83d text"))

    assert said.text == "broken ? text"


def test_a_broken_byte_in_a_record_does_not_lose_the_words_around_it():
    line = json.dumps(user("use the new one, @ not the old")).encode().replace(b"@", b"\xff\xfe")
    [said], _state = ClaudeHost().parse([Line(0, line)], {})

    assert (said.speaker, said.text) == (Speaker.PERSON, "use the new one, \ufffd\ufffd not the old")


def asked(uuid, parent, text, **fields):
    return {"type": "user", "uuid": uuid, "parentUuid": parent, "promptId": uuid, "message": {"content": text}, **fields}


def test_a_prompt_beside_an_earlier_one_goes_back_before_it_speaks(observe):
    found = [type(one).__name__ for one in observe("rewound")]

    assert found == ["Said", "Said", "Said", "Said", "Rewound", "Said", "Said"]


def at(number):
    return {"turnPosition": {"promptIndex": number, "turnIndex": number}}


def test_going_back_to_the_first_prompt_is_told_by_its_number_alone(made):
    found = made(asked("u1", None, "one", **at(1)), asked("u2", "a1", "two", **at(2)), asked("u3", "a2", "other", **at(1)))

    assert [type(one).__name__ for one in found] == ["Said", "Said", "Rewound", "Said"]


def test_going_back_twice_to_the_same_place_is_seen_both_times(made):
    found = made(asked("u1", "p", "one"), asked("u2", "p", "two"), asked("u3", "p", "three"))

    assert [type(one).__name__ for one in found] == ["Said", "Rewound", "Said", "Rewound", "Said"]


def test_print_mode_numbers_nothing_so_that_nothing_repeats(made, observe):
    found = made(
        asked("u1", None, "one", **at(0)), asked("u2", "a1", "two", **at(0)), asked("u3", "a2", "x", **at("1")), asked("u4", "a3", "y")
    )

    assert "Rewound" not in [type(one).__name__ for one in [*found, *observe("resumed")]]


def test_two_prompts_at_the_beginning_of_a_file_are_no_going_back(made):
    found = made(asked("u1", None, "one"), asked("u2", None, "two"))

    assert [type(one).__name__ for one in found] == ["Said", "Said"]


def test_results_of_parallel_tools_and_notes_beside_them_are_no_going_back(made):
    result = {"type": "tool_result", "tool_use_id": "t", "content": "ok"}
    found = made(
        asked("u1", "a", "", message={"content": [result, {"type": "text", "text": "a note"}]}),
        asked("u2", "a", "", message={"content": [result, {"type": "text", "text": "a note"}]}),
        asked("u3", "a", "the person"),
    )

    assert "Rewound" not in [type(one).__name__ for one in found]


def test_a_machine_that_hangs_beside_a_prompt_goes_nowhere(made):
    found = made(asked("u1", "a", "one"), asked("u2", "a", "<task-notification>done", origin={"kind": "task-notification"}))

    assert [type(one).__name__ for one in found] == ["Said", "Said"]
