"""Our hooks go in and out of settings that hold comments; the documents here are small and every byte is expected."""

from __future__ import annotations

import json

import pytest

from afl_core.model.errors import SetupError
from afl_core.setup.edit_json_comments import blanked, texts_of
from afl_core.setup.edit_json_scan import JsonSyntaxError, scan
from afl_core.setup.edits import plan_edit
from afl_core.setup.json_splice import HookEntry, ensure_hook_entries, only_ours_changed, remove_hook_entries

STOP = HookEntry("AfterAgent", None, "/opt/afl/hook", 5000)


def ours(handler):
    return str(handler.get("command", "")).startswith("/opt/afl/hook")


def put(document, *entries):
    return ensure_hook_entries(document, entries or (STOP,), ours, comments=True)


def take(document):
    return remove_hook_entries(document, ours, comments=True)


COMMENTED = b"""// my settings, // twice
{
  "ui": { "theme": "dark" }, /* a theme */
  "model": "pro" // "hooks": {}
  // "later": 1
}
// the end
"""

WITH_STOP = b"""// my settings, // twice
{
  "ui": { "theme": "dark" }, /* a theme */
  "model": "pro", // "hooks": {}
  "hooks": {
    "AfterAgent": [
      {
        "hooks": [
          {
            "type": "command",
            "command": "/opt/afl/hook",
            "timeout": 5000
          }
        ]
      }
    ]
  }
  // "later": 1
}
// the end
"""


def test_a_comment_behind_a_neighbour_stays_on_its_line_and_our_entry_comes_below():
    assert put(COMMENTED) == WITH_STOP
    assert take(WITH_STOP) == COMMENTED


def test_tabs_and_line_ends_of_another_system_are_taken_up_beside_comments():
    before = b'{\r\n\t// mine\r\n\t"a": 1 // one\r\n}\r\n'
    after = put(before)
    assert after.startswith(b'{\r\n\t// mine\r\n\t"a": 1, // one\r\n\t"hooks": {\r\n\t\t"AfterAgent": [\r\n\t\t\t{')
    assert b"\n" not in after.replace(b"\r\n", b"")
    assert take(after) == before


@pytest.mark.parametrize(
    "before",
    [
        b"{ // nothing yet\n}",
        b"{\n  /* nothing\n     yet */\n}\n",
        b"{/* one */}",
        b'{"a": 1 /* one */}',
        b'{"hooks": {/* none */}}',
        b'{"hooks": {"AfterAgent": [ // none\n ]}}',
        b'{"hooks": {"AfterAgent": [{"hooks": [{"command": "theirs"} /* first */]} // theirs\n ] /* list */ } /* all */ }',
        b'/* top */{"hooks": {"AfterAgent": []}} // end',
        b'{"a": 1 // trailing blanks   \n   }',
    ],
)
def test_comments_in_and_around_empty_and_full_places_come_back_byte_by_byte(before):
    after = put(before)
    only_ours_changed(ours, comments=True)(before, after)
    assert STOP.handler() in [handler for group in json.loads(blanked(after))["hooks"]["AfterAgent"] for handler in group["hooks"]]
    assert take(after) == before


def test_a_comment_somebody_wrote_into_our_entry_is_not_lost():
    inside = put(b"{\n}").replace(b'"type"', b'// why is this here?\n            "type"')
    changed = put(inside, HookEntry("AfterAgent", None, "/opt/afl/hook new", 5000))
    for document in (changed, take(inside), take(changed)):
        assert texts_of(document) == (b"// why is this here?",)
        scan(document, comments=True)
    assert b"/opt/afl" not in take(changed)


def test_a_comment_of_theirs_between_our_entry_and_theirs_stays():
    document = b'{"hooks": {"AfterAgent": [{"hooks": [{"command": "/opt/afl/hook old"}]}, // theirs\n {"hooks": [{"command": "theirs"}]}]}}'
    assert texts_of(take(document)) == (b"// theirs",)
    assert json.loads(blanked(take(document))) == {"hooks": {"AfterAgent": [{"hooks": [{"command": "theirs"}]}]}}


@pytest.mark.parametrize(
    ("document", "line", "column", "reason"),
    [
        (b'{\n  "a": 1, // one\n}', 2, 9, "comma after the last element"),
        (b'{"a": [1, /* two */ ]}', 1, 9, "comma after the last element"),
        (b'\xef\xbb\xbf{"a": 1}', 1, 1, "byte order mark"),
        (b"\xef\xbb\xbf", 1, 1, "byte order mark"),
        (b'{"a": 1 // one', 1, 15, "comma or }"),
        (b'{"a": {"b": ', 1, 13, "ends where a value"),
        (b'{"a": 1}\n/* and so on', 2, 1, "comment without an end"),
        (b'{\n  # mine\n  "a": 1}', 2, 3, "// or /*"),
        (b"// nothing but words\n", 2, 1, "ends where a value"),
        (b'{"a": 1 / 2}', 1, 9, "comma or }"),
    ],
)
def test_what_the_host_refuses_is_refused_with_file_line_column_and_next_step(tmp_path, document, line, column, reason):
    with pytest.raises(JsonSyntaxError) as found:
        put(document)
    assert (found.value.line, found.value.column) == (line, column)
    assert reason in found.value.reason

    (tmp_path / "settings.json").write_bytes(document)
    with pytest.raises(SetupError) as refused:
        plan_edit(tmp_path / "settings.json", put, only_ours_changed(ours, comments=True))
    assert refused.value.code == "AFL-SETUP-010"
    assert str(tmp_path / "settings.json") in refused.value.sentence
    assert f"line {line}, column {column}" in refused.value.sentence
    assert "correct the file by hand" in refused.value.hint
    assert (tmp_path / "settings.json").read_bytes() == document


def test_a_host_without_comments_still_refuses_them():
    with pytest.raises(JsonSyntaxError, match="a comment is not JSON"):
        ensure_hook_entries(COMMENTED, (STOP,), ours)


def test_an_edit_that_lost_a_comment_would_not_be_made():
    with pytest.raises(SetupError) as refused:
        only_ours_changed(ours, comments=True)(COMMENTED, WITH_STOP.replace(b"// the end", b""))
    assert refused.value.code == "AFL-SETUP-012"
