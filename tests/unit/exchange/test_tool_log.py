"""Tool logs of other programs: every documented shape becomes a tool grain, a bad row is named and stops nobody, and twice is as once."""

from __future__ import annotations

import json

import pytest
from exchange_world import NOW, opened

from afl_core.exchange import rows, tool_log
from afl_core.exchange.errors import ExchangeError
from afl_core.exchange.times import time_of
from afl_core.model.errors import ModelError, RedactionError


@pytest.fixture
def memory(tmp_path):
    with opened(tmp_path / "a.afl") as one:
        yield one


@pytest.fixture
def log(tmp_path):
    path = tmp_path / "calls.jsonl"

    def write(*given, encoding="utf-8", end="\n"):
        path.write_bytes("".join(f"{one if isinstance(one, str) else json.dumps(one)}{end}" for one in given).encode(encoding))
        return path

    return write


def calls(memory, **narrowed):
    """What is stored of each call, in the order it came."""
    names = ("tool_name", "tool_content", "is_error", "input", "session_id", "tool_call_id", "created_at")
    found = [
        json.loads(row[0]) for row in memory._files.reader().execute("SELECT fields_json FROM grains WHERE type = 'tool' ORDER BY seq")
    ]
    return [{name: one[name] for name in names if name in one} for one in found]


@pytest.mark.parametrize(
    "row",
    [
        {"tool_name": "bash", "content": "done", "input": {"cmd": "ls"}, "tool_call_id": "c1", "session_id": "s"},
        {"name": "bash", "output": "done", "arguments": '{"cmd": "ls"}', "call_id": "c1", "thread_id": "s"},
        {"function": {"name": "bash", "arguments": '{"cmd":"ls"}'}, "result": "done", "id": "c1", "thread": "s"},
        {
            "role": "tool",
            "name": "bash",
            "content": [{"type": "text", "text": "done"}],
            "input": {"cmd": "ls"},
            "tool_call_id": "c1",
            "thread": "s",
        },
    ],
)
def test_every_shape_of_a_call_becomes_the_same_grain(memory, log, row):
    report = memory.import_(log(row | {"created_at": NOW}))
    assert (report.format, report.added, report.skipped_rows) == ("tool-log", 1, 0)
    assert calls(memory) == [
        {
            "tool_name": "bash",
            "tool_content": "done",
            "is_error": False,
            "input": {"cmd": "ls"},
            "session_id": "s",
            "tool_call_id": "c1",
            "created_at": NOW,
        }
    ]


@pytest.mark.parametrize(
    ("row", "failed", "text"),
    [
        ({"is_error": True, "content": "boom"}, True, "boom"),
        ({"is_error": "true", "content": "boom"}, True, "boom"),
        ({"is_error": 0, "content": "fine"}, False, "fine"),
        ({"error": "boom"}, True, "boom"),
        ({"error": {"code": 7}}, True, '{"code":7}'),
        ({"error": None, "content": "fine"}, False, "fine"),
        ({"error": "boom", "content": "half"}, True, "half"),
        ({"is_error": False, "error": "a warning", "content": "fine"}, False, "fine"),
    ],
)
def test_a_call_failed_when_it_says_so_or_holds_an_error(memory, log, row, failed, text):
    memory.import_(log({"tool_name": "bash", **row}))
    [call] = calls(memory)
    assert (call["is_error"], call["tool_content"]) == (failed, text)


def test_calls_of_an_assistants_message_are_joined_to_their_results(memory, log):
    report = memory.import_(
        log(
            {"role": "user", "content": "list and count"},
            {
                "role": "assistant",
                "content": None,
                "tool_calls": [
                    {"id": "a", "type": "function", "function": {"name": "ls", "arguments": '{"path": "/"}'}},
                    {"id": "b", "type": "function", "function": {"name": "wc", "arguments": "not json"}},
                    {"id": "c", "type": "function", "function": {"name": "lost", "arguments": ""}},
                ],
            },
            {"role": "tool", "tool_call_id": "b", "content": "7"},
            {"role": "tool", "tool_call_id": "a", "content": "bin etc", "timestamp": "2026-01-01T00:00:00Z"},
            {"role": "assistant", "content": "there are seven"},
        )
    )
    told = {call["tool_call_id"]: call for call in calls(memory)}
    assert told["a"]["input"] == {"path": "/"}
    assert told["a"]["tool_content"] == "bin etc"
    assert told["a"]["created_at"] == NOW
    assert told["b"]["input"] == "not json"
    assert told["b"]["tool_content"] == "7"
    assert "tool_content" not in told["c"]
    assert "is_error" not in told["c"]
    assert (report.added, report.skipped_rows) == (3, 0)


