"""Which file systems a SQLite file in WAL mode must not lie on: network mounts and folders shared into a virtual machine."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from afl_core.model.errors import StoreError

REFUSED_TYPES = frozenset(
    {
        "nfs",
        "nfs4",
        "cifs",
        "smb",
        "smb2",
        "smb3",
        "smbfs",
        "afpfs",
        "webdav",
        "9p",
        "vboxsf",
        "vmhgfs",
        "prl_fs",
        "virtiofs",
        "fuse.sshfs",
        "fuse.vmhgfs-fuse",
        "fuse.rclone",
        "fuse.s3fs",
        "afs",
        "ceph",
        "glusterfs",
        "fuse.glusterfs",
        "lustre",
        "drvfs",
    }
)
"""Mount types without dependable locks or shared memory."""

MOUNT_TABLE = "/proc/self/mountinfo"


def parse_mountinfo(text: str) -> list[tuple[str, str]]:
    """(mount point, type) of each line of Linux's mountinfo, in file order; octal escapes in paths are undone."""
    found = []
    for line in text.splitlines():
        left, separator, right = line.partition(" - ")
        fields = left.split(" ")
        if not separator or len(fields) < 5:
            continue
        point = fields[4].encode("latin-1", "replace").decode("unicode_escape")
        found.append((point, right.split(" ", 1)[0]))
    return found


def mount_type(path: str, mounts: list[tuple[str, str]]) -> str | None:
    """The type of the deepest mount that holds `path`; the last one mounted wins."""
    best, kind = "", None
    for point, name in mounts:
        if (path == point or path.startswith(point.rstrip("/") + "/")) and len(point) >= len(best):
            best, kind = point, name
    return kind


def refuse_unsafe_mount(path: str, table: str = MOUNT_TABLE) -> None:
    """Raise `StoreError` when `path` lies on a mount where the database would be damaged. Platforms without a mount table are not checked."""
    if not sys.platform.startswith("linux"):
        return
    real = os.path.realpath(path)
    try:
        kind = mount_type(real, parse_mountinfo(Path(table).read_text(encoding="utf-8", errors="surrogateescape")))
    except OSError:
        return
    if kind in REFUSED_TYPES:
        raise StoreError(
            f"{path} lies on a {kind} mount, where SQLite databases get damaged",
            code="AFL-STORE-009",
            hint="set AFL_DATA_ROOT to a directory on a local disk and run: afl install",
        )
