"""Sealed records: what opens them, what does not, and that the light and the public cryptography agree."""

from __future__ import annotations

import hashlib
import hmac
import os

import pytest
from hypothesis import given
from hypothesis import strategies as st

from afl_core.model.errors import VaultError
from afl_core.vault import seal


@given(st.binary(max_size=2000), st.text(max_size=40))
def test_a_record_opens_with_its_key_and_context(data: bytes, context: str) -> None:
    key_id, key = seal.new_data_key()
    record = seal.seal(key, key_id, context, data)
    assert seal.key_id_of(record) == key_id
    assert seal.unseal(key, context, record) == data


def test_a_record_of_another_context_or_key_or_with_one_changed_bit_does_not_open() -> None:
    key_id, key = seal.new_data_key()
    record = seal.seal(key, key_id, "blob:a", b"secret words")
    with pytest.raises(VaultError, match="does not open"):
        seal.unseal(key, "blob:b", record)
    with pytest.raises(VaultError, match="does not open"):
        seal.unseal(os.urandom(32), "blob:a", record)
    for position in range(5, len(record)):
        changed = bytearray(record)
        changed[position] ^= 1
        with pytest.raises(VaultError):
            seal.unseal(key, "blob:a", bytes(changed))


def test_a_cut_record_says_that_it_was_cut() -> None:
    key_id, key = seal.new_data_key()
    record = seal.seal(key, key_id, "x", b"")
    for length in range(len(record)):
        with pytest.raises(VaultError):
            seal.unseal(key, "x", record[:length])


def test_the_plaintext_is_not_in_the_record() -> None:
    key_id, key = seal.new_data_key()
    assert b"correct horse" not in seal.seal(key, key_id, "x", b"correct horse battery staple")


def test_a_data_key_wrapped_to_the_public_key_opens_with_the_private_key_only() -> None:
    private = os.urandom(32)
    public = seal.public_of(private)
    key_id, key = seal.new_data_key()
    wrapped = seal.wrap(public, key_id, key)
    assert seal.unwrap(private, public, key_id, wrapped) == key
    with pytest.raises(VaultError):
        seal.unwrap(os.urandom(32), public, key_id, wrapped)
    with pytest.raises(VaultError):
        seal.unwrap(private, public, "00" * 8, wrapped)
    assert seal.wrap(public, key_id, key) != wrapped


def test_the_public_import_reads_what_the_light_one_wrote(monkeypatch: pytest.MonkeyPatch) -> None:
    private = os.urandom(32)
    public = seal.public_of(private)
    key_id, key = seal.new_data_key()
    record, wrapped = seal.seal(key, key_id, "x", b"words"), seal.wrap(public, key_id, key)

    def missing() -> object:
        raise ImportError("this release has no such module")

    monkeypatch.setattr(seal, "_light", missing)
    assert seal.unseal(key, "x", record) == b"words"
    assert seal.unwrap(private, public, key_id, wrapped) == key
    assert seal.public_of(private) == public


@given(st.binary(max_size=200), st.binary(max_size=200))
def test_the_keyed_digest_is_hmac_sha256(key: bytes, data: bytes) -> None:
    assert seal.keyed_digest(key, data) == hmac.new(key, data, hashlib.sha256).digest()


def test_uses_of_one_name_key_do_not_mix() -> None:
    assert seal.keyed_hash(b"k" * 32, "text", b"a") != seal.keyed_hash(b"k" * 32, "blob", b"a")
