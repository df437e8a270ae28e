"""The front's socket and one client of it. Who is served when is the loop's business, in `serve`."""

from __future__ import annotations

import contextlib
import os
import socket
import time

from afl_core.settings.paths import Paths
from afl_core.worker.frames import ENV_BYTES, HEADER_BYTES, PAYLOAD_BYTES

TALK_S = 2.0
"""How long one client may take to send its frame and to read its answer."""

BACKLOG = 128
BUFFER_BYTES = HEADER_BYTES + ENV_BYTES + PAYLOAD_BYTES


class Talk:
    """One client: what it sent so far, what it still has to be sent."""

    def __init__(self, link: socket.socket) -> None:
        self.link = link
        self.sent = bytearray()
        self.reply = b""
        self.deadline = time.monotonic() + TALK_S


def listen(paths: Paths) -> socket.socket:
    """The bound socket. It is bound under another name and renamed when it listens: no hook ever finds one that refuses it.

    Bound by a relative name, because the kernel takes 107 bytes (macOS 103) and homes can be longer.
    """
    os.chdir(paths.run)
    try:
        name = os.path.basename(paths.socket)
        with contextlib.suppress(FileNotFoundError):
            os.unlink(name + ".new")
        listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        listener.setblocking(False)
        listener.bind(name + ".new")
        os.chmod(name + ".new", 0o600)
        listener.listen(BACKLOG)
        os.replace(name + ".new", name)
    finally:
        os.chdir("/")
    return listener


def receive(talk: Talk) -> bool:
    """Take what is there; False when nothing more can come. (A client killed by its host has often sent everything.)"""
    while len(talk.sent) < BUFFER_BYTES:
        try:
            part = talk.link.recv(262_144)
        except BlockingIOError:
            return True
        if not part:
            return False
        talk.sent += part
    return True


def still_listens(link: socket.socket) -> bool:
    """Whether the client still waits. One that gave up has sealed the event already; its cards would be recorded as given to nobody."""
    try:
        return link.recv(1, socket.MSG_PEEK) != b""
    except BlockingIOError:
        return True
    except OSError:
        return False


def identity(path: str) -> tuple[int, int] | None:
    """Device and inode, to tell whether a path still leads to the same file; None when it leads nowhere."""
    try:
        seen = os.lstat(path)
    except OSError:
        return None
    return seen.st_dev, seen.st_ino
