"""Transcripts that a host compressed (`.zst`): unpacked into a private file without a name, bounded. Decides nothing about what is in them."""

from __future__ import annotations

import functools
import importlib
import os
import tempfile
from collections.abc import Callable, Iterator
from typing import Any, BinaryIO

from afl_core.model.errors import CaptureError

SUFFIX = ".zst"

UNPACKED_LIMIT_BYTES = 512 * 1024 * 1024
"""A file that unpacks to more is not read."""

WINDOW_LIMIT_LOG = 25
"""The most memory a frame may ask for, as a power of two bytes: hosts ask for far less."""

PIECE_BYTES = 256 * 1024

PACKED_PIECE_BYTES = 1024
"""What `zstandard` is given at once: it unpacks all that it is given, and so little can become no more than some 40 MB."""

_FAILS = (OSError, EOFError, ValueError, RuntimeError)


def is_compressed(path: str) -> bool:
    """Whether the name says so."""
    return path.endswith(SUFFIX)


def cut_short(path: str, offset: int) -> CaptureError:
    """What is told of a file that ends in the middle: it was read up to the end of a record, `offset` bytes into its content."""
    return CaptureError(
        f"{path} ends in the middle; of its content the first {offset} bytes could be read",
        code="AFL-CAPTURE-012",
        hint="it is read on when it is whole: wait if the host is still writing it, else put a whole copy there",
    )


def unpack(descriptor: int, path: str, scratch: str | None) -> tuple[int, bool]:
    """A new descriptor of an unlinked 0600 file with the content, and whether it is whole; `descriptor` stays open. `scratch`: the directory it lies in.

    A file that ends in the middle gives what it holds. Raises `CaptureError` without a library, for damage, and for too much.
    """
    target, whole = _temporary(path, scratch), True
    try:
        with os.fdopen(os.dup(target), "wb") as out:
            size = 0
            for piece in _pieces(descriptor, path, PIECE_BYTES):
                if piece is None:
                    whole = False
                    break
                size += len(piece)
                if size > UNPACKED_LIMIT_BYTES:
                    raise CaptureError(
                        f"{path} unpacks to more than {UNPACKED_LIMIT_BYTES} bytes",
                        code="AFL-CAPTURE-009",
                        hint=f"nothing is read from it; check {path}",
                    )
                _write(out, piece, path)
    except BaseException:
        os.close(target)
        raise
    return target, whole


def unpack_head(descriptor: int, path: str, size: int) -> tuple[bytes, bool]:
    """The first `size` bytes of the content, and whether they are all that there should be. Raises like `unpack`."""
    head = b""
    for piece in _pieces(descriptor, path, size):
        if piece is None:
            return head, False
        head += piece
        if len(head) >= size:
            break
    return head[:size], True


def _temporary(path: str, scratch: str | None) -> int:
    try:
        with tempfile.TemporaryFile(dir=scratch) as file:
            return os.dup(file.fileno())
    except OSError as bad:
        raise _failed(path, bad) from bad


def _write(out: BinaryIO, piece: bytes, path: str) -> None:
    try:
        out.write(piece)
        out.flush()
    except OSError as bad:
        raise _failed(path, bad) from bad


def _failed(path: str, bad: OSError) -> CaptureError:
    return CaptureError(
        f"{path} cannot be unpacked: {bad.strerror}", code="AFL-CAPTURE-010", hint="check the free space; it is tried again"
    )


def _pieces(descriptor: int, path: str, size: int) -> Iterator[bytes | None]:
    """The content; behind it None where the file ends in the middle."""
    opened = _library()
    if opened is None:
        raise CaptureError(
            f"{path} is compressed, and no library is installed that can read it",
            code="AFL-CAPTURE-008",
            hint="run: pip install zstandard; it is tried again",
        )
    with os.fdopen(os.dup(descriptor), "rb") as packed:
        packed.seek(0)
        failure, stream = opened
        try:
            reader = stream(packed)
            while piece := reader.read1(size):  # `read` loses what it has gathered when the file ends in the middle
                yield piece
        except EOFError:
            yield None
        except (failure, *_FAILS) as bad:
            raise CaptureError(f"{path} is damaged: {type(bad).__name__}", code="AFL-CAPTURE-011", hint=f"check {path}") from bad


def _library() -> tuple[type[Exception], Callable[[BinaryIO], Any]] | None:
    """(its own kind of error, how to open a stream) of the first library that is there: Python's own, its back-port, `zstandard`."""
    for name, opener in (("compression.zstd", _own), ("backports.zstd", _own), ("zstandard", _other)):
        try:
            library = importlib.import_module(name)
        except ImportError:
            continue
        return library.ZstdError, functools.partial(opener, library)
    return None


def _own(library: Any, packed: BinaryIO) -> Any:
    return library.ZstdFile(packed, "rb", options={library.DecompressionParameter.window_log_max: WINDOW_LIMIT_LOG})


def _other(library: Any, packed: BinaryIO) -> Any:
    return _Frames(library.ZstdDecompressor(max_window_size=1 << WINDOW_LIMIT_LOG), packed)


class _Frames:
    """Frames one behind the other, as Python's own library reads them: its stream ends silently where a file ends in the middle of one."""

    def __init__(self, library: Any, packed: BinaryIO) -> None:
        self._library, self._packed = library, packed
        self._frame: Any = library.decompressobj()  # an empty file is cut too
        self._unread = b""

    def read1(self, _size: int) -> bytes:
        """The next bytes of the content, not all too many; none at the end. `EOFError` when the end is no end of a frame."""
        while data := self._unread or self._packed.read(PACKED_PIECE_BYTES):
            frame = self._frame or self._library.decompressobj()
            piece: bytes = frame.decompress(data)
            self._frame, self._unread = (None, frame.unused_data) if frame.eof else (frame, b"")
            if piece:
                return piece
        if self._frame is not None:
            raise EOFError
        return b""
