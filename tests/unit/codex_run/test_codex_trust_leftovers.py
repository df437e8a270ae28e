"""Where our hooks stood before somebody put a hook in front of them, our hash is forgotten; nothing else that is noted there is touched."""

from __future__ import annotations

import pathlib

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from afl_core.spec.trust import WantedHook
from afl_providers_codex.trust_dialogue import approving, distrusting
from afl_providers_codex.trust_leftovers import Kept, kept_in, leftovers
from afl_providers_codex.trust_rows import rows_of

FILE = pathlib.Path("/home/dev/.codex/hooks.json")
CWD = pathlib.Path("/home/dev/project")
OURS = "fbmem-hook Stop"
WANTED = (WantedHook("Stop", OURS, FILE),)


def rows(row_of, names):
    return [
        row_of("Stop", command=OURS if name == "ours" else f"run {name}", key=f"{FILE}:stop:{group}:0", currentHash=f"sha256:{name}")
        for group, name in enumerate(names)
    ]


def hashes(it):
    return {key: held["trusted_hash"] for key, held in it.state.items() if "trusted_hash" in held}


@pytest.mark.parametrize(("noted", "left"), [({}, None), ({"enabled": False}, {"enabled": False}), ({"enabled": True}, {"enabled": True})])
def test_the_next_install_forgets_our_hash_where_another_hook_stands_now(server, row_of, noted, left):
    it = server(rows(row_of, ["a", "ours"]), {f"{FILE}:stop:0:0": {"trusted_hash": "sha256:ours", **noted}})
    it.hold(approving(WANTED, CWD, approve=True))
    assert it.state.get(f"{FILE}:stop:0:0") == left
    assert it.state[f"{FILE}:stop:1:0"] == {"trusted_hash": "sha256:ours"}


def test_looking_forgets_nothing(server, row_of):
    it = server(rows(row_of, ["a", "ours"]), {f"{FILE}:stop:0:0": {"trusted_hash": "sha256:ours"}})
    it.hold(approving(WANTED, CWD, approve=False))
    assert hashes(it) == {f"{FILE}:stop:0:0": "sha256:ours"}


@pytest.mark.parametrize(
    "key",
    [
        f"{FILE}:session_end:0:0",
        "/home/dev/project/.codex/hooks.json:stop:0:0",
        f"{FILE}:stop:0",
        "plugin@market:hooks/hooks.json:stop:0:0",
    ],
)
def test_our_hash_in_another_file_or_of_another_event_is_nobodys_leftover(row_of, key):
    listed = {"hooks": rows(row_of, ["a", "ours"])}
    assert leftovers(Kept("", {key: {"trusted_hash": "sha256:ours"}}), listed, rows_of(listed, WANTED)) == {}


def test_a_copy_of_our_hook_that_stands_there_keeps_its_trust(row_of):
    listed = {"hooks": rows(row_of, ["ours", "ours", "a"])}
    kept = Kept("", {f"{FILE}:stop:{group}:0": {"trusted_hash": "sha256:ours"} for group in range(4)})
    assert set(leftovers(kept, listed, rows_of(listed, WANTED))) == {f"{FILE}:stop:2:0", f"{FILE}:stop:3:0"}


@pytest.mark.parametrize(
    "layers", [None, 7, [], [7, {}], [{"name": {"type": "user"}, "config": {"hooks": []}}], [{"name": {"type": "system"}}]]
)
def test_a_host_that_does_not_tell_what_is_noted_has_no_leftovers(row_of, layers):
    kept = kept_in({"result": {"layers": layers}})
    assert kept.state == {}
    listed = {"hooks": rows(row_of, ["ours"])}
    assert leftovers(kept, listed, rows_of(listed, WANTED)) == {}


LISTS = st.lists(st.sampled_from("abc"), max_size=3, unique=True)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])  # both fixtures only name things
@given(before=LISTS, behind=LISTS, again=LISTS, trusted=st.sets(st.sampled_from("abc")))
def test_wherever_our_hook_is_moved_our_hash_stands_only_where_it_is_and_nowhere_in_the_end(server, row_of, before, behind, again, trusted):
    it = server(rows(row_of, [*before, "ours", *[name for name in behind if name not in before]]))
    it.state = {row["key"]: {"trusted_hash": row["currentHash"]} for row in it.rows if row["command"].removeprefix("run ") in trusted}
    for names in ([*before, "ours"], [*again, "ours"], ["ours", *again]):
        theirs = {key: held for key, held in hashes(it).items() if held != "sha256:ours"}
        it.rows = rows(row_of, names)
        it.hold(approving(WANTED, CWD, approve=True))
        mine = f"{FILE}:stop:{names.index('ours')}:0"
        assert [key for key, held in hashes(it).items() if held == "sha256:ours"] == [mine]
        assert {key: held for key, held in hashes(it).items() if key != mine} == {key: held for key, held in theirs.items() if key != mine}
    it.hold(distrusting(WANTED, CWD))
    assert "sha256:ours" not in hashes(it).values()


def test_uninstall_forgets_our_hash_where_another_hook_stands_though_ours_is_not_trusted(server, row_of):
    it = server(rows(row_of, ["a", "ours"]), {f"{FILE}:stop:0:0": {"trusted_hash": "sha256:ours"}})
    assert it.hold(distrusting(WANTED, CWD)).changed
    assert it.state == {}
