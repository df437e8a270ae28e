"""Finding transcripts that no hook told of: whose they are, what is never read, what is bounded, and what an idle look costs."""

from __future__ import annotations

import json
import os
import pathlib
import time

import capture_world as worlds
import plain_host
import pytest

from afl_core.capture import walk as walking
from afl_core.spec.transcripts import TranscriptRoot
from afl_core.store import leases, sessions, transcripts
from afl_core.store import status as rows
from afl_core.store.connection import writing
from afl_core.worker import discovery, reconcile
from afl_core.worker.leasing import RECONCILE, Leased

Log = plain_host.Log


@pytest.fixture
def world(home):
    made = worlds.World(home, now=int(time.time() * 1000))
    yield made
    made.close()


@pytest.fixture
def root(world, home):
    return plain_host.install(world, claude=home / "claude")


def catch_up(world, **more):
    return reconcile.run(world.home, review=False, **more)


def log(world, root, name="a", **more):
    return Log(root / "live" / "p" / f"{name}.jsonl", at=world.now - 60_000, **{"session": name, **more})


def test_a_session_that_no_hook_told_of_is_known_as_a_hook_would_make_it(world, root, home):
    (home / "repo" / ".git" / "objects").mkdir(parents=True)
    (home / "repo" / ".git" / "refs").mkdir()
    (home / "repo" / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    (home / "repo" / "sub").mkdir()
    path = log(world, root, cwd=str(home / "repo" / "sub")).person("no hook told of this").agent("yes").path
    os.utime(path, (world.now / 1000 - 30, world.now / 1000 - 30))
    body = catch_up(world)
    assert (body["status"], body["filesScanned"], body["eventsCaptured"]) == ("completed", 1, 2)
    session = sessions.get(world.db, "plain:a")
    assert (session.host, session.native_id, session.cwd, session.transcript_path) == ("plain", "a", str(home / "repo" / "sub"), str(path))
    assert sessions.project(world.db, session.project_id)[1:] == (str(home / "repo" / ".git"), "git")
    assert world.now - 30_001 <= session.seen_ms <= world.now - 29_999
    assert [row[0] for row in world.db.execute("SELECT project_id FROM queue")] == [session.project_id]


def test_a_session_of_which_nobody_says_a_directory_has_a_project_of_its_own(world, root):
    log(world, root, cwd="").person("one")
    catch_up(world)
    assert sessions.project(world.db, sessions.get(world.db, "plain:a").project_id)[2] == "unscoped"


def test_a_small_file_beside_it_may_say_the_directory_and_none_outside_may(world, root, home):
    path = log(world, root, cwd="").person("one").path
    (path.parent / "cwd").write_text("/beside")
    log(world, root, "b", cwd="").person("one")
    catch_up(world)
    assert sessions.get(world.db, "plain:a").cwd == "/beside"
    beside = discovery.discover._Beside(str(path), str(root / "live"))
    (home / "secret").write_text("x")
    os.symlink(home / "secret", path.parent / "link")
    assert beside("cwd") == b"/beside"
    assert [beside(name) for name in ("../../../secret", str(home / "secret"), "link", "", "none", "..", "a\0b")] == [None] * 7


def test_the_real_hosts_transcripts_are_found_and_its_subagents_are_not(world, root, home):
    from afl_core.testing.recorded import Recorded

    folder = home / "claude" / "projects" / "-home-dev-project"
    (folder / "x" / "subagents").mkdir(parents=True)
    (folder / "s.jsonl").write_bytes(Recorded.transcript("plain"))
    (folder / "x" / "subagents" / "agent-1.jsonl").write_bytes(Recorded.transcript("plain"))
    world.now = worlds.RECORDED_MS + 60_000
    body = catch_up(world, since_ms=0)
    assert (body["filesScanned"], body["eventsCaptured"] > 0) == (1, True)
    assert [row[0] for row in world.db.execute("SELECT DISTINCT cwd FROM sessions")] == ["/home/dev/project"]


def test_what_belongs_to_a_subagent_or_to_our_own_reviewer_is_never_read(world, root):
    log(world, root, "child", child=True).person("made by a machine")
    log(world, root, "reviewer", cwd=world.home.paths.data + "/reviewer-work/1").person("evidence that is reviewed")
    body = catch_up(world)
    assert (body["filesScanned"], body["filesSkipped"], body["errors"]) == (0, 2, [])
    assert world.db.execute("SELECT count(*) FROM sessions").fetchone()[0] == 0
    asked = plain_host.PlainHost.asked
    Log.line(log(world, root, "child", child=True), {"who": "person", "text": "more"})
    catch_up(world)
    assert plain_host.PlainHost.asked == asked  # not even opened again when it grows


def test_a_file_that_is_no_transcript_yet_is_asked_about_again_when_it_grows(world, root):
    path = root / "live" / "p" / "a.jsonl"
    path.parent.mkdir(parents=True)
    path.write_bytes(b'{"session"')
    assert catch_up(world)["filesScanned"] == 0
    asked = plain_host.PlainHost.asked
    catch_up(world)
    assert plain_host.PlainHost.asked == asked == 1
    path.unlink()
    log(world, root).person("now it is")
    assert catch_up(world)["eventsCaptured"] == 1


def test_unknown_files_that_did_not_change_lately_are_left_alone_and_known_ones_are_not(world, root):
    old = log(world, root, "old").person("one").path
    os.utime(old, (time.time() - 3600, time.time() - 3600))
    assert catch_up(world)["filesScanned"] == 0
    assert catch_up(world, since_ms=world.now - 2 * 3_600_000)["eventsCaptured"] == 1
    with old.open("ab") as file:
        file.write(b'{"who": "person", "text": "two"}\n')
    os.utime(old, (time.time() - 3600, time.time() - 3600))
    assert catch_up(world)["eventsCaptured"] == 1


def test_the_look_back_is_a_setting(world, root):
    import attrs

    path = log(world, root).person("one").path
    os.utime(path, (time.time() - 3600, time.time() - 3600))
    world.home.__dict__["settings"] = attrs.evolve(world.home.settings, reconcile_lookback=7200)
    assert catch_up(world)["eventsCaptured"] == 1


def test_hosts_that_were_not_connected_are_not_walked(world, root, home):
    plain_host.install(world)
    paths = world.home.paths
    pathlib.Path(paths.current).write_text(json.dumps({"hosts": {"claude": {"config_dir": str(home), "settings_path": "x"}}}), "utf-8")
    log(world, root).person("one")
    assert catch_up(world)["filesScanned"] == 0
    pathlib.Path(paths.current).unlink()
    assert catch_up(world)["filesScanned"] == 0


def test_a_plan_names_what_nobody_knows_yet_and_changes_nothing(world, root):
    path = log(world, root).person("one").path
    before = list(world.db.iterdump())
    planned = reconcile.plan(world.home)
    assert planned["transcripts"] == [{"session": "plain:a", "path": str(path), "unread": path.stat().st_size}]
    assert list(world.db.iterdump()) == before


def test_capture_that_is_off_opens_no_file(world, root):
    log(world, root).person("one")
    with writing(world.db):
        rows.set_meta(world.db, "capture_enabled", "0")
    assert catch_up(world)["filesScanned"] == 0
    assert plain_host.PlainHost.asked == 0
    assert transcripts.every(world.db) == {}


def test_an_adapter_that_fails_is_named_and_stops_no_other_file(world, root):
    path = log(world, root, "bad", fails=True).person("x").path
    log(world, root, "good").person("y")
    body = catch_up(world)
    assert [(one["path"], one["code"]) for one in body["errors"]] == [(str(path), "AFL-CAPTURE-006")]
    assert body["eventsCaptured"] == 1


def test_an_idle_look_opens_nothing_and_asks_nobody(world, root, monkeypatch):
    for number in range(40):
        log(world, root, f"s{number}").person("one")
    log(world, root, "child", child=True)
    assert catch_up(world)["filesScanned"] == 40
    asked = plain_host.PlainHost.asked
    opened = []
    whole = os.open
    monkeypatch.setattr(os, "open", lambda path, *rest, **more: (opened.append(path), whole(path, *rest, **more))[1])
    body = catch_up(world)
    monkeypatch.undo()
    assert [path for path in opened if str(path).endswith(".jsonl")] == []
    assert plain_host.PlainHost.asked == asked
    assert (body["filesScanned"], body["filesSkipped"]) == (0, 41)


# ---------------------------------------------------------------------------------------------------------------------------- the walk


def seen(folder, pattern):
    return sorted(os.path.relpath(one.path, folder) for one in walking.walk([TranscriptRoot(folder, pattern)]).files)


def test_a_pattern_is_one_component_a_level_and_matches_no_hidden_name(home):
    for name in ("a/1/x.jsonl", "a/1/.x.jsonl", "a/1/x.txt", "b/x.jsonl", ".c/1/x.jsonl", "a/22/y.jsonl", "a/[1]/z.jsonl"):
        (home / name).parent.mkdir(parents=True, exist_ok=True)
        (home / name).write_text("")
    assert seen(home, "*/?/*.jsonl") == ["a/1/x.jsonl"]
    assert seen(home, "a/[1]/*.jsonl") == ["a/[1]/z.jsonl"]
    assert seen(home, "*/*.jsonl") == ["b/x.jsonl"]
    assert seen(home / "none", "*.jsonl") == []


def test_no_link_is_followed_and_what_is_no_file_of_ours_is_named(world, root, home):
    folder = root / "live" / "p"
    (folder / "dir.jsonl").mkdir(parents=True)
    os.mkfifo(folder / "pipe.jsonl")
    (home / "outside").mkdir()
    Log(home / "outside" / "x.jsonl").person("one")
    os.symlink(home / "outside" / "x.jsonl", folder / "link.jsonl")
    os.symlink(home / "outside", root / "live" / "linked")
    body = catch_up(world)
    assert {(os.path.basename(gap["path"]), gap["kind"], gap["count"]) for gap in body["coverageGaps"]} == {
        ("dir.jsonl", "not_a_file", 1),
        ("pipe.jsonl", "not_a_file", 1),
        ("link.jsonl", "symlink", 1),
    }
    assert (body["filesScanned"], body["errors"], body["status"]) == (0, [], "completed")


@pytest.mark.parametrize(("limit", "value", "why"), [("MAX_DIRECTORIES", 2, "directories"), ("MAX_FILES", 2, "files")])
def test_a_walk_that_meets_its_bound_says_so_and_goes_on_with_what_it_saw(world, root, monkeypatch, limit, value, why):
    for number in range(5):
        Log(root / "live" / f"p{number}" / "a.jsonl", session=f"s{number}", at=world.now).person("one")
    monkeypatch.setattr(walking, limit, value)
    body = catch_up(world)
    assert next((gap["path"], gap["kind"]) for gap in body["coverageGaps"]) == (str(root / "live"), "not_looked_through")
    assert why in body["coverageGaps"][0]["message"]


def test_many_gaps_are_counted(world, root, monkeypatch):
    monkeypatch.setattr(discovery, "GAPS_NAMED", 3)
    folder = root / "live" / "p"
    folder.mkdir(parents=True)
    for number in range(10):
        os.symlink("/nowhere", folder / f"{number}.jsonl")
    gaps = catch_up(world)["coverageGaps"]
    assert [gap["count"] for gap in gaps] == [1, 1, 1, 7]
    assert sum(gap["kind"] == "symlink" for gap in gaps) == 4


# ----------------------------------------------------------------------------------------------------------------------------- the lease


def test_a_pass_while_another_process_holds_the_lease_does_nothing_and_says_until_when(world, root):
    log(world, root).person("one")
    with Leased(world.db, RECONCILE, world.home.clock) as other:
        assert other.is_held
        body = catch_up(world)
    assert body == {"status": "skipped", "reason": "lease_held", "leaseUntil": world.now + leases.LEASE_MS}
    assert catch_up(world)["eventsCaptured"] == 1


def test_the_lease_of_a_process_that_was_killed_ends(world, root):
    with writing(world.db):
        leases.take(world.db, RECONCILE, "a process that is gone", world.now)
    assert catch_up(world)["status"] == "skipped"
    world.now += leases.LEASE_MS
    assert catch_up(world)["status"] == "completed"


def test_a_lease_of_another_clock_holds_nobody_up(world, root):
    with writing(world.db):
        leases.take(world.db, RECONCILE, "somebody", world.now + 365 * 86_400_000)
    assert catch_up(world)["status"] == "completed"


def test_a_long_pass_renews_its_lease_and_gives_it_back(world, root, monkeypatch):
    for name in "abc":
        log(world, root, name).person("one")
    held = []

    def step(name):
        if name == "committed":
            world.now += leases.RENEW_MS + 1
            held.append(leases.held(world.db, RECONCILE, world.now).until_ms - world.now)

    assert catch_up(world, checkpoint=step)["eventsCaptured"] == 3
    assert held == [leases.LEASE_MS - leases.RENEW_MS - 1] * 3
    assert leases.held(world.db, RECONCILE, world.now) is None


def test_a_process_that_slept_until_another_took_the_lease_stops(world, root):
    for name in "ab":
        log(world, root, name).person("one")

    def step(name):
        if name == "committed":
            world.now += leases.LEASE_MS + 1
            with writing(world.db):
                leases.take(world.db, RECONCILE, "another", world.now)

    body = catch_up(world, checkpoint=step)
    assert (body["status"], body["reason"], body["eventsCaptured"]) == ("interrupted", "lease_lost", 0)
    assert leases.held(world.db, RECONCILE, world.now).owner == "another"
    world.now += leases.LEASE_MS + 1
    assert catch_up(world)["eventsCaptured"] == 1
    assert world.db.execute("SELECT count(*) FROM events").fetchone()[0] == 2


def test_a_large_file_is_read_to_its_end_in_one_pass_though_one_look_is_bounded(world, root, monkeypatch):
    from afl_core.capture import sync

    monkeypatch.setitem(sync.sync.__kwdefaults__, "limit", 2_000)
    monkeypatch.setitem(sync.sync.__kwdefaults__, "chunk_bytes", 500)
    tape = log(world, root)
    for number in range(100):
        tape.person(f"words {number}")
    assert catch_up(world)["eventsCaptured"] == 100
    assert catch_up(world)["filesScanned"] == 0


def test_corrections_of_several_files_of_one_project_make_one_review(world, root):
    for name in "abc":
        log(world, root, name).person("go").agent("wrongly").add("cut").person(f"no, {name}!")
    body = catch_up(world)
    assert body["immediateSignals"] == 3
    assert world.db.execute("SELECT count(*), count(DISTINCT review_id) FROM queue WHERE immediate").fetchone()[:] == (3, 1)


def test_words_wait_for_their_age_even_when_no_hook_ever_comes_again(world, root):
    log(world, root).person("only this")
    catch_up(world)
    assert world.db.execute("SELECT count(*) FROM reviews").fetchone()[0] == 0
    world.now += world.home.settings.review_max_age * 1000 + 1
    catch_up(world)
    assert world.db.execute("SELECT count(*) FROM reviews").fetchone()[0] == 1
