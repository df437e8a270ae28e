"""What the jobs process reads from the front, and a log that cannot be written."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from afl_core.worker.mailbox import MAX_LINE, Mailbox
from afl_core.worker.reviewing import Reviews


@pytest.fixture
def pipe():
    read_end, write_end = os.pipe()
    ends = [read_end, write_end]
    yield ends
    for end in ends:
        os.close(end)


def test_messages_are_given_in_order_and_half_a_line_waits_for_its_end(pipe):
    read_end, write_end = pipe
    os.write(write_end, b'{"session": "a"}\n{"session": "b"}\n{"sess')
    box = Mailbox(read_end)
    assert [message["session"] for message in box.wait(5)] == ["a", "b"]
    assert box.wait(0) == []
    os.write(write_end, b'ion": "c"}\n')
    assert [message["session"] for message in box.wait(5)] == ["c"]


def test_what_is_no_message_is_passed_over(pipe):
    read_end, write_end = pipe
    os.write(write_end, b'no json\n[1]\n"text"\n' + b"[" * 5000 + b'\n{"session": "a"}\n')
    assert Mailbox(read_end).wait(5) == [{"session": "a"}]


def test_a_line_without_an_end_is_not_kept_for_ever(pipe):
    read_end, write_end = pipe
    os.set_blocking(write_end, False)
    box, sent = Mailbox(read_end), 0
    while sent <= MAX_LINE:
        sent += os.write(write_end, b"x" * 4096)
        box.wait(0)
    os.write(write_end, b'\n{"session": "a"}\n')
    assert box.wait(5) == [{"session": "a"}]


def test_the_last_messages_are_read_after_the_end(pipe):
    read_end, write_end = pipe
    os.write(write_end, b'{"session": "a"}\n')
    os.close(write_end)
    pipe.remove(write_end)
    box = Mailbox(read_end)
    assert box.closed
    assert box.wait(5) == [{"session": "a"}]


def test_a_file_in_place_of_a_pipe_is_read_to_its_end(tmp_path):
    (tmp_path / "lines").write_text(json.dumps({"session": "a"}) + "\n", "utf-8")
    with open(tmp_path / "lines", "rb") as handle:
        box = Mailbox(handle.fileno())
        assert box.wait(0) == [{"session": "a"}]
        assert box.closed


def test_a_review_gets_its_own_sessions_environment_else_the_latest_of_the_same_host():
    reviews = Reviews("/nowhere", {})
    assert reviews.environment("claude:1", "claude") is None
    reviews.learn("other:1", {"WHERE": "other"})
    assert reviews.environment("claude:1", "claude") is None
    reviews.learn("claude:1", {"WHERE": "one"})
    reviews.learn("claude:2", {"WHERE": "two"})
    assert reviews.environment("claude:1", "claude") == {"WHERE": "one"}
    assert reviews.environment("claude:3", "claude") == {"WHERE": "two"}
    reviews.learn("claude:1", {"WHERE": "one again"})
    assert reviews.environment(None, "claude") == {"WHERE": "one again"}


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no /dev/full here")
def test_a_log_on_a_full_disk_drops_its_lines_and_nothing_else(tmp_path, child_environment):
    code = (
        "import logging, sys; from afl_core.worker.logs import open_log; open_log(sys.argv[1], 1000);"
        " [logging.getLogger('afl.jobs').warning('line %d', n) for n in range(50)]; print('went on')"
    )
    environment = {**child_environment, "AGENT_FEEDBACK_LOOP_LOG": "/dev/full"}
    done = subprocess.run([sys.executable, "-I", "-c", code, str(tmp_path / "log")], env=environment, capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, "went on\n", "")


def test_a_log_that_is_a_link_is_refused(tmp_path, child_environment):
    (tmp_path / "log").symlink_to(tmp_path / "elsewhere")
    code = "import sys; from afl_core.worker.logs import open_log; open_log(sys.argv[1], 1000)"
    done = subprocess.run([sys.executable, "-I", "-c", code, str(tmp_path / "log")], env=child_environment, capture_output=True, text=True)
    assert "is a symbolic link" in done.stderr
    assert not (tmp_path / "elsewhere").exists()
