"""Backups: the last five of ours are kept, and nobody else's is ever touched."""

from __future__ import annotations

import stat

import pytest

from afl_core.model.errors import SetupError
from afl_core.setup.backups import KEPT_BACKUPS
from afl_core.setup.edits import apply_edits, plan_edit


def edit(path, clock, content, backups_dir=None):
    return apply_edits([plan_edit(path, lambda _before: content)], backups_dir, clock)


def backups_in(directory):
    return sorted(path.name for path in directory.iterdir() if ".backup-" in path.name)


@pytest.fixture
def path(home):
    made = home / "settings.json"
    made.write_bytes(b"[0]")
    made.chmod(0o644)
    return made


def test_the_last_five_of_ours_are_kept(path, clock):
    for number in range(1, 9):
        edit(path, clock, b"[%d]" % number)
        clock.advance(days=1)
    names = backups_in(path.parent)
    assert names == [f"settings.json.backup-2026010{day}000000" for day in (4, 5, 6, 7, 8)]
    assert len(names) == KEPT_BACKUPS
    assert [(path.parent / name).read_bytes() for name in names] == [b"[3]", b"[4]", b"[5]", b"[6]", b"[7]"]


def test_backups_of_others_with_the_same_kind_of_name_are_never_touched(path, clock):
    foreign = path.with_name("settings.json.backup-20240101000000")
    foreign.write_bytes(b"theirs")
    taken = path.with_name("settings.json.backup-20260101000000")
    taken.write_bytes(b"[0]")
    for number in range(1, 9):
        edit(path, clock, b"[%d]" % number)
        clock.advance(days=1)
    assert foreign.read_bytes() == b"theirs"
    assert taken.read_bytes() == b"[0]"
    assert len(backups_in(path.parent)) == KEPT_BACKUPS + 2


def test_a_backup_that_somebody_altered_is_no_longer_ours_to_delete(path, clock):
    edit(path, clock, b"[1]")
    altered = path.with_name("settings.json.backup-20260101000000")
    altered.write_bytes(b"kept by hand")
    for number in range(2, 9):
        clock.advance(days=1)
        edit(path, clock, b"[%d]" % number)
    assert altered.read_bytes() == b"kept by hand"


def test_a_taken_second_gives_the_next_one(path, clock):
    for number in range(1, 4):
        edit(path, clock, b"[%d]" % number)
    assert backups_in(path.parent) == [f"settings.json.backup-2026010100000{second}" for second in range(3)]


def test_a_backup_is_readable_by_its_owner_only(path, clock):
    edit(path, clock, b"[1]")
    backup = path.with_name("settings.json.backup-20260101000000")
    assert stat.S_IMODE(backup.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.stat().st_mode) == 0o644


def test_the_same_bytes_are_not_backed_up_twice_in_a_row(path, clock):
    edit(path, clock, b"[1]")
    path.write_bytes(b"[0]")
    clock.advance(days=1)
    (record,) = edit(path, clock, b"[2]").records
    assert backups_in(path.parent) == ["settings.json.backup-20260101000000"]
    assert record.backup == str(path.with_name("settings.json.backup-20260101000000"))


def test_a_directory_of_its_own_holds_backups_of_files_with_one_name_apart(home, clock):
    shelf = home / "backups"
    for name in ("claude", "gemini"):
        (home / name).mkdir()
        (home / name / "settings.json").write_bytes(name.encode().join([b'["', b'"]']))
        edit(home / name / "settings.json", clock, b"[1]", shelf)
        assert [path.name for path in (home / name).iterdir()] == ["settings.json"]
    assert stat.S_IMODE(shelf.stat().st_mode) == 0o700
    assert sorted((shelf / name).read_bytes() for name in backups_in(shelf)) == [b'["claude"]', b'["gemini"]']


@pytest.mark.parametrize(
    "listing", [b"{", b'{"a": 1}', b'[{"name": "../x", "sha256": ""}]', b'[{"name": "settings.json.backup-/x", "sha256": ""}]']
)
def test_a_damaged_list_of_backups_stops_the_edit_and_says_what_to_remove(path, clock, listing):
    damaged = path.with_name(".settings.json.afl-backups.json")
    damaged.write_bytes(listing)
    with pytest.raises(SetupError) as caught:
        edit(path, clock, b"[1]")
    assert str(damaged) in caught.value.hint
    assert path.read_bytes() == b"[0]"
    damaged.unlink()
    edit(path, clock, b"[1]")
    assert path.read_bytes() == b"[1]"
