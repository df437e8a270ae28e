"""Files a reviewer's command is given and leaves behind: only in its own directory, private, gone with the review."""

from __future__ import annotations

import os
import stat

import pytest

from afl_core.model.errors import PathError, ReviewError
from afl_core.review import workdir
from afl_core.spec.reviewer import ReviewerCommand


def command(**fields):
    return ReviewerCommand(argv=("true",), stdin=b"", **fields)


def test_files_are_written_privately_and_the_folder_is_made(tmp_path):
    with workdir.opened(str(tmp_path), command(files={"a/b.json": b"{}", "c": b"1"}, folder="here/empty"), "") as folder:
        pass
    assert folder == str(tmp_path / "here/empty")
    assert os.listdir(folder) == []
    assert (tmp_path / "a/b.json").read_bytes() == b"{}"
    assert {stat.S_IMODE((tmp_path / name).stat().st_mode) for name in ("a/b.json", "c")} == {0o600}
    assert {stat.S_IMODE((tmp_path / name).stat().st_mode) for name in ("a", "here", "here/empty")} == {0o700}


def test_without_a_folder_the_command_runs_in_the_directory_itself(tmp_path):
    with workdir.opened(str(tmp_path), command(), "") as folder:
        assert folder == str(tmp_path)


@pytest.fixture
def lasting(tmp_path):
    (tmp_path / "data").mkdir(mode=0o700)
    return str(tmp_path / "data/reviewer-folders/mine")


@pytest.fixture
def work(tmp_path):
    made = tmp_path / "work"
    made.mkdir(mode=0o700)
    return str(made)


LASTING = command(files={"in/.host/settings.json": b"{}", "beside": b"1"}, folder="in", lasting=True)


def test_a_lasting_folder_has_one_path_and_is_empty_between_reviews(work, lasting):
    for _ in range(2):
        with workdir.opened(work, LASTING, lasting) as folder:
            assert folder == f"{lasting}/in"
            assert os.listdir(folder) == [".host"]
            assert stat.S_IMODE(os.stat(folder).st_mode) == 0o700
            with open(f"{folder}/left", "w", encoding="utf-8") as left:
                left.write("by the host")
        assert os.listdir(folder) == []
        assert os.listdir(work) == ["beside"]


def test_what_a_killed_review_left_in_a_lasting_folder_is_gone_before_the_next(work, lasting):
    os.makedirs(f"{lasting}/in/old/deep", 0o700)
    os.symlink("/etc", f"{lasting}/in/link")
    with workdir.opened(work, LASTING, lasting) as folder:
        assert os.listdir(folder) == [".host"]
    assert os.path.isdir("/etc")


def test_two_reviews_at_once_are_never_in_the_same_folder(work, lasting):
    with workdir.opened(work, LASTING, lasting) as first, workdir.opened(work, LASTING, lasting) as second:
        assert (first, second) == (f"{lasting}/in", f"{work}/in")
        assert os.listdir(second) == [".host"]
    assert os.listdir(first) == []


def test_a_lasting_folder_that_is_a_link_is_refused(work, lasting):
    os.makedirs(lasting, 0o700)
    os.symlink(work, f"{lasting}/in")
    with pytest.raises(PathError), workdir.opened(work, LASTING, lasting):
        pass


@pytest.mark.parametrize("folder", ["../x", "/etc/x"])
def test_a_lasting_folder_that_leaves_its_place_is_refused(work, lasting, folder):
    with pytest.raises(ReviewError), workdir.opened(work, command(folder=folder, lasting=True), lasting):
        pass


@pytest.mark.parametrize("name", ["../x", "/etc/x", "a/../../x", ""])
def test_a_path_that_leaves_the_directory_is_refused(tmp_path, name):
    with pytest.raises(ReviewError) as caught, workdir.opened(str(tmp_path), command(files={name: b""}), ""):
        pass
    assert caught.value.reason == "reviewer_broken"


def test_outputs_are_read_back_and_what_is_no_file_is_left_out(tmp_path):
    (tmp_path / "out.json").write_bytes(b"x" * (workdir.OUTPUT_LIMIT + 5))
    (tmp_path / "empty").write_bytes(b"")
    (tmp_path / "secret").symlink_to("/etc/hostname")
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "dir").mkdir()
    found = workdir.outputs(str(tmp_path), command(outputs=("out.json", "empty", "secret", "pipe", "dir", "gone")))
    assert {name: len(content) for name, content in found.items()} == {"out.json": workdir.OUTPUT_LIMIT, "empty": 0}
