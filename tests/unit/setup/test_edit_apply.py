"""Planned edits reach real files all together or not at all, and keep what belongs to the person."""

from __future__ import annotations

import json
import os
import stat

import pytest

from afl_core.model.errors import SetupError
from afl_core.setup import edits
from afl_core.setup.edits import apply_edits, plan_edit
from afl_core.setup.json_splice import HookEntry, ensure_hook_entries, only_ours_changed

STOP = HookEntry("Stop", None, "afl stop", 5)
BEFORE = b'{\n  "model": "opus"\n}\n'


def ours(handler):
    return handler.get("command") == "afl stop"


def install(document):
    return ensure_hook_entries(document, (STOP,), ours)


def plan(path):
    return plan_edit(path, install, only_ours_changed(ours))


def settings_in(home, content=BEFORE, mode=0o640):
    path = home / "settings.json"
    path.write_bytes(content)
    path.chmod(mode)
    return path


def everything_in(directory):
    return {path.name: path.read_bytes() for path in directory.iterdir() if path.is_file()}


def test_a_plan_shows_the_difference_and_changes_nothing(home):
    path = settings_in(home)
    planned = plan(path)
    assert everything_in(home) == {"settings.json": BEFORE}
    assert (planned.path, planned.before, planned.after) == (path, BEFORE, install(BEFORE))
    assert planned.changes
    assert '-  "model": "opus"\n+  "model": "opus",\n+  "hooks": {\n' in planned.diff


def test_the_difference_says_where_a_last_line_has_no_end(home):
    assert '-{"a": 1}\n\\ No newline at end of file\n' in plan(settings_in(home, b'{"a": 1}')).diff


def test_a_file_is_replaced_with_its_mode_and_owner_and_the_journal_says_so(home, clock):
    path = settings_in(home, mode=0o640)
    if os.geteuid() == 0:
        os.chown(path, 4321, 8765)
    owner = path.stat()
    journal = apply_edits([plan(path)], None, clock)
    assert path.read_bytes() == install(BEFORE)
    now = path.stat()
    assert (stat.S_IMODE(now.st_mode), now.st_uid, now.st_gid) == (0o640, owner.st_uid, owner.st_gid)
    assert now.st_ino != owner.st_ino
    (record,) = journal.records
    assert record.path == str(path)
    assert record.existed
    assert record.backup == f"{path}.backup-20260101000000"
    assert (home / "settings.json.backup-20260101000000").read_bytes() == BEFORE
    assert edits.EditJournal.from_json(json.loads(json.dumps(journal.as_json()))) == journal


def test_a_missing_file_is_made_readable_for_its_owner_only(home, clock):
    path = home / "settings.json"
    planned = plan(path)
    assert planned.before is None
    (record,) = apply_edits([planned], None, clock).records
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert (record.existed, record.backup, record.sha256_before) == (False, None, None)
    assert everything_in(home) == {"settings.json": install(b"")}


def test_nothing_to_do_writes_nothing_and_makes_no_backup(home, clock):
    path = settings_in(home, install(BEFORE))
    before = path.stat()
    (record,) = apply_edits([plan(path)], None, clock).records
    assert path.stat() == before
    assert everything_in(home) == {"settings.json": install(BEFORE)}
    assert record.sha256_before == record.sha256_after
    assert record.backup is None


def test_a_link_stays_a_link_and_its_target_is_edited(home, clock):
    (home / "dotfiles").mkdir()
    target = settings_in(home / "dotfiles")
    (home / "host").mkdir()
    link = home / "host" / "settings.json"
    link.symlink_to("../dotfiles/settings.json")
    apply_edits([plan(link)], None, clock)
    assert os.readlink(link) == "../dotfiles/settings.json"
    assert target.read_bytes() == install(BEFORE)
    assert [path.name for path in (home / "dotfiles").iterdir()] == ["settings.json"]
    assert (home / "host" / "settings.json.backup-20260101000000").read_bytes() == BEFORE


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file to somebody else")
def test_a_link_to_somebody_elses_file_is_refused(home):
    target = settings_in(home)
    os.chown(target, 4321, -1)
    link = home / "link.json"
    link.symlink_to(target)
    with pytest.raises(SetupError) as caught:
        plan(link)
    assert caught.value.code == "AFL-SETUP-014"
    assert str(target) in caught.value.sentence
    assert "4321" in caught.value.sentence


def test_a_link_that_leads_nowhere_or_in_a_circle_is_refused(home):
    link = home / "settings.json"
    for destination, word in (("gone.json", "nowhere"), ("settings.json", "circle")):
        link.symlink_to(destination)
        with pytest.raises(SetupError) as caught:
            plan(link)
        assert caught.value.code == "AFL-SETUP-014"
        assert word in caught.value.sentence
        link.unlink()


@pytest.mark.parametrize("content", [b'{\n  "a": 1, // mine\n}', b'{"a": 1,\n}'])
def test_a_file_that_cannot_be_parsed_is_named_with_line_and_column_and_left_alone(home, content):
    path = settings_in(home, content)
    with pytest.raises(SetupError) as caught:
        plan(path)
    assert caught.value.code == "AFL-SETUP-010"
    assert caught.value.sentence.startswith(f"{path}: line ")
    assert "column " in caught.value.sentence
    assert caught.value.hint
    assert everything_in(home) == {"settings.json": content}


def test_a_transform_that_touches_more_than_ours_is_refused(home):
    path = settings_in(home)
    with pytest.raises(SetupError) as caught:
        plan_edit(path, lambda document: install(document).replace(b"opus", b"sonnet"), only_ours_changed(ours))
    assert caught.value.code == "AFL-SETUP-012"
    assert str(path) in caught.value.sentence


