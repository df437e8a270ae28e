"""How long a jobs process lives, who may be one, and that leaving and coming back loses nothing."""

from __future__ import annotations

import json
import os
import pathlib
import signal
import subprocess
import sys


def starts(product, role: str = "jobs") -> list[int]:
    path = product.faults / f"{role}.starts"
    return [int(line) for line in path.read_text("utf-8").split()] if path.exists() else []


def test_it_leaves_when_nothing_was_to_do_and_says_when_it_is_needed_again(product):
    product.set(afl_core__worker__jobs___IDLE_MS=700, afl_core__worker__jobs___AGAIN_MS=[100])
    product.replay("interrupted_text")
    product.until_reviewed()
    product.until_calm()
    product.until(lambda: not product.pids("jobs"), "its end")
    product.until(lambda: product.health()["jobs"] is False, "the front's notice of it")
    assert json.loads(product.one("SELECT body_json FROM status WHERE name = 'jobs_next_ms'")) == {"at_ms": None}
    before = len(starts(product))
    product.begin_later()
    assert product.ask_later()
    product.answer_later()
    product.until_calm()
    assert len(starts(product)) > before


def test_a_hook_row_without_a_transcript_gets_its_event_although_no_hook_comes_any_more(product):
    product.set(afl_core__worker__jobs___IDLE_MS=300, afl_core__worker__jobs___AGAIN_MS=[100])
    prompt = {**product.common(), "hook_event_name": "UserPromptSubmit", "prompt": "only the hook saw this", "prompt_id": "t"}
    product.host.run_hooks(prompt)
    product.until(lambda: product.rows("SELECT text, completeness FROM events") == [("only the hook saw this", "hook_only")], "its event")
    assert product.rows("SELECT state, sealed IS NULL FROM intake WHERE kind = 'prompt'") == [("born", 1)]


def test_it_leaves_when_the_front_is_gone(product):
    product.replay("interrupted_text")
    product.until_reviewed()
    assert product.kill("front") == 1
    product.until(lambda: not product.pids("jobs"), "its end")
    product.check_leftovers()


def test_a_second_one_leaves_at_once_and_touches_nothing(product):
    product.replay("interrupted_text")
    product.until_reviewed()
    before = product.pids("jobs")
    second = subprocess.run(
        [sys.executable, "-I", "-m", "afl_core.worker.jobs", str(product.home)],
        env=product.environment,
        stdin=subprocess.PIPE,
        capture_output=True,
        timeout=60,
    )
    assert (second.returncode, second.stdout, second.stderr) == (0, b"", b"")
    assert product.pids("jobs") == before
    mark = pathlib.Path(product.paths.run, "plugin.mark").read_bytes()
    assert mark.strip(b"\0") == b""


def test_a_crash_is_followed_by_a_new_start(product):
    product.replay("interrupted_text")
    product.until_reviewed()
    for _ in range(3):
        [pid] = product.until(lambda: product.pids("jobs"), "a jobs process")
        product.kill("jobs")
        product.until(lambda dead=pid: product.pids("jobs") not in ([], [dead]), "the next one")
    assert product.log().count("jobs ended with status -9") >= 3
    product.check_leftovers()


def test_a_review_that_runs_when_the_front_leaves_is_finished_and_kept(product, undisturbed):
    expected = undisturbed("the correction alone", lambda one: (one.replay("interrupted_text"), one.until_calm()))
    (product.faults / "hold").touch()
    product.replay("interrupted_text")
    product.until(lambda: product.pids("child"), "the reviewer")
    jobs = product.pids("jobs")
    product.kill("front", signal.SIGTERM)
    product.until(lambda: not product.pids("front"), "the front's end")
    assert product.pids("jobs") == jobs
    (product.faults / "hold").unlink()
    product.until(lambda: not product.pids("jobs"), "its end")
    assert product.rows("SELECT status, attempt FROM reviews") == [("completed", 1)]
    product.until_calm()
    assert product.picture() == expected
    product.check_leftovers()


