"""Whatever is missing, foreign or read-only: exit 0, nothing on standard error, nothing but a no-op on standard output."""

from __future__ import annotations

import os
import pathlib
import shutil
import subprocess

import pytest

from afl_core.hook import constants as unrendered

PROMPT = b'{"session_id": "s1", "prompt": "x", "cwd": "/"}'


def test_a_missing_hook_file_is_silent(rendered):
    rendered.hook.unlink()
    assert rendered.fire("UserPromptSubmit", PROMPT) == b""


def test_a_missing_folder_is_silent(rendered):
    shutil.rmtree(rendered.paths.pack)
    assert rendered.fire("Stop", PROMPT) == b""


def test_a_missing_interpreter_is_silent(rendered):
    assert rendered.fire("UserPromptSubmit", PROMPT, python=str(rendered.home / "no python")) == b""


def test_a_half_copied_pack_is_silent(rendered):
    pathlib.Path(rendered.paths.hook_dir, "client.py").unlink()
    assert rendered.fire("UserPromptSubmit", PROMPT) == b""


@pytest.mark.parametrize("shell", ["dash", "bash", "zsh", "ksh"])
def test_the_command_means_the_same_in_every_bourne_shell_and_in_a_home_with_an_awkward_name(rendered, shell):
    if not shutil.which(shell):
        pytest.skip(f"{shell} is not installed")
    awkward = rendered.home / 'it\'s a $(touch gone) "home"'
    shutil.copytree(rendered.paths.hook_dir, awkward)
    command = rendered.command("UserPromptSubmit", hook=str(awkward / "hook.py"))
    done = subprocess.run(
        [shell, "-c", command], input=PROMPT, capture_output=True, env=rendered.environment, cwd=rendered.home, timeout=30
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, b"{}", b"")
    assert not (rendered.home / "gone").exists()


def test_the_file_as_shipped_names_no_home_and_answers_the_no_op(rendered):
    assert unrendered.HOME == ""
    shutil.copyfile(unrendered.__file__, pathlib.Path(rendered.paths.hook_dir, "constants.py"))
    assert rendered.fire("UserPromptSubmit", PROMPT) == b"{}"
    assert (rendered.fronts(), rendered.spooled(), rendered.hook_counts()) == ([], [], {})


def test_inside_our_own_reviewer_the_hook_leaves_at_once_and_prints_nothing(rendered):
    assert rendered.fire("UserPromptSubmit", PROMPT, env={"AFL_REVIEW_JOB_ID": ""}) == b""
    assert (rendered.fronts(), rendered.spooled()) == ([], [])


def test_a_data_directory_that_is_gone_is_no_error_and_is_not_made_again(rendered):
    shutil.rmtree(rendered.paths.data)
    assert rendered.fire("UserPromptSubmit", PROMPT) == b"{}"
    assert not os.path.exists(rendered.paths.data)


def test_a_run_directory_that_is_gone_is_made_again(rendered):
    shutil.rmtree(rendered.paths.run)
    assert rendered.fire("UserPromptSubmit", PROMPT) == b"{}"
    assert len(rendered.intake()) == 1


def test_a_run_directory_behind_a_link_is_refused(rendered):
    elsewhere = rendered.home / "elsewhere"
    os.rename(rendered.paths.run, elsewhere)
    os.symlink(elsewhere, rendered.paths.run)
    assert rendered.fire("UserPromptSubmit", PROMPT) == b"{}"
    assert (os.listdir(elsewhere), rendered.fronts(), rendered.spooled()) == ([], [], [])


def test_a_run_directory_others_may_enter_is_refused(rendered):
    os.chmod(rendered.paths.run, 0o755)
    assert rendered.fire("UserPromptSubmit", PROMPT) == b"{}"
    assert (rendered.fronts(), rendered.spooled()) == ([], [])


def test_a_run_directory_of_somebody_else_is_refused(rendered):
    if os.geteuid() == 0:
        os.chown(rendered.paths.run, 65534, 65534)
    else:
        rendered.render(RUN="/root")
    assert rendered.fire("UserPromptSubmit", PROMPT) == b"{}"
    assert (rendered.fronts(), rendered.spooled()) == ([], [])


def test_a_spool_of_somebody_else_gets_nothing(rendered):
    rendered.start_front().kill()
    rendered.kill_fronts()
    pathlib.Path(rendered.paths.spool_key).write_bytes(os.urandom(40))
    pathlib.Path(rendered.paths.run, "woken").touch()
    os.chmod(rendered.paths.spool, 0o777)
    assert rendered.fire("Stop", PROMPT) == b"{}"
    assert (rendered.spooled(), rendered.hook_counts()) == ([], {"disk": 1})


def read_only(home: pathlib.Path) -> list[str]:
    """A prefix that runs a command where `home` cannot be written; skips where that cannot be had."""
    if os.geteuid() != 0:
        pytest.skip("needs to be root: for anybody else the mode of a directory they own is no obstacle to a test, but to its clean-up")
    script = 'mount --bind "$0" "$0" && mount -o remount,ro,bind "$0" && exec "$@"'
    prefix = ["unshare", "-m", "sh", "-c", script, str(home)]
    if not shutil.which("unshare") or subprocess.run([*prefix, "true"], capture_output=True, timeout=30).returncode:
        pytest.skip("no mount namespaces here")
    return prefix


@pytest.mark.parametrize("event", ["UserPromptSubmit", "Stop", "SessionStart", "SessionEnd"])
def test_a_home_that_cannot_be_written_is_no_error(rendered, event):
    assert rendered.fire(event, PROMPT, prefix=read_only(rendered.home)) == b"{}"
    assert (rendered.fronts(), rendered.spooled()) == ([], [])
