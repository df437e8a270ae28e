"""Start the front detached from the host: own session, no inherited descriptors, an allowlisted environment; at most one try in ten seconds."""

import posix
from time import time_ns

import constants  # type: ignore[import-not-found]

RETRY_S = 10.0
"""A start that has not led to a running front is not tried again sooner. The front removes the mark when it is ready."""

MARK = "woken"
KEEP = (
    b"HOME", b"PATH", b"LANG", b"TZ", b"USER", b"LOGNAME", b"TMPDIR",
    b"DBUS_SESSION_BUS_ADDRESS", b"XDG_RUNTIME_DIR",  # a keyring is asked over the session bus
    b"AFL_DATA_ROOT", b"AFL_NOW_MS", b"AGENT_FEEDBACK_LOOP_LOG",
)  # fmt: skip


def wake() -> float:
    """Start a front unless somebody just did; return how many seconds ago that was. The current directory must be the run directory."""
    try:
        age = (time_ns() - posix.stat(MARK).st_mtime_ns) / 1e9
        if 0 <= age < RETRY_S:  # a mark of the future is of another clock
            return age
        posix.unlink(MARK)
    except FileNotFoundError:
        pass  # no mark: nobody started a front lately
    try:
        posix.close(posix.open(MARK, posix.O_WRONLY | posix.O_CREAT | posix.O_EXCL, 0o600))
    except FileExistsError:  # another hook was faster
        return 0.0
    _start()
    return 0.0


def _start() -> None:
    command = [constants.PYTHON, "-I", "-S", __file__.rpartition("/")[0] + "/worker.py"]
    environ = {name: value for name, value in posix.environ.items() if name in KEEP or name.startswith(b"LC_")}
    actions = [(posix.POSIX_SPAWN_OPEN, number, "/dev/null", posix.O_RDWR, 0) for number in (0, 1, 2)]
    posix.posix_spawn(constants.PYTHON, command, environ, file_actions=[*actions, *_inherited()], setsid=True, setsigmask=())


def _inherited() -> list[tuple[int, int]]:
    """What the host left open for its children: held by the front, it would keep the host waiting for the end of a pipe."""
    closing = []
    for name in posix.listdir("/dev/fd"):
        number = int(name)
        try:
            if number > 2 and posix.get_inheritable(number):
                closing.append((posix.POSIX_SPAWN_CLOSE, number))
        except OSError:  # the descriptor of the listing itself
            continue
    return closing
