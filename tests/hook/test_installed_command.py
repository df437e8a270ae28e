"""The command as install writes it, run as hosts run it: by several shells, from homes with every kind of name, with parts of it missing."""

from __future__ import annotations

import contextlib
import json
import os
import pathlib
import shutil
import subprocess
import time

import pytest

from afl_core.api.home import Home
from afl_core.settings.paths import Paths
from afl_core.setup.fire import broken_part, fire_health
from afl_core.setup.install import apply_install, plan_install
from afl_core.setup.stop import stop_front
from afl_core.store.connection import connect

SHELLS = [shell for shell in ("/bin/sh", "dash", "bash", "zsh", "ksh") if shutil.which(shell)]
NAMES = {
    "plain": "plain",
    "spaces": "two  words",
    "single-quote": "it's",
    "double-quote": 'a"b',
    "substitution": "$(touch made)`touch made`",
    "variable": "$HOME",
    "specials": "a;b&c|d>e<f*?[g]!{h}~#\\",
    "unicode": "家-ü",
    "newline": "two\nlines",
    "dash": "-rf",
}


@pytest.fixture(params=NAMES)
def named(request, home):
    """A home of this name, installed; its worker goes away with it."""
    place = home / NAMES[request.param]
    place.mkdir(mode=0o700)
    (place / ".claude").mkdir()
    with Home(str(place), {"HOME": str(place), "PATH": os.defpath}) as opened:
        apply_install(plan_install(opened))
    yield place
    with contextlib.suppress(Exception):
        stop_front(Paths(place))


@pytest.fixture
def plain(home):
    (home / ".claude").mkdir()
    with Home(str(home), {"HOME": str(home), "PATH": os.defpath}) as opened:
        apply_install(plan_install(opened))
    yield home
    with contextlib.suppress(Exception):
        stop_front(Paths(home))


def command_of(home, event):
    [group] = json.loads((home / ".claude/settings.json").read_text("utf-8"))["hooks"][event]
    return group["hooks"][0]["command"]


def run(shell, command, home, payload=b"{}"):
    return subprocess.run(
        [shell, "-c", command], input=payload, capture_output=True, cwd=home, env={"HOME": str(home), "PATH": os.defpath}, timeout=60
    )


def stop_payload(home, session):
    return json.dumps({"session_id": session, "cwd": str(home), "hook_event_name": "Stop", "last_assistant_message": "done"}).encode()


def arrived(home, count):
    """The sessions whose events are in the store: the first ones may have gone through the spool, because no worker ran yet."""
    end = time.monotonic() + 30
    db = connect(Paths(home).database)
    with contextlib.closing(db):
        while True:
            found = {row[0] for row in db.execute("SELECT session_id FROM intake")}
            if len(found) >= count or time.monotonic() > end:
                return found
            time.sleep(0.05)


def test_an_event_arrives_through_every_shell_and_nothing_of_the_path_is_executed(named):
    for number, shell in enumerate(SHELLS):
        done = run(shell, command_of(named, "Stop"), named, stop_payload(named, f"s{number}"))
        assert (done.returncode, done.stdout, done.stderr) == (0, b"{}", b""), shell
    assert not list(pathlib.Path(named).rglob("made"))
    assert fire_health(command_of(named, "Stop"), {"PATH": os.defpath}, str(named)).ok
    assert arrived(named, len(SHELLS)) == {f"claude:s{number}" for number in range(len(SHELLS))}


def test_a_prompt_gets_an_answer_of_one_json_object(plain):
    payload = json.dumps({"session_id": "s", "cwd": str(plain), "hook_event_name": "UserPromptSubmit", "prompt": "hello"}).encode()
    done = run("/bin/sh", command_of(plain, "UserPromptSubmit"), plain, payload)
    assert (done.returncode, done.stderr) == (0, b"")
    assert json.loads(done.stdout) == {}


@pytest.mark.parametrize("missing", ["hook.py", "client.py", "constants.py"])
def test_a_missing_file_is_silence_and_success(plain, missing):
    os.unlink(os.path.join(Paths(plain).hook_dir, missing))
    shutil.rmtree(os.path.join(Paths(plain).hook_dir, "__pycache__"))
    for event in ("UserPromptSubmit", "Stop"):
        done = run("/bin/sh", command_of(plain, event), plain)
        assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def test_a_deleted_pack_is_silence_and_success(plain):
    command = command_of(plain, "Stop")
    shutil.rmtree(Paths(plain).pack)
    done = run("/bin/sh", command, plain)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    assert "hook.py" in broken_part(command)


def test_a_missing_interpreter_is_silence_and_success(plain):
    command = command_of(plain, "Stop")
    python = command.split("'")[3]
    command = command.replace(python, "/nowhere/python")
    done = run("/bin/sh", command, plain)
    assert (done.returncode, done.stdout) == (0, b"")
    assert "/nowhere/python" in broken_part(command)


def test_the_compiled_files_are_used_and_not_written_again(plain):
    folder = pathlib.Path(Paths(plain).hook_dir) / "__pycache__"
    before = {path.name: path.stat().st_mtime_ns for path in folder.iterdir()}
    assert {name.partition(".")[0] for name in before} >= {"client", "constants", "seal", "wake", "counts", "worker"}
    run("/bin/sh", command_of(plain, "Stop"), plain, stop_payload(plain, "s"))
    assert {path.name: path.stat().st_mtime_ns for path in folder.iterdir()} == before


def test_a_source_newer_than_its_compiled_form_wins_even_with_the_same_size_and_time(plain):
    client = pathlib.Path(Paths(plain).hook_dir) / "client.py"
    seen, source = client.stat(), client.read_bytes()
    marked = b'def main():\n    print("other")\n'
    client.write_bytes(marked + b"#" * (len(source) - len(marked)))
    os.utime(client, ns=(seen.st_atime_ns, seen.st_mtime_ns))
    assert run("/bin/sh", command_of(plain, "Stop"), plain).stdout == b"other\n"


def test_a_health_question_is_answered_by_a_worker_that_had_to_be_started(plain):
    for event in ("UserPromptSubmit", "Stop", "SessionStart", "SessionEnd"):
        shot = fire_health(command_of(plain, event), {"PATH": os.defpath}, str(plain))
        assert shot.ok, (event, shot.problem)
        assert shot.health is not None
        assert shot.health["build"] == json.loads(pathlib.Path(Paths(plain).current).read_text("utf-8"))["build"]
        stop_front(Paths(plain))
