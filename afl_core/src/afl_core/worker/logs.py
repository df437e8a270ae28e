"""The runtime log: ids, counts and error messages, never bodies. Rotated, private."""

from __future__ import annotations

import logging
import logging.handlers
import os
import sys

FORMAT = "%(asctime)s %(name)s %(levelname)s %(message)s"


def open_log(path: str, max_bytes: int, *, debug: bool = False) -> None:
    """Send the product's log lines to `path` (0600, one older generation kept); `AGENT_FEEDBACK_LOOP_LOG` names another file, `/dev/null` included. `debug` repeats them on standard error."""
    target = os.environ.get("AGENT_FEEDBACK_LOOP_LOG") or path
    root = logging.getLogger("afl")
    root.setLevel(logging.INFO)
    root.propagate = False
    for old in list(root.handlers):
        root.removeHandler(old)
        old.close()
    if target == os.devnull:
        root.addHandler(logging.NullHandler())
    else:
        if os.path.islink(target):
            raise OSError(f"{target} is a symbolic link")
        os.close(os.open(target, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW, 0o600))
        handler = logging.handlers.RotatingFileHandler(target, maxBytes=max_bytes, backupCount=1, encoding="utf-8")
        handler.setFormatter(logging.Formatter(FORMAT))
        root.addHandler(handler)
    if debug:
        echo = logging.StreamHandler(sys.stderr)
        echo.setFormatter(logging.Formatter(FORMAT))
        root.addHandler(echo)
