"""Reading a transcript file safely: whole records from an offset, bounded, with oversized ones reported as gaps instead of pinning the reader."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable, Iterator
from typing import Self

import attrs

from afl_core.capture.compressed import is_compressed, unpack, unpack_head
from afl_core.model.errors import CaptureError
from afl_core.spec.host import Line
from afl_core.store.transcripts import Stamp, stamp_of

CHUNK_BYTES = 4 * 1024 * 1024
"""What is read and committed at once, unless a single record is longer."""

RECORD_LIMIT_BYTES = 8 * 1024 * 1024
"""A longer record is a reported gap."""

HEAD_BYTES = 400
"""How much of a record the adapter sees to decide whether it is worth parsing."""

TAIL_BYTES = 256 * 1024
"""How much of the end `tail` looks at."""


ANCHOR_BYTES = 1024
"""How much of what stands before a place is compared to find the place again."""


@attrs.frozen
class Chunk:
    """Wanted records of a stretch of the file. `end`: offset behind the last complete record read; `skipping`: `end` lies inside an oversized record."""

    lines: tuple[Line, ...]
    end: int
    skipping: bool
    gaps: tuple[dict[str, int | str], ...]


def open_file(path: str) -> tuple[int, os.stat_result]:
    """A descriptor of a regular file of ours, never through a link, and what it is. Raises `CaptureError` for anything else."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK)
    except FileNotFoundError as bad:
        raise CaptureError(f"{path} is not there (yet)", code="AFL-CAPTURE-002", hint="nothing to do: it is read when it appears") from bad
    except OSError as bad:
        reason = "is a symbolic link" if bad.errno == errno.ELOOP else f"cannot be opened: {bad.strerror}"
        raise CaptureError(f"{path} {reason}", code="AFL-CAPTURE-003", hint=f"check {path}") from bad
    found = os.fstat(descriptor)
    if not stat.S_ISREG(found.st_mode) or found.st_uid != os.getuid():
        os.close(descriptor)
        what = "is not a regular file" if not stat.S_ISREG(found.st_mode) else f"belongs to user {found.st_uid}"
        raise CaptureError(f"{path} {what}", code="AFL-CAPTURE-004", hint=f"check {path}")
    return descriptor, found


def read_head(path: str, size: int) -> tuple[bytes, bool, Stamp]:
    """The first `size` bytes of a transcript, unpacked where it is compressed; whether there should be no more; what the file was like.

    Raises `CaptureError`.
    """
    descriptor, found = open_file(path)
    try:
        head, whole = unpack_head(descriptor, path, size) if is_compressed(path) else (os.pread(descriptor, size, 0), True)
    except OSError as bad:
        raise CaptureError(f"{path} cannot be read: {bad.strerror}", code="AFL-CAPTURE-003", hint=f"check {path}") from bad
    finally:
        os.close(descriptor)
    return head, whole, stamp_of(found)


class Transcript:
    """An open transcript: a regular file of ours, never a link; device and inode are those of the file really opened.

    `size` is that of the content, `stamp` what the file itself was like when it was opened. `scratch`: where a compressed one is unpacked.
    `whole` is False for a compressed one that ends in the middle.
    """

    def __init__(self, path: str, scratch: str | None = None) -> None:
        self.path = path
        self._descriptor, found = open_file(path)
        self.device, self.inode, self.size = found.st_dev, found.st_ino, found.st_size
        self.stamp = stamp_of(found)
        self.whole = True
        if is_compressed(path):
            packed = self._descriptor
            try:
                self._descriptor, self.whole = unpack(packed, path, scratch)
            finally:
                os.close(packed)
            self.size = os.fstat(self._descriptor).st_size

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_exc: object) -> None:
        os.close(self._descriptor)

    def chunks(
        self,
        offset: int,
        skipping: bool,
        wants: Callable[[bytes], bool],
        *,
        limit: int,
        chunk_bytes: int = CHUNK_BYTES,
        record_limit: int = RECORD_LIMIT_BYTES,
    ) -> Iterator[Chunk]:
        """Stretches of complete records from `offset`, at most `limit` bytes in all. An unfinished last record is left for the next time."""
        position = offset
        while position < self.size and position - offset < limit:
            chunk = self._chunk(position, skipping, wants, chunk_bytes, record_limit)
            if chunk.end == position:
                return
            yield chunk
            position, skipping = chunk.end, chunk.skipping

    def _chunk(self, position: int, skipping: bool, wants: Callable[[bytes], bool], chunk_bytes: int, record_limit: int) -> Chunk:
        data = self._read(position, chunk_bytes)
        start = 0
        if skipping:
            newline = data.find(b"\n")
            if newline < 0:
                return Chunk((), position + len(data), True, ())
            start = newline + 1
        last = data.rfind(b"\n")
        while (
            last < start and len(data) - start <= record_limit and (more := self._read(position + len(data), max(chunk_bytes, len(data))))
        ):
            data += more
            last = data.rfind(b"\n")
        if last < start:
            if len(data) - start > record_limit:
                return Chunk((), position + len(data), True, _gap(data, position, start, wants, record_limit))
            return Chunk((), position + start, False, ())
        lines: list[Line] = []
        gaps: list[dict[str, int | str]] = []
        cursor = start
        while cursor <= last:
            newline = data.find(b"\n", cursor)
            if newline - cursor > record_limit:
                gaps.extend(_gap(data, position, cursor, wants, record_limit))
            elif newline > cursor and wants(data[cursor : min(newline, cursor + HEAD_BYTES)]):
                lines.append(Line(offset=position + cursor, data=data[cursor:newline]))
            cursor = newline + 1
        return Chunk(tuple(lines), position + last + 1, False, tuple(gaps))

    def _read(self, position: int, size: int) -> bytes:
        try:
            return os.pread(self._descriptor, min(size, max(0, self.size - position)), position)
        except OSError as bad:
            raise CaptureError(f"{self.path} cannot be read: {bad.strerror}", code="AFL-CAPTURE-003", hint=f"check {self.path}") from bad

    def continues_at(self, offset: int) -> bool:
        """Whether a record can begin at `offset`: False when the file was cut and written anew under the same inode."""
        return offset == 0 or (offset <= self.size and self._read(offset - 1, 1) == b"\n")

    def before(self, offset: int) -> bytes:
        """The bytes that stand directly before `offset`, at most `ANCHOR_BYTES`: what tells a place in a file again."""
        start = max(0, offset - ANCHOR_BYTES)
        return self._read(start, offset - start)

    def tail(self, wants: Callable[[bytes], bool], *, size: int = TAIL_BYTES) -> tuple[Line, ...]:
        """The wanted complete records of the last `size` bytes: what just happened, whatever the cursor says."""
        start = max(0, self.size - size)
        data = self._read(start, size)
        begin = 0 if start == 0 else data.find(b"\n") + 1
        last = data.rfind(b"\n")
        lines = []
        cursor = begin
        while 0 <= cursor <= last and (start == 0 or begin > 0):
            newline = data.find(b"\n", cursor)
            if newline > cursor and wants(data[cursor : min(newline, cursor + HEAD_BYTES)]):
                lines.append(Line(offset=start + cursor, data=data[cursor:newline]))
            cursor = newline + 1
        return tuple(lines)


def _gap(data: bytes, position: int, start: int, wants: Callable[[bytes], bool], record_limit: int) -> tuple[dict[str, int | str], ...]:
    """What is told of an oversized record; nothing when it is bulk that would not have been read anyway."""
    if not wants(data[start : start + HEAD_BYTES]):
        return ()
    return ({"kind": "oversized_record", "offset": position + start, "limit": record_limit},)
