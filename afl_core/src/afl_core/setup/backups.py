"""Backups of settings files: made before an edit, the last few of ours kept, anybody else's never touched.

Other tools use the same file names. Which backups are ours stands in a small list beside them, with a hash: one that was altered since
is no longer ours.
"""

from __future__ import annotations

import os
from datetime import UTC, datetime
from pathlib import Path

import attrs

from afl_core.model.clock import Clock
from afl_core.model.codec import canonical, loads
from afl_core.model.errors import ModelError, SetupError
from afl_core.setup.edit_target import sha256
from afl_core.setup.edit_write import put_in_place, put_new, sync_directory, write_beside

KEPT_BACKUPS = 5
"""How many backups of one file are kept."""

BACKUP_MODE = 0o600
"""Settings may hold secrets: a backup is readable by its owner only."""

_TRIES = 100
_SECOND_MS = 1000


@attrs.frozen
class Shelf:
    """Where the backups of one settings file stand, and what their names begin with."""

    directory: Path
    stem: str

    @property
    def listing(self) -> Path:
        """The file that names our backups, oldest first."""
        return self.directory / f".{self.stem}.afl-backups.json"


@attrs.frozen
class Backup:
    """A backup file; `fresh` is False when the newest one already held the same bytes and was taken again."""

    path: Path
    fresh: bool


@attrs.frozen
class _Listed:
    name: str
    sha256: str


def shelf_for(path: Path, backups_dir: Path | None) -> Shelf:
    """The shelf of `path`: beside it, or in `backups_dir`, where a part of the path's hash keeps files of one name apart."""
    if backups_dir is None:
        return Shelf(path.parent, path.name)
    return Shelf(backups_dir, f"{path.name}-{sha256(os.fsencode(path))[:8]}")


def keep_backup(shelf: Shelf, content: bytes, clock: Clock, *, uid: int, gid: int) -> Backup:
    """Write `content` to `<file>.backup-YYYYMMDDHHMMSS` (UTC; a later second when the name is taken) and list it; raises `OSError`."""
    digest = sha256(content)
    shelf.directory.mkdir(mode=0o700, exist_ok=True)
    listed = _read(shelf)
    if listed and listed[-1].sha256 == digest and _is_ours(shelf, listed[-1]):
        return Backup(shelf.directory / listed[-1].name, fresh=False)
    now = clock()
    for later in range(_TRIES):
        stamp = datetime.fromtimestamp((now // _SECOND_MS) + later, UTC).strftime("%Y%m%d%H%M%S")
        path = shelf.directory / f"{shelf.stem}.backup-{stamp}"
        if os.path.lexists(path):
            continue
        # Listed first: a crash between the two leaves a name without a file, never a file of ours that nobody prunes.
        _write(shelf, [*listed, _Listed(path.name, digest)], uid, gid)
        temporary = write_beside(path, content, mode=BACKUP_MODE, uid=uid, gid=gid)
        try:
            put_new(temporary, path)
        except FileExistsError:
            continue
        finally:
            temporary.unlink(missing_ok=True)
        sync_directory(shelf.directory)
        return Backup(path, fresh=True)
    raise SetupError(f"no free name for a backup in {shelf.directory}", code="AFL-SETUP-013", hint="check the clock and the backups there")


def drop_backup(shelf: Shelf, path: Path) -> None:
    """Take back a backup of ours: the edit it was made for did not happen."""
    listed = _read(shelf)
    _drop(shelf, listed, [each for each in listed if each.name == path.name])


def prune(shelf: Shelf, keep: int = KEPT_BACKUPS) -> None:
    """Delete the oldest backups of ours so that `keep` are left; raises `OSError`."""
    listed = _read(shelf)
    ours = [each for each in listed if _is_ours(shelf, each)]
    gone = [each for each in listed if each not in ours]
    old = ours[: max(0, len(ours) - keep)]
    if gone or old:
        _drop(shelf, listed, [*gone, *old])


def read_backup(path: Path, digest: str | None) -> bytes | None:
    """The bytes of a backup, or None when the file is gone or no longer holds what was put there."""
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        return None
    return content if sha256(content) == digest else None


def _drop(shelf: Shelf, listed: list[_Listed], leaving: list[_Listed]) -> None:
    for each in leaving:
        if _is_ours(shelf, each):
            (shelf.directory / each.name).unlink()
    staying = [each for each in listed if each not in leaving]
    if staying:
        found = os.stat(shelf.listing)
        _write(shelf, staying, found.st_uid, found.st_gid)
    else:
        shelf.listing.unlink(missing_ok=True)
    sync_directory(shelf.directory)


def _is_ours(shelf: Shelf, listed: _Listed) -> bool:
    path = shelf.directory / listed.name
    return not path.is_symlink() and path.is_file() and sha256(path.read_bytes()) == listed.sha256


def _read(shelf: Shelf) -> list[_Listed]:
    try:
        stored = loads(shelf.listing.read_bytes(), str(shelf.listing))
        listed = [_Listed(str(each["name"]), str(each["sha256"])) for each in stored]
    except FileNotFoundError:
        return []
    except (ModelError, TypeError, KeyError) as bad:
        raise _bad_listing(shelf) from bad
    prefix = f"{shelf.stem}.backup-"
    if any(not each.name.startswith(prefix) or "/" in each.name for each in listed):
        raise _bad_listing(shelf)
    return listed


def _bad_listing(shelf: Shelf) -> SetupError:
    return SetupError(
        f"{shelf.listing}, the list of our backups, cannot be read",
        code="AFL-SETUP-013",
        hint=f"remove {shelf.listing}; the backups stay, but will no longer be pruned",
    )


def _write(shelf: Shelf, listed: list[_Listed], uid: int, gid: int) -> None:
    content = canonical([attrs.asdict(each) for each in listed]).encode() + b"\n"
    put_in_place(write_beside(shelf.listing, content, mode=BACKUP_MODE, uid=uid, gid=gid), shelf.listing)
