"""Sealed raw evidence as files: named by keyed hash, compressed, written whole or not at all. Which events point at a blob is the store's business."""

from __future__ import annotations

import contextlib
import os
import re
import zlib
from collections.abc import Iterator

from afl_core.files.private import check_private_file, ensure_private_dir, write_private_file
from afl_core.model.errors import VaultError
from afl_core.vault.keys import Opener, Writer

NAME = re.compile(r"[0-9a-f]{64}\Z")
LEVEL = 1
"""Of compression: what is sealed is mostly what tools printed, and a higher level costs three times the time for a tenth of the size."""

MAX_PLAIN_BYTES = 64 * 1024 * 1024
"""The largest blob that is opened."""


class Blobs:
    """The blob directory of one home."""

    def __init__(self, root: str, base: str) -> None:
        self.root = root
        self._base = base

    def path(self, name: str) -> str:
        """Where a blob lies; names that are not 64 hex digits are refused (no traversal)."""
        if not NAME.match(name):
            raise VaultError(f"{name!r} is not a blob name", code="AFL-VAULT-010")
        return os.path.join(self.root, name[:2], name + ".enc")

    def put(self, writer: Writer, data: bytes) -> str:
        """Seal and write `data`; returns its name. The same data is written once."""
        name = writer.half.name_of(data)
        self.keep(writer, name, data)
        return name

    def keep(self, writer: Writer, name: str, data: bytes) -> None:
        """The same for data whose name is known: what was put before is there still, or is written again."""
        path = self.path(name)
        if check_private_file(path):
            os.utime(path)  # it is referenced anew: the sweep of orphans goes by this time
            return
        ensure_private_dir(os.path.dirname(path), self._base)
        write_private_file(path, writer.seal(f"blob:{name}", zlib.compress(data, LEVEL)))

    def get(self, opener: Opener, name: str) -> bytes:
        """The data of a blob, proved to be what the name says by the seal's context."""
        path = self.path(name)
        if not check_private_file(path):
            raise VaultError(f"the blob {name[:12]}... is gone (erased by retention or by hand)", code="AFL-VAULT-011")
        with open(path, "rb") as handle:
            record = handle.read()
        inflater = zlib.decompressobj()
        data = inflater.decompress(opener.open(f"blob:{name}", record), MAX_PLAIN_BYTES)
        if inflater.unconsumed_tail:
            raise VaultError(f"the blob {name[:12]}... is larger than {MAX_PLAIN_BYTES} bytes", code="AFL-VAULT-012")
        return data

    def remove(self, name: str) -> bool:
        """Unlink a blob; False when it was gone already."""
        try:
            os.unlink(self.path(name))
        except FileNotFoundError:
            return False
        return True

    def names(self) -> Iterator[tuple[str, int]]:
        """(name, modification time in ms) of every blob on disk."""
        with contextlib.suppress(FileNotFoundError):
            for shard in sorted(os.listdir(self.root)):
                with contextlib.suppress(NotADirectoryError):
                    for file in sorted(os.listdir(os.path.join(self.root, shard))):
                        name = file.removesuffix(".enc")
                        if NAME.match(name) and file.endswith(".enc"):
                            with contextlib.suppress(FileNotFoundError):
                                yield name, int(os.stat(self.path(name)).st_mtime * 1000)
