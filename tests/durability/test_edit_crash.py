"""A process killed at any step of an edit leaves each file old or new, and running it again finishes and can be undone."""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
import sys

import pytest

from afl_core.setup.backups import KEPT_BACKUPS
from afl_core.setup.edits import EditJournal, apply_edits, plan_edit, undo_edits
from afl_core.setup.json_splice import HookEntry, ensure_hook_entries, only_ours_changed, remove_hook_entries

BEFORE = b'{\n  "model": "opus",\n  "hooks": {"Stop": []}\n}\n'
STOP = HookEntry("Stop", None, "afl stop", 5)
APPLY_STEPS = ("backup:0", "written:0", "backup:1", "written:1", "recorded", "replaced:0", "synced:0", "replaced:1", "synced:1", "done")

CHILD = """
import json, os, pathlib, signal, sys
from afl_core.setup.edits import EditJournal, apply_edits, plan_edit, undo_edits
from afl_core.setup.json_splice import HookEntry, ensure_hook_entries, only_ours_changed, remove_hook_entries

what, step, home = sys.argv[1], sys.argv[2], pathlib.Path(sys.argv[3])
entry = HookEntry("Stop", None, "afl stop", 5)
ours = lambda handler: handler.get("command") == "afl stop"

def checkpoint(done):
    if done == step:
        os.kill(os.getpid(), signal.SIGKILL)

def killing(call):
    def counted(*arguments, **named):
        global calls
        calls += 1
        if step == f"call:{calls}":
            os.kill(os.getpid(), signal.SIGKILL)
        return call(*arguments, **named)
    return counted

calls = 0
if step.startswith("call:"):
    for name in ("fsync", "fchmod", "link", "replace", "unlink"):
        setattr(os, name, killing(getattr(os, name)))

def store(journal):
    (home / "journal").write_text(json.dumps(journal.as_json()), "utf-8")

if what == "apply":
    install = lambda document: ensure_hook_entries(document, (entry,), ours)
    plans = [plan_edit(home / "host" / name, install, only_ours_changed(ours)) for name in ("old.json", "new.json")]
    apply_edits(plans, None, lambda: 1767225600000, record=store, checkpoint=checkpoint)
else:
    journal = EditJournal.from_json(json.loads((home / "journal").read_text("utf-8")))
    undo_edits(journal, lambda document: remove_hook_entries(document, ours), None, lambda: 1767312000000, checkpoint=checkpoint)
"""


def ours(handler):
    return handler.get("command") == "afl stop"


def install(document):
    return ensure_hook_entries(document, (STOP,), ours)


def withdraw(document):
    return remove_hook_entries(document, ours)


def killed_at(step, what, home, environment):
    child = run(step, what, home, environment)
    assert child.returncode == -signal.SIGKILL, child.stderr.decode()


def run(step, what, home, environment):
    return subprocess.run(
        [sys.executable, "-c", CHILD, what, step, str(home)],
        env={**environment, "PYTHONPATH": ":".join(sys.path)},
        capture_output=True,
        timeout=60,
    )


@pytest.fixture
def host(home):
    made = home / "host"
    made.mkdir()
    (made / "old.json").write_bytes(BEFORE)
    return made


def content(path):
    return path.read_bytes() if path.exists() else None


def leftovers(host):
    return [path.name for path in host.iterdir() if path.name.endswith(".tmp")]


def apply_again(host, clock):
    plans = [plan_edit(host / name, install, only_ours_changed(ours)) for name in ("old.json", "new.json")]
    return apply_edits(plans, None, clock)


@pytest.mark.parametrize("step", APPLY_STEPS)
def test_a_kill_during_apply_leaves_old_or_new_and_a_rerun_finishes(host, home, clock, child_environment, step):
    killed_at(step, "apply", home, child_environment)
    assert content(host / "old.json") == (install(BEFORE) if step in APPLY_STEPS[5:] else BEFORE)
    assert content(host / "new.json") == (install(b"") if step in APPLY_STEPS[7:] else None)

    journal = apply_again(host, clock)
    assert content(host / "old.json") == install(BEFORE)
    assert content(host / "new.json") == install(b"")
    assert leftovers(host) == []
    assert [path.read_bytes() for path in host.iterdir() if ".backup-" in path.name] == [BEFORE]

    undo_edits(journal, withdraw, None, clock)
    assert content(host / "old.json") == BEFORE
    assert withdraw(content(host / "new.json") or b"{}\n") == b"{}\n"


@pytest.mark.parametrize("step", APPLY_STEPS[4:])
def test_the_journal_stored_before_the_kill_undoes_whatever_was_done(host, home, clock, child_environment, step):
    killed_at(step, "apply", home, child_environment)
    if step == "recorded":
        assert (home / "journal").exists()
    journal = EditJournal.from_json(json.loads((home / "journal").read_text("utf-8")))
    undo_edits(journal, withdraw, None, clock)
    assert content(host / "old.json") == BEFORE
    assert content(host / "new.json") is None


@pytest.mark.parametrize("step", APPLY_STEPS)
def test_a_kill_during_undo_leaves_old_or_new_and_a_rerun_finishes(host, home, clock, child_environment, step):
    journal = apply_again(host, clock)
    (home / "journal").write_text(json.dumps(journal.as_json()), "utf-8")
    killed_at(step, "undo", home, child_environment)
    # The last file goes first: the new one is deleted, then the old one restored.
    assert content(host / "new.json") == (None if step in APPLY_STEPS[5:] else install(b""))
    assert content(host / "old.json") == (BEFORE if step in APPLY_STEPS[7:] else install(BEFORE))

    undo_edits(journal, withdraw, None, clock)
    assert content(host / "old.json") == BEFORE
    assert content(host / "new.json") is None
    assert leftovers(host) == []


def test_a_kill_before_any_call_that_forces_or_renames_leaves_old_or_new_and_a_rerun_finishes(home, clock, child_environment):
    """Not only between the steps: within them too, until a run gets through without being killed."""
    for number in range(1, 100):
        host = home / "host"
        host.mkdir()
        (host / "old.json").write_bytes(BEFORE)
        child = run(f"call:{number}", "apply", home, child_environment)
        assert content(host / "old.json") in {BEFORE, install(BEFORE)}
        assert content(host / "new.json") in {None, install(b"")}
        if child.returncode == 0:
            break
        assert child.returncode == -signal.SIGKILL, child.stderr.decode()
        apply_again(host, clock)
        assert (content(host / "old.json"), content(host / "new.json")) == (install(BEFORE), install(b""))
        assert leftovers(host) == []
        assert {path.read_bytes() for path in host.glob("old.json.backup-*")} <= {BEFORE}
        shutil.rmtree(host)
    assert number > 12


def test_crashes_in_a_row_do_not_push_out_older_backups(host, home, clock, child_environment):
    for number in range(KEPT_BACKUPS):
        (host / "old.json").write_bytes(b'{"n": %d}' % number)
        apply_again(host, clock)
        clock.advance(days=1)
    (host / "old.json").write_bytes(BEFORE)
    for _ in range(3):
        killed_at("backup:0", "apply", home, child_environment)
    kept = [path.read_bytes() for path in host.glob("old.json.backup-*")]
    assert sorted(kept) == sorted([BEFORE, *(b'{"n": %d}' % number for number in range(1, KEPT_BACKUPS))])
