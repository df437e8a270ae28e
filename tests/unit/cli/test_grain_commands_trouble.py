"""Real processes in trouble: nothing on standard input, a file that is missing, locked, no memory, or in a sandbox that may not write."""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import sys

import pytest

from afl_core.api.memory import Memory

READ_ONLY = 'mount --bind "$0" "$0" && mount -o remount,ro,bind "$0" && exec "$@"'


@pytest.fixture
def process(home, child_environment):
    """`process("add", ...)` runs `afl` in the home; gives the ended process."""

    def run(*arguments, stdin=subprocess.DEVNULL, before=(), **more):
        given = {"input": stdin} if isinstance(stdin, bytes) else {"stdin": stdin}
        return subprocess.run(
            [*before, sys.executable, "-W", "error", "-m", "afl_core.cli.main", *arguments],
            env={**child_environment, "AFL_DB": str(home / "notes.afl"), "PYTHONUTF8": "1"},
            cwd=home,
            capture_output=True,
            timeout=60,
            **given,
            **more,
        )

    return run


@pytest.fixture
def notes(home):
    """A memory with one fact."""
    path = home / "notes.afl"
    with Memory(path) as memory:
        memory.add_fact("acme", "deploy_target", "us-east-1")
    return path


def test_adding_and_finding_work_between_processes(process, home):
    added = process("add", "observation", "--json-fields", "-", stdin='{"content": "сова ухает"}'.encode())
    assert (added.returncode, added.stderr) == (0, b"")
    found = process("search", "сова")
    assert (found.returncode, found.stderr) == (0, b"")
    assert "сова ухает" in found.stdout.decode()


def test_a_bundle_goes_from_one_process_to_another(process, notes, home):
    pytest.importorskip("afl_core.exchange")
    written = process("export")
    assert (written.returncode, written.stderr) == (0, b"")
    taken = process("import", "-", "--db", str(home / "there.afl"), stdin=written.stdout)
    assert (taken.returncode, taken.stderr) == (0, b"")
    assert b"us-east-1" in process("recall", "acme", "--db", str(home / "there.afl")).stdout


@pytest.mark.parametrize("stdin", [subprocess.DEVNULL, b"", b"\x00\xff", b'{"prompt": "deploy_'])
def test_a_prompt_hook_that_is_given_nothing_is_silent_whatever_it_is_given(process, notes, stdin):
    done = process("recall-hook", stdin=stdin)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def test_a_prompt_hook_without_standard_input_is_silent(process, notes):
    done = process("recall-hook", before=("sh", "-c", 'exec "$@" <&-', "sh"))
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def test_a_prompt_hook_answers(process, notes):
    done = process("recall-hook", stdin=b'{"prompt": "the deploy_target?"}')
    assert done.stdout.decode().splitlines()[1:] == ["- acme deploy_target us-east-1"]


@pytest.mark.parametrize(
    "command",
    [["search", "x"], ["recall"], ["history", "a", "b"], ["forks"], ["verify"], ["forget", "abcdef012345", "--yes"], ["export", "-"]],
)
def test_reading_a_file_that_is_missing_is_an_error_and_makes_none(process, home, command):
    done = process(*command)
    assert done.returncode == 1
    assert b"AFL-STORE-042: there is no memory " in done.stderr
    assert not (home / "notes.afl").exists()


def test_what_is_no_memory_is_left_as_it_is(process, home):
    (home / "notes.afl").write_text("my diary " * 200)
    done = process("add", "fact", "a", "b", "c")
    assert done.returncode == 1
    assert b"AFL-STORE-002" in done.stderr
    assert (home / "notes.afl").read_text() == "my diary " * 200


def test_a_folder_that_is_missing_is_named(process, home):
    done = process("add", "fact", "a", "b", "c", "--db", str(home / "no" / "notes.afl"))
    assert done.returncode == 1
    assert b"is no directory" in done.stderr
    assert b"mkdir -p" in done.stderr


def test_a_file_that_another_process_writes_is_waited_for_and_then_named(process, notes):
    other = sqlite3.connect(notes, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    try:
        done = process("add", "fact", "a", "b", "c", "--json")
        read = process("recall", "acme")
    finally:
        other.execute("ROLLBACK")
        other.close()
    assert done.returncode == 1
    assert json.loads(done.stdout)["error"]["code"] == "AFL-STORE-005"
    assert str(os.getpid()).encode() in done.stderr if sys.platform == "linux" else b"names who holds it" in done.stderr
    assert (read.returncode, b"us-east-1" in read.stdout) == (0, True)
    assert process("add", "fact", "a", "b", "c").returncode == 0


@pytest.fixture
def sandbox(process, home):
    """The same where the home can be read and not written, as an agent's sandbox has it."""
    before = ("unshare", "-Urm", "sh", "-c", READ_ONLY, str(home))
    try:
        if subprocess.run([*before, "true"], capture_output=True, timeout=60).returncode != 0:
            pytest.skip("no read-only mount can be made here")
    except OSError:
        pytest.skip("there is no unshare here")
    return lambda *arguments, **more: process(*arguments, before=before, **more)


@pytest.mark.parametrize(
    "command", [["add", "fact", "a", "b", "c"], ["search", "acme"], ["recall"], ["forget", "--subject", "acme", "--yes"], ["verify"]]
)
def test_a_sandbox_that_may_not_write_is_named(sandbox, notes, command):
    before = notes.read_bytes()
    done = sandbox(*command)
    assert done.returncode == 1
    assert b"AFL-STORE-007" in done.stderr
    assert b"an agent's sandbox may not write memory" in done.stderr
    assert notes.read_bytes() == before


def test_a_new_file_in_such_a_sandbox_is_named_too(sandbox, home):
    done = sandbox("add", "fact", "a", "b", "c")
    assert done.returncode == 1
    assert b"Read-only file system" in done.stderr
    assert b"an agent's sandbox may not write memory" in done.stderr
    assert os.listdir(home) == []


def test_a_reader_that_goes_away_is_no_error(process, notes):
    with Memory(notes) as memory:
        memory.add_batch({"type": "observation", "content": f"owl {number} " + "x" * 150} for number in range(500))
    done = process("recall", "-k", "500", before=("bash", "-c", 'set -o pipefail; "$@" | head -1', "bash"))
    assert (done.returncode, done.stderr) == (0, b"")


@pytest.mark.parametrize(
    "arguments",
    [
        ["add", "fact", "a", "b", ""],
        ["add", "observation"],
        ["add", "moon", "--field", "a=b"],
        ["add", "fact", "a", "b", "c", "--confidence", "7"],
        ["import", "nowhere.jsonl"],
        ["import", "/"],
        ["import", "DIARY"],
        ["record-tool-call", "--name", "x", "--result", "y", "--input", "{"],
    ],
    ids=" ".join,
)
def test_a_command_that_is_refused_makes_no_file(grains, tmp_path, arguments):
    (tmp_path / "diary").write_text("dear diary")
    status, said = grains(*(str(tmp_path / "diary") if one == "DIARY" else one for one in arguments), "--db", str(tmp_path / "new.afl"))
    assert (status, "next: " in said) == (1, True)
    assert sorted(os.listdir(tmp_path)) == ["diary"]