def test_a_result_that_is_not_json_is_refused(home):
    with pytest.raises(SetupError) as caught:
        plan_edit(settings_in(home), lambda document: document + b"}")
    assert caught.value.code == "AFL-SETUP-010"


def test_a_read_only_file_is_refused_and_so_is_a_read_only_directory(home):
    path = settings_in(home, mode=0o444)
    with pytest.raises(SetupError) as caught:
        plan(path)
    assert caught.value.code == "AFL-SETUP-013"
    assert "0444" in caught.value.sentence
    path.chmod(0o600)
    home.chmod(0o555)
    try:
        with pytest.raises(SetupError) as caught:
            plan(path)
    finally:
        home.chmod(0o700)
    assert caught.value.code == "AFL-SETUP-013"
    assert str(home) in caught.value.sentence


def test_a_directory_a_fifo_and_a_huge_file_are_refused(home):
    (home / "directory").mkdir()
    os.mkfifo(home / "fifo")
    with (home / "huge").open("wb") as huge:
        huge.truncate(9 * 1024 * 1024)
    for name in ("directory", "fifo", "huge", "huge/below", "gone/settings.json"):
        with pytest.raises(SetupError) as caught:
            plan(home / name)
        assert caught.value.code == "AFL-SETUP-013"
        assert str(home / name) in caught.value.sentence


def test_a_file_that_changed_since_the_plan_is_refused_and_so_are_all_others(home, clock):
    first, second = home / "a.json", home / "b.json"
    first.write_bytes(BEFORE)
    plans = [plan(first), plan(second)]
    second.write_bytes(b"{}")
    with pytest.raises(SetupError) as caught:
        apply_edits(plans, None, clock)
    assert caught.value.code == "AFL-SETUP-015"
    assert str(second) in caught.value.sentence
    assert everything_in(home) == {"a.json": BEFORE, "b.json": b"{}"}


def test_two_edits_of_one_file_are_refused_even_through_a_link(home, clock):
    path = settings_in(home)
    (home / "link.json").symlink_to(path)
    with pytest.raises(SetupError) as caught:
        apply_edits([plan(path), plan(home / "link.json")], None, clock)
    assert caught.value.code == "AFL-SETUP-015"
    assert path.read_bytes() == BEFORE


class StoppedError(Exception):
    pass


STEPS = ["backup:0", "written:0", "backup:1", "written:1", "backup:2", "written:2", "recorded"]
STEPS += ["replaced:0", "synced:0", "replaced:1", "synced:1", "replaced:2", "synced:2", "done"]


def test_the_steps_are_told_in_order(home, clock):
    told = []
    apply_edits(three_plans(home), None, clock, checkpoint=told.append)
    assert told == STEPS


def three_plans(home):
    """An edit, a new file, and a file to be deleted."""
    (home / "a.json").write_bytes(BEFORE)
    (home / "c.json").write_bytes(b"{}")
    return [plan(home / "a.json"), plan(home / "b.json"), edits.PlannedEdit(home / "c.json", b"{}", b"", "", deletes=True)]


@pytest.mark.parametrize("fatal", [StoppedError, OSError, KeyboardInterrupt])
@pytest.mark.parametrize("at", STEPS)
def test_a_failure_at_any_step_puts_everything_back(home, clock, at, fatal):
    plans = three_plans(home)

    def checkpoint(step):
        if step == at:
            raise fatal(28, "No space left on device")

    with pytest.raises(SetupError if fatal is OSError else fatal) as caught:
        apply_edits(plans, None, clock, checkpoint=checkpoint)
    assert everything_in(home) == {"a.json": BEFORE, "c.json": b"{}"}
    if fatal is OSError:
        assert caught.value.code == "AFL-SETUP-016"
        assert "No space left" in caught.value.sentence


def test_a_file_somebody_changed_before_it_could_be_put_back_is_named_with_its_backup(home, clock):
    plans = three_plans(home)

    def checkpoint(step):
        if step == "synced:1":
            (home / "a.json").write_bytes(b'{"theirs": 1}')
            raise StoppedError

    with pytest.raises(SetupError) as caught:
        apply_edits(plans, None, clock, checkpoint=checkpoint)
    assert caught.value.code == "AFL-SETUP-017"
    assert str(home / "a.json.backup-20260101000000") in caught.value.sentence
    assert isinstance(caught.value.__cause__, StoppedError)
    assert (home / "a.json").read_bytes() == b'{"theirs": 1}'
    assert (home / "a.json.backup-20260101000000").read_bytes() == BEFORE
    assert not (home / "b.json").exists()


def test_the_journal_can_be_stored_before_any_file_is_replaced(home, clock):
    stored = []

    def record(journal):
        stored.append(journal)
        assert (home / "a.json").read_bytes() == BEFORE
        assert not (home / "b.json").exists()

    journal = apply_edits(three_plans(home), None, clock, record=record)
    assert stored == [journal]


def test_a_file_that_appears_where_one_was_to_be_made_is_not_overwritten(home, clock):
    path = home / "settings.json"
    planned = plan(path)

    def checkpoint(step):
        if step == "recorded":
            path.write_bytes(b'{"theirs": 1}')

    with pytest.raises(SetupError) as caught:
        apply_edits([planned], None, clock, checkpoint=checkpoint)
    assert caught.value.code == "AFL-SETUP-015"
    assert everything_in(home) == {"settings.json": b'{"theirs": 1}'}
