"""Look at a settings file before an edit: what it really is, what it holds, whether it may be replaced. Writes nothing."""

from __future__ import annotations

import errno
import hashlib
import os
import stat
from pathlib import Path

import attrs

from afl_core.model.errors import SetupError

MAX_SETTINGS_BYTES = 8 * 1024 * 1024
"""A settings file above this size (bytes) is refused: it is something else."""

NEW_FILE_MODE = 0o600
"""The mode of a file that was not there before."""

_ANY_WRITE = 0o222


@attrs.frozen
class Target:
    """A settings file as it is now; `file` is where the bytes are, `path` what the person calls it (maybe a link to `file`)."""

    path: Path
    file: Path
    content: bytes | None = attrs.field(repr=False)
    """None when there is no such file."""
    mode: int
    uid: int
    gid: int

    @property
    def is_link(self) -> bool:
        """Whether the person's name for the file is a link to it; a link above it is none."""
        return self.path.is_symlink()


def look_at(path: Path) -> Target:
    """Follow a link, check kind and owner, read the bytes; raises `SetupError` when the file must not be edited."""
    file = _follow(path)
    try:
        handle = os.open(file, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        return Target(path, file, None, NEW_FILE_MODE, os.geteuid(), os.getegid())
    except OSError as bad:
        raise _refusal(path, f"cannot be read: {bad.strerror}", "make it readable for you, then run the same command again") from bad
    found = os.fstat(handle)
    # A directory cannot become a file object, so the descriptor is closed by hand until the kind is known.
    if not stat.S_ISREG(found.st_mode):
        os.close(handle)
        raise _refusal(path, "is not a regular file", "put a regular file there, then run the same command again")
    with os.fdopen(handle, "rb") as opened:
        content = opened.read(MAX_SETTINGS_BYTES + 1)
    if len(content) > MAX_SETTINGS_BYTES:
        raise _refusal(path, f"is larger than {MAX_SETTINGS_BYTES} bytes", "check what this file is; a settings file is much smaller")
    return Target(path, file, content, stat.S_IMODE(found.st_mode), found.st_uid, found.st_gid)


def is_file(path: Path) -> bool:
    """False when there is nothing at `path` that could hold hooks: no file, a directory or a device in its place, a link that leads to none of these.

    What cannot be looked at counts as one: `look_at` says why.
    """
    try:
        return stat.S_ISREG(os.stat(path).st_mode)
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError as bad:
        return bad.errno != errno.ELOOP


def is_in_the_way(path: Path) -> bool:
    """Whether something stands at `path`, or in the place of its directory, that is no file and leads to none."""
    try:
        os.lstat(path)
    except FileNotFoundError:
        return False
    except NotADirectoryError:
        return True
    except OSError:
        return False  # `look_at` says why
    return not is_file(path)


def refuse_read_only(target: Target) -> None:
    """Raise `SetupError` when the file or its directory may not be written; a mode without any write bit counts, whoever asks."""
    directory = target.file.parent
    try:
        found = os.stat(directory)
    except FileNotFoundError as bad:
        raise _refusal(
            target.path, f"cannot be made: {directory} does not exist", "start the host once, so that it makes the directory"
        ) from bad
    if not stat.S_ISDIR(found.st_mode):
        raise _refusal(target.path, f"cannot be made: {directory} is not a directory", "put a directory there")
    if not found.st_mode & _ANY_WRITE or not os.access(directory, os.W_OK | os.X_OK):
        raise _refusal(target.path, f"stands in a read-only directory ({directory})", f"chmod u+w {directory}")
    if target.content is not None and not target.mode & _ANY_WRITE:
        raise _refusal(target.path, f"is read-only (mode {target.mode:04o})", f"chmod u+w {target.path}")


def sha256(content: bytes) -> str:
    """64 hex digits."""
    return hashlib.sha256(content).hexdigest()


def _follow(path: Path) -> Path:
    """The file behind `path`; a link must lead to something that exists and is ours."""
    try:
        linked = stat.S_ISLNK(os.lstat(path).st_mode)
    except FileNotFoundError:
        linked = False
    except OSError as bad:
        raise _refusal(
            path, f"cannot be looked at: {bad.strerror}", "check the directories above it, then run the same command again"
        ) from bad
    if not linked:
        return Path(os.path.realpath(path.parent)) / path.name
    try:
        file = Path(os.path.realpath(path, strict=True))
        owner = os.stat(file).st_uid
    except OSError as bad:
        reason = "runs in a circle" if bad.errno == errno.ELOOP else f"leads nowhere ({bad.strerror})"
        raise SetupError(
            f"{path} is a link that {reason}", code="AFL-SETUP-014", hint="mend or remove the link, then run the same command again"
        ) from bad
    if owner != os.geteuid():
        raise SetupError(
            f"{path} is a link to {file}, which belongs to another user (uid {owner})",
            code="AFL-SETUP-014",
            hint="edit that file with the tool that owns it, or replace the link by a file of your own",
        )
    return file


def _refusal(path: Path, what: str, hint: str) -> SetupError:
    return SetupError(f"{path} {what}; nothing was changed", code="AFL-SETUP-013", hint=hint)
