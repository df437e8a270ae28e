"""Finding new transcripts below the hosts' directories by the times of directories, in a bounded way."""

from __future__ import annotations

import os

import pytest

from afl_core.worker import roots as roots_module
from afl_core.worker.roots import Root, Roots


@pytest.fixture
def tree(tmp_path):
    for name in ("p1/a.jsonl", "p1/notes.txt", "p2/b.jsonl", "deep/er/c.jsonl"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("x")
    return tmp_path


def named(found, tree):
    return sorted(os.path.relpath(path, tree) for path in found)


def test_files_that_fit_the_pattern_at_its_depth_are_found(tree):
    assert named(Roots().newest([Root(str(tree), "*/*.jsonl")], 0), tree) == ["p1/a.jsonl", "p2/b.jsonl"]
    assert named(Roots().newest([Root(str(tree), "d*/*/?.jsonl")], 0), tree) == ["deep/er/c.jsonl"]


def test_a_new_file_and_a_new_directory_are_found_at_the_next_look(tree):
    one, root = Roots(), [Root(str(tree), "*/*.jsonl")]
    one.newest(root, 0)
    one.newest(root, 0)
    (tree / "p1/new.jsonl").write_text("x")
    (tree / "p3").mkdir()
    (tree / "p3/newer.jsonl").write_text("x")
    os.unlink(tree / "p2/b.jsonl")
    assert named(one.newest(root, 0), tree) == ["p1/a.jsonl", "p1/new.jsonl", "p3/newer.jsonl"]


def test_a_file_that_appears_within_the_same_tick_of_the_file_systems_clock_is_found_all_the_same(tree):
    one, root = Roots(), [Root(str(tree), "*/*.jsonl")]
    one.newest(root, 0)
    before = os.stat(tree / "p1")
    (tree / "p1/new.jsonl").write_text("x")
    os.utime(tree / "p1", ns=(before.st_atime_ns, before.st_mtime_ns))
    assert "p1/new.jsonl" in named(one.newest(root, 0), tree)


def test_what_did_not_change_is_not_listed_again(tree, monkeypatch):
    one, root = Roots(), [Root(str(tree), "*/*.jsonl")]
    first = one.newest(root, 0)
    one.newest(root, 0)
    monkeypatch.setattr(os, "scandir", lambda _path: pytest.fail("listed"))
    assert one.newest(root, 0) == first


def test_old_files_links_and_missing_roots_are_left_out(tree):
    os.utime(tree / "p1/a.jsonl", ns=(5, 5))
    os.symlink(tree / "p2", tree / "p9")
    os.symlink(tree / "p2/b.jsonl", tree / "p1/link.jsonl")
    roots = [Root(str(tree), "*/*.jsonl"), Root(str(tree / "none"), "*.jsonl"), Root(str(tree / "p1/a.jsonl"), "*.jsonl")]
    assert named(Roots().newest(roots, 6), tree) == ["p2/b.jsonl"]


def test_directories_and_files_are_bounded_the_newest_first(tree, monkeypatch):
    monkeypatch.setattr(roots_module, "FILES", 1)
    os.utime(tree / "p1/a.jsonl", ns=(5, 5))
    assert named(Roots().newest([Root(str(tree), "*/*.jsonl")], 0), tree) == ["p2/b.jsonl"]
    monkeypatch.setattr(roots_module, "FOLDERS", 2)
    assert named(Roots().newest([Root(str(tree), "*/*.jsonl")], 0), tree) == ["p2/b.jsonl"]
