"""A file the person edited is never touched; the new version is put beside it and said so."""

from __future__ import annotations

import os

import pytest

from afl_core.settings.paths import Paths
from afl_core.setup.pack_editable import plan_editable, read_manifest
from afl_core.setup.pack_files import PackFile, is_in_place, put_set
from afl_core.setup.render import as_json

FIRST, SECOND = b"one\n", b"two\n"


@pytest.fixture
def paths(home):
    made = Paths(home)
    for folder in ("prompts", "rules"):
        (home / ".agent/feedback-loop" / folder).mkdir(parents=True)
    return made


def ship(paths, data):
    """One install of one shipped file; returns the plan."""
    plan = plan_editable(paths, {paths.prompt_file: data})
    files = [*plan.files, PackFile(paths.manifest, as_json({"files": plan.manifest}), "")]
    put_set([file for file in files if not is_in_place(file)], lambda _step: None)
    for path in plan.removed:
        os.unlink(path)
    return plan


def prompt(home):
    return home / ".agent/feedback-loop/prompts/reviewer.md"


def test_an_unedited_file_is_updated(home, paths):
    ship(paths, FIRST)
    plan = ship(paths, SECOND)
    assert prompt(home).read_bytes() == SECOND
    assert plan.pending == ()


def test_an_edited_file_stays_and_the_new_version_waits_beside_it(home, paths):
    ship(paths, FIRST)
    prompt(home).write_bytes(b"mine\n")
    plan = ship(paths, SECOND)
    assert prompt(home).read_bytes() == b"mine\n"
    assert prompt(home).with_name("reviewer.md.new").read_bytes() == SECOND
    assert plan.pending == (f"{paths.prompt_file}.new",)
    assert "was edited" in plan.files[0].step


def test_an_edit_of_the_current_version_makes_no_new_file(home, paths):
    ship(paths, FIRST)
    prompt(home).write_bytes(b"mine\n")
    plan = ship(paths, FIRST)
    assert plan.files == ()
    assert not prompt(home).with_name("reviewer.md.new").exists()


def test_a_new_version_is_offered_once_and_stays_pending_until_it_is_taken_away(home, paths):
    ship(paths, FIRST)
    prompt(home).write_bytes(b"mine\n")
    ship(paths, SECOND)
    beside = prompt(home).with_name("reviewer.md.new")
    assert ship(paths, SECOND).pending == (str(beside),)
    beside.unlink()
    plan = ship(paths, SECOND)
    assert (plan.pending, plan.files) == ((), ())
    assert not beside.exists()


def test_a_new_version_that_was_taken_over_is_removed_from_beside(home, paths):
    ship(paths, FIRST)
    prompt(home).write_bytes(b"mine\n")
    ship(paths, SECOND)
    prompt(home).write_bytes(SECOND)
    ship(paths, SECOND)
    assert not prompt(home).with_name("reviewer.md.new").exists()


def test_a_deleted_file_comes_back(home, paths):
    ship(paths, FIRST)
    prompt(home).unlink()
    ship(paths, FIRST)
    assert prompt(home).read_bytes() == FIRST


def test_a_lost_manifest_counts_every_difference_as_an_edit(home, paths):
    ship(paths, FIRST)
    (home / ".agent/feedback-loop/manifest.json").write_text("{broken")
    assert read_manifest(paths) == {}
    ship(paths, SECOND)
    assert prompt(home).read_bytes() == FIRST
    assert prompt(home).with_name("reviewer.md.new").read_bytes() == SECOND