def test_a_result_without_a_name_belongs_to_the_call_before_it(memory, log):
    memory.import_(
        log(
            {"type": "function_call", "call_id": "x", "name": "grep", "arguments": '{"p": "a"}'},
            {"type": "function_call_output", "call_id": "x", "output": "found"},
        ),
    )
    [call] = calls(memory)
    assert (call["tool_name"], call["tool_content"], call["input"]) == ("grep", "found", {"p": "a"})


@pytest.mark.parametrize(
    ("value", "ms"),
    [
        (NOW, NOW),
        (str(NOW), NOW),
        (NOW // 1000, NOW),
        (NOW / 1000 + 0.25, NOW + 250),
        (NOW * 1000, NOW),
        (NOW * 1_000_000, NOW),
        ("2026-01-01T00:00:00Z", NOW),
        ("2026-01-01T01:00:00+01:00", NOW),
        ("2026-01-01 00:00:00", NOW),
        ("yesterday", None),
        (True, None),
        (-1, None),
        (float("inf"), None),
        ({}, None),
    ],
)
def test_times_are_read_in_every_usual_unit(value, ms):
    assert time_of(value) == ms


def test_a_log_taken_in_twice_changes_nothing_with_or_without_ids_and_times(memory, log):
    path = log(
        {"tool_name": "bash", "content": "one"},
        {"tool_name": "bash", "content": "one"},
        {"tool_name": "bash", "content": "two", "id": 7},
        {"tool_name": "bash", "content": "three", "id": "x", "session_id": "s"},
        {"tool_name": "bash", "content": "four", "created_at": NOW},
    )
    assert memory.import_(path).added == 5
    again = memory.import_(path)
    assert (again.added, again.already) == (0, 5)
    assert memory.stats()["grains"] == 5


def test_line_numbers_of_two_logs_are_not_taken_for_the_same_call(memory, log):
    memory.import_(log({"id": 1, "tool_name": "bash", "content": "one"}))
    assert memory.import_(log({"id": 1, "tool_name": "bash", "content": "other"})).added == 1


def test_bad_rows_are_named_and_stop_nobody(memory, log):
    report = memory.import_(
        log(
            {"tool_name": "bash", "content": "first"},
            "{not json",
            "[1, 2]",
            "",
            {"content": "whose?"},
            {"role": "tool", "tool_call_id": "never", "content": "whose?"},
            {"tool_name": "bash", "content": "when?", "timestamp": "soon"},
            {"tool_name": "bash", "content": "where?", "namespace": "afl-loop"},
            '{"tool_name": "bash", "content": NaN}',
            "[" * 100_000,
            {"tool_name": "bash", "content": "last"},
        )
    )
    assert [call["tool_content"] for call in calls(memory)] == ["first", "last"]
    assert [one.line for one in report.skipped] == [2, 3, 5, 6, 7, 8, 9, 10]
    told = {one.line: one.reason for one in report.skipped}
    assert "not JSON" in told[2]
    assert "object" in told[3]
    assert "names no tool" in told[5]
    assert "did not come before" in told[6]
    assert "soon" in told[7]
    assert "afl-loop" in told[8]


def test_a_huge_line_is_skipped_without_being_held(memory, log, monkeypatch):
    monkeypatch.setattr(rows, "MAX_ROW_BYTES", 200)
    report = memory.import_(
        log({"tool_name": "bash", "content": "x" * 10_000}, {"tool_name": "bash", "content": "small"}), format="tool-log"
    )
    assert (report.added, [one.line for one in report.skipped]) == (1, [1])
    assert "200 bytes" in report.skipped[0].reason


@pytest.mark.parametrize(("encoding", "end"), [("utf-8-sig", "\r\n"), ("cp1252", "\r\n"), ("utf-8", "\n")])
def test_files_of_windows_are_read(memory, log, encoding, end):
    memory.import_(log('{"tool_name": "bash", "content": "Größe: 5 €"}', encoding=encoding, end=end))
    assert [call["tool_content"] for call in calls(memory)] == ["Größe: 5 €"]


def test_a_file_in_utf_16_is_named_with_the_way_out(memory, log):
    with pytest.raises(ExchangeError) as bad:
        memory.import_(log({"tool_name": "bash", "content": "x"}, encoding="utf-16"))
    assert bad.value.code == "AFL-EXCHANGE-002"
    assert "iconv" in bad.value.hint


def test_what_no_grain_can_hold_is_replaced(memory, log):
    memory.import_(log('{"tool_name": "bash", "content": "a\\u0000b\\ud800c", "input": {"k\\ud800": "\\u0000"}}'))
    [call] = calls(memory)
    assert (call["tool_content"], call["input"]) == ("a\ufffdb?c", {"k?": "\ufffd"})


def test_long_results_are_cut_and_say_so(memory, log):
    memory.import_(log({"tool_name": "bash", "content": "x" * (tool_log.MAX_CONTENT + 5), "input": {"text": "y" * tool_log.MAX_CONTENT}}))
    [call] = calls(memory)
    assert call["tool_content"].endswith("[5 more characters were left out]")
    assert isinstance(call["input"], str)
    assert len(call["input"]) < tool_log.MAX_CONTENT + 60


def test_every_text_of_a_call_passes_redaction(memory, log):
    memory.import_(
        log({"tool_name": "bash", "content": "key hunter2", "input": {"cmd": ["echo hunter2"]}, "error": "hunter2"}),
        redact=lambda fields: json.loads(json.dumps(fields).replace("hunter2", "[REDACTED]")),
    )
    assert "hunter2" not in json.dumps(calls(memory))
    assert calls(memory)[0]["input"] == {"cmd": ["echo [REDACTED]"]}


def test_a_text_that_cannot_be_redacted_is_not_stored(memory, log):
    def refuse(fields):
        if "bad" in fields["tool_content"]:
            raise RedactionError("redactor failed", code="AFL-REDACT-003")
        return fields

    report = memory.import_(log({"tool_name": "a", "content": "bad"}, {"tool_name": "b", "content": "good"}), redact=refuse)
    assert (report.added, [(one.line, one.reason) for one in report.skipped]) == (1, [(1, "redactor failed")])


def test_failures_have_a_signature_by_which_alike_ones_are_counted(memory, log):
    memory.import_(log(*({"tool_name": "bash", "error": f"no such file: /tmp/{number}"} for number in range(3))))
    marks = {row[0] for row in memory._files.reader().execute("SELECT signature FROM grains")}
    assert len(marks) == 1
    assert None not in marks


def test_calls_that_wait_for_their_results_are_bounded(memory, log, monkeypatch):
    monkeypatch.setattr(tool_log, "MAX_WAITING", 3)
    report = memory.import_(log(*({"tool_name": "bash", "id": number} for number in range(10))))
    assert report.added == 10


def test_many_skipped_rows_are_counted_and_some_are_named(memory, log):
    report = memory.import_(log({"tool_name": "bash", "content": "x"}, *["{"] * 250))
    assert (report.skipped_rows, len(report.skipped)) == (250, 100)
    assert report.lines()[-1] == "  and 150 more"


def test_a_dry_run_writes_nothing(memory, log):
    assert memory.import_(log({"tool_name": "bash", "content": "x"}), dry_run=True).added == 1
    assert memory.stats()["grains"] == 0


@pytest.mark.parametrize("back", [None, "text", 5])
def test_a_redaction_that_gives_back_no_fields_lets_nothing_in(memory, log, back):
    report = memory.import_(log({"tool_name": "a", "content": "x"}), redact=lambda _fields: back)
    assert (report.added, report.skipped_rows, "no fields" in report.skipped[0].reason) == (0, 1, True)


@pytest.mark.parametrize("path", [5, None, ["a"]])
def test_what_is_no_path_is_named(memory, path):
    for call in (memory.import_, memory.export):
        with pytest.raises(ModelError) as bad:
            call(path)
        assert bad.value.code == "AFL-MODEL-010"
