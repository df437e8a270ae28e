"""Hand one host event to the front and print its answer. Imports built-in C modules only, is silent whatever happens, never outlives its deadlines.

The one exception to silence is the answer itself: exactly one JSON object, or nothing. Starting the front is in `wake`, the spool in
`seal`, failures in `counts`; they are imported when they are needed, which is not in the ordinary case.
"""

import posix
import sys
from _signal import (  # type: ignore[import-not-found]  # the C half of `signal`, without its enums
    ITIMER_REAL,
    SIG_UNBLOCK,
    SIGALRM,
    pthread_sigmask,
    setitimer,
    signal,
)
from time import monotonic, sleep, time_ns

import constants  # type: ignore[import-not-found]  # a sibling file: the stub put this directory on the path

STDIN_S = 1.0
"""How long the host may take to hand over its payload; what came by then is used."""

CONNECT_S = 0.05
ANSWER_S = 0.25
"""How long a running front may take, connecting included."""

PROMPT_WAIT_S = 1.5
"""How long a prompt waits for a front that had to be started: a missed lesson is worse than this, once in a while."""

WHOLE_S = 3.0
"""After this the hook gives up whatever it does: no host's limit is that short, and the person waits."""

POLL_S = 0.005
KEEP_BYTES = 1 << 20
ANSWER_BYTES = 1 << 20
ENV_BYTES = 1 << 16
END = b"\n\x04"
SOCKET = "front.sock"
ALLOWLIST = b"AGENT_FEEDBACK_LOOP_REVIEWER_ENV_ALLOWLIST"


class LateError(Exception):
    """The timer of the kernel went off."""


class GoneError(Exception):
    """Nobody listens, or who listened has gone; another front can be started."""


class DeclinedError(Exception):
    """A front runs but gave no answer; `args[0]` is the reason to count."""


