"""Rollouts are found where the host keeps them, and their first record says whose they are."""

from __future__ import annotations

import fnmatch
import json
from pathlib import Path

import pytest

from afl_core.spec.host import HostPlace
from afl_core.spec.transcripts import HEAD_LIMIT_BYTES, FindsTranscripts
from afl_core.testing.recorded_codex import OLDER, RecordedCodex, place_rollout
from afl_providers_codex.host import CodexHost

HOST = CodexHost()


def place_of(folder):
    return HostPlace(folder, folder / "hooks.json", None, present=True)


def identified(head):
    return HOST.identify(Path("x.jsonl"), head, lambda _name: None)


def meta(**payload):
    return json.dumps({"timestamp": "2026-11-30T07:11:56.475Z", "type": "session_meta", "payload": payload}).encode()


@pytest.mark.parametrize("archived", [False, True])
@pytest.mark.parametrize("ending", ["", ".zst"])
def test_rollouts_in_use_and_archived_ones_plain_and_compressed_lie_under_a_root(tmp_path, archived, ending):
    assert isinstance(HOST, FindsTranscripts)
    path = place_rollout("plain", tmp_path, tmp_path / "project", archived=archived)
    path = path.rename(path.with_name(path.name + ending))
    roots = [
        root
        for root in HOST.transcript_roots(place_of(tmp_path))
        if path.is_relative_to(root.folder)
        and len(below := path.relative_to(root.folder).parts) == len(parts := root.pattern.split("/"))
        and all(fnmatch.fnmatchcase(one, part) for one, part in zip(below, parts, strict=True))
    ]

    assert len(roots) == 1


@pytest.mark.parametrize("release", ["", OLDER])
def test_every_recorded_rollout_belongs_to_the_session_its_hooks_name(release):
    for name in RecordedCodex.names("rollouts", release):
        rollout = RecordedCodex.rollout(name, release)
        payload = json.loads(rollout.split(b"\n", 1)[0])["payload"]
        found = identified(rollout[:HEAD_LIMIT_BYTES])

        assert found.native_id == payload["id"]
        assert found.cwd == "/home/dev/project"
        assert found.by_person == (name != "subagent_child")


def test_a_segment_belongs_to_the_session_it_goes_on(tmp_path):
    first, second = (place_rollout(f"reverted_turn.segment{number}", tmp_path, tmp_path / "my project") for number in (0, 1))

    assert first != second
    one, other = identified(first.read_bytes()), identified(second.read_bytes())
    assert (one.native_id, one.cwd) == (other.native_id, other.cwd)
    assert one.cwd == str(tmp_path / "my project")
    assert one.started_ms < other.started_ms
    assert one.earlier is None
    assert fnmatch.fnmatchcase(first.name, other.earlier)


def test_files_of_a_session_are_ordered_by_the_time_that_is_the_same_everywhere():
    east = meta(id="s-1", timestamp="2026-01-05T22:30:00.000+09:00")
    west = meta(id="s-1", timestamp="2026-01-05T08:00:00.000-08:00", history_base={"thread_id": "s-1"})
    assert identified(east).started_ms < identified(west).started_ms


def test_a_fork_has_no_earlier_files_of_its_own():
    fork = meta(id="s-2", forked_from_id="s-1", history_base={"thread_id": "s-1"})
    assert identified(fork).earlier is None


def test_a_first_record_longer_than_the_head_is_known_by_its_beginning():
    head = meta(id="s-1", cwd='/home/de"v/ü', source="cli", thread_source="user", base_instructions={"text": "x" * 100_000})
    found = identified(head[:HEAD_LIMIT_BYTES])

    assert (found.native_id, found.cwd, found.by_person) == ("s-1", '/home/de"v/ü', True)


@pytest.mark.parametrize(
    ("payload", "by_person"),
    [
        ({"source": "exec", "thread_source": "user"}, True),
        ({"source": "vscode"}, True),
        ({"source": {"custom": "my-editor"}}, True),
        ({"source": {"subagent": "review"}}, False),
        ({"source": {"subagent": {"thread_spawn": {"agent_nickname": "Feynman"}}}}, False),
        ({"source": "cli", "thread_source": "memory_consolidation"}, False),
        ({"source": "cli", "parent_thread_id": "p"}, False),
        ({"source": "cli", "parent_thread_id": None}, True),
    ],
)
def test_a_subagents_session_and_a_job_of_the_hosts_are_no_persons(payload, by_person):
    assert identified(meta(id="s-1", **payload)).by_person is by_person


@pytest.mark.parametrize(
    "head",
    [b"", b"\n", b"{}", b"\x28\xb5\x2f\xfd", meta(), meta(id=7), b'{"type":"event_msg","payload":{"id":"s-1"}}', b'{"type":"session_meta"'],
)
def test_what_is_not_or_not_yet_a_rollout_is_nobodys(head):
    assert identified(head) is None
