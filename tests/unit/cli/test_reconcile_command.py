"""`afl reconcile` as people run it: how far it looks back, what it could not read, and what it says while another process reads."""

from __future__ import annotations

import json
import os
import time

import plain_host
import pytest

from afl_core.store import leases
from afl_core.store.connection import writing
from afl_core.worker.gaps import KINDS
from afl_core.worker.leasing import RECONCILE

HOUR = 3600


@pytest.fixture
def transcript(world, home):
    """A transcript of the real host that no hook told of; gives a function that says how old it is, in seconds."""
    plain_host.install(world, claude=home / "claude")
    path = home / "claude" / "projects" / "-x" / "s.jsonl"
    path.parent.mkdir(parents=True)
    body = {
        "type": "user",
        "uuid": "u1",
        "sessionId": "s",
        "cwd": "/x",
        "promptSource": "typed",
        "message": {"role": "user", "content": "hello"},
    }
    path.write_text(json.dumps(body) + "\n", "utf-8")

    def aged(seconds):
        os.utime(path, (time.time() - seconds, time.time() - seconds))
        return path

    return aged


@pytest.mark.parametrize(
    ("since", "age", "found"),
    [(None, 60, True), (None, HOUR, False), ("2h", HOUR, True), ("1800", HOUR, False), ("30d", 9 * 24 * HOUR, True)],
)
def test_it_looks_back_as_far_as_it_is_told(afl, transcript, since, age, found):
    path = transcript(age)
    arguments = [] if since is None else ["--since", since]
    planned = json.loads(afl("reconcile", "--dry-run", "--json", *arguments)[1])
    assert [one["path"] for one in planned["transcripts"]] == ([str(path)] if found else [])
    status, text = afl("reconcile", "--no-review", "--json", *arguments)
    assert (status, json.loads(text)["filesScanned"]) == (0, int(found))


@pytest.mark.parametrize("since", ["", "x", "-5m", "31d", "5 m", "1.5h", "9" * 5000 + "d", "\u0665m", "0"])
def test_a_time_span_that_is_none_is_refused(afl, transcript, since):
    transcript(60)
    status, text = afl("reconcile", "--since", since)
    assert status == 1
    assert "30 days" in text


def test_while_another_process_reads_it_says_until_when_and_ends_well(afl, transcript, world):
    transcript(60)
    now = int(time.time() * 1000)
    with writing(world.db):
        leases.take(world.db, RECONCILE, "another", now)
    status, text = afl("reconcile", "--json")
    assert (status, json.loads(text)) == (0, {"status": "skipped", "reason": "lease_held", "leaseUntil": now + leases.LEASE_MS})
    status, text = afl("reconcile")
    assert status == 0
    assert text.startswith("skipped: another process reads, until 20")


def test_what_could_not_be_read_is_named_and_is_no_failure(afl, transcript):
    path = transcript(60)
    os.symlink("/nowhere", path.with_name("link.jsonl"))
    status, text = afl("reconcile", "--no-review")
    assert status == 0
    assert f"gap: {path.with_name('link.jsonl')}: symlink (1): {KINDS['symlink']}\n" in text
    assert f"gap: {path.with_name('link.jsonl')}: symlink (1)" in afl("reconcile", "--dry-run")[1]


def test_the_json_has_every_count(afl, transcript):
    transcript(60)
    body = json.loads(afl("reconcile", "--no-review", "--json")[1])
    counts = {name: body[name] for name in body if isinstance(body[name], int)}
    assert counts == {
        "filesScanned": 1,
        "filesSkipped": 0,
        "eventsCaptured": 1,
        "duplicateEvents": 0,
        "immediateSignals": 0,
        "spoolDrained": 0,
        "reviewersLaunched": 0,
        "recoveredReviewers": 0,
        "exhaustedReviewerJobs": 0,
        "oversizedLinesSkipped": 0,
    }
