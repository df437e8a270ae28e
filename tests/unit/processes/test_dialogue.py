"""A dialogue with a child: answers are found among other talk, time and size are bounded, and nothing of the child is left."""

from __future__ import annotations

import os
import sys
import textwrap
import time

import pytest

from afl_core.model.errors import ProcessError
from afl_core.processes import dialogue as dialogues
from afl_core.processes.dialogue import dialogue

PRELUDE = """
import json, os, sys, time
def say(**message):
    sys.stdout.write(json.dumps(message) + "\\n")
    sys.stdout.flush()
"""


@pytest.fixture
def talking(tmp_path):
    """Open a dialogue with a child that runs `script`."""

    def opened(script):
        argv = [sys.executable, "-I", "-S", "-c", PRELUDE + textwrap.dedent(script)]
        return dialogue(argv, environment={"PATH": os.defpath, "HERE": str(tmp_path)}, cwd=str(tmp_path))

    return opened


ECHO = """
for line in sys.stdin:
    asked = json.loads(line)
    if "id" in asked:
        say(method="noise", params={})
        print("no JSON at all", flush=True)
        say(id=asked["id"], method="question", params={})
        say(id=asked["id"] + 100, result={"of": "another"})
        say(id=asked["id"], result={"heard": asked["method"]})
    else:
        open(os.environ["HERE"] + "/told", "a").write(asked["method"] + " ")
open(os.environ["HERE"] + "/ended", "w").close()
"""


def test_the_answer_is_found_among_notifications_requests_and_noise(talking, tmp_path):
    with talking(ECHO) as held:
        assert held.ask({"method": "one", "id": 1}, 1)["result"] == {"heard": "one"}
        held.tell({"method": "told"})
        assert held.ask({"method": "two", "id": 2}, 2)["result"] == {"heard": "two"}
    assert (tmp_path / "told").read_text() == "told "


def test_afterwards_its_input_is_closed_so_that_it_can_end_by_itself(talking, tmp_path):
    with talking(ECHO) as held:
        held.ask({"method": "one", "id": 1}, 1)
    assert (tmp_path / "ended").exists()


def test_an_answer_that_does_not_come_in_time_is_an_error_of_that_request(talking):
    with pytest.raises(ProcessError) as late, talking("sys.stdin.readline(); time.sleep(600)") as held:
        held.ask({"method": "one", "id": 1}, 1, seconds=0.5)
    assert late.value.code == "AFL-PROCESS-004"


def test_a_child_that_ends_instead_of_answering_is_named(talking):
    with pytest.raises(ProcessError) as gone, talking("sys.stdin.readline(); sys.exit(3)") as held:
        held.ask({"method": "one", "id": 1}, 1, seconds=60)
    assert gone.value.code == "AFL-PROCESS-005"


def test_a_child_that_reads_nothing_and_ends_is_no_broken_pipe(talking):
    with pytest.raises(ProcessError) as gone, talking("pass") as held:
        held.ask({"method": "x" * 500_000, "id": 1}, 1, seconds=60)
    assert gone.value.code == "AFL-PROCESS-005"


@pytest.mark.parametrize("talk", ["sys.stdout.write('x' * 200_000)", "[say(method='n', text='y' * 900) for _ in range(200)]"])
def test_a_child_that_says_too_much_is_ended(talking, monkeypatch, talk):
    monkeypatch.setattr(dialogues, "LINE_LIMIT", 100_000)
    monkeypatch.setattr(dialogues, "HEARD_LIMIT", 100_000)
    with pytest.raises(ProcessError) as loud, talking(f"sys.stdin.readline()\n{talk}\nsys.stdout.flush()\ntime.sleep(600)") as held:
        held.ask({"method": "one", "id": 1}, 1, seconds=60)
    assert loud.value.code == "AFL-PROCESS-006"


def test_a_command_that_is_not_there_cannot_be_started(tmp_path):
    with pytest.raises(ProcessError) as missing, dialogue(["no-such-server"], environment={"PATH": os.defpath}, cwd=str(tmp_path)):
        pass
    assert missing.value.code == "AFL-PROCESS-001"


def test_what_the_child_started_and_a_child_that_will_not_end_are_ended_too(talking, tmp_path):
    stubborn = """
    import signal
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    if os.fork() == 0:
        time.sleep(600)
    open(os.environ["HERE"] + "/pid", "w").write(str(os.getpid()))
    sys.stdin.readline()
    say(id=1, result={})
    time.sleep(600)
    """
    with talking(stubborn) as held:
        held.ask({"method": "one", "id": 1}, 1, seconds=60)
    group = int((tmp_path / "pid").read_text())
    until = time.monotonic() + 60
    while time.monotonic() < until:
        try:
            os.killpg(group, 0)
        except (ProcessLookupError, PermissionError):
            return
        time.sleep(0.05)
    pytest.fail("the group is still there")
