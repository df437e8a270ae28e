"""Our hooks go in and out of a settings document; the documents here are small and every byte is expected."""

from __future__ import annotations

import json

import pytest

from afl_core.model.errors import SetupError
from afl_core.setup.json_splice import HookEntry, ensure_hook_entries, remove_hook_entries, semantically_equal_outside

PROMPT = HookEntry("UserPromptSubmit", None, "/opt/afl/hook prompt", 5)
STOP = HookEntry("Stop", None, "/opt/afl/hook stop", 5)
BOTH = (PROMPT, STOP)


def ours(handler):
    return str(handler.get("command", "")).startswith("/opt/afl/hook")


def ours_in(document, event):
    groups = json.loads(document.decode("utf-8-sig", "replace")).get("hooks", {}).get(event, [])
    return [handler for group in groups for handler in group["hooks"] if ours(handler)]


TWO_SPACES = b"""{
  "model": "opus",
  "hooks": {
    "Stop": [
      {
        "hooks": [
          {
            "type": "command",
            "command": "say done"
          }
        ]
      }
    ]
  }
}
"""

TWO_SPACES_WITH_STOP = b"""{
  "model": "opus",
  "hooks": {
    "Stop": [
      {
        "hooks": [
          {
            "type": "command",
            "command": "say done"
          }
        ]
      },
      {
        "hooks": [
          {
            "type": "command",
            "command": "/opt/afl/hook stop",
            "timeout": 5
          }
        ]
      }
    ]
  }
}
"""


def test_an_entry_is_appended_in_the_hand_of_the_document():
    assert ensure_hook_entries(TWO_SPACES, (STOP,), ours) == TWO_SPACES_WITH_STOP


def test_the_indentation_of_tabs_and_the_line_ends_of_another_system_are_taken_up():
    before = b'{\r\n\t"a": 1\r\n}'
    after = ensure_hook_entries(before, (STOP,), ours)
    assert after.startswith(b'{\r\n\t"a": 1,\r\n\t"hooks": {\r\n\t\t"Stop": [\r\n\t\t\t{\r\n\t\t\t\t"hooks": [')
    assert after.endswith(b"\r\n}")
    assert b"\n" not in after.replace(b"\r\n", b"")


def test_a_document_of_one_line_stays_one_line_with_its_spacing():
    assert ensure_hook_entries(b'{"a":1}', (STOP,), ours) == (
        b'{"a":1,"hooks":{"Stop":[{"hooks":[{"type":"command","command":"/opt/afl/hook stop","timeout":5}]}]}}'
    )


@pytest.mark.parametrize("nothing", [b"", b"\n", b"  \r\n "])
def test_a_document_without_content_becomes_a_new_one(nothing):
    after = ensure_hook_entries(nothing, (STOP,), ours)
    assert json.loads(after) == {"hooks": {"Stop": [{"hooks": [STOP.handler()]}]}}
    assert after.endswith((b"}\n", b"}\r\n"))


def test_a_mark_at_the_start_stays_even_when_there_is_nothing_after_it():
    after = ensure_hook_entries(b"\xef\xbb\xbf", (STOP,), ours)
    assert after.startswith(b"\xef\xbb\xbf{\n")


def test_the_matcher_and_extra_keys_are_written():
    entry = HookEntry("SessionStart", "startup|compact", "/opt/afl/hook start", 3, {"_owner": "afl", "tags": ["a"]})
    assert json.loads(ensure_hook_entries(b"{}", (entry,), ours)) == {
        "hooks": {
            "SessionStart": [
                {
                    "matcher": "startup|compact",
                    "hooks": [{"type": "command", "command": "/opt/afl/hook start", "timeout": 3, "_owner": "afl", "tags": ["a"]}],
                }
            ]
        }
    }


