"""What is sealed to disk when no front can take it, and what is dropped and counted instead."""

from __future__ import annotations

import json
import os
import pathlib
import resource
import shutil
import subprocess

import pytest

from afl_core.vault.seal import key_id_of, seal, unseal
from afl_core.worker.frames import spool_body, spool_head

STOP = b'{"session_id": "s1", "cwd": "/", "last_assistant_message": "all done"}'
KEY = bytes(range(8)) + bytes(32)


@pytest.fixture
def alone(rendered):
    """A home with a spool key, no front, and none to be started for the next ten seconds."""
    pathlib.Path(rendered.paths.spool_key).write_bytes(KEY)
    pathlib.Path(rendered.paths.run, "woken").touch()
    return rendered


def opened(alone):
    (name,) = alone.spooled()
    head, sealed = spool_head(pathlib.Path(alone.paths.spool, name).read_bytes())
    assert key_id_of(sealed) == KEY[:8].hex()
    return name, head, spool_body(head, unseal(KEY[8:], head.line, sealed))


def test_a_stop_without_a_front_is_sealed_in_the_vaults_format_and_nothing_readable_is_on_disk(alone):
    assert alone.fire("Stop", STOP, env={"AGENT_FEEDBACK_LOOP_DEBUG": "1", "CLAUDE_CONFIG_DIR": "/c", "SECRET": "s"}) == b"{}"
    name, head, frame = opened(alone)
    assert (head.host, head.event, head.total_bytes, f"{head.id}.rec") == ("claude", "Stop", len(STOP), name)
    assert frame.payload == STOP
    assert sorted(frame.env.split(b"\0")) == [b"AGENT_FEEDBACK_LOOP_DEBUG=1", b"CLAUDE_CONFIG_DIR=/c"]
    assert b"all done" not in pathlib.Path(alone.paths.spool, name).read_bytes()
    assert os.stat(pathlib.Path(alone.paths.spool, name)).st_mode & 0o777 == 0o600


def test_a_prompt_whose_front_does_not_come_up_is_sealed_and_counted(alone):
    assert alone.fire("UserPromptSubmit", b'{"session_id": "s1", "prompt": "x"}') == b"{}"
    assert opened(alone)[1].event == "UserPromptSubmit"
    assert alone.hook_counts() == {"connect": 1}


def test_session_events_are_not_sealed_they_are_in_the_transcript(alone):
    assert alone.fire("SessionStart", STOP) == b"{}"
    assert alone.fire("SessionEnd", STOP) == b"{}"
    assert (alone.spooled(), alone.hook_counts()) == ([], {})


def test_the_time_and_the_id_are_those_of_the_hook(alone):
    alone.fire("Stop", STOP, env={"AFL_NOW_MS": "1234"})
    assert opened(alone)[1].received_ms == 1234


LISTED = {
    "AGENT_FEEDBACK_LOOP_REVIEWER_ENV_ALLOWLIST": "TOKEN, OTHER, AGENT_FEEDBACK_LOOP_MINE",
    "TOKEN": "t",
    "OTHER": "o",
    "MINE": "m",
    "NOT": "n",
    "AGENT_FEEDBACK_LOOP_MINE": "m",
    "CLAUDE_CONFIG_DIR": "/home/me@work",
}


def names_in(block):
    return {pair.partition(b"=")[0].decode() for pair in block.split(b"\0")}


def test_names_the_person_allowed_never_reach_the_disk(alone):
    alone.render(ALLOW=("MINE",))
    alone.fire("Stop", STOP, env=LISTED)
    assert names_in(opened(alone)[2].env) == {"AGENT_FEEDBACK_LOOP_REVIEWER_ENV_ALLOWLIST", "CLAUDE_CONFIG_DIR"}


def test_an_address_with_a_login_in_it_never_reaches_the_disk(alone):
    alone.fire("Stop", STOP, env={"ANTHROPIC_BASE_URL": "https://me:secret@example.org", "CLAUDE_CONFIG_DIR": "/c"})
    assert opened(alone)[2].env == b"CLAUDE_CONFIG_DIR=/c"


