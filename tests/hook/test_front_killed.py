"""The front killed at each step: the next one goes on, nothing is lost, nothing is there twice."""

from __future__ import annotations

import os
import pathlib

import pytest

KEY = bytes(range(8)) + bytes(32)

STEPS = {
    "before the intake key is stored": "afl_core.worker.keyring:Keyring.register:before:1",
    "when the socket is there and nothing answered": "afl_core.worker.serve:listen:after:1",
    "inside the transaction of a prompt": "afl_core.worker.turn:keep:after:1",
    "after the row of a prompt is committed, before the reply": "afl_core.worker.serve:take:after:1",
    "inside the transaction of the spool": "afl_core.worker.drain:keep_spooled:after:2",
    "after the commit of the spool, before anything is unlinked": "afl_core.worker.drain:_keep:after:1",
    "after the first of several records is unlinked": "afl_core.worker.drain:_unlink:after:1",
    "after the new spool key is stored, before hooks get it": "afl_core.worker.keyring:replace_file:before:1",
    "after the spool key is rotated": "afl_core.worker.keyring:Keyring.rotate_spool_key:after:1",
}


@pytest.mark.parametrize("step", STEPS)
def test_the_next_front_goes_on_where_the_killed_one_was(rendered, step):
    pathlib.Path(rendered.paths.spool_key).write_bytes(KEY)
    mark = pathlib.Path(rendered.paths.run, "woken")
    mark.touch()
    for number in range(3):
        rendered.fire("Stop", {"session_id": f"stop{number}", "last_assistant_message": f"answer {number}"})
    assert len(rendered.spooled()) == 3
    mark.unlink()

    rendered.crash_at(STEPS[step])
    assert rendered.prompt("first", "prompt0") == b"{}"
    rendered.wait(lambda: not os.path.exists(rendered.home / "crash"))
    rendered.wait(lambda: rendered.health() is None or not rendered.spooled())
    rendered.lift_mark()
    assert rendered.prompt("second", "prompt1") == b"{}"
    rendered.wait(lambda: not rendered.spooled())
    rendered.wait(lambda: len(rendered.fronts()) == 1)
    rendered.fire("Stop", {"session_id": "stop3", "last_assistant_message": "answer 3"})

    seen = sorted(row["session_id"] for row in rendered.intake())
    assert seen == [f"claude:{name}" for name in ("prompt0", "prompt1", "stop0", "stop1", "stop2", "stop3")]
    known = {row["key_id"] for row in rendered.rows("SELECT key_id FROM vault_keys")}
    assert {bytes(row["sealed"])[5:13].hex() for row in rendered.intake()} <= known


def test_a_prompt_whose_front_dies_after_the_commit_is_sealed_too_and_still_one_row(rendered):
    pathlib.Path(rendered.paths.spool_key).write_bytes(KEY)
    rendered.crash_at(STEPS["after the row of a prompt is committed, before the reply"])
    assert rendered.prompt("first") == b"{}"
    assert len(rendered.intake()) == 1
    rendered.wait(lambda: not rendered.spooled())
    assert len(rendered.intake()) == 1
    assert rendered.hook_counts() == {"malformed": 1}


def test_what_hooks_seal_with_the_key_that_was_rotated_a_moment_ago_is_still_opened(rendered):
    pathlib.Path(rendered.paths.spool_key).write_bytes(KEY)
    rendered.start_front()
    rendered.wait(lambda: pathlib.Path(rendered.paths.spool_key).read_bytes() != KEY)
    new = pathlib.Path(rendered.paths.spool_key).read_bytes()
    moved = pathlib.Path(rendered.paths.run, "front.sock.away")
    os.rename(rendered.paths.socket, moved)
    pathlib.Path(rendered.paths.spool_key).write_bytes(KEY)
    pathlib.Path(rendered.paths.run, "woken").touch()
    rendered.fire("Stop", {"session_id": "old", "last_assistant_message": "x"})
    pathlib.Path(rendered.paths.spool_key).write_bytes(new)
    os.rename(moved, rendered.paths.socket)
    rendered.wait(lambda: not rendered.spooled())
    assert [row["session_id"] for row in rendered.intake()] == ["claude:old"]
