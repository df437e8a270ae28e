"""What the daemon takes from the front's file, and what of the environment counts."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from afl_core.settings.schema import Settings
from afl_core.setup import render
from afl_core.spec.host import HookEvent, HostManifest
from afl_core.spec.transcripts import TranscriptRoot
from afl_core.worker.rhythm import Rhythm, Root, Score, parse

MANIFEST = HostManifest("fake", "Fake", (HookEvent("Ask", "prompt", 5),), {}, {}, "{}", None, None)


def rendered(**settings):
    roots = {"fake": [TranscriptRoot(Path("/h/.fake"), "*/*.jsonl")], "other": [TranscriptRoot(Path("/o"), "*")]}
    return render.front_file([MANIFEST], Settings(**settings), None, roots=roots).decode()


def test_what_install_renders_is_what_the_daemon_reads():
    found = parse(rendered(reconcile_interval=90, reconcile_kill_grace_ms=500, reviewer_timeout_ms=7_000), {})
    assert found == Rhythm(90, 500, 7_000, (Root("/h/.fake", "*/*.jsonl"),))
    assert parse(rendered(), {}) == Rhythm(roots=(Root("/h/.fake", "*/*.jsonl"),))


@pytest.mark.parametrize(("said", "interval"), [("30", 30), (" 45 ", 45), ("29", 60), ("", 60), ("soon", 60), ("-5", 60), ("١٢٠", 60)])
def test_the_environment_counts_where_it_says_a_number_that_is_allowed(said, interval):
    assert parse(rendered(), {"AGENT_FEEDBACK_LOOP_RECONCILE_INTERVAL": said}).interval == interval


def test_a_file_that_is_changed_is_read_again_and_one_that_is_broken_leaves_what_was_known(tmp_path):
    path = tmp_path / "front.json"
    score = Score(str(path), {})
    assert (score.current(), bool(score.fault)) == (Rhythm(), True)
    path.write_text(rendered(reconcile_interval=90))
    assert (score.current().interval, score.fault) == (90, "")
    path.write_text("[1")
    assert (score.current().interval, bool(score.fault)) == (90, True)
    path.write_text(json.dumps({"hosts": {"x": {"roots": [{"folder": "/x"}]}}}))
    assert (score.current().interval, bool(score.fault)) == (90, True)
    path.write_text(json.dumps({"hosts": {}, "schedule": {"interval": 1}}))
    assert (score.current().interval, score.fault) == (30, "")
