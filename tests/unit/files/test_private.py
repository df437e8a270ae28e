"""Private directories and files: made tight, refused when they are links, of the wrong kind or another person's."""

from __future__ import annotations

import os
import pathlib
import stat

import pytest

from afl_core.files.private import check_private_file, ensure_private_dir, read_private_file, write_private_file
from afl_core.model.errors import PathError


def _mode(path: pathlib.Path) -> int:
    return stat.S_IMODE(os.stat(path).st_mode)


def test_every_made_directory_is_private_whatever_the_umask(tmp_path: pathlib.Path) -> None:
    before = os.umask(0)
    try:
        ensure_private_dir(str(tmp_path / "a" / "b" / "c"), str(tmp_path))
    finally:
        os.umask(before)
    assert {_mode(tmp_path / part) for part in ("a", "a/b", "a/b/c")} == {0o700}


def test_a_loose_directory_is_tightened(tmp_path: pathlib.Path) -> None:
    (tmp_path / "loose").mkdir(mode=0o755)
    ensure_private_dir(str(tmp_path / "loose"), str(tmp_path))
    assert _mode(tmp_path / "loose") == 0o700


def test_a_link_anywhere_below_the_base_is_refused(tmp_path: pathlib.Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    for path in ("link", "link/deeper/still"):
        with pytest.raises(PathError, match="is a symbolic link"):
            ensure_private_dir(str(tmp_path / path), str(tmp_path))
    assert list((tmp_path / "real").iterdir()) == []


def test_a_file_where_a_directory_must_be_is_refused(tmp_path: pathlib.Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(PathError, match="is not a directory"):
        ensure_private_dir(str(tmp_path / "file" / "below"), str(tmp_path))


@pytest.mark.skipif(os.getuid() != 0, reason="only root can give a directory to another user")
def test_another_persons_directory_or_file_is_refused(tmp_path: pathlib.Path) -> None:
    (tmp_path / "theirs").mkdir()
    (tmp_path / "their-file").write_text("x")
    os.chown(tmp_path / "theirs", 12345, 12345)
    os.chown(tmp_path / "their-file", 12345, 12345)
    with pytest.raises(PathError, match="belongs to user 12345"):
        ensure_private_dir(str(tmp_path / "theirs" / "deep"), str(tmp_path))
    with pytest.raises(PathError, match="belongs to user 12345"):
        check_private_file(str(tmp_path / "their-file"))


def test_a_private_file_is_0600_and_replaced_whole(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "key"
    write_private_file(str(path), b"one")
    write_private_file(str(path), b"two")
    assert read_private_file(str(path)) == b"two"
    assert _mode(path) == 0o600
    assert os.listdir(tmp_path) == ["key"]


def test_an_existing_file_is_kept_when_it_may_not_be_replaced(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "key"
    write_private_file(str(path), b"one", replace=False)
    with pytest.raises(PathError, match="is already there"):
        write_private_file(str(path), b"two", replace=False)
    assert path.read_bytes() == b"one"
    assert os.listdir(tmp_path) == ["key"]


def test_a_loose_file_is_tightened_and_a_link_is_refused(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "key"
    path.write_bytes(b"x")
    path.chmod(0o644)
    assert check_private_file(str(path))
    assert _mode(path) == 0o600
    path.chmod(0o444)
    assert check_private_file(str(path))
    assert _mode(path) == 0o400  # nobody is given a right that he took from himself
    (tmp_path / "link").symlink_to(path)
    with pytest.raises(PathError, match="is a link"):
        read_private_file(str(tmp_path / "link"))
    assert read_private_file(str(tmp_path / "missing")) is None
