"""The wire between hook and front: one header line, an environment block, a payload; the answer ends in an end mark. Pure: no sockets here."""

from __future__ import annotations

from typing import NamedTuple

from afl_core.model.errors import WorkerError

MAGIC = b"AFL1"
END = b"\n\x04"
HEADER_BYTES = 512
ENV_BYTES = 1 << 16
PAYLOAD_BYTES = 1 << 20

HEALTH = "health"
"""Event name: say how you are. Never stored."""

WAKE = "wake"
"""Event name: there may be work for the jobs process. Never stored."""


class Frame(NamedTuple):
    """One event as a hook handed it over. `total_bytes` is more than `payload` holds when it was cut."""

    id: str
    host: str
    event: str
    build: str
    total_bytes: int
    env: bytes
    payload: bytes


def encode(frame: Frame) -> bytes:
    """The bytes of a frame."""
    sizes = f"{len(frame.payload)} {frame.total_bytes} {len(frame.env)}"
    return f"AFL1 {frame.id} {frame.host} {frame.event} {frame.build} {sizes}\n".encode() + frame.env + frame.payload


def decode(buffer: bytes | bytearray) -> Frame | None:
    """The frame at the start of the buffer; None while it is not complete. Raises `WorkerError` when it can never become one."""
    end = buffer.find(b"\n", 0, HEADER_BYTES)
    if end < 0:
        if len(buffer) >= HEADER_BYTES or not MAGIC.startswith(bytes(buffer[: len(MAGIC)])):
            raise WorkerError("a client sent what is not a frame", code="AFL-WORKER-002")
        return None
    ident, host, event, build, payload_bytes, total_bytes, env_bytes = _header(bytes(buffer[:end]))
    start = end + 1
    if len(buffer) < start + env_bytes + payload_bytes:
        return None
    env = bytes(buffer[start : start + env_bytes])
    payload = bytes(buffer[start + env_bytes : start + env_bytes + payload_bytes])
    return Frame(ident, host, event, build, total_bytes, env, payload)


def _header(line: bytes) -> tuple[str, str, str, str, int, int, int]:
    try:
        magic, ident, host, event, build, payload, total, env = line.decode("ascii").split(" ")
        sizes = (int(payload), int(total), int(env))
        if magic.encode() != MAGIC or len(bytes.fromhex(ident)) != 16 or len(ident) != 32:
            raise ValueError(magic)
    except ValueError as bad:
        raise WorkerError("a client sent a frame whose header cannot be read", code="AFL-WORKER-002") from bad
    if not (0 <= sizes[0] <= PAYLOAD_BYTES and sizes[0] <= sizes[1] and 0 <= sizes[2] <= ENV_BYTES):
        raise WorkerError("a client announced a frame that is larger than frames are", code="AFL-WORKER-002")
    return ident, host, event, build, *sizes


class SpoolHead(NamedTuple):
    """The first line of a spool record."""

    line: str
    id: str
    host: str
    event: str
    received_ms: int
    total_bytes: int


def spool_head(record: bytes) -> tuple[SpoolHead, bytes]:
    """A spool record's first line and its sealed rest. Raises `WorkerError`."""
    line, newline, sealed = record.partition(b"\n")
    try:
        magic, ident, host, event, received, total = line.decode("ascii").split(" ")
        if not newline or magic != "AFLP1" or len(ident) != 32 or len(bytes.fromhex(ident)) != 16:
            raise ValueError(magic)
        return SpoolHead(line.decode("ascii"), ident, host, event, int(received), int(total)), sealed
    except ValueError as bad:
        raise WorkerError("a spool record's first line cannot be read", code="AFL-WORKER-003") from bad


def spool_body(head: SpoolHead, opened: bytes) -> Frame:
    """The frame inside an opened spool record. Raises `WorkerError`."""
    size = int.from_bytes(opened[:4], "big")
    if len(opened) < 4 + size:
        raise WorkerError("a spool record is shorter than it says", code="AFL-WORKER-003")
    return Frame(head.id, head.host, head.event, "", head.total_bytes, opened[4 : 4 + size], opened[4 + size :])
