"""What core itself registers through its own entry point, exactly as any other plug-in does."""

from __future__ import annotations

import os

from afl_core.spec.keystore import Keystore
from afl_core.spec.marker import hookimpl

AFL_API_VERSION = 1


@hookimpl
def afl_keystores(keys_dir: str) -> list[Keystore]:
    """The system keyring, a passphrase, a file."""
    from afl_core.vault.keystores import FileKeystore, KeyringKeystore, PassphraseKeystore

    return [KeyringKeystore(), PassphraseKeystore(keys_dir, os.environ), FileKeystore(keys_dir)]
