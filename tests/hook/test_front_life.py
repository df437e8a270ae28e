"""How a front begins, is replaced by another build, and leaves."""

from __future__ import annotations

import os
import pathlib
import shutil
import signal
import socket

from afl_core.worker.client import ask


def test_run_and_socket_are_for_this_user_only(rendered):
    rendered.start_front()
    assert os.stat(rendered.paths.run).st_mode & 0o777 == 0o700
    assert os.stat(rendered.paths.socket).st_mode & 0o777 == 0o600
    for name in os.listdir(rendered.paths.run):
        assert os.lstat(os.path.join(rendered.paths.run, name)).st_mode & 0o077 == 0, name


def test_a_front_started_by_a_hook_is_detached_from_the_host(rendered):
    read_end, write_end = os.pipe()
    os.set_inheritable(write_end, True)
    env = {"SECRET_TOKEN": "s", "LC_ALL": "C", "TZ": "UTC", "ANTHROPIC_API_KEY": "k"}
    rendered.prompt("hello", env=env)
    pid = rendered.front()
    process = pathlib.Path(f"/proc/{pid}")
    names = {pair.partition(b"=")[0] for pair in (process / "environ").read_bytes().split(b"\0") if pair}
    assert names >= {b"HOME", b"PATH", b"LC_ALL", b"TZ"}
    assert not names & {b"SECRET_TOKEN", b"ANTHROPIC_API_KEY"}
    assert os.readlink(process / "cwd") == "/"
    assert os.getsid(pid) == pid
    assert {os.readlink(process / "fd" / str(number)) for number in (0, 1, 2)} == {"/dev/null"}
    os.close(write_end)
    assert os.read(read_end, 1) == b""  # nobody else holds the pipe open
    os.close(read_end)


def test_told_to_end_it_answers_whom_it_let_in_takes_its_socket_away_and_leaves(rendered):
    process = rendered.start_front()
    pid = rendered.front()
    with socket.socket(socket.AF_UNIX) as link:
        link.settimeout(30)
        link.connect(rendered.paths.socket)
        os.kill(pid, signal.SIGSTOP)
        os.kill(pid, signal.SIGTERM)
        link.sendall(b"AFL1 " + b"0" * 32 + f" claude health {rendered.build} 0 0 0\n".encode())
        os.kill(pid, signal.SIGCONT)
        assert link.recv(4096).endswith(b"\n\x04")
    assert process.wait(30) == 0
    assert not os.path.exists(rendered.paths.socket)
    assert rendered.prompt("a new one comes") == b"{}"
    assert len(rendered.intake()) == 1


def test_a_hook_of_a_newer_build_is_served_and_then_the_front_makes_way(rendered):
    first = rendered.start_front()
    rendered.build = "2-test"
    rendered.render()
    rendered.install_build("2-test")
    assert rendered.prompt("one") == b"{}"
    assert len(rendered.intake()) == 1
    assert first.wait(30) == 0
    assert rendered.prompt("two") == b"{}"
    assert len(rendered.intake()) == 2
    assert rendered.health()["build"] == "2-test"


def test_a_hook_of_an_older_build_is_served_by_a_newer_front_which_stays(rendered):
    rendered.start_front()
    pid = rendered.health()["pid"]
    rendered.render(BUILD="0-old")
    assert rendered.prompt("from the past") == b"{}"
    assert rendered.prompt("and again") == b"{}"
    assert rendered.health()["pid"] == pid
    assert len(rendered.intake()) == 2


def test_prompts_during_a_replacement_are_all_answered_and_kept(rendered):
    rendered.start_front()
    rendered.build = "2-test"
    rendered.render()
    rendered.install_build("2-test")
    hooks = [rendered.start("UserPromptSubmit", b'{"session_id": "s%d", "prompt": "x", "cwd": "/"}' % number) for number in range(8)]
    assert [rendered.finish(hook) for hook in hooks] == [b"{}"] * 8
    rendered.wait(lambda: not rendered.spooled() and len(rendered.intake()) == 8)
    assert rendered.prompt("after") == b"{}"
    assert rendered.health()["build"] == "2-test"


def test_the_front_of_a_home_that_is_gone_leaves(rendered):
    process = rendered.start_front()
    shutil.rmtree(rendered.paths.pack)
    assert process.wait(30) == 0


def test_a_front_whose_socket_was_replaced_leaves_and_does_not_take_the_new_one_away(rendered):
    process = rendered.start_front()
    os.unlink(rendered.paths.socket)
    pathlib.Path(rendered.paths.socket).touch()
    assert process.wait(30) == 0
    assert os.path.exists(rendered.paths.socket)


def test_a_front_without_a_database_says_so_in_the_log_and_leaves(rendered):
    os.unlink(rendered.paths.database)
    assert rendered.spawn_front().wait(30) == 1
    assert "AFL-STORE-001" in pathlib.Path(rendered.paths.runtime_log).read_text("utf-8")


def test_a_front_refuses_a_run_directory_that_is_a_link(rendered):
    elsewhere = rendered.home / "elsewhere"
    os.rename(rendered.paths.run, elsewhere)
    os.symlink(elsewhere, rendered.paths.run)
    assert rendered.spawn_front().wait(30) == 1
    assert os.listdir(elsewhere) == []


def test_the_log_names_ids_and_failures_and_never_what_was_said(rendered):
    rendered.prompt("something private")
    rendered.fire("UserPromptSubmit", b"private rubbish")
    rendered.kill_fronts(signal.SIGTERM)
    log = pathlib.Path(rendered.paths.runtime_log).read_text("utf-8")
    assert "serves" in log
    assert "left" in log
    assert "private" not in log


def test_asking_where_no_front_runs_gives_nothing_and_starts_none(rendered):
    assert ask(rendered.paths, "claude", "health", b"", 1.0) is None
    assert rendered.fronts() == []


def test_a_start_that_leads_nowhere_is_tried_once_in_ten_seconds(rendered):
    rendered.render(PYTHON=str(rendered.home / "starts"))
    script = rendered.home / "starts"
    script.write_text(f"#!/bin/sh\necho x >> '{rendered.home}/tries'\n", "utf-8")
    script.chmod(0o700)
    for _ in range(4):
        rendered.fire("SessionStart", b'{"session_id": "s"}')
    assert (rendered.home / "tries").read_text("utf-8") == "x\n"
    os.utime(pathlib.Path(rendered.paths.run, "woken"), (2**33, 2**33))  # the clock was wrong when it was made
    rendered.fire("SessionStart", b'{"session_id": "s"}')
    rendered.wait(lambda: (rendered.home / "tries").read_text("utf-8") == "x\nx\n")
