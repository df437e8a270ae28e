"""Undoing gives back the very bytes where nobody touched the file, and takes only ours out where somebody did."""

from __future__ import annotations

import pytest

from afl_core.model.errors import SetupError
from afl_core.setup.edits import EditJournal, apply_edits, join_journals, plan_edit, plan_undo, undo_edits
from afl_core.setup.json_splice import HookEntry, ensure_hook_entries, only_ours_changed, remove_hook_entries

BEFORE = b'{"model":  "opus"}'


def ours(handler):
    return str(handler.get("command", "")).startswith("afl ")


def install(path, clock, version="1"):
    entry = HookEntry("Stop", None, f"afl {version}", 5)
    return apply_edits(
        [plan_edit(path, lambda document: ensure_hook_entries(document, (entry,), ours), only_ours_changed(ours))], None, clock
    )


def withdraw(document):
    return remove_hook_entries(document, ours)


def undo(journal, clock):
    return undo_edits(journal, withdraw, None, clock, check=only_ours_changed(ours))


@pytest.fixture
def path(home):
    made = home / "settings.json"
    made.write_bytes(BEFORE)
    return made


def test_an_untouched_file_gets_its_old_bytes_back(path, clock):
    journal = install(path, clock)
    assert path.read_bytes() != BEFORE
    undo(journal, clock)
    assert path.read_bytes() == BEFORE


def test_a_file_without_content_gets_its_nothing_back(path, clock):
    path.write_bytes(b" \n")
    undo(install(path, clock), clock)
    assert path.read_bytes() == b" \n"


def test_a_file_we_made_is_deleted(path, clock):
    path.unlink()
    journal = install(path, clock)
    (planned,) = plan_undo(journal, withdraw)
    assert planned.deletes
    assert "+++ /dev/null" in planned.diff
    undo(journal, clock)
    assert not path.exists()


def test_a_file_changed_since_keeps_its_changes_and_loses_ours(path, clock):
    journal = install(path, clock)
    path.write_bytes(path.read_bytes().replace(b"opus", b"sonnet"))
    undo(journal, clock)
    assert path.read_bytes() == BEFORE.replace(b"opus", b"sonnet")


def test_a_file_we_made_and_somebody_changed_is_not_deleted(path, clock):
    path.unlink()
    journal = install(path, clock)
    path.write_bytes(path.read_bytes().replace(b"{\n", b'{\n  "model": "x",\n', 1))
    undo(journal, clock)
    assert path.read_bytes() == b'{\n  "model": "x"\n}\n'


def test_without_its_backup_a_file_loses_ours(path, clock):
    journal = install(path, clock)
    path.with_name("settings.json.backup-20260101000000").unlink()
    undo(journal, clock)
    assert path.read_bytes() == BEFORE


def test_a_backup_that_was_altered_is_not_restored(path, clock):
    journal = install(path, clock)
    path.with_name("settings.json.backup-20260101000000").write_bytes(b'{"bad": 1}')
    undo(journal, clock)
    assert path.read_bytes() == BEFORE


def test_undoing_twice_or_after_the_file_is_gone_changes_nothing(path, clock):
    journal = install(path, clock)
    undo(journal, clock)
    assert undo(journal, clock) == EditJournal(())
    assert path.read_bytes() == BEFORE
    path.unlink()
    assert undo(journal, clock) == EditJournal(())
    assert not path.exists()


def test_an_undo_can_be_undone(path, clock):
    journal = install(path, clock)
    installed = path.read_bytes()
    undo(undo(journal, clock), clock)
    assert path.read_bytes() == installed


def test_a_deletion_can_be_undone(path, clock):
    path.unlink()
    journal = install(path, clock)
    installed = path.read_bytes()
    undo(undo(journal, clock), clock)
    assert path.read_bytes() == installed


def test_an_install_that_found_everything_in_place_still_takes_ours_out(path, clock):
    install(path, clock)
    undo(install(path, clock), clock)
    assert path.read_bytes() == BEFORE


def test_a_file_that_can_no_longer_be_parsed_stops_the_undo_of_all(path, clock):
    journal = install(path, clock)
    other = path.with_name("other.json")
    journal = EditJournal((*install(other, clock).records, *journal.records))
    kept = other.read_bytes()
    path.write_bytes(b"{ // mine\n}")
    with pytest.raises(SetupError) as caught:
        undo(journal, clock)
    assert caught.value.code == "AFL-SETUP-010"
    assert str(path) in caught.value.sentence
    assert other.read_bytes() == kept


def test_install_and_upgrade_joined_go_back_to_the_bytes_before_both(path, clock):
    first = install(path, clock)
    clock.advance(days=1)
    second = install(path, clock, version="2")
    undo(second, clock)
    assert b"afl 1" in path.read_bytes()
    second = install(path, clock, version="2")
    undo(join_journals(first, second), clock)
    assert path.read_bytes() == BEFORE


def test_joined_journals_never_bring_ours_back_when_the_person_edited_in_between(path, clock):
    first = install(path, clock)
    path.write_bytes(path.read_bytes().replace(b"opus", b"sonnet"))
    second = install(path, clock, version="2")
    undo(join_journals(first, second), clock)
    assert path.read_bytes() == BEFORE.replace(b"opus", b"sonnet")


def test_joining_keeps_files_that_only_one_of_them_knows(path, clock):
    first = install(path, clock)
    second = install(path.with_name("other.json"), clock)
    assert join_journals(first, second).records == first.records + second.records


@pytest.mark.parametrize(
    "stored",
    [
        {},
        [1],
        [{"path": "x"}],
        [{"path": 1, "existed": True, "sha256_before": None, "sha256_after": None, "backup": None}],
        [{"path": "x", "existed": True, "sha256_before": 2, "sha256_after": None, "backup": None}],
    ],
)
def test_a_journal_of_another_shape_is_refused(stored):
    with pytest.raises(SetupError) as caught:
        EditJournal.from_json(stored)
    assert caught.value.code == "AFL-SETUP-018"
