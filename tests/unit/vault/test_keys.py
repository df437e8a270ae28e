"""The vault of a home: made once, writing without the keystore, opening with it, and honest about what is missing."""

from __future__ import annotations

import os
import pathlib
import stat

import pytest

from afl_core.files.private import ensure_private_dir
from afl_core.model.errors import PathError, VaultError
from afl_core.settings.paths import Paths
from afl_core.store.connection import connect, writing
from afl_core.store.migrate import create_or_migrate
from afl_core.vault import keystores
from afl_core.vault.blobs import Blobs
from afl_core.vault.keys import Opener, Writer, load_public, make
from afl_core.vault.keystores import FileKeystore, PassphraseKeystore, choose, holding

CHEAP = (1, 1, 64)


@pytest.fixture
def paths(home: pathlib.Path) -> Paths:
    found = Paths(home)
    for folder in (found.data, found.run, found.blobs):
        ensure_private_dir(folder, found.home)
    create_or_migrate(found.database, found.backups, found.home)
    return found


def test_what_is_written_with_the_public_half_opens_with_the_keystore(paths: Paths) -> None:
    store = FileKeystore(paths.keys)
    writer = Writer(make(paths, store, paths.home), "blob")
    db = connect(paths.database)
    with writing(db):
        writer.register(db)
    record = writer.seal("x", b"raw words")
    assert Opener(load_public(paths), store, db).open("x", record) == b"raw words"
    db.close()


def test_keys_are_private_files_in_a_private_directory(paths: Paths) -> None:
    make(paths, FileKeystore(paths.keys), paths.home)
    assert stat.S_IMODE(os.stat(paths.keys).st_mode) == 0o700
    assert {stat.S_IMODE(os.stat(path).st_mode) for path in (paths.public_key, paths.name_key, paths.private_key)} == {0o600}


def test_making_the_vault_again_changes_nothing(paths: Paths) -> None:
    first = make(paths, FileKeystore(paths.keys), paths.home)
    assert make(paths, FileKeystore(paths.keys), paths.home) == first


@pytest.mark.parametrize("step", ["name-key", "private-saved"])
def test_a_vault_whose_making_was_interrupted_is_finished(paths: Paths, step: str) -> None:
    class KilledError(Exception):
        pass

    def stop(reached: str) -> None:
        if reached == step:
            raise KilledError

    with pytest.raises(KilledError):
        make(paths, FileKeystore(paths.keys), paths.home, checkpoint=stop)
    half = make(paths, FileKeystore(paths.keys), paths.home)
    db = connect(paths.database)
    writer = Writer(half, "blob")
    with writing(db):
        writer.register(db)
    assert Opener(half, FileKeystore(paths.keys), db).open("x", writer.seal("x", b"kept")) == b"kept"
    db.close()


def test_a_key_of_the_wrong_size_is_refused_with_its_path(paths: Paths) -> None:
    make(paths, FileKeystore(paths.keys), paths.home)
    pathlib.Path(paths.public_key).write_bytes(b"short")
    with pytest.raises(VaultError, match=r"vault\.pub has 5 bytes"):
        load_public(paths)


def test_a_symlinked_key_directory_is_refused(home: pathlib.Path, tmp_path: pathlib.Path) -> None:
    found = Paths(home)
    pathlib.Path(found.keys).parent.mkdir(mode=0o700)
    pathlib.Path(found.keys).symlink_to(tmp_path)
    with pytest.raises(PathError, match="symbolic link"):
        make(found, FileKeystore(found.keys), found.home)


def test_the_private_key_of_another_vault_is_recognised(paths: Paths) -> None:
    half = make(paths, FileKeystore(paths.keys), paths.home)
    db = connect(paths.database)
    writer = Writer(half, "blob")
    with writing(db):
        writer.register(db)
    pathlib.Path(paths.private_key).write_bytes(os.urandom(32))
    with pytest.raises(VaultError, match="belongs to another vault"):
        Opener(half, FileKeystore(paths.keys), db).open("x", writer.seal("x", b"a"))
    db.close()