def test_names_the_person_allowed_are_forwarded_to_a_front_with_the_hosts_own(rendered):
    rendered.render(ALLOW=("MINE",))
    login = {"ANTHROPIC_BASE_URL": "https://me:secret@example.org"}
    rendered.prompt("x", env={**LISTED, **login})
    rendered.wait(lambda: (rendered.home / "jobs.told").exists() and b"TOKEN" in (rendered.home / "jobs.told").read_bytes())
    told = json.loads((rendered.home / "jobs.told").read_bytes().splitlines()[0])["env"]
    assert told.keys() == LISTED.keys() - {"NOT"} | login.keys()


def test_an_environment_that_is_too_large_is_cut_to_whole_variables(alone):
    env = {f"AGENT_FEEDBACK_LOOP_{number}": "v" * 30_000 for number in range(4)}
    alone.fire("Stop", STOP, env=env)
    block = opened(alone)[2].env
    assert len(block.split(b"\0")) == 2
    assert len(block) < 65_536


@pytest.mark.parametrize("key", [None, b"", b"short"])
def test_without_a_usable_spool_key_the_event_is_dropped_and_counted_never_written_in_the_clear(alone, key):
    os.unlink(alone.paths.spool_key)
    if key is not None:
        pathlib.Path(alone.paths.spool_key).write_bytes(key)
    assert alone.fire("Stop", STOP) == b"{}"
    assert (alone.spooled(), alone.hook_counts()) == ([], {"no_spool_key": 1})


def test_without_a_spool_key_a_stop_waits_for_the_front_as_a_prompt_does(rendered):
    assert rendered.fire("Stop", STOP) == b"{}"
    assert [row["kind"] for row in rendered.intake()] == ["stop"]


def test_without_cryptography_the_event_is_dropped_and_counted(alone):
    alone.render(SITE=("/nonexistent",))
    assert alone.fire("Stop", STOP) == b"{}"
    assert (alone.spooled(), alone.hook_counts()) == ([], {"seal": 1})


def test_where_the_light_module_is_missing_the_public_one_is_used(alone):
    fake = alone.home / "site"
    for folder, text in {
        "cryptography/hazmat/bindings": "",
        "cryptography/hazmat/primitives/ciphers": "",
    }.items():
        (fake / folder).mkdir(parents=True)
        (fake / folder / "__init__.py").write_text(text, "utf-8")
    for folder in ("cryptography", "cryptography/hazmat", "cryptography/hazmat/primitives"):
        (fake / folder / "__init__.py").write_text("", "utf-8")
    aead = "class AESGCM:\n    def __init__(self, key): self.key = key\n    def encrypt(self, nonce, data, more): return b'PUBLIC' + bytes(16)\n"
    (fake / "cryptography/hazmat/primitives/ciphers/aead.py").write_text(aead, "utf-8")
    alone.render(SITE=(str(fake),))
    alone.fire("Stop", STOP)
    (name,) = alone.spooled()
    assert b"PUBLIC" in pathlib.Path(alone.paths.spool, name).read_bytes()


def test_a_full_spool_takes_no_more_files(alone):
    for number in range(2_000):
        pathlib.Path(alone.paths.spool, f"{number}.rec").touch()
    assert alone.fire("Stop", STOP) == b"{}"
    assert (len(alone.spooled()), alone.hook_counts()) == (2_000, {"spool_full": 1})


def test_a_full_spool_takes_no_more_bytes(alone):
    with open(pathlib.Path(alone.paths.spool, "large.rec"), "wb") as large:
        large.truncate(64 << 20)
    assert alone.fire("Stop", STOP) == b"{}"
    assert (alone.spooled(), alone.hook_counts()) == (["large.rec"], {"spool_full": 1})


