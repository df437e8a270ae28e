"""Ask a running front from the command line or the doctor. Starts nothing."""

from __future__ import annotations

import contextlib
import os
import socket
import time

from afl_core.model.ids import new_id
from afl_core.settings.paths import Paths
from afl_core.worker.frames import END, Frame, encode

ANSWER_BYTES = 1 << 20
NO_BUILD = "-"
"""The build of a client that is no hook; a front compares its own with the installed one and stays when they are equal."""


def ask(paths: Paths, host: str, event: str, payload: bytes, timeout: float) -> bytes | None:
    """The front's reply within `timeout` seconds; None when there is no front or it gives no answer. Event `health`: how it is; `wake`: look for work."""
    end = time.monotonic() + timeout
    with contextlib.ExitStack() as stack:
        link = stack.enter_context(socket.socket(socket.AF_UNIX, socket.SOCK_STREAM))
        try:
            link.settimeout(timeout)
            _connect(link, paths)
            link.sendall(encode(Frame(new_id(), host, event, NO_BUILD, len(payload), b"", payload)))
            reply = b""
            while not reply.endswith(END):
                link.settimeout(max(end - time.monotonic(), 0.001))
                part = link.recv(65536)
                if not part or len(reply) > ANSWER_BYTES:
                    return None
                reply += part
        except OSError:
            return None
        return reply[: -len(END)]


def _connect(link: socket.socket, paths: Paths) -> None:
    """Connect however long the home's path is; a name that is too long is reached from its own directory."""
    if len(os.fsencode(paths.socket)) < 100:
        link.connect(paths.socket)
        return
    here = os.open(".", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.chdir(paths.run)
        link.connect(os.path.basename(paths.socket))
    finally:
        os.fchdir(here)
        os.close(here)