def test_a_passphrase_opens_what_it_sealed_and_a_wrong_one_does_not(paths: Paths, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(keystores, "ARGON2", CHEAP)
    right = PassphraseKeystore(paths.keys, {"AFL_PASSPHRASE": "open sesame"})
    half = make(paths, right, paths.home)
    assert right.load(half.home_id) is not None
    with pytest.raises(VaultError, match="does not open"):
        PassphraseKeystore(paths.keys, {"AFL_PASSPHRASE": "open barley"}).load(half.home_id)
    with pytest.raises(VaultError, match="is not set"):
        PassphraseKeystore(paths.keys, {}).load(half.home_id)
    assert not os.path.exists(paths.private_key)


def test_the_passphrase_is_preferred_to_the_file_where_it_is_set(paths: Paths) -> None:
    file, phrase = FileKeystore(paths.keys), PassphraseKeystore(paths.keys, {"AFL_PASSPHRASE": "x"})
    assert choose([file, phrase], "auto") is phrase
    assert choose([file, PassphraseKeystore(paths.keys, {})], "auto") is file
    with pytest.raises(VaultError, match="no keystore is called 'moon'"):
        choose([file], "moon")
    with pytest.raises(VaultError, match="cannot be used here"):
        choose([file, PassphraseKeystore(paths.keys, {})], "passphrase")


def test_a_safer_keystore_that_appears_later_does_not_hide_the_secret(paths: Paths) -> None:
    file = FileKeystore(paths.keys)
    half = make(paths, file, paths.home)
    assert holding([PassphraseKeystore(paths.keys, {"AFL_PASSPHRASE": "new"}), file], half.home_id, "auto") is file


def test_the_file_keystore_warns_where_the_key_lies(paths: Paths) -> None:
    assert paths.private_key in FileKeystore(paths.keys).warning()


def test_blobs_are_named_by_keyed_hash_and_hold_no_plaintext(paths: Paths) -> None:
    store = FileKeystore(paths.keys)
    half = make(paths, store, paths.home)
    db = connect(paths.database)
    writer, blobs = Writer(half, "blob"), Blobs(paths.blobs, paths.data)
    with writing(db):
        writer.register(db)
    name = blobs.put(writer, b"the password is hunter2 " * 40)
    assert blobs.put(writer, b"the password is hunter2 " * 40) == name
    raw = pathlib.Path(blobs.path(name)).read_bytes()
    assert b"hunter2" not in raw
    assert stat.S_IMODE(os.stat(blobs.path(name)).st_mode) == 0o600
    assert blobs.get(Opener(half, store, db), name) == b"the password is hunter2 " * 40
    assert [found for found, _ in blobs.names()] == [name]
    assert blobs.remove(name)
    assert not blobs.remove(name)
    with pytest.raises(VaultError, match="is gone"):
        blobs.get(Opener(half, store, db), name)
    db.close()


@pytest.mark.parametrize("name", ["../../etc/passwd", "a" * 63, "A" * 64, "a" * 64 + "/x", ""])
def test_a_name_that_is_no_blob_name_is_refused(paths: Paths, name: str) -> None:
    with pytest.raises(VaultError, match="is not a blob name"):
        Blobs(paths.blobs, paths.data).path(name)


def test_a_blob_moved_under_another_name_does_not_open(paths: Paths) -> None:
    store = FileKeystore(paths.keys)
    half = make(paths, store, paths.home)
    db = connect(paths.database)
    writer, blobs = Writer(half, "blob"), Blobs(paths.blobs, paths.data)
    with writing(db):
        writer.register(db)
    first, second = blobs.put(writer, b"one"), blobs.put(writer, b"two")
    os.replace(blobs.path(first), blobs.path(second))
    with pytest.raises(VaultError, match="does not open"):
        blobs.get(Opener(half, store, db), second)
    db.close()


def test_a_key_whose_registration_was_rolled_back_is_registered_again(paths: Paths) -> None:
    half = make(paths, FileKeystore(paths.keys), paths.home)
    db = connect(paths.database)
    writer = Writer(half, "blob")
    with pytest.raises(ZeroDivisionError), writing(db):
        writer.register(db)
        raise ZeroDivisionError
    writer.register(db)
    record = writer.seal("x", b"kept")
    assert Opener(half, FileKeystore(paths.keys), db).open("x", record) == b"kept"
    assert db.execute("SELECT count(*) FROM vault_keys").fetchone()[0] == 1
    db.close()
