"""Every path of a home is in the reference, and whatever a home holds after it was used is one of them, private."""

from __future__ import annotations

import fnmatch
import os
import stat

import pytest

from afl_core.settings.paths import Paths


@pytest.fixture
def documented(page, code):
    """[(name or '', path below the home)]."""
    rows = page("docs/reference/files.md").table("name", "path", "what it is")
    return [((code(row.cells["name"]) or [""])[0], code(row.cells["path"])[0]) for row in rows]


def test_every_path_that_afl_knows_is_documented_under_its_name_and_no_other(documented):
    known = {name: os.path.relpath(path, "/somewhere") for name, path in Paths("/somewhere").as_dict().items() if name != "home"}
    assert {name: path for name, path in documented if name} == known


def test_whatever_a_used_home_holds_is_documented_and_private(documented, home, run_afl):
    for command in ("afl install", "afl doctor --live", "afl uninstall", "afl install", "afl reconcile"):
        done = run_afl(command)
        assert done.returncode == 0, f"{command}\n{done.stdout}"
    patterns = [path for _, path in documented]
    found = []
    for folder, folders, files in os.walk(home / ".agent"):
        for name in [*folders, *files]:
            path = os.path.join(folder, name)
            mode = os.lstat(path).st_mode
            found.append(os.path.relpath(path, home))
            if not stat.S_ISSOCK(mode):
                assert stat.S_IMODE(mode) == (0o700 if stat.S_ISDIR(mode) else 0o600), path
    strangers = [path for path in found if not any(is_like(path, pattern) for pattern in patterns)]
    assert found
    assert strangers == []


def is_like(path, pattern):
    """Whether a documented path, or a directory on the way to one, is meant."""
    parts, wanted = path.split("/"), pattern.split("/")
    return len(parts) <= len(wanted) and all(fnmatch.fnmatchcase(part, want) for part, want in zip(parts, wanted, strict=False))
