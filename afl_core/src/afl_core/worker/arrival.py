"""From a frame to what the store keeps of it: identity fields, the person's or the agent's words, and whether a person typed them. Pure."""

from __future__ import annotations

from typing import Any, NamedTuple

from afl_core.capture.payload import own_words, read_payload
from afl_core.store.sessions import session_id_of
from afl_core.worker.frames import Frame
from afl_core.worker.manifests import Host

NAME_CHARS = 300
PATH_CHARS = 4096


class Arrival(NamedTuple):
    """One event understood. `text` is the prompt (kind prompt) or the last answer (kind stop), None when the payload has none."""

    id: str
    event: str
    kind: str
    session_id: str
    native_id: str
    turn: str | None
    source: str | None
    cwd: str
    transcript: str | None
    text: str | None
    by_machine: bool
    payload: bytes
    total_bytes: int
    received_ms: int


def understand(host: Host | None, frame: Frame, received_ms: int) -> Arrival | str:
    """The arrival in a frame, or the reason why there is nothing to keep: unknown_host, unknown_event, bad_payload, no_session."""
    if host is None:
        return "unknown_host"
    kind = host.kinds.get(frame.event)
    if kind is None:
        return "unknown_event"
    fields = read_payload(frame.payload, frame.total_bytes > len(frame.payload), tuple(host.fields.values()))
    if fields is None:
        return "bad_payload"
    native_id = _name(_field(host, fields, "session"))
    if native_id is None:
        return "no_session"
    words = _field(host, fields, "prompt" if kind == "prompt" else "answer") if kind in ("prompt", "stop") else None
    text = words if isinstance(words, str) and words else None
    if kind == "prompt" and text is not None and (host.prepended or host.appended):
        text = own_words(text, host.prepended, host.appended) or None
    return Arrival(
        id=frame.id,
        event=frame.event,
        kind=kind,
        session_id=session_id_of(frame.host, native_id),
        native_id=native_id,
        turn=_name(_field(host, fields, "turn")),
        source=_name(_field(host, fields, "reason" if kind == "session_end" else "source")),
        cwd=_directory(_field(host, fields, "cwd")),
        transcript=_clean(_field(host, fields, "transcript"), PATH_CHARS),
        text=text,
        by_machine=_is_by_machine(host, kind, text, _field(host, fields, "agent")),
        payload=frame.payload,
        total_bytes=frame.total_bytes,
        received_ms=received_ms,
    )


def _is_by_machine(host: Host, kind: str, text: str | None, agent: object) -> bool:
    return agent is not None or (kind == "prompt" and text is not None and text.lstrip().startswith(host.machine_prefixes))


def _field(host: Host, fields: dict[str, Any], name: str) -> object:
    key = host.fields.get(name)
    return fields.get(key) if key else None


def _directory(value: object) -> str:
    """An absolute path; '' for anything else, which would mean another place in this process than in the host."""
    path = _clean(value, PATH_CHARS) or ""
    return path if path.startswith("/") else ""


def _name(value: object) -> str | None:
    return _clean(str(value) if isinstance(value, int) and not isinstance(value, bool) else value, NAME_CHARS)


def _clean(value: object, limit: int) -> str | None:
    """A string the store can hold: no lone surrogates, no NUL, bounded; None for anything else."""
    if not isinstance(value, str) or not value or len(value) > limit:
        return None
    return value.replace("\0", "\ufffd").encode("utf-8", "replace").decode("utf-8")
