"""Run as a script, never imported: ties a command to the life of whoever started it, then becomes that command.

Started as `tether.py <tether fd> <status fd> <command> [argument ...]` at the head of a fresh process group. It leaves one small watcher in
the group that waits for the end of the tether pipe (the other end is held by the starter and by nobody else) and then kills the whole
group. So the command and whatever it started end with their starter, even if that one is killed with SIGKILL, on every POSIX system.
The watcher also keeps the group's number from being given to strangers until the group was killed.
"""

import os
import signal
import sys


def watch(tether: int) -> None:
    """Wait for the end of the pipe, then kill the own group. Never returns."""
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT):
        signal.signal(number, signal.SIG_IGN)
    nothing = os.open(os.devnull, os.O_RDWR)
    for standard in (0, 1, 2):
        os.dup2(nothing, standard)
    while os.read(tether, 1):
        pass
    os.killpg(0, signal.SIGKILL)
    os._exit(0)


def main(arguments: list[str]) -> None:
    """Leave the watcher behind, then become the command; what stops that is written to the status pipe as an error number."""
    tether, status, command = int(arguments[0]), int(arguments[1]), arguments[2:]
    # Forked twice: the command must not find a child that it never started.
    middle = os.fork()
    if middle == 0:
        if os.fork() == 0:
            os.close(status)
            watch(tether)
        os._exit(0)
    os.waitpid(middle, 0)
    os.close(tether)
    os.set_inheritable(status, False)
    # Python ignores these for itself; a command expects the usual.
    for number in (signal.SIGPIPE, getattr(signal, "SIGXFSZ", signal.SIGPIPE)):
        signal.signal(number, signal.SIG_DFL)
    try:
        os.execvp(command[0], command)  # noqa: S606 - no shell, on purpose
    except OSError as bad:
        os.write(status, str(bad.errno or 0).encode("ascii"))
        os._exit(127)


if __name__ == "__main__":
    main(sys.argv[1:])