EXACT = [
    b"{}",
    b"{}\n",
    b"{ }",
    b"{\n}",
    b"{\n\n  }\n",
    b'{"a": 1}',
    b'{"hooks":{}}',
    b'{"hooks": { }}',
    b'{"hooks":{"Stop":[]}}',
    b'{"hooks":{"Stop":[ ],"UserPromptSubmit":[\n]}}',
    b'{\n  "hooks": {}\n}\n',
    b'{\n  "hooks": {\n  }\n}\n',
    b'{\n  "hooks": {\n   }\n}\n',
    b'{\n  "hooks": {"Stop": [], "UserPromptSubmit": []}\n}\n',
    b'{\n  "hooks": {"UserPromptSubmit": [], "Stop": []}\n}\n',
    b'{\r\n\t"hooks": {\r\n\t\t"Stop": []\r\n\t}\r\n}\r\n',
    b'\xef\xbb\xbf{"x": "\xff\\u00e9", "x": 1e400}',
    b'{"hooks": {"Stop": []}, "hooks": {"Stop": [], "Stop": [{"hooks": []}]}}',
    b'{\n"a":1\n}',
    b'{ "a" : 1 , "b" : [ 1 , 2 ] }',
    TWO_SPACES,
]


@pytest.mark.parametrize("document", EXACT)
def test_removing_what_was_put_in_gives_back_every_byte(document):
    after = ensure_hook_entries(document, BOTH, ours)
    assert ours_in(after, "Stop")
    assert ours_in(after, "UserPromptSubmit")
    assert semantically_equal_outside(document, after, ours)
    assert remove_hook_entries(after, ours) == document


@pytest.mark.parametrize("document", [b"", *EXACT])
def test_putting_in_twice_changes_nothing_more(document):
    once = ensure_hook_entries(document, BOTH, ours)
    assert ensure_hook_entries(once, BOTH, ours) == once


def test_a_list_the_person_left_empty_stays_and_one_we_made_goes():
    after = remove_hook_entries(ensure_hook_entries(b'{"hooks": {"Stop": []}}', BOTH, ours), ours)
    assert json.loads(after) == {"hooks": {"Stop": []}}


def test_after_the_host_rewrote_the_file_removal_leaves_nothing_of_ours():
    rewritten = json.dumps(json.loads(ensure_hook_entries(b'{"model":"x"}', BOTH, ours)), indent=2).encode()
    assert json.loads(remove_hook_entries(rewritten, ours)) == {"model": "x"}
    packed = json.dumps(json.loads(rewritten), separators=(",", ":")).encode()
    assert json.loads(remove_hook_entries(packed, ours)) == {"model": "x"}


def test_a_changed_entry_is_rewritten_where_it_stands():
    document = ensure_hook_entries(TWO_SPACES, (STOP,), ours).replace(b'"model": "opus",', b'"model": "opus",\n  "z": 1,')
    newer = HookEntry("Stop", None, "/opt/afl/hook stop --new", 7)
    assert ensure_hook_entries(document, (newer,), ours) == document.replace(b"hook stop", b"hook stop --new").replace(b": 5", b": 7")


def test_a_changed_matcher_of_a_group_that_is_only_ours_is_rewritten():
    document = ensure_hook_entries(b"{}", (HookEntry("Stop", "*", STOP.command, 5),), ours)
    after = ensure_hook_entries(document, (STOP,), ours)
    assert json.loads(after) == {"hooks": {"Stop": [STOP.group()]}}


def test_ours_in_a_group_shared_with_others_under_another_matcher_gets_a_group_of_its_own():
    shared = {"matcher": "x", "hooks": [STOP.handler(), {"type": "command", "command": "theirs"}]}
    after = ensure_hook_entries(json.dumps({"hooks": {"Stop": [shared]}}).encode(), (STOP,), ours)
    assert json.loads(after) == {"hooks": {"Stop": [{"matcher": "x", "hooks": [{"type": "command", "command": "theirs"}]}, STOP.group()]}}


def test_the_order_of_keys_and_the_spacing_of_an_equal_entry_do_not_matter():
    document = b'{"hooks":{"Stop":[{"hooks":[{"timeout":5,  "command":"\\u002fopt/afl/hook stop", "type":"command"}]}]}}'
    assert ensure_hook_entries(document, (STOP,), ours) == document


