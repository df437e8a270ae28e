"""Count a failure of the hook by reason in one small file, which the worker and doctor read."""

import posix
from time import time_ns

import constants  # type: ignore[import-not-found]


def count(reason: str) -> None:
    """Add one to `reason`; the file is replaced whole. Two hooks that fail in the same instant may be counted as one."""
    path = constants.RUN + "/hook.counts"
    if not constants.RUN or posix.lstat(constants.RUN).st_uid != posix.geteuid():
        return
    counts: dict[str, tuple[int, int]] = {}
    try:
        handle = posix.open(path, posix.O_RDONLY | posix.O_NOFOLLOW)
        try:
            text = posix.read(handle, 65536).decode("ascii", "replace")
        finally:
            posix.close(handle)
        for line in text.splitlines():
            fields = line.split(" ")
            if len(fields) == 3 and fields[1].isdecimal() and fields[2].isdecimal():
                counts[fields[0]] = (int(fields[1]), int(fields[2]))
    except FileNotFoundError:
        pass  # nothing was counted yet: this is the first failure
    counts[reason] = (counts.get(reason, (0, 0))[0] + 1, time_ns() // 1_000_000)
    body = "".join(f"{name} {times} {last}\n" for name, (times, last) in counts.items()).encode()
    temporary = f"{path}.{posix.getpid()}"
    handle = posix.open(temporary, posix.O_WRONLY | posix.O_CREAT | posix.O_EXCL, 0o600)
    try:
        posix.write(handle, body)
        posix.rename(temporary, path)
    except BaseException:
        posix.unlink(temporary)
        raise
    finally:
        posix.close(handle)
