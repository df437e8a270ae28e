"""The dialogue about trust: exactly our rows, only the hash, never what the person switched off, and one more try after a conflict."""

from __future__ import annotations

import json
import pathlib

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from afl_core.spec.trust import TrustState, WantedHook
from afl_providers_codex.trust_dialogue import approving, distrusting

FILE = pathlib.Path("/home/dev/.codex/hooks.json")
CWD = pathlib.Path("/home/dev/project")
WANTED = tuple(WantedHook(event, f"fbmem-hook {event}", FILE) for event in ("UserPromptSubmit", "Stop"))


def states(report):
    return {finding.event: finding.state.value for finding in report.findings}


def answers_of(lines):
    return [line["msg"] for line in lines if line["dir"] == "recv" and "id" in line["msg"]]


def replay(talk, answers):
    """Play recorded answers to a dialogue, each to the request it is for; gives the report and what was asked."""
    asked, answer = [], None
    while True:
        try:
            ask = talk.send(answer)
        except StopIteration as end:
            return end.value, asked
        asked.append(ask.message)
        answer = None
        if ask.answer_id is not None:
            answer = {"error": {"code": -32601}} if ask.message["method"] == "config/read" else answers.pop(0)


def test_the_recorded_server_is_talked_into_trust_with_the_recorded_edit(recorded):
    lines = recorded("rpc/trust_flow.jsonl")
    report, asked = replay(approving(WANTED, CWD, approve=True), answers_of(lines))
    assert (states(report), report.changed, report.reason) == ({"UserPromptSubmit": "trusted", "Stop": "trusted"}, True, "")
    [written] = [message for message in asked if message["method"] == "config/batchWrite"]
    [real] = [line["msg"] for line in lines if line["dir"] == "send" and line["msg"]["method"] == "config/batchWrite"]
    assert written["params"] == real["params"]


def test_the_recorded_modified_hooks_are_modified(recorded):
    report, _ = replay(approving(WANTED, CWD, approve=False), answers_of(recorded("rpc/hooks_list_modified.jsonl")))
    assert states(report) == {"UserPromptSubmit": "modified", "Stop": "modified"}


def test_the_recorded_broken_configuration_is_a_reason_with_its_place(recorded):
    broken = answers_of(recorded("rpc/trust_errors.jsonl"))[-3:]
    report, asked = replay(approving(WANTED, CWD, approve=True), [answer for answer in broken if "result" in answer])
    assert set(states(report).values()) == {"unavailable"}
    assert report.reason == "Codex cannot read its configuration: /home/dev/.codex/config.toml:18:9"
    assert [message["method"] for message in asked] == ["initialize", "initialized", "hooks/list"]


def test_looking_never_writes(server, row_of):
    it = server([row_of("UserPromptSubmit"), row_of("Stop")])
    report = it.hold(approving(WANTED, CWD, approve=False))
    assert states(report) == {"UserPromptSubmit": "untrusted", "Stop": "untrusted"}
    assert it.methods() == ["initialize", "hooks/list"]


def test_what_is_trusted_already_is_not_written_again(server, row_of):
    it = server([row_of("UserPromptSubmit"), row_of("Stop")])
    assert it.hold(approving(WANTED, CWD, approve=True)).changed
    before = dict(it.state)
    it.asked.clear()
    assert not it.hold(approving(WANTED, CWD, approve=True)).changed
    assert it.state == before
    assert "config/batchWrite" not in it.methods()


def test_a_conflict_is_tried_once_more_after_a_new_look(server, row_of):
    it = server([row_of("UserPromptSubmit"), row_of("Stop")], conflicts=1)
    report = it.hold(approving(WANTED, CWD, approve=True))
    assert (report.changed, report.reason) == (True, "")
    assert it.methods().count("config/batchWrite") == 2
    assert it.methods().count("hooks/list") == 3


