"""Finding chat logs that no hook told of, in a home laid out as the host does it."""

from __future__ import annotations

import fnmatch
import json
from pathlib import Path

import pytest

from afl_core.spec.transcripts import FindsTranscripts, TranscriptIdentity
from afl_core.testing.recorded_gemini import RecordedGemini, install
from afl_providers_gemini.host import GeminiHost

HOST = GeminiHost()
PATH = Path("/h/.gemini/tmp/project/chats/session-2026-11-30T07-16-360b10f6.jsonl")


def beside(path):
    def read(name):
        found = path.parent / name
        return found.read_bytes() if found.is_file() else None

    return read


def nothing(_name):
    return None


def test_it_is_an_adapter_that_finds_transcripts():
    assert isinstance(HOST, FindsTranscripts)


def test_every_log_of_a_person_lies_where_it_says_and_is_found_again(home):
    path = install("plain", home, home / "project")
    (root,) = HOST.transcript_roots(HOST.locate(home, {}))
    below = path.relative_to(root.folder)

    assert len(below.parts) == len(root.pattern.split("/"))
    assert all(fnmatch.fnmatch(part, pattern) for part, pattern in zip(below.parts, root.pattern.split("/"), strict=True))
    assert HOST.identify(path, path.read_bytes()[:4096], beside(path)) == TranscriptIdentity(
        "360b10f6-69f4-4029-ac57-daa0bedc9e23", str(home / "project")
    )


def test_the_roots_follow_the_hosts_own_variable(tmp_path):
    place = HOST.locate(tmp_path, {"GEMINI_CLI_HOME": str(tmp_path / "other")})

    assert HOST.transcript_roots(place)[0].folder == tmp_path / "other" / ".gemini" / "tmp"


@pytest.mark.parametrize("name", RecordedGemini.names("chats"))
def test_a_recorded_log_is_its_sessions_and_a_subagents_is_nobodys(name):
    chat = RecordedGemini.chat(name)
    found = HOST.identify(PATH, chat[:65536], nothing)

    assert found == TranscriptIdentity(json.loads(chat.splitlines()[0])["sessionId"], None, by_person=name != "subagent-child")


def test_a_log_in_a_folder_of_its_parents_session_is_nobodys():
    head = RecordedGemini.chat("plain")

    assert not HOST.identify(PATH.parent / "parent" / "session-x.jsonl", head, nothing).by_person


@pytest.mark.parametrize("head", [b"", b"{", b"[]", b"\xff", b'{"projectHash":"x"}', b'{"sessionId":7}', b'{"sessionId":""}'])
def test_what_does_not_begin_as_a_log_is_none_yet(head):
    assert HOST.identify(PATH, head, nothing) is None


@pytest.mark.parametrize("content", [b"", b"relative/path", b"\xff\xfe", b"/a\n/b", None])
def test_a_project_file_that_names_no_directory_leaves_the_place_open(content):
    assert HOST.identify(PATH, b'{"sessionId":"s"}', lambda _name: content).cwd is None


def test_a_log_of_an_older_version_without_its_kind_is_a_persons():
    assert HOST.identify(PATH, b'{"sessionId":"s","startTime":"x"}', nothing).by_person