def test_what_is_said_while_an_elder_finishes_a_review_is_read_by_it_or_by_its_successor(product):
    (product.faults / "hold").touch()
    product.replay("interrupted_text")
    product.until(lambda: product.pids("child"), "the reviewer")
    elder = product.pids("jobs")
    product.kill("front")
    product.begin_later()
    product.until(product.health, "the next front")
    product.ask_later()
    product.answer_later()
    product.until(lambda: product.one("SELECT count(*) FROM events WHERE session_id LIKE '%0002'") == 2, "the later session's events")
    product.until(lambda: product.pids("child"), "the reviewer that still waits")  # a starved elder loses its lease, and another one begins
    (product.faults / "hold").unlink()
    product.until_reviewed()
    product.until_calm()
    product.until(lambda: not set(elder) & set(product.pids("jobs")), "the elder's end")
    product.check_leftovers()


def test_a_front_that_is_retired_by_a_new_build_hands_over_while_a_review_runs(product):
    (product.faults / "hold").touch()
    product.replay("interrupted_text")
    product.until(lambda: product.pids("child"), "the reviewer")
    [old] = product.pids("front")
    build = product.health()["build"]

    new = f"{build}x"
    product.put_stand_in(new)
    current = pathlib.Path(product.paths.current)
    product.replace(current, json.dumps({**json.loads(current.read_text("utf-8")), "build": new}))
    product.begin_later()
    product.until(lambda: old not in product.pids("front"), "the old front's end")
    assert product.ask_later() == ""
    assert product.health()["build"] == new
    (product.faults / "hold").unlink()
    product.until_reviewed()
    product.answer_later()
    product.until_calm()
    assert product.ask_later(2)
    product.answer_later(2)
    product.until_calm()
    assert product.rows("SELECT status, attempt FROM reviews") == [("completed", 1)]
    assert [row[0] for row in product.rows("SELECT state FROM deliveries")] == ["reached"]
    product.check_leftovers()


def test_without_the_keystore_transcripts_are_still_read_and_reviewed(product, undisturbed):
    expected = undisturbed("the correction and the card")
    private = [
        path
        for path in pathlib.Path(product.paths.keys).iterdir()
        if path.name not in {pathlib.Path(product.paths.public_key).name, pathlib.Path(product.paths.name_key).name}
    ]
    assert private
    for path in private:
        path.rename(product.home / path.name)
    product.replay("interrupted_text")
    product.until_reviewed()
    product.begin_later()
    assert product.ask_later()
    product.answer_later()
    product.until(lambda: product.rows("SELECT state FROM deliveries") == [("reached",)], "the proof of delivery")
    product.until(lambda: product.one("SELECT count(*) FROM events") == len(expected["events"]), "all events")
    made = product.picture()
    for name in (
        "signals",
        "queue",
        "incidents",
        "audit",
        "reviews",
        "reports",
        "receipts",
        "lessons",
        "revisions",
        "grains",
        "projection",
    ):
        assert made[name] == expected[name], name
    assert [one["text"] for one in made["events"]] == [one["text"] for one in expected["events"]]


def test_the_environment_of_another_session_of_the_same_host_is_better_than_none(product):
    product.settings(
        reviewer_args_json=json.dumps(["-I", str(pathlib.Path(__file__).with_name("scripted_reviewer.py")), str(product.home)])
    )
    product.set(afl_core__worker__jobs___ENVIRONMENT_MS=600_000)
    product.environment["AGENT_FEEDBACK_LOOP_REVIEWER_COMMAND"] = sys.executable
    (product.faults / "hold").touch()
    product.replay("interrupted_text")
    product.until(lambda: product.pids("child"), "the reviewer")
    product.kill("front")
    product.kill("jobs")
    (product.faults / "hold").unlink()
    product.begin_later()
    product.until(product.health, "the next front")
    product.until(lambda: product.rows("SELECT status FROM reviews") == [("pending",)] or not product.pids("jobs"), "the lost lease")
    product.ask_later()
    product.until_reviewed()
    assert product.one("SELECT reason FROM reviews") is None


def test_a_session_that_cannot_be_absorbed_does_not_keep_the_others_waiting(product):
    broken = product.host.transcript_of("5e551011-0000-4000-8000-0000000000bb")
    broken.parent.mkdir(parents=True)
    os.mkfifo(broken)
    payload = product.common("5e551011-0000-4000-8000-0000000000bb")
    product.host.run_hooks({**payload, "hook_event_name": "UserPromptSubmit", "prompt": "mine is a pipe", "prompt_id": "p"})
    product.story()
    assert product.rows("SELECT status FROM reviews") == [("completed",)]
    product.until(lambda: product.one("SELECT count(*) FROM events WHERE text = 'mine is a pipe'") == 1, "the words of the hook")
    assert str(broken) in product.log()