def test_a_second_conflict_is_told(server, row_of):
    it = server([row_of("UserPromptSubmit"), row_of("Stop")], conflicts=2)
    report = it.hold(approving(WANTED, CWD, approve=True))
    assert (report.changed, states(report)["Stop"]) == (False, "untrusted")
    assert "configVersionConflict" in report.reason


@pytest.mark.parametrize(
    "other",
    [
        {"command": "fbmem-hook Stop "},
        {"eventName": "sessionEnd"},
        {"handlerType": "mcp_tool"},
        {"source": "project"},
        {"sourcePath": "/home/dev/project/.codex/hooks.json"},
        {"sourcePath": None},
    ],
)
def test_a_row_that_differs_in_anything_is_not_ours(server, row_of, other):
    it = server([row_of("UserPromptSubmit"), row_of("Stop", **other)])
    report = it.hold(approving(WANTED, CWD, approve=True))
    assert states(report) == {"UserPromptSubmit": "trusted", "Stop": "missing"}
    assert set(it.state) == {row_of("UserPromptSubmit")["key"]}


def test_a_directory_that_is_not_listed_is_nothing_known(server, row_of):
    report = server([row_of("Stop")]).hold(approving(WANTED, pathlib.Path("/another"), approve=True))
    assert report.states() == {TrustState.UNAVAILABLE}
    assert "/another" in report.reason


def test_a_managed_hook_runs_and_is_left_alone(server, row_of):
    it = server([row_of("UserPromptSubmit", isManaged=True), row_of("Stop", isManaged=True)])
    assert set(states(it.hold(approving(WANTED, CWD, approve=True))).values()) == {"trusted"}
    it.hold(distrusting(WANTED, CWD))
    assert "config/batchWrite" not in it.methods()


def test_a_refusal_tells_the_code_and_not_what_it_quotes(server, row_of):
    it = server([row_of("Stop")])
    it.answer = lambda _message: {"error": {"code": -32603, "message": "failed: `token = SECRET`\nSECRET"}}
    report = it.hold(approving(WANTED, CWD, approve=True))
    assert report.states() == {TrustState.UNAVAILABLE}
    assert "initialize" in report.reason
    assert "SECRET" not in report.reason


def test_an_answer_that_says_nothing_at_all_is_told_without_an_empty_code(server):
    it = server([])
    it.answer = lambda _message: {}
    assert it.hold(approving(WANTED, CWD, approve=True)).reason == "Codex refused initialize: it said nothing more"


KEYS = st.sampled_from(["/a/hooks.json:stop:0:0", '/b "c"\\d.json:stop:1:0', f"{FILE}:stop:0:0", f"{FILE}:userpromptsubmit:0:0"])
ENTRIES = st.dictionaries(
    KEYS, st.fixed_dictionaries({}, optional={"trusted_hash": st.sampled_from(["sha256:Stop", "sha256:old"]), "enabled": st.booleans()})
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])  # both fixtures only name things
@given(state=ENTRIES, conflicts=st.integers(0, 1))
def test_whatever_is_noted_already_only_our_hashes_change_and_go_again(server, row_of, state, conflicts):
    it = server([row_of("UserPromptSubmit"), row_of("Stop")], state, conflicts)
    ours = {one["key"]: one["currentHash"] for one in it.rows}
    it.hold(approving(WANTED, CWD, approve=True))
    for key, before in state.items():
        if key not in ours or before.get("enabled") is False:
            assert it.state[key] == before
        assert it.state[key].get("enabled") == before.get("enabled")
    for key, digest in ours.items():
        if state.get(key, {}).get("enabled") is not False:
            assert it.state[key]["trusted_hash"] == digest
    it.hold(distrusting(WANTED, CWD))
    assert not [key for key in ours if "trusted_hash" in it.state.get(key, {})]
    assert {key: held for key, held in it.state.items() if key not in ours} == {key: held for key, held in state.items() if key not in ours}
    json.dumps(it.asked)
