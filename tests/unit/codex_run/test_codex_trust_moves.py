"""Taking our hooks out moves those behind them: whatever the file holds, the hooks of others keep their trust and what a person switched off."""

from __future__ import annotations

import json
import pathlib

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from afl_core.setup.json_splice import remove_hook_entries
from afl_core.spec.trust import TrustState, WantedHook
from afl_providers_codex.trust_dialogue import approving, distrusting
from afl_providers_codex.trust_moves import moves

FILE = pathlib.Path("/home/dev/.codex/hooks.json")
CWD = pathlib.Path("/home/dev/project")
WANTED = (WantedHook("Stop", "fbmem-hook Stop", FILE),)
GROUPS = st.lists(st.lists(st.sampled_from(["ours", *"abcdef"]), max_size=3, unique=True), max_size=5).filter(
    lambda groups: sum("ours" in group for group in groups) == 1
)


def rows(row_of, groups):
    return [
        row_of("Stop", command=command_of(name), key=f"{FILE}:stop:{group}:{at}", currentHash=f"sha256:{name}")
        for group, names in enumerate(groups)
        for at, name in enumerate(names)
    ]


def command_of(name):
    return WANTED[0].command if name == "ours" else f"run {name}"


def written(groups):
    hooks = [{"hooks": [{"type": "command", "command": command_of(name)} for name in names]} for names in groups]
    return json.dumps({"hooks": {"Stop": hooks}}).encode()


def taken_out(groups):
    """The groups that the file holds afterwards, by the code that edits it."""
    document = json.loads(remove_hook_entries(written(groups), lambda handler: handler["command"] == WANTED[0].command) or b"{}")
    held = document.get("hooks", {}).get("Stop", [])
    return [[handler["command"].removeprefix("run ") for handler in group["hooks"]] for group in held]


def running(listed):
    return sorted((row["command"], row["trustStatus"] == "trusted", row["enabled"]) for row in listed["data"][0]["hooks"])


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])  # both fixtures only name things
@given(groups=GROUPS, trusted=st.sets(st.sampled_from("abcdef")), off=st.sets(st.sampled_from("abcdef")), ours_off=st.booleans())
def test_the_hooks_of_others_run_as_before_when_ours_are_gone(server, row_of, groups, trusted, off, ours_off):
    it = server(rows(row_of, groups))
    for row in it.rows:
        name = row["command"].removeprefix("run ")
        noted = {"trusted_hash": row["currentHash"]} if name in trusted else {}
        noted |= {"enabled": False} if name in off or (name not in "abcdef" and ours_off) else {}
        if noted:
            it.state[row["key"]] = noted
    it.hold(approving(WANTED, CWD, approve=True))
    before = [one for one in running(it.listed()) if one[0] != WANTED[0].command]
    it.hold(distrusting(WANTED, CWD))
    it.rows = rows(row_of, taken_out(groups))
    assert running(it.listed()) == before
    assert not any(held.get("trusted_hash") == "sha256:ours" for held in it.state.values())


def test_a_hook_in_another_file_or_of_another_event_is_not_moved(row_of):
    listed = {
        "hooks": [
            row_of("Stop", key=f"{FILE}:stop:0:0"),
            row_of("Stop", command="run a", key="/etc/hooks.json:stop:1:0", sourcePath="/etc/hooks.json"),
            row_of("Stop", command="run b", key=f"{FILE}:stop:1:0", source="project"),
            row_of("SessionEnd", command="run c", key=f"{FILE}:session_end:1:0"),
            row_of("Stop", command="run d", key="no place"),
            row_of("Stop", command="run e", key=None),
            "nonsense",
        ]
    }
    assert moves(listed, FILE, {f"{FILE}:stop:0:0"}) == {}
    assert moves({}, FILE, ()) == {}


@pytest.mark.parametrize(("enabled", "noted"), [(True, {}), (False, {"enabled": False})])
def test_the_trust_of_a_copy_of_our_hook_goes_as_the_copy_goes(row_of, enabled, noted):
    hook = "/home/dev/.agent/feedback-loop/hook/hook.py"
    command = f"test -r '{hook}' && '/usr/bin/python3' -I -S '{hook}' codex Stop 2>/dev/null || :"
    copy = {"command": command, "trustStatus": "trusted", "enabled": enabled}
    first, second = row_of("Stop", key=f"{FILE}:stop:0:0", command=command), row_of("Stop", key=f"{FILE}:stop:1:0", **copy)
    assert moves({"hooks": [first, second]}, FILE, {f"{FILE}:stop:0:0"}) == {f"{FILE}:stop:1:0": noted}


@pytest.mark.parametrize("told", ["parse", "read"])
def test_a_file_that_the_host_ignores_is_named_without_what_it_quotes(server, told):
    it = server([], warnings=["another warning", 7, f"failed to {told} hooks config {FILE}: unknown field `SECRET`, at line 49 column 15"])
    report = it.hold(approving(WANTED, CWD, approve=True))
    assert report.states() == {TrustState.MISSING}
    assert report.reason == f"Codex cannot read {FILE} and runs no hook of it: unknown field …, at line 49 column 15"


def test_a_warning_about_another_file_is_no_reason(server):
    it = server([], warnings=["failed to parse hooks config /etc/hooks.json: expected value at line 1 column 1"])
    assert it.hold(approving(WANTED, CWD, approve=True)).reason == ""


def test_a_file_that_cannot_be_read_from_its_first_character_may_begin_with_a_byte_order_mark(server):
    it = server([], warnings=[f"failed to parse hooks config {FILE}: expected value at line 1 column 1"])
    report = it.hold(approving(WANTED, CWD, approve=True))
    assert report.reason.endswith("expected value at line 1 column 1 (a byte order mark may stand there)")
