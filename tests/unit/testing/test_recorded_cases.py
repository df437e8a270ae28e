"""The recordings, and playing them again."""

from __future__ import annotations

import json

import pytest

from afl_core.testing.failure import KitError
from afl_core.testing.recorded import Recorded, install, project_slug, replay

SEQUENCES = Recorded.names("sequences")


@pytest.fixture
def place(tmp_path):
    project = tmp_path / "my project"
    project.mkdir()
    return tmp_path / "home", project


def test_every_recording_can_be_read():
    assert {"interrupted_text", "forked.fork", "subagent_bg.subagent"} <= set(Recorded.names("transcripts"))
    for name in Recorded.names("transcripts"):
        assert all(json.loads(line)["type"] for line in Recorded.transcript(name).splitlines())
    for name in Recorded.names("hooks"):
        assert Recorded.hook(name)["hook_event_name"] == name.split(".")[0]
    for name in SEQUENCES:
        assert {"t", "transcript_lines", "stdin"} == set(Recorded.sequence(name)[0])
    assert Recorded.reviewer("ok")["stdout"]["structured_output"]
    assert all(Recorded.requests(name)[0]["messages"] for name in Recorded.names("requests"))
    assert Recorded.hook_context("Stop")["env"]["CLAUDECODE"] == "1"


def test_a_name_that_does_not_exist_is_refused_with_those_that_do():
    with pytest.raises(KitError, match="'turtles'") as refused:
        Recorded.transcript("turtles")
    assert "interrupted_text" in refused.value.hint
    with pytest.raises(KitError):
        Recorded.hook_context("turtles")


@pytest.mark.parametrize("name", SEQUENCES)
def test_a_replay_gives_the_hooks_in_order_with_as_many_lines_on_disk_as_then(name, place):
    moments = []
    for moment in replay(name, *place):
        on_disk = moment.transcript.read_bytes().count(b"\n") if moment.transcript.exists() else 0
        moments.append((moment.event, on_disk))
        assert moment.lines == on_disk
        assert moment.payload["transcript_path"] == str(moment.transcript)
    assert moments == [(step["stdin"]["hook_event_name"], step["transcript_lines"]) for step in Recorded.sequence(name)]


@pytest.mark.parametrize("name", SEQUENCES)
def test_a_replay_only_appends_and_ends_with_the_whole_transcript(name, place):
    seen = {}
    for moment in replay(name, *place):
        for path in [moment.transcript] if moment.transcript.exists() else []:
            assert path.read_bytes().startswith(seen.get(path, b""))
            seen[path] = path.read_bytes()
    wholes = [part for part in Recorded.names("transcripts") if part.split(".")[0] == name]
    written = sorted(path.read_bytes().count(b"\n") for path in place[0].rglob("*.jsonl"))
    assert written == sorted(Recorded.transcript(part).count(b"\n") for part in wholes)


def test_the_recorded_home_and_project_are_replaced_everywhere_and_the_folder_follows_the_project(place):
    home, project = place
    moments = list(replay("tools", home, project))
    text = moments[0].transcript.read_text(encoding="utf-8") + json.dumps([moment.payload for moment in moments])
    assert "/home/dev" not in text
    assert "-home-dev-project" not in text
    assert moments[0].transcript.parent == home / ".claude" / "projects" / project_slug(project)
    assert {record.get("cwd") for record in map(json.loads, moments[0].transcript.read_bytes().splitlines())} <= {str(project), None}


def test_a_project_path_that_json_must_escape_or_that_holds_the_recorded_one_is_kept_whole(tmp_path):
    project = tmp_path / 'home/dev/project "quoted"'
    project.mkdir(parents=True)
    [first, *_] = replay("interrupted_text", tmp_path / "home", project)
    assert first.payload["cwd"] == str(project)


def test_a_session_that_was_cleared_goes_on_in_a_second_file(place):
    files = [moment.transcript for moment in replay("commands", *place)]
    assert len(set(files)) == 2


def test_a_subagents_transcript_is_there_when_its_stop_names_it(place):
    for moment in replay("subagent_bg", *place):
        if moment.event == "SubagentStop":
            agent = moment.payload["agent_transcript_path"]
            with open(agent, encoding="utf-8") as transcript:
                assert json.loads(transcript.readline())["agentId"] == moment.payload["agent_id"]
            break
    else:
        raise AssertionError("no SubagentStop")


def test_a_case_without_a_sequence_can_be_put_in_place_whole(place):
    path = install("resumed", *place)
    assert path.read_bytes().count(b"\n") == Recorded.transcript("resumed").count(b"\n")
    assert path.stem == json.loads(path.read_bytes().splitlines()[0])["sessionId"]
    with pytest.raises(KitError):
        next(replay("resumed", *place))
