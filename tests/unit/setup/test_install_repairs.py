"""What an install puts right beside the hooks: modes, the mark of a failed start, the first spool key, failures of plug-ins of an earlier build; and how the doctor names it."""

from __future__ import annotations

import contextlib
import json
import os
import pathlib
import sqlite3
import stat
import subprocess

import pytest

from afl_core.api.home import Home
from afl_core.model.errors import PathError
from afl_core.settings.paths import Paths
from afl_core.setup.doctor import doctor
from afl_core.setup.install import apply_install, plan_install
from afl_core.setup.stop import stop_worker
from afl_core.setup.uninstall import apply_uninstall, plan_uninstall
from afl_core.spec.health import Health
from afl_core.store import ledger, status
from afl_core.store.connection import connect, writing
from afl_core.vault.seal import unwrap


@pytest.fixture
def environ(home):
    (home / ".claude").mkdir()
    yield {"HOME": str(home), "PATH": os.defpath}
    stop_worker(Paths(home))


def install(home, environ, **wanted):
    with Home(str(home), environ) as opened:
        return apply_install(plan_install(opened, **wanted))


def examine(home, environ):
    with Home(str(home), environ) as opened:
        return doctor(opened)


def lines(home, environ, name):
    return [line for line in examine(home, environ).lines if line.name == name]


# the first spool key


def test_the_first_spool_key_is_made_at_install_and_its_wrapped_row_can_be_opened(home, environ):
    install(home, environ)
    paths = Paths(home)
    held = pathlib.Path(paths.spool_key).read_bytes()
    assert stat.S_IMODE(os.stat(paths.spool_key).st_mode) == 0o600
    db = connect(paths.database)
    [(purpose, wrapped)] = db.execute("SELECT purpose, wrapped FROM vault_keys WHERE key_id = ?", (held[:8].hex(),)).fetchall()
    db.close()
    public, private = (pathlib.Path(path).read_bytes() for path in (paths.public_key, paths.private_key))
    assert (str(purpose), unwrap(private, public, held[:8].hex(), wrapped)) == ("spool", held[8:])


def test_the_key_is_in_the_store_before_its_file_appears(home, environ, monkeypatch):
    from afl_core.worker import keyring

    def refuse(_path, _data):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(keyring, "replace_file", refuse)
    with pytest.raises(PathError) as caught:
        install(home, environ)
    assert "spool.key" in caught.value.sentence
    assert not os.path.exists(Paths(home).spool_key)
    db = connect(Paths(home).database)
    assert db.execute("SELECT count(*) FROM vault_keys WHERE purpose = 'spool'").fetchone()[0] == 1
    db.close()
    monkeypatch.undo()
    install(home, environ)
    assert os.path.getsize(Paths(home).spool_key) == 40


@pytest.mark.parametrize("content", [None, b"", b"short"])
def test_a_spool_key_that_is_lost_or_cut_is_made_again(home, environ, content):
    install(home, environ)
    path = pathlib.Path(Paths(home).spool_key)
    path.unlink() if content is None else path.write_bytes(content)
    assert any("hooks seal" in step for step in install(home, environ).done)
    assert path.stat().st_size == 40


def test_a_stop_of_a_home_whose_database_is_locked_from_the_start_is_kept(home, environ):
    install(home, environ)
    paths = Paths(home)
    command = json.loads((home / ".claude/settings.json").read_text("utf-8"))["hooks"]["Stop"][0]["hooks"][0]["command"]
    db = sqlite3.connect(paths.database, isolation_level=None)
    db.execute("BEGIN IMMEDIATE")
    payload = json.dumps({"session_id": "s", "cwd": str(home), "hook_event_name": "Stop", "last_assistant_message": "done"}).encode()
    done = subprocess.run(["/bin/sh", "-c", command], input=payload, capture_output=True, cwd=home, env=environ, timeout=60)
    assert (done.returncode, done.stdout) == (0, b"{}")
    assert [name for name in os.listdir(paths.spool) if name.endswith(".rec")]
    assert not os.path.exists(paths.counts) or b"no_spool_key" not in pathlib.Path(paths.counts).read_bytes()
    db.execute("ROLLBACK")
    db.close()


