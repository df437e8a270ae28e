"""Sealing works on the first release of every supported series of cryptography, by its light module, which is not a public one."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

SERIES = range(44, 51)
"""What `afl_core/pyproject.toml` allows."""

TRY = """
import os
from afl_core.vault import seal
private = os.urandom(32)
public = seal.public_of(private)
key_id, key = seal.new_data_key()
assert seal.unwrap(private, public, key_id, seal.wrap(public, key_id, key)) == key
assert seal.unseal(key, "here", seal.seal(key, key_id, "here", b"words")) == b"words"
seal._light().aead.AESGCM(key)
from cryptography.hazmat.primitives.kdf.argon2 import Argon2id
assert len(Argon2id(salt=bytes(16), length=32, iterations=1, lanes=1, memory_cost=64).derive(b"x")) == 32
import cryptography
print(cryptography.__version__)
"""


def test_the_series_tried_are_those_that_are_allowed(root):
    assert f'"cryptography>={SERIES[0]},<{SERIES[-1] + 1}"' in (root / "afl_core/pyproject.toml").read_text("utf-8")


@pytest.mark.parametrize("series", SERIES)
def test_records_seal_and_open(series, root, tmp_path):
    wanted = f"cryptography>={series},<{series + 1}"
    install = [
        sys.executable,
        "-I",
        "-m",
        "pip",
        "install",
        "--quiet",
        "--disable-pip-version-check",
        "--target",
        str(tmp_path / "site"),
        wanted,
    ]
    done = subprocess.run(install, capture_output=True, text=True, env={**os.environ, "HOME": str(tmp_path)}, check=False)
    if done.returncode != 0:
        pytest.skip(f"{wanted} cannot be installed here: {done.stderr.strip().splitlines()[-1:]}")
    path = os.pathsep.join((str(tmp_path / "site"), str(root / "afl_core/src")))
    environ = {**os.environ, "PYTHONPATH": path}
    tried = subprocess.run([sys.executable, "-S", "-c", TRY], capture_output=True, text=True, env=environ, check=False)
    assert tried.returncode == 0, tried.stderr
    assert tried.stdout.startswith(f"{series}.")
