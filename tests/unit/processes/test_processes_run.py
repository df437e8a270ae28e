"""A child is run to its end, within its limits, and leaves nothing behind."""

from __future__ import annotations

import os
import pathlib
import signal
import subprocess
import sys
import textwrap
import time

import pytest

from afl_core.model.errors import ProcessError
from afl_core.processes import child
from afl_core.processes import run as processes

PYTHON = sys.executable


def run(script: str, tmp_path: pathlib.Path, **options):
    arguments = {"environment": {"PATH": os.environ["PATH"]}, "cwd": str(tmp_path), "deadline_seconds": 60.0} | options
    return processes.run([PYTHON, "-I", "-S", "-c", textwrap.dedent(script)], **arguments)


def alive(pid: int) -> bool:
    try:
        state = pathlib.Path(f"/proc/{pid}/stat").read_text("utf-8").rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return False
    return state != "Z"


def wait_for(condition) -> None:
    """Give the kernel time; a hang is ended by the time limit of the test run."""
    while not condition():
        time.sleep(0.02)


def test_input_output_and_status_pass_through(tmp_path):
    given = os.urandom(700_000)
    result = run(
        """
        import sys
        data = sys.stdin.buffer.read()
        sys.stdout.write(str(len(data)))
        sys.stderr.write("noted")
        sys.exit(7)
        """,
        tmp_path,
        stdin=given,
    )
    assert (result.returncode, result.stdout, result.stderr) == (7, b"700000", b"noted")
    assert not result.timed_out
    assert not result.overflowed


def test_a_child_that_reads_nothing_of_a_large_input_is_no_error(tmp_path):
    assert run("print('done')", tmp_path, stdin=b"x" * 5_000_000).stdout == b"done\n"


def test_the_child_sees_only_the_environment_and_directory_it_was_given(tmp_path):
    result = run("import os; print(sorted(os.environ), os.getcwd())", tmp_path, environment={"ONLY": "this", "LC_CTYPE": "C.UTF-8"})
    assert result.stdout.decode() == f"['LC_CTYPE', 'ONLY'] {tmp_path}\n"


def test_an_empty_input_is_an_ended_one(tmp_path):
    assert run("import sys; print(repr(sys.stdin.read()))", tmp_path).stdout == b"''\n"


def test_a_missing_command_is_named(tmp_path):
    with pytest.raises(ProcessError) as caught:
        processes.run(["no-such-reviewer"], environment={"PATH": "/usr/bin"}, cwd=str(tmp_path), deadline_seconds=10)
    assert "no-such-reviewer" in caught.value.sentence
    assert "No such file" in caught.value.sentence


def test_a_missing_directory_is_named(tmp_path):
    with pytest.raises(ProcessError) as caught:
        run("", tmp_path, cwd=str(tmp_path / "gone"))
    assert "gone" in caught.value.sentence


def test_a_file_that_may_not_be_executed_is_named(tmp_path):
    plain = tmp_path / "plain"
    plain.write_text("hello", "utf-8")
    with pytest.raises(ProcessError) as caught:
        processes.run([str(plain)], environment={}, cwd=str(tmp_path), deadline_seconds=10)
    assert "Permission denied" in caught.value.sentence


def test_the_deadline_ends_a_child_and_its_grandchild(tmp_path):
    result = run(
        """
        import subprocess, sys, time
        grandchild = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
        print(grandchild.pid, flush=True)
        time.sleep(600)
        """,
        tmp_path,
        deadline_seconds=2.0,
    )
    assert result.timed_out
    assert result.returncode == -signal.SIGTERM
    wait_for(lambda: not alive(int(result.stdout)))


def test_a_child_that_ignores_the_request_to_end_is_killed(tmp_path):
    result = run(
        """
        import signal, time
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        print("ignoring", flush=True)
        time.sleep(600)
        """,
        tmp_path,
        deadline_seconds=2.0,
    )
    assert result.timed_out
    assert result.returncode == -signal.SIGKILL


def test_too_much_output_ends_a_child_even_one_that_ignores_the_request(tmp_path):
    result = run(
        """
        import signal, sys
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        while True:
            sys.stdout.write("x" * 65536)
        """,
        tmp_path,
        stdout_limit=100_000,
    )
    assert result.overflowed
    assert len(result.stdout) == 100_000
    assert result.returncode == -signal.SIGKILL


def test_output_printed_just_before_the_end_counts_too(tmp_path):
    assert run("import os; os.write(1, b'x' * 60000)", tmp_path, stdout_limit=59_999).overflowed
    assert not run("import os; os.write(1, b'x' * 60000)", tmp_path, stdout_limit=60_000).overflowed


def test_of_endless_diagnostics_the_end_is_kept_and_the_child_goes_on(tmp_path):
    result = run("import sys; sys.stderr.write('x' * 2_000_000 + 'the reason'); print('fine')", tmp_path)
    assert result.stdout == b"fine\n"
    assert len(result.stderr) == child.STDERR_LIMIT
    assert processes.detail(result).endswith("the reason")
    assert len(processes.detail(result)) == processes.DETAIL_LIMIT


def test_a_grandchild_that_keeps_the_pipe_open_does_not_keep_us_waiting(tmp_path):
    result = run(
        """
        import subprocess, sys
        print(subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"]).pid)
        """,
        tmp_path,
    )
    assert result.returncode == 0
    assert not result.timed_out
    wait_for(lambda: not alive(int(result.stdout)))


def test_what_the_tick_raises_ends_the_child_and_is_raised(tmp_path):
    mark = tmp_path / "pid"

    def tick() -> None:
        if mark.exists() and mark.read_text("utf-8"):
            raise LookupError("the lease is gone")

    with pytest.raises(LookupError, match="the lease is gone"):
        run(f"import os, time; open({str(mark)!r}, 'w').write(str(os.getpid())); time.sleep(600)", tmp_path, on_tick=tick)
    assert not alive(int(mark.read_text("utf-8")))


def test_the_command_finds_no_child_it_did_not_start(tmp_path):
    result = run(
        """
        import os
        try:
            os.waitpid(-1, 0)
        except ChildProcessError:
            print("none")
        """,
        tmp_path,
    )
    assert result.stdout == b"none\n"


@pytest.mark.skipif(sys.platform != "linux", reason="looks at /proc")
def test_killing_the_parent_ends_the_child_and_the_grandchild(tmp_path):
    child = """
        import os, subprocess, sys, time
        grandchild = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
        open("pids.new", "w").write(f"{os.getpid()} {grandchild.pid}")
        os.rename("pids.new", "pids")
        time.sleep(600)
    """
    parent = f"""
        import sys
        from afl_core.processes.run import run
        run([sys.executable, "-c", {textwrap.dedent(child)!r}], environment={{}}, cwd={str(tmp_path)!r}, deadline_seconds=600)
    """
    process = subprocess.Popen([PYTHON, "-c", textwrap.dedent(parent)])
    wait_for((tmp_path / "pids").exists)
    pids = [int(word) for word in (tmp_path / "pids").read_text("utf-8").split()]
    assert all(alive(pid) for pid in pids)
    process.kill()
    process.wait()
    wait_for(lambda: not any(alive(pid) for pid in pids))