# the mark of a failed start


def failed_start(paths):
    mark = pathlib.Path(paths.run, "woken")
    mark.touch(mode=0o600)
    return mark


def test_an_install_that_changed_something_lets_the_next_hook_try_at_once(home, environ):
    install(home, environ)
    mark = failed_start(Paths(home))
    pathlib.Path(Paths(home).hook_dir, "client.py").write_text("", "utf-8")
    install(home, environ)
    assert not mark.exists()


def test_the_doctor_is_not_deceived_by_the_mark_of_a_start_that_failed(home, environ):
    install(home, environ)
    failed_start(Paths(home))
    assert [line.sentence for line in lines(home, environ, "host claude") if line.health is Health.FAIL] == []


# modes


@pytest.mark.parametrize("suffix", ["", "-wal", "-shm"])
def test_a_database_others_can_read_is_reported_and_tightened(home, environ, suffix):
    install(home, environ, hosts=[])
    path = Paths(home).database + suffix
    with contextlib.closing(connect(Paths(home).database)) as db:
        with writing(db):
            status.set_meta(db, "capture_enabled", "1")
        os.chmod(path, 0o644)
        assert [line.sentence for line in lines(home, environ, "private files")] == [f"{path} can be read by others (mode 0644)"]
        assert any(path in step and "0644" in step for step in install(home, environ, hosts=[]).done)
        assert stat.S_IMODE(os.stat(path).st_mode) == 0o600


@pytest.mark.parametrize("name", ["data", "keys", "run", "logs", "spool"])
def test_a_directory_its_owner_may_not_use_is_not_called_open(home, environ, name):
    install(home, environ, hosts=[])
    path = getattr(Paths(home), name)
    os.chmod(path, 0o500)
    try:
        [line] = lines(home, environ, "directories")
        assert "0500" in line.sentence
        assert "others" not in line.sentence
    finally:
        install(home, environ, hosts=[])
    assert stat.S_IMODE(os.stat(path).st_mode) == 0o700


# builds and plug-ins


def test_after_an_uninstall_the_pack_is_not_called_stale(home, environ):
    install(home, environ)
    with Home(str(home), environ) as opened:
        apply_uninstall(plan_uninstall(opened))
    assert [line.sentence for line in lines(home, environ, "runtime") if line.health is not Health.OK] == []
    assert lines(home, environ, "hosts")[0].health is Health.FAIL


def test_another_build_forgets_the_failures_of_plug_ins_and_the_same_build_does_not(home, environ):
    install(home, environ, hosts=[])
    db = connect(Paths(home).database)
    with writing(db):
        ledger.write(db, ledger.LedgerRow("sloppy", "redact", 3, "ValueError: no", 1, 2))
    pathlib.Path(Paths(home).hook_dir, "client.py").write_text("", "utf-8")
    install(home, environ, hosts=[])
    assert len(ledger.every(db)) == 1
    settings = pathlib.Path(Paths(home).settings_file)
    settings.write_text('reviewer_env_allowlist = "LOGIN"\n', "utf-8")
    assert any("sloppy" in step for step in install(home, environ, hosts=[]).done)
    assert ledger.every(db) == []
    db.close()


# what was not read


def test_records_of_transcripts_that_were_left_out_are_shown_and_are_no_degradation(home, environ):
    install(home, environ, hosts=[])
    db = connect(Paths(home).database)
    with writing(db):
        for number, gaps in enumerate(([], [{"kind": "oversized_record", "offset": 7, "limit": 100}] * 2)):
            db.execute(
                "INSERT INTO cursors (path, host, session_id, device, inode, generation, offset, skipping, state_json, gaps_json, version, updated_ms)"
                " VALUES (?, 'claude', 's', 1, 1, 1, 9, 0, '{}', ?, 1, ?)",
                (f"/t/{number}.jsonl", json.dumps(gaps), number),
            )
    db.close()
    [line] = lines(home, environ, "coverage")
    assert line.sentence.startswith("2 records of transcripts left out; the newest: oversized record at byte 7 of /t/1.jsonl")
