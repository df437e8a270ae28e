"""Who is at the other end of a Unix socket. The run directory already keeps others out; this is the second lock."""

from __future__ import annotations

import os
import socket
import sys

_SOL_LOCAL = 0
_LOCAL_PEERCRED = 1
_SYSTEM: str = sys.platform


def is_own(link: socket.socket) -> bool:
    """Whether the peer runs as this user. Where the system cannot say, the directory's mode has to be enough."""
    try:
        if _SYSTEM == "linux":
            return int.from_bytes(link.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12)[4:8], sys.byteorder) == os.geteuid()
        if _SYSTEM == "darwin":  # struct xucred: version, uid, ...
            return int.from_bytes(link.getsockopt(_SOL_LOCAL, _LOCAL_PEERCRED, 76)[4:8], sys.byteorder) == os.geteuid()
    except OSError:
        return False
    return True