def test_a_file_that_cannot_be_written_to_its_end_is_removed(alone):
    long = json.dumps({"session_id": "s1", "last_assistant_message": "y" * 200_000}).encode()
    prefix = [shutil.which("sh") or "/bin/sh", "-c", 'ulimit -f 64; exec "$@"', "sh"]  # 512-byte blocks
    assert alone.fire("Stop", long, prefix=prefix) == b"{}"
    assert (alone.spooled(), alone.hook_counts()) == ([], {"disk": 1})
    assert resource.getrlimit(resource.RLIMIT_FSIZE)[0] == resource.RLIM_INFINITY


def test_a_full_disk_leaves_no_file_behind(alone):
    script = 'mount -t tmpfs -o size=16k,mode=0700 tmpfs "$0" && "$@" && ls -A "$0" >&2'
    prefix = ["unshare", "-m", "sh", "-c", script, alone.paths.spool]
    if os.geteuid() != 0 or not shutil.which("unshare") or subprocess.run([*prefix, "true"], capture_output=True, timeout=30).returncode:
        pytest.skip("no file system can be mounted here")
    long = json.dumps({"session_id": "s1", "last_assistant_message": "y" * 200_000}).encode()
    assert alone.fire("Stop", long, prefix=prefix) == b"{}"
    assert alone.hook_counts() == {"disk": 1}


def test_counts_grow_by_reason_and_survive_a_broken_file(alone):
    pathlib.Path(alone.paths.counts).write_bytes(b"rubbish\n\xff\nno_spool_key 4 99\n")
    os.unlink(alone.paths.spool_key)
    alone.fire("Stop", STOP)
    assert alone.hook_counts() == {"no_spool_key": 5}


def test_the_front_takes_what_waited_into_the_store_and_gives_hooks_a_new_key(alone):
    alone.fire("Stop", STOP, env={"AFL_NOW_MS": "1234"})
    alone.start_front()
    alone.wait(lambda: not alone.spooled())
    alone.wait(lambda: pathlib.Path(alone.paths.spool_key).read_bytes() != KEY)

    (row,) = alone.intake()
    assert (row["kind"], row["received_ms"], row["state"]) == ("stop", 1234, "new")
    new = pathlib.Path(alone.paths.spool_key).read_bytes()
    assert [key["key_id"] for key in alone.rows("SELECT key_id FROM vault_keys WHERE purpose = 'spool'")] == [new[:8].hex()]


def test_a_record_sealed_with_the_key_before_the_last_is_left_for_the_vault(alone):
    old = bytes(8)
    first = f"AFLP1 {'ab' * 16} claude Stop 5 {len(STOP)}"
    path = pathlib.Path(alone.paths.spool, "ab" * 16 + ".rec")
    path.write_bytes(first.encode() + b"\n" + seal(bytes(32), old.hex(), first, bytes(4) + STOP))
    alone.fire("Stop", STOP)
    alone.start_front()
    alone.wait(lambda: len(alone.intake()) == 1)
    alone.wait(lambda: alone.spooled() == [path.name])  # a record goes after what it says was committed
    assert alone.health()["left_in_spool"] == 1


def test_a_record_that_was_changed_is_counted_and_removed(alone):
    alone.fire("Stop", STOP)
    (name,) = alone.spooled()
    path = pathlib.Path(alone.paths.spool, name)
    path.write_bytes(path.read_bytes()[:-1] + b"!")
    pathlib.Path(alone.paths.spool, "cd" * 16 + ".rec").write_bytes(b"not a record at all")
    os.symlink("/etc/passwd", pathlib.Path(alone.paths.spool, "ef" * 16 + ".rec"))
    alone.start_front()
    alone.wait(lambda: not alone.spooled())
    assert (alone.intake(), alone.counts()) == ([], {"bad_spool_record": 3})


def test_half_written_files_of_dead_hooks_are_swept_and_young_ones_are_not(alone):
    old, young = pathlib.Path(alone.paths.spool, "old.tmp"), pathlib.Path(alone.paths.spool, "young.tmp")
    old.touch()
    young.touch()
    os.utime(old, (1, 1))
    alone.start_front()
    alone.wait(lambda: alone.spooled() == ["young.tmp"])
    assert young.exists()
