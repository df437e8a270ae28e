"""Which project a directory belongs to, checked against repositories that git itself made."""

from __future__ import annotations

import os
import shutil
import subprocess

import pytest

from afl_core.capture import projects
from afl_core.capture.projects import lineage, locate, normal_url, unscoped
from afl_core.model.ids import digest

pytestmark = pytest.mark.skipif(not shutil.which("git"), reason="git is not installed")


@pytest.fixture(autouse=True)
def _no_memory_of_other_tests():
    projects._cache.clear()


def git(where, *arguments):
    quiet = ["-c", "protocol.file.allow=always", "-c", "init.defaultBranch=main"]
    subprocess.run(["git", *quiet, "-C", str(where), *arguments], check=True, capture_output=True, timeout=60)


@pytest.fixture
def repository(tmp_path):
    root = tmp_path / "repo"
    (root / "deep" / "er").mkdir(parents=True)
    git(root, "init")
    git(root, "commit", "--allow-empty", "-m", "first")
    return root


def test_every_directory_of_a_repository_is_one_project_named_by_its_git_directory(repository):
    found = {locate(str(path)) for path in (repository, repository / "deep", repository / "deep" / "er", repository / ".git" / "hooks")}
    (project,) = found
    assert (project.root, project.kind) == (os.path.realpath(repository / ".git"), "git")
    assert project.project_id == digest("project:v1", project.root)[:32]


def test_a_worktree_is_the_project_of_its_repository(repository, tmp_path):
    git(repository, "worktree", "add", str(tmp_path / "tree"))
    assert locate(str(tmp_path / "tree")) == locate(str(repository))


def test_a_worktree_of_a_bare_repository_is_the_project_of_the_bare_one(repository, tmp_path):
    git(tmp_path, "clone", "--bare", str(repository), "bare.git")
    git(tmp_path / "bare.git", "worktree", "add", str(tmp_path / "tree"))
    assert locate(str(tmp_path / "tree")) == locate(str(tmp_path / "bare.git"))
    assert locate(str(tmp_path / "bare.git")).root == os.path.realpath(tmp_path / "bare.git")


def test_a_submodule_is_a_project_of_its_own(repository, tmp_path):
    other = tmp_path / "other"
    other.mkdir()
    git(other, "init")
    git(other, "commit", "--allow-empty", "-m", "first")
    git(repository, "submodule", "add", str(other), "sub")
    inner = locate(str(repository / "sub"))
    assert inner.root == os.path.realpath(repository / ".git" / "modules" / "sub")
    assert inner != locate(str(repository))


def test_a_link_to_a_repository_is_the_repository(repository, tmp_path):
    os.symlink(repository / "deep", tmp_path / "link")
    assert locate(str(tmp_path / "link" / "er")) == locate(str(repository))


def test_a_directory_outside_of_any_repository_is_a_project_by_itself(tmp_path):
    (tmp_path / "plain").mkdir()
    found = locate(str(tmp_path / "plain"))
    assert (found.root, found.kind) == (os.path.realpath(tmp_path / "plain"), "directory")
    assert found != locate(str(tmp_path))


def test_a_directory_that_is_gone_still_has_its_project(repository, tmp_path):
    assert locate(str(repository / "was" / "here")) == locate(str(repository))
    assert locate(str(tmp_path / "never")).kind == "directory"


@pytest.mark.parametrize("broken", ["", "gitdir: /nowhere", "something else", "gitdir:"])
def test_a_git_file_that_leads_nowhere_is_passed_over(tmp_path, broken):
    (tmp_path / "x").mkdir()
    (tmp_path / "x" / ".git").write_text(broken, "utf-8")
    assert locate(str(tmp_path / "x")).kind == "directory"


def test_an_empty_git_directory_is_no_repository(tmp_path):
    (tmp_path / ".git").mkdir()
    assert locate(str(tmp_path)).kind == "directory"


def test_a_session_without_a_directory_is_a_project_by_itself():
    assert unscoped("claude:1") == unscoped("claude:1")
    assert unscoped("claude:1").project_id != unscoped("claude:2").project_id
    assert (unscoped("claude:1").root, unscoped("claude:1").kind) == ("", "unscoped")


@pytest.mark.parametrize(
    "url",
    [
        "https://example.org/owner/repo.git",
        "https://example.org/owner/repo",
        "https://someone:secret@example.org/owner/repo.git/",
        "https://EXAMPLE.org:443/owner/repo?x=1",
        "ssh://git@example.org/owner/repo.git",
        "ssh://git@example.org:22/owner/repo.git",
        "git@example.org:owner/repo.git",
        "git@example.org:/owner/repo.git",
        "git://example.org/owner/repo",
    ],
)
def test_every_way_to_write_one_remote_is_one_lineage(repository, url):
    assert normal_url(url, "/") == "example.org/owner/repo"
    git(repository, "remote", "add", "origin", url)
    assert lineage(locate(str(repository)).root) == digest("lineage:v1", "example.org/owner/repo")


def test_another_port_another_host_or_another_path_is_another_lineage():
    urls = ["https://a.org/o/r", "https://b.org/o/r", "https://a.org:8443/o/r", "https://a.org/o/r2", "ssh://git@[::1]:22/o/r", "../o/r"]
    assert len({normal_url(url, "/x/y") for url in urls}) == len(urls)


def test_a_local_remote_is_named_by_its_real_path(repository, tmp_path):
    git(repository, "clone", str(repository), str(tmp_path / "one"))
    git(repository, "clone", f"file://{repository}", str(tmp_path / "two"))
    assert lineage(str(tmp_path / "one" / ".git")) == lineage(str(tmp_path / "two" / ".git"))
    assert normal_url("../other.git", "/home/x/repo/.git") == "file:/home/x/other"


def test_origin_counts_before_other_remotes_and_a_repository_without_any_has_no_lineage(repository):
    assert lineage(str(repository / ".git")) is None
    git(repository, "remote", "add", "first", "https://example.org/a/first")
    assert lineage(str(repository / ".git")) == digest("lineage:v1", "example.org/a/first")
    git(repository, "remote", "add", "origin", "https://example.org/a/origin")
    assert lineage(str(repository / ".git")) == digest("lineage:v1", "example.org/a/origin")


def test_quotes_and_comments_of_the_configuration_are_understood(tmp_path):
    (tmp_path / "config").write_text('[core]\n\turl = no\n[Remote "origin"] ; mine\n\tURL = "https://example.org/a#b"  # here\n', "utf-8")
    assert lineage(str(tmp_path)) == digest("lineage:v1", "example.org/a")


def test_a_configuration_that_cannot_be_read_gives_no_lineage(tmp_path):
    assert lineage(str(tmp_path / "nothing")) is None
