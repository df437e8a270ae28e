"""Payloads that are too large, broken, slow or endless."""

from __future__ import annotations

import json
import os
import subprocess


def test_a_payload_over_one_mebibyte_is_cut_and_its_identity_and_the_head_of_its_text_are_taken(rendered):
    rendered.add_card("l1", "CARD ONE")
    whole = json.dumps(rendered.prompt_payload("long " * 600_000)).encode()
    assert len(whole) > 2 << 20
    assert b"CARD ONE" in rendered.fire("UserPromptSubmit", whole)
    (row,) = rendered.intake()
    assert (row["session_id"], row["total_bytes"], row["state"]) == ("claude:s1", len(whole), "new")
    assert (1 << 20) < len(row["sealed"]) < (1 << 20) + 100


def test_a_payload_of_exactly_one_mebibyte_is_whole(rendered):
    empty = len(json.dumps(rendered.prompt_payload("")).encode())
    whole = json.dumps(rendered.prompt_payload("y" * ((1 << 20) - empty))).encode()
    assert len(whole) == 1 << 20
    rendered.fire("UserPromptSubmit", whole)
    assert [row["total_bytes"] for row in rendered.intake()] == [1 << 20]


def test_bytes_that_are_no_utf_8_do_not_lose_the_prompt(rendered):
    payload = json.dumps(rendered.prompt_payload("caf?")).encode().replace(b"?", b"\xe9")
    assert rendered.fire("UserPromptSubmit", payload) == b"{}"
    assert [row["state"] for row in rendered.intake()] == ["new"]


def test_a_lone_surrogate_in_the_text_does_not_lose_the_prompt(rendered):
    payload = b'{"session_id": "s\\ud800", "prompt": "half \\ud83d of a face", "cwd": "/x\\ud800\\u0000"}'
    assert rendered.fire("UserPromptSubmit", payload) == b"{}"
    assert [(row["session_id"], row["state"]) for row in rendered.intake()] == [("claude:s?", "new")]


def test_a_host_that_never_closes_the_pipe_is_answered_all_the_same_and_what_it_wrote_is_used(rendered):
    read_end, write_end = os.pipe()
    try:
        os.write(write_end, json.dumps(rendered.prompt_payload("unfinished business")).encode())
        done = subprocess.run(
            ["/bin/sh", "-c", rendered.command("UserPromptSubmit")],
            stdin=read_end,
            capture_output=True,
            env=rendered.environment,
            timeout=30,
        )
    finally:
        os.close(write_end)
        os.close(read_end)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"{}", b"")
    assert [row["state"] for row in rendered.intake()] == ["new"]
    assert rendered.hook_counts() == {"deadline": 1}


def test_a_host_that_blocks_the_alarm_signal_does_not_disarm_the_deadline(rendered):
    read_end, write_end = os.pipe()
    script = (
        "import os, signal, sys\n"
        "signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGALRM])\n"
        "signal.signal(signal.SIGALRM, signal.SIG_IGN)\n"
        "os.execv('/bin/sh', ['sh', '-c', sys.argv[1]])\n"
    )
    try:
        command = [os.path.realpath("/proc/self/exe"), "-I", "-S", "-c", script, rendered.command("Stop")]
        done = subprocess.run(command, stdin=read_end, capture_output=True, env=rendered.environment, timeout=30)
    finally:
        os.close(write_end)
        os.close(read_end)
    assert (done.returncode, done.stdout) == (0, b"{}")


def test_no_standard_input_at_all_is_an_empty_payload(rendered):
    done = subprocess.run(
        ["/bin/sh", "-c", f"( {rendered.command('UserPromptSubmit')} ) <&-"], capture_output=True, env=rendered.environment, timeout=30
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, b"{}", b"")
    assert rendered.counts() == {"bad_payload": 1}


def test_a_host_that_closed_our_output_hurts_nobody(rendered):
    done = subprocess.run(
        ["/bin/sh", "-c", f"( {rendered.command('UserPromptSubmit')} ) >&-"],
        input=json.dumps(rendered.prompt_payload("x")).encode(),
        capture_output=True,
        env=rendered.environment,
        timeout=30,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    assert len(rendered.intake()) == 1