def main() -> None:
    """Do one event and leave with status 0. Inside one of our own reviewers: leave at once."""
    try:
        if b"AFL_REVIEW_JOB_ID" not in posix.environ:
            ident = (time_ns() // 1_000_000).to_bytes(6, "big") + posix.urandom(10)
            # A timer of the kernel is the only deadline that covers every blocking call alike: a pipe that is never closed, a stuck
            # file system, a reader that stopped reading. (O_NONBLOCK would change the pipe for whoever shares it; select is a module more.)
            signal(SIGALRM, _late)
            pthread_sigmask(SIG_UNBLOCK, (SIGALRM,))
            _event(ident, sys.argv[1], sys.argv[2])
    except BaseException as bad:  # whatever it was: the agent must not feel it
        _count("deadline" if isinstance(bad, LateError) else "unexpected")
    finally:
        posix._exit(0)  # noqa: SLF001 # nothing is buffered, and tidying the interpreter up would cost the person a millisecond


def _event(ident: bytes, host: str, event: str) -> None:
    payload, total = read_payload()
    setitimer(ITIMER_REAL, WHOLE_S)
    answer = constants.NOOPS.get(host, b"{}")
    try:
        kind = constants.KINDS.get(host, {}).get(event)
        if kind and posix.environ.get(b"AFL_HEALTH") == b"1":
            kind = event = "health"
        if constants.HOME and kind and enter_run():
            answer = _converse(ident, host, event, kind, payload, total, answer)
    except BaseException as bad:
        setitimer(ITIMER_REAL, 0)
        _count("deadline" if isinstance(bad, LateError) else "unexpected")
    setitimer(ITIMER_REAL, 0.5)
    write_all(1, answer)


def _late(_number: int, _frame: object) -> None:
    raise LateError


def read_payload() -> tuple[bytes, int]:
    """What the host sent, at most 1 MiB of it, and how many bytes it really sent (one more than kept when the end was never seen)."""
    parts = []
    kept = total = 0
    try:
        setitimer(ITIMER_REAL, STDIN_S)
        while part := posix.read(0, 65536):
            total += len(part)
            if kept < KEEP_BYTES:
                part = part[: KEEP_BYTES - kept]
                parts.append(part)
                kept += len(part)
        setitimer(ITIMER_REAL, 0)
    except LateError:
        total += 1
        _count("deadline")
    except OSError:
        pass  # no standard input at all: what came until then is used, and an empty payload is counted by the front
    return b"".join(parts), total


def enter_run() -> bool:
    """Make the run directory the current one, so that the socket's name stays short; False when it is not ours alone."""
    try:
        seen = posix.lstat(constants.RUN)
    except FileNotFoundError:
        posix.mkdir(constants.RUN, 0o700)
        seen = posix.lstat(constants.RUN)
    if not is_private(seen):
        return False
    posix.chdir(constants.RUN)
    return True


def is_private(seen: posix.stat_result) -> bool:
    """Whether an lstat result is a directory (no link) of this user that nobody else may enter."""
    return seen.st_mode & 0o170077 == 0o040000 and seen.st_uid == posix.geteuid()


def _converse(ident: bytes, host: str, event: str, kind: str, payload: bytes, total: int, noop: bytes) -> bytes:
    """The front's answer, or the no-op after the event was put where it will be found."""
    block = forwarded(host)
    head = b"AFL1 %b %b %b %b %d %d %d\n" % (
        ident.hex().encode(), host.encode(), event.encode(), constants.BUILD.encode(), len(payload), total, len(block),
    )  # fmt: skip
    try:
        return _patiently(head + block + payload, kind)
    except GoneError:
        if kind == "prompt":
            _count("connect")
    except DeclinedError as why:
        _count(why.args[0])
    if kind in ("prompt", "stop"):
        from seal import spool  # type: ignore[import-not-found]

        reason = spool(ident, host, event, total, forwarded(host, on_disk=True), payload)
        if reason:
            _count(reason)
    from wake import wake  # type: ignore[import-not-found]

    wake()
    return noop


def _patiently(frame: bytes, kind: str) -> bytes:
    """Ask; start a front that is not there and, where the event is worth it, ask until it answers."""
    end = monotonic() + ANSWER_S
    woken = False
    while True:
        try:
            return ask(frame, end)
        except GoneError:
            if not woken:
                if kind not in ("prompt", "health") and not (kind == "stop" and not _has_spool_key()):
                    raise
                from wake import wake

                woken = True
                end = monotonic() + PROMPT_WAIT_S - wake()
            if monotonic() >= end:
                raise
            sleep(POLL_S)


def _has_spool_key() -> bool:
    try:
        return posix.stat("spool.key").st_size > 0
    except FileNotFoundError:
        return False


def ask(frame: bytes, end: float) -> bytes:
    """Send a frame and return the answer's body; `end` is a moment of the monotonic clock."""
    import _socket

    link = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
    try:
        _connect(link, min(end, monotonic() + CONNECT_S))
        link.settimeout(max(end - monotonic(), 0.001))
        link.sendall(frame)
        answer = b""
        while not answer.endswith(END):
            link.settimeout(max(end - monotonic(), 0.001))
            part = link.recv(65536)
            answer += part
            if not part or len(answer) > ANSWER_BYTES:
                raise DeclinedError("malformed")
        return answer[: -len(END)]
    except (FileNotFoundError, ConnectionError) as bad:
        raise GoneError from bad
    except TimeoutError as bad:
        raise DeclinedError("deadline") from bad
    finally:
        link.close()


def _connect(link: object, end: float) -> None:
    while True:
        link.settimeout(max(end - monotonic(), 0.001))  # type: ignore[attr-defined]
        try:
            link.connect(SOCKET)  # type: ignore[attr-defined]
            return
        except BlockingIOError as bad:  # more hooks wait than the front's queue holds
            if monotonic() >= end:
                raise DeclinedError("connect") from bad
            sleep(POLL_S)


def forwarded(host: str, *, on_disk: bool = False) -> bytes:
    """The variables that say where the host's files and servers are, as `NAME=VALUE` joined by NUL, at most 64 KiB.

    What the person allowed by name goes with them, for it may be a secret that a reviewer needs; `on_disk`: it does not, nor does an address
    with a login in it.
    """
    environ = posix.environ
    allowed = {name.encode() for name in constants.ALLOW}
    allowed.update(name.strip() for name in environ.get(ALLOWLIST, b"").split(b","))
    routing = {name.encode() for name in constants.FORWARD.get(host, ())}
    block = b""
    for name, value in environ.items():
        if on_disk and (name in allowed or (b"://" in value and b"@" in value)):
            continue
        if name in routing or name in allowed or name.startswith(b"AGENT_FEEDBACK_LOOP_"):
            pair = name + b"=" + value
            if len(block) + len(pair) < ENV_BYTES:
                block += b"\0" + pair if block else pair
    return block


def write_all(descriptor: int, data: bytes) -> None:
    """Write everything, however little the other end takes at a time."""
    while data:
        data = data[posix.write(descriptor, data) :]


def _count(reason: str) -> None:
    try:
        from counts import count  # type: ignore[import-not-found]

        count(reason)
    except BaseException:
        pass  # a failure that cannot be counted (no home, a read-only disk) is not worth another one: the agent must not feel it
