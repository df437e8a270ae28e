"""The guard of tests/conftest.py: a test that leaves something behind fails and says what; real coding agents can be made obligatory."""

from __future__ import annotations

import shutil
import sys

import pytest

HEADER = "import os, pathlib, subprocess, sys, time, pytest\n"


@pytest.fixture
def suite(tmp_path, root, run):
    """Run a test file of the given text beside the real conftest.py and the real settings; gives what pytest printed."""
    shutil.copy(root / "pyproject.toml", tmp_path)
    (tmp_path / "tests").mkdir()
    shutil.copy(root / "tests/conftest.py", tmp_path / "tests")

    def suite(text, status, **extra):
        (tmp_path / "tests/test_inner.py").write_text(HEADER + text, "utf-8")
        # Whatever the outer run requires or has: each inner run says it anew.
        chosen = {"AFL_REQUIRE_REAL_CLI": "", "AFL_CLAUDE_BIN": "", **extra}
        return run(sys.executable, "-P", "-m", "pytest", "-p", "no:cacheprovider", "tests", cwd=tmp_path, status=status, **chosen).stdout

    return suite


@pytest.mark.parametrize(
    ("statement", "said"),
    [
        ("os.environ['PLANTED'] = '1'", "os.environ changed: PLANTED"),
        ("os.environ.pop('PATH')", "os.environ changed: PATH"),
        ("os.chdir('/')", "the working directory changed to /"),
        ("pathlib.Path.home().joinpath('planted').touch()", "was written to the home of whoever runs the tests: planted"),
    ],
)
def test_a_trace_fails_the_test_that_left_it_and_is_gone_for_the_next(suite, statement, said):
    text = f"def test_leaves():\n    {statement}\ndef test_next():\n    assert 'PLANTED' not in os.environ and os.environ['PATH']\n"
    shown = suite(text, 1)
    assert said in shown
    assert "2 passed, 1 error" in shown


@pytest.mark.skipif(sys.platform != "linux", reason="children are listed through /proc")
def test_a_child_left_running_fails_the_test_and_is_ended(suite):
    shown = suite(
        "kept = []\ndef test_leaves():\n    kept.append(subprocess.Popen(['sleep', '987']))\ndef test_next():\n    kept[0].wait(5)\n", 1
    )
    assert "was left: sleep 987" in shown
    assert "2 passed, 1 error" in shown


@pytest.mark.skipif(sys.platform != "linux", reason="processes are searched through /proc")
def test_a_daemon_of_a_home_ends_with_the_home(suite):
    daemon = "subprocess.run(['sh', '-c', 'sleep 986 >/dev/null 2>&1 & echo $!'], env=child_environment, stdout=subprocess.PIPE).stdout"
    shown = suite(
        "pids = []\n"
        f"def test_leaves(home, child_environment):\n    pids.append((int({daemon}), home))\n"
        "def test_next():\n    pid, home = pids[0]\n    assert not home.exists()\n"
        "    stat, end = pathlib.Path(f'/proc/{pid}/stat'), time.monotonic() + 60\n"
        "    while stat.exists() and stat.read_text().split()[2] != 'Z':\n        assert time.monotonic() < end\n        time.sleep(0.01)\n",
        0,
    )
    assert "2 passed" in shown


def test_neither_home_nor_settings_of_the_person_reach_a_test(suite, tmp_path):
    text = f"def test_sees():\n    assert os.environ['HOME'] != {str(tmp_path)!r}\n    assert not set(os.environ) & {{'AFL_HOME', 'CLAUDECODE'}}\n"
    assert "1 passed" in suite(text, 0, HOME=str(tmp_path), AFL_HOME="/x", CLAUDECODE="1")


def test_a_home_is_private_short_and_fresh(home):
    assert home.stat().st_mode & 0o777 == 0o700
    assert len(str(home / ".local/share/agent-feedback-loop/run/front.sock")) < 100
    assert list(home.iterdir()) == []


def test_a_clock_stands_still_until_it_is_told(clock):
    start = clock()
    assert clock() == start
    assert clock.advance(seconds=2, days=1) == clock() == start + 2_000 + 86_400_000


SKIPPED = "@pytest.mark.real_cli\ndef test_real():\n    pytest.skip('it is not there')\n"
SKIPPED_IN_A_FIXTURE = "@pytest.mark.real_cli\ndef test_real(claude_bin):\n    pass\n"
SKIPPED_AS_A_FILE = "pytestmark = pytest.mark.real_cli\npytest.skip('it is not there', allow_module_level=True)\n"


@pytest.mark.parametrize("text", [SKIPPED, SKIPPED_IN_A_FIXTURE, SKIPPED_AS_A_FILE], ids=["test", "fixture", "file"])
def test_a_skipped_real_agent_is_counted_with_its_reason_and_fails_where_it_is_required(suite, text):
    allowed = suite(text, 5 if text is SKIPPED_AS_A_FILE else 0)
    assert "1 skipped" in allowed
    assert "not there" in allowed or "AFL_CLAUDE_BIN is not set" in allowed
    required = suite(text, 2 if text is SKIPPED_AS_A_FILE else 1, AFL_REQUIRE_REAL_CLI="1")
    assert "a real coding agent is required here" in required


def test_any_other_skip_stays_a_skip_where_real_agents_are_required(suite):
    assert "1 skipped" in suite("def test_other():\n    pytest.skip('no such platform')\n", 0, AFL_REQUIRE_REAL_CLI="1")
