"""Where Claude Code's transcripts lie, and whose one is by its beginning."""

from __future__ import annotations

import json
import pathlib

import pytest

from afl_core.spec.host import HostPlace
from afl_core.spec.transcripts import HEAD_LIMIT_BYTES, FindsTranscripts, TranscriptIdentity
from afl_core.testing.recorded import Recorded
from afl_providers_claude.host import ClaudeHost

HOST = ClaudeHost()


def identify(head):
    return HOST.identify(pathlib.Path("/x/s.jsonl"), head, lambda _name: None)


def records(*bodies):
    return b"".join(json.dumps(body).encode() + b"\n" for body in bodies)


def test_it_finds_the_files_of_sessions_and_not_those_of_subagents_one_directory_deeper():
    place = HostPlace(pathlib.Path("/home/c"), pathlib.Path("/home/c/settings.json"), None, present=True)
    assert [(str(root.folder), root.pattern) for root in HOST.transcript_roots(place)] == [("/home/c/projects", "*/*.jsonl")]
    assert isinstance(HOST, FindsTranscripts)


@pytest.mark.parametrize("case", Recorded.names("transcripts"))
def test_every_recorded_transcript_is_its_sessions_and_a_subagents_is_a_machines(case):
    data = Recorded.transcript(case)
    found = identify(data[:HEAD_LIMIT_BYTES])
    said = [json.loads(line) for line in data.splitlines()]
    assert found.native_id in {record.get("sessionId") for record in said}
    assert found.cwd in {record.get("cwd") for record in said}
    assert found.by_person == (not case.endswith(".subagent"))


def test_a_file_that_does_not_say_yet_whose_it_is_is_asked_about_again():
    early = {"type": "mode", "sessionId": "s"}
    whole = records(early, {"type": "user", "sessionId": "s", "cwd": "/x"})
    assert identify(b"") is None
    assert identify(records(early)) is None
    assert identify(whole[:-1]) is None
    assert identify(whole) == TranscriptIdentity("s", "/x")


def test_a_first_record_longer_than_what_is_read_leaves_the_directory_unknown():
    head = records({"type": "mode", "sessionId": "s"}) + b'{"type":"user","sessionId":"s","cwd":"/x","message":"' + b"x" * HEAD_LIMIT_BYTES
    assert identify(head[:HEAD_LIMIT_BYTES]) == TranscriptIdentity("s", None)


@pytest.mark.parametrize(
    "head", [b"\n", b"no\n", b"[1]\n", b"null\n", b'{"sessionId":7,"cwd":"/x"}\n', b"\xff\xfe\n", b"[" * 60_000 + b"\n"]
)
def test_what_is_no_transcript_is_nobodys(head):
    assert identify(head) is None
