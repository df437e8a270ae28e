"""What is said to `codex app-server` about our hooks: list, and when asked, trust or forget exactly ours. It does no I/O; core carries the messages."""

from __future__ import annotations

import json
from collections.abc import Generator, Mapping, Sequence
from pathlib import Path
from typing import Any

from afl_core.spec.trust import Ask, TrustDialogue, TrustFinding, TrustReport, TrustState, WantedHook
from afl_providers_codex.trust_leftovers import Kept, kept_in, leftovers
from afl_providers_codex.trust_moves import Standing, moves
from afl_providers_codex.trust_reasons import CONFLICT, code_of, refusal, unread, unreadable
from afl_providers_codex.trust_rows import Row, entry_for, rows_of

CLIENT = {"name": "agent_feedback_loop", "title": "Agent Feedback Loop", "version": "1"}

WRITE_TRIES = 2
"""A write that meets somebody else's is tried once more, after a new look."""

Edit = dict[str, Any]
Answers = Generator[Ask, Mapping[str, Any] | None, Mapping[str, Any]]


class _RefusedError(Exception):
    """A request was refused; the text is the reason."""


class _Talk:
    """The messages of one dialogue, numbered."""

    def __init__(self, wanted: Sequence[WantedHook], cwd: Path) -> None:
        self.wanted, self.cwd = wanted, cwd
        self.listed: Mapping[str, Any] = {}
        self._number = 0

    def call(self, method: str, params: Mapping[str, Any]) -> Answers:
        """The whole answer, be it a result or an error."""
        self._number += 1
        answer = yield Ask({"method": method, "id": self._number, "params": dict(params)}, self._number)
        return answer or {}

    def result(self, method: str, params: Mapping[str, Any]) -> Answers:
        """The result; `_RefusedError` for an error."""
        answer = yield from self.call(method, params)
        result = answer.get("result")
        if not isinstance(result, dict):
            raise _RefusedError(refusal(method, answer))
        return result

    def open(self) -> Generator[Ask, Mapping[str, Any] | None, None]:
        """Introduce ourselves."""
        yield from self.result("initialize", {"clientInfo": CLIENT, "capabilities": None})
        yield Ask({"method": "initialized", "params": {}})

    def rows(self) -> Generator[Ask, Mapping[str, Any] | None, tuple[Row, ...]]:
        """Our hooks as the host sees them now."""
        answer = yield from self.result("hooks/list", {"cwds": [str(self.cwd)]})
        entry = entry_for(answer, self.cwd)
        if entry is None:
            raise _RefusedError(f"Codex did not list the hooks of {self.cwd}")
        if entry.get("errors") and not entry.get("hooks"):
            raise _RefusedError(unreadable(entry["errors"]))
        self.listed = entry
        return rows_of(entry, self.wanted)

    def write(self, edits: Sequence[Edit], version: str) -> Answers:
        """Write to the person's configuration through the host, which keeps everything else in it."""
        params: dict[str, Any] = {"edits": list(edits), "reloadUserConfig": True}
        if version:
            params["expectedVersion"] = version
        return (yield from self.call("config/batchWrite", params))

    def kept(self) -> Generator[Ask, Mapping[str, Any] | None, Kept]:
        """The person's configuration: its version, and what is noted of hooks in it."""
        return kept_in((yield from self.call("config/read", {"includeLayers": True})))


def approving(wanted: Sequence[WantedHook], cwd: Path, *, approve: bool) -> TrustDialogue:
    """Look; with `approve` trust what is untrusted or modified of ours, by the hash just listed, and look again.

    Where our hooks stood before they were moved, our hash is forgotten.
    """
    return (yield from _guarded(_Talk(wanted, cwd), _approvals if approve else None))


def distrusting(wanted: Sequence[WantedHook], cwd: Path) -> TrustDialogue:
    """Forget our hooks' trust. For one the person switched off only the hash goes: that it is off is theirs to say."""
    return (yield from _guarded(_Talk(wanted, cwd), _removals))


def _guarded(talk: _Talk, edits_for: Any) -> TrustDialogue:
    try:
        yield from talk.open()
        return (yield from _carried_out(talk, edits_for))
    except _RefusedError as bad:
        return TrustReport(tuple(TrustFinding(hook.event, TrustState.UNAVAILABLE) for hook in talk.wanted), reason=str(bad))


def _carried_out(talk: _Talk, edits_for: Any) -> TrustDialogue:
    changed, reason = False, ""
    rows = yield from talk.rows()
    for again in range(WRITE_TRIES if edits_for else 0):
        kept = yield from talk.kept()
        if not (edits := edits_for(talk, rows, kept)):
            break
        answer = yield from talk.write(edits, kept.version)
        changed = isinstance(answer.get("result"), dict)
        reason = "" if changed else refusal("config/batchWrite", answer)
        rows = yield from talk.rows()
        if changed or code_of(answer) != CONFLICT or again + 1 == WRITE_TRIES:
            break
    if not reason and any(row.state is TrustState.MISSING for row in rows):
        reason = next((reason for hook in talk.wanted if (reason := unread(talk.listed.get("warnings"), hook.settings_path))), "")
    return TrustReport(tuple(row.finding() for row in rows), changed=changed, reason=reason)


def _approvals(talk: _Talk, rows: Sequence[Row], kept: Kept) -> list[Edit]:
    """One edit for all of them. Nothing but the hash is written: `enabled` belongs to the person."""
    wanting = {row.key: {"trusted_hash": row.hash} for row in rows if row.approvable}
    given = [{"keyPath": "hooks.state", "value": wanting, "mergeStrategy": "upsert"}] if wanting else []
    return given + [_forgotten(key, whole=alone) for key, alone in leftovers(kept, talk.listed, rows).items()]


def _removals(talk: _Talk, rows: Sequence[Row], kept: Kept) -> list[Edit]:
    held = {
        row.key: row.state is not TrustState.DISABLED
        for row in rows
        if row.key and not row.managed and row.state is not TrustState.UNTRUSTED
    }
    moving = _moving(talk, rows)
    going = {**leftovers(kept, talk.listed, rows), **held}
    return [_forgotten(key, whole=whole) for key, whole in going.items() if key not in moving] + [
        _replaced(_path_of(key), dict(standing) or None) for key, standing in moving.items()
    ]


def _moving(talk: _Talk, rows: Sequence[Row]) -> dict[str, Standing]:
    """Hooks of others that stand behind ours take our places; they keep their trust, and what the person switched off."""
    if any(row.managed for row in rows) or not talk.wanted:
        return {}
    return moves(talk.listed, talk.wanted[0].settings_path, {row.key for row in rows if row.key})


def _path_of(key: str) -> str:
    return f"hooks.state.{json.dumps(key)}"


def _forgotten(key: str, *, whole: bool) -> Edit:
    """All that is noted of a hook goes, or only the hash: that the person switched it off is theirs to say."""
    return _replaced(_path_of(key) + ("" if whole else ".trusted_hash"), None)


def _replaced(path: str, value: Edit | None) -> Edit:
    return {"keyPath": path, "value": value, "mergeStrategy": "replace"}
