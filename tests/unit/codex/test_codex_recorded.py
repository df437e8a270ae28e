"""The recordings are read by name, and a rollout is put where the host would keep it."""

from __future__ import annotations

import json

import pytest

from afl_core.testing.failure import KitError
from afl_core.testing.recorded_codex import OLDER, RecordedCodex, place_rollout


def test_a_name_that_does_not_exist_is_told_with_those_that_do():
    with pytest.raises(KitError, match="no rollouts recording of codex is called") as caught:
        RecordedCodex.rollout("nothing")
    assert "plain.jsonl" in caught.value.hint


def test_every_recording_can_be_read():
    for release in ("", OLDER):
        assert all(RecordedCodex.hook(name, release)["hook_event_name"] for name in RecordedCodex.names("hooks", release))
        assert all(RecordedCodex.rollout(name, release) for name in RecordedCodex.names("rollouts", release))
    assert RecordedCodex.hook_context("Stop")["own_session"] is True
    assert b"hooks.state" in RecordedCodex.config("config.after_trust.toml")


def test_a_rollout_is_placed_by_its_day_and_session_and_is_about_the_given_project(tmp_path):
    path = place_rollout("plain", tmp_path / ".codex", tmp_path / 'my "project"')
    payload = json.loads(path.read_bytes().split(b"\n", 1)[0])["payload"]

    assert path.parent == tmp_path / ".codex/sessions/2026/11/30"
    assert path.name == f"rollout-2026-11-30T07-11-56-{payload['id']}.jsonl"
    assert payload["cwd"] == str(tmp_path / 'my "project"')
