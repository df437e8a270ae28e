"""Where rollouts are and whose they are. The host's own databases are not read: a rollout says everything in its first record."""

from __future__ import annotations

import glob
import json

from afl_core.model.json_values import milliseconds
from afl_core.spec.host import HostPlace
from afl_core.spec.transcripts import TranscriptIdentity, TranscriptRoot
from afl_providers_codex.scan import strings
from afl_providers_codex.session_records import is_child

ENDINGS = (".jsonl", ".jsonl.zst")
NAME = "rollout-*"
BY_DAY = "*/*/*/"


def transcript_roots(place: HostPlace) -> tuple[TranscriptRoot, ...]:
    """By year, month and day while they are in use, all in one folder when archived; each may be compressed."""
    folders = ((place.config_dir / "sessions", BY_DAY), (place.config_dir / "archived_sessions", ""))
    return tuple(TranscriptRoot(folder, f"{days}{NAME}{ending}") for folder, days in folders for ending in ENDINGS)


def identify(head: bytes) -> TranscriptIdentity | None:
    """Whose rollout begins so. The first record may be longer than what is at hand; what identifies it stands at its beginning."""
    first = head.split(b"\n", 1)[0]
    told: dict[bytes, str] = {}
    inside: set[str] = set()
    is_meta, base = False, ""
    for path, value in strings(first):
        match path:
            case (b"type",):
                is_meta = value == b"session_meta"
            case (b"payload", b"source", inner, *_):
                inside.add(_plain(inner))
            case (b"payload", b"history_base", b"thread_id"):
                base = _plain(value)
            case (b"payload", key):
                told.setdefault(key, _plain(value))
    source: object = dict.fromkeys(inside) or told.get(b"source")
    by_person = not is_child(source, told.get(b"thread_source"), told.get(b"parent_thread_id"))
    # A subagent's rollout names its parent's session beside its own id.
    native_id = (told.get(b"session_id") if by_person else None) or told.get(b"id")
    if not is_meta or not native_id:
        return None
    # The times in names are local ones, of wherever the person was then.
    began = milliseconds(told.get(b"timestamp"))
    earlier = f"{NAME}{glob.escape(native_id)}*" if base == native_id else None
    return TranscriptIdentity(native_id, told.get(b"cwd"), by_person, began, earlier)


def _plain(body: bytes) -> str:
    """The string that the inside of a JSON string stands for."""
    try:
        return str(json.loads(b'"' + body + b'"', strict=False))
    except ValueError:
        return body.decode("utf-8", "replace")