def test_true_is_not_taken_for_the_number_one():
    document = ensure_hook_entries(b"{}", (HookEntry("Stop", None, STOP.command, 1),), ours).replace(b'"timeout": 1', b'"timeout": true')
    assert b'"timeout": 1' in ensure_hook_entries(document, (HookEntry("Stop", None, STOP.command, 1),), ours)


def test_a_number_too_long_to_convert_in_somebody_elses_entry_is_no_obstacle():
    document = b'{"hooks": {"Stop": [{"hooks": [{"command": "theirs", "timeout": ' + b"9" * 5000 + b"}]}]}}"
    assert remove_hook_entries(ensure_hook_entries(document, (STOP,), ours), ours) == document


def test_of_several_entries_of_ours_for_one_event_one_is_left():
    document = json.dumps({"hooks": {"Stop": [STOP.group(), {"hooks": [{"type": "command", "command": "theirs"}]}, STOP.group()]}}).encode()
    after = ensure_hook_entries(document, (STOP,), ours)
    assert ours_in(after, "Stop") == [STOP.handler()]
    assert b"theirs" in after


def test_an_entry_hidden_by_a_later_duplicate_key_does_not_count_as_installed():
    document = b'{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "/opt/afl/hook stop", "timeout": 5}]}]}, "hooks": {"A": []}}'
    after = ensure_hook_entries(document, (STOP,), ours)
    assert ours_in(after, "Stop") == [STOP.handler()]
    assert after.count(b"/opt/afl/hook stop") == 1


def test_events_that_are_no_longer_wanted_lose_our_entry_only():
    document = ensure_hook_entries(TWO_SPACES, BOTH, ours)
    assert ensure_hook_entries(document, (PROMPT,), ours) == ensure_hook_entries(TWO_SPACES, (PROMPT,), ours)


def test_a_group_with_a_note_of_the_persons_own_is_kept_when_ours_leaves_it():
    document = b'{"hooks": {"Stop": [{"_note": "mine", "hooks": [{"type": "command", "command": "/opt/afl/hook stop"}]}]}}'
    assert remove_hook_entries(document, ours) == b'{"hooks": {"Stop": [{"_note": "mine", "hooks": []}]}}'


def test_without_a_rule_an_entry_is_ours_when_its_command_is_the_same():
    once = ensure_hook_entries(b'{"a": 1}', BOTH)
    assert ensure_hook_entries(once, BOTH) == once
    assert ours_in(once, "Stop") == [STOP.handler()]


@pytest.mark.parametrize(
    ("document", "word"),
    [(b"[]", "object"), (b'{"hooks": []}', '"hooks"'), (b'{"hooks": null}', '"hooks"'), (b'{"hooks":\n {"Stop": {}}}', '"Stop"')],
)
def test_a_document_of_another_shape_is_refused_with_its_place(document, word):
    with pytest.raises(SetupError) as caught:
        ensure_hook_entries(document, (STOP,), ours)
    assert caught.value.code == "AFL-SETUP-011"
    assert word in caught.value.sentence
    assert "line " in caught.value.sentence


@pytest.mark.parametrize(
    "document", [b"[]", b'{"hooks": []}', b'{"hooks": null}', b'{"hooks": {"Stop": {}}}', b'{"hooks": {"Stop": [1, {"hooks": 2}]}}']
)
def test_removal_leaves_shapes_the_host_ignores_alone(document):
    assert remove_hook_entries(document, ours) == document


@pytest.mark.parametrize(
    "entries",
    [
        (STOP, STOP),
        (HookEntry("Stop", None, "something else", 5),),
        (HookEntry("Stop", None, STOP.command, 5, {"timeout": 9}),),
        (HookEntry("Stop", None, "/opt/afl/hook \udc80", 5),),
    ],
)
def test_entries_that_contradict_themselves_are_refused(entries):
    with pytest.raises(SetupError) as caught:
        ensure_hook_entries(b"{}", entries, ours)
    assert caught.value.code == "AFL-SETUP-011"
