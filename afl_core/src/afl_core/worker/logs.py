"""The runtime log: ids, counts and error messages, never bodies. Rotated, private."""

from __future__ import annotations

import logging
import logging.handlers
import os
import sys

FORMAT = "%(asctime)s %(name)s %(levelname)s %(message)s"


def open_log(path: str, max_bytes: int, *, debug: bool = False) -> None:
    """Send the product's log lines to `path` (0600, one older generation kept); `AGENT_FEEDBACK_LOOP_LOG` names another file, `/dev/null` included. `debug` repeats them on standard error.

    Raises `OSError` when the file is a link or cannot be opened; lines that cannot be written later (a full disk) are dropped.
    """
    target = os.environ.get("AGENT_FEEDBACK_LOOP_LOG") or path
    root = logging.getLogger("afl")
    root.setLevel(logging.INFO)
    root.propagate = False
    for old in list(root.handlers):
        root.removeHandler(old)
        old.close()
    if os.devnull in (target, path):
        root.addHandler(logging.NullHandler())
    else:
        if os.path.islink(target):
            raise OSError(f"{target} is a symbolic link")
        os.makedirs(os.path.dirname(target), 0o700, exist_ok=True)
        os.close(os.open(target, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW, 0o600))
        handler = _Patient(target, maxBytes=max_bytes, backupCount=1, encoding="utf-8")
        handler.setFormatter(logging.Formatter(FORMAT))
        root.addHandler(handler)
    if debug:
        echo = logging.StreamHandler(sys.stderr)
        echo.setFormatter(logging.Formatter(FORMAT))
        root.addHandler(echo)


class _Patient(logging.handlers.RotatingFileHandler):
    """Drops what cannot be written: the log of a full disk is not worth the work it tells of."""

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802 - the name of the standard library
        """Say nothing where nothing can be said; other errors are ours and are shown."""
        if not isinstance(sys.exc_info()[1], OSError):
            super().handleError(record)
