"""Files a reviewer's command is given and leaves behind: only in its own directory, private, gone with the review."""

from __future__ import annotations

import os
import stat

import pytest

from afl_core.model.errors import ReviewError
from afl_core.review import workdir
from afl_core.spec.reviewer import ReviewerCommand


def command(**fields):
    return ReviewerCommand(argv=("true",), stdin=b"", **fields)


def test_files_are_written_privately_and_the_folder_is_made(tmp_path):
    folder = workdir.prepare(str(tmp_path), command(files={"a/b.json": b"{}", "c": b"1"}, folder="here/empty"))
    assert folder == str(tmp_path / "here/empty")
    assert os.listdir(folder) == []
    assert (tmp_path / "a/b.json").read_bytes() == b"{}"
    assert {stat.S_IMODE((tmp_path / name).stat().st_mode) for name in ("a/b.json", "c")} == {0o600}
    assert {stat.S_IMODE((tmp_path / name).stat().st_mode) for name in ("a", "here", "here/empty")} == {0o700}


def test_without_a_folder_the_command_runs_in_the_directory_itself(tmp_path):
    assert workdir.prepare(str(tmp_path), command()) == str(tmp_path)


@pytest.mark.parametrize("name", ["../x", "/etc/x", "a/../../x", ""])
def test_a_path_that_leaves_the_directory_is_refused(tmp_path, name):
    with pytest.raises(ReviewError) as caught:
        workdir.prepare(str(tmp_path), command(files={name: b""}))
    assert caught.value.reason == "reviewer_broken"


def test_outputs_are_read_back_and_what_is_no_file_is_left_out(tmp_path):
    (tmp_path / "out.json").write_bytes(b"x" * (workdir.OUTPUT_LIMIT + 5))
    (tmp_path / "empty").write_bytes(b"")
    (tmp_path / "secret").symlink_to("/etc/hostname")
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "dir").mkdir()
    found = workdir.outputs(str(tmp_path), command(outputs=("out.json", "empty", "secret", "pipe", "dir", "gone")))
    assert {name: len(content) for name, content in found.items()} == {"out.json": workdir.OUTPUT_LIMIT, "empty": 0}
