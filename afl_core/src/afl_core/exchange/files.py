"""Files that others wrote, read in bounded pieces and more than once; files that are written whole or not at all."""

from __future__ import annotations

import codecs
import contextlib
import errno
import os
import re
import shutil
import stat
import sys
import tempfile
import time
from collections.abc import Iterator
from typing import BinaryIO, Self

from afl_core.exchange.errors import ExchangeError
from afl_core.files.private import sync_dir

STDIO = "-"
"""As a path: standard input or output."""

SQLITE = b"SQLite format 3\0"
"""What a database begins with."""
SIDE_FILES = ("-wal", "-shm", "-journal")
"""What SQLite keeps beside one."""
_OPEN_FILE = re.compile(r"/dev/(?:stdout|stderr|fd/\d+)|/proc/(?:self|thread-self|\d+)/(?:task/\d+/)?fd/\d+")
"""How Linux and macOS call a process's own open files. Other files below /dev, such as those of /dev/shm, are files like any."""
PIECE_BYTES = 1_048_576
"""Read at once."""


class Source:
    """An open file that can be read again from its start. Use as a context manager."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = os.fspath(path)
        self._file = self._open()
        self.size = os.fstat(self._file.fileno()).st_size
        self.done = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def _open(self) -> BinaryIO:
        if self.path == STDIO and sys.stdin is None:
            raise ExchangeError("standard input is closed, so nothing can be read from it", hint="name a file, or use a pipe")
        try:
            given = sys.stdin.buffer if self.path == STDIO else open(self.path, "rb")  # noqa: SIM115 - closed with this object
            if stat.S_ISREG(os.fstat(given.fileno()).st_mode) and self.path != STDIO:
                return given
            copy: BinaryIO = tempfile.TemporaryFile()  # noqa: SIM115 - the same
            shutil.copyfileobj(given, copy, PIECE_BYTES)
            copy.flush()
            return copy
        except OSError as bad:
            raise ExchangeError(f"{self.path} cannot be read: {bad.strerror}", hint="check the path") from bad

    def start(self) -> bytes:
        """The first bytes; reading goes on at the start."""
        self._file.seek(0)
        self.done = 0
        begun = self._file.read(PIECE_BYTES)
        self._file.seek(0)
        return begun

    def read(self, count: int) -> bytes:
        """At most so many bytes."""
        found = self._file.read(count)
        self.done += len(found)
        return found

    def lines(self, most: int) -> Iterator[tuple[int, bytes | None]]:
        """Lines from the start with their numbers (from 1), without their ends; None for one of more than `most` bytes."""
        self.start()
        number = 0
        while line := self.read_line(most + 2):
            number += 1
            if line.endswith(b"\n"):
                line = line[:-2] if line.endswith(b"\r\n") else line[:-1]
            elif len(line) == most + 2:
                self._skip_line()
            yield number, line if len(line) <= most else None

    def read_line(self, most: int) -> bytes:
        """The next line with its end, or its first bytes."""
        line = self._file.readline(most)
        self.done += len(line)
        return line

    def _skip_line(self) -> None:
        while (piece := self.read_line(PIECE_BYTES)) and not piece.endswith(b"\n"):
            pass


def text_of(line: bytes, number: int, path: str) -> str:
    """A line as text: UTF-8, else the Windows code page 1252. A byte order mark before the first is left out.

    Raises `ExchangeError` for UTF-16 and UTF-32, which cannot be read by lines.
    """
    if number == 1:
        if line.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
            raise ExchangeError(
                f"{path} is UTF-16 or UTF-32, not UTF-8",
                code="AFL-EXCHANGE-002",
                hint=f"convert it: iconv -f UTF-16 -t UTF-8 {path} > copy.jsonl",
            )
        line = line.removeprefix(codecs.BOM_UTF8)
    try:
        return line.decode()
    except UnicodeDecodeError:
        return line.decode("cp1252", "replace")


@contextlib.contextmanager
def written(path: str) -> Iterator[BinaryIO]:
    """A file that takes its place when it is whole, 0600, and durable; or standard output, or a pipe or device, which are written to as they are.

    What a link points at is written, not the link. Raises `ExchangeError` for a database: a memory is not written over by its own bundle.
    """
    if path == STDIO:
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    try:
        if _is_stream(path):
            with open(path, "wb") as stream:
                yield stream
            return
        place = os.path.realpath(path)
        if _is_database(place):
            raise ExchangeError(
                f"{path} is a database or belongs to one: a bundle would destroy it", code="AFL-EXCHANGE-010", hint="name another file"
            )
        if os.path.isdir(place):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
    except (OSError, ValueError) as bad:
        raise _unwritable(path, bad) from bad
    folder, name = os.path.split(place)
    temporary = os.path.join(folder, f".{name[:_NAMED]}.{os.urandom(6).hex()}{_UNFINISHED}")
    try:
        _drop_unfinished(folder, name)
        descriptor, is_nameless = _unfinished(folder, temporary)
    except OSError as bad:
        raise _unwritable(path, bad) from bad
    try:
        with os.fdopen(descriptor, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
            if is_nameless:
                _name(file.fileno(), temporary)
        os.replace(temporary, place)
        sync_dir(folder)
    except OSError as bad:
        raise _unwritable(path, bad) from bad
    finally:
        with contextlib.suppress(OSError):  # mostly it has its place by now, or never had a name
            os.unlink(temporary)


_UNFINISHED = ".tmp"
_NAMED = 50
"""Characters of a name that its unfinished file has too: at most 200 bytes of the 255 that a name may have."""
ABANDONED_S = 3_600
"""A file with a name that nobody wrote to for so long is one of an export that was killed."""


def _unfinished(folder: str, temporary: str) -> tuple[int, bool]:
    """A file that is not whole yet, and whether it has no name: then nothing is left of it when this process is killed."""
    if hasattr(os, "O_TMPFILE") and os.path.isdir("/proc/self/fd"):
        with contextlib.suppress(OSError):  # a file system that has none
            return os.open(folder, os.O_TMPFILE | os.O_WRONLY | os.O_CLOEXEC, 0o600), True
    return os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600), False


def _name(descriptor: int, path: str) -> None:
    """Give a file that has none a name. Only with a directory given does Python follow the link that /proc has for it."""
    folder = os.open(os.path.dirname(path), os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.link(f"/proc/self/fd/{descriptor}", path, src_dir_fd=folder, follow_symlinks=True)
    finally:
        os.close(folder)


def _drop_unfinished(folder: str, name: str) -> None:
    ours = re.compile(rf"\.{re.escape(name[:_NAMED])}\.[0-9a-f]{{12}}{re.escape(_UNFINISHED)}")
    for other in os.listdir(folder):
        if ours.fullmatch(other):
            part = os.path.join(folder, other)
            with contextlib.suppress(OSError):  # somebody else was first, or it is somebody's whom it is left to
                found = os.lstat(part)
                if stat.S_ISREG(found.st_mode) and time.time() - found.st_mtime > ABANDONED_S:
                    os.unlink(part)


def _is_stream(path: str) -> bool:
    """A pipe, a device, or one of the process's own open files, whatever that is."""
    if _OPEN_FILE.fullmatch(os.path.abspath(path)):
        return True
    try:
        mode = os.stat(path).st_mode
    except FileNotFoundError:
        return False
    return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode))


def _is_database(path: str) -> bool:
    """An SQLite file of anybody's, or one that stands beside it."""
    for end in ("", *SIDE_FILES):
        if not path.endswith(end):
            continue
        main = path.removesuffix(end)
        if os.path.isfile(main):
            with open(main, "rb") as file:
                if file.read(len(SQLITE)) == SQLITE:
                    return True
    return False


def _unwritable(path: str, bad: OSError | ValueError) -> ExchangeError:
    return ExchangeError(
        f"{path} cannot be written: {getattr(bad, 'strerror', None) or bad}",
        code="AFL-EXCHANGE-003",
        hint="check the folder and its free space; nothing is left",
    )
