"""Plan an edit of a settings file: what stands there, what would stand there, and the difference to show. Changes nothing."""

from __future__ import annotations

import difflib
import os
import re
from collections.abc import Callable
from pathlib import Path

import attrs

from afl_core.model.errors import SetupError
from afl_core.setup.backups import read_backup
from afl_core.setup.edit_journal import EditJournal, EditRecord
from afl_core.setup.edit_json_compare import both_are_json
from afl_core.setup.edit_target import is_in_the_way, look_at, refuse_read_only, sha256

Transform = Callable[[bytes], bytes]
"""Makes the new document from the old one; a missing file is given as no bytes."""

Check = Callable[[bytes, bytes], None]
"""Raises `SetupError` when the second document may not follow the first."""

_CONTEXT_LINES = 1
"""Unchanged lines around a change: few, because settings may hold secrets."""


@attrs.frozen
class PlannedEdit:
    """One file as it is (`before`, None when missing) and as it shall be; `deletes` means it shall not be at all."""

    path: Path
    before: bytes | None = attrs.field(repr=False)
    after: bytes = attrs.field(repr=False)
    diff: str = attrs.field(repr=False)
    deletes: bool = False
    mode: int | None = None
    """Permission bits to give the file; None keeps those it has."""

    @property
    def changes(self) -> bool:
        """False when there is nothing to do."""
        return self.before is not None if self.deletes else (self.before or b"") != self.after


def plan_edit(path: Path, transform: Transform, check: Check = both_are_json) -> PlannedEdit:
    """Read `path`, transform it, prove the result by `check`, and refuse here what `apply_edits` would have to refuse.

    Raises `SetupError` naming the file (and line and column for what cannot be parsed).
    """
    path = Path(os.path.abspath(path))
    target = look_at(path)
    before = target.content or b""
    try:
        after = transform(before)
        check(before, after)
    except SetupError as bad:
        raise SetupError(f"{path}: {bad.sentence}; nothing was changed", code=bad.code, hint=bad.hint) from bad
    if after != before:
        refuse_read_only(target)
    return PlannedEdit(path, target.content, after, show_difference(path, target.content, after))


def plan_undo(journal: EditJournal, withdraw: Transform, check: Check = both_are_json) -> tuple[PlannedEdit, ...]:
    """The edits that take back what `journal` records, last file first.

    A file that is as we left it gets its old bytes back, or is deleted when we made it. A file that was changed since, whose backup is gone,
    or that the person moved and put a link in its place, keeps its changes and loses what `withdraw` takes out; one that a host's program
    changed is left to that program. A file the person deleted or put something else in the place of, or that was never replaced, is left alone.
    """
    plans = (_plan_undo_of(record, withdraw, check) for record in reversed(journal.records))
    return tuple(plan for plan in plans if plan is not None)


def show_difference(path: Path, before: bytes | None, after: bytes | None) -> str:
    """A unified diff for people; bytes that are not UTF-8 are shown as escapes."""
    old, new = _lines(before), _lines(after)
    names = ("/dev/null" if before is None else str(path), "/dev/null" if after is None else str(path))
    return "".join(difflib.unified_diff(old, new, *names, n=_CONTEXT_LINES))


def _plan_undo_of(record: EditRecord, withdraw: Transform, check: Check) -> PlannedEdit | None:
    path = Path(record.path)
    if is_in_the_way(path):
        return None
    target = look_at(path)
    now = None if target.content is None else sha256(target.content)
    backup = None if record.backup is None else read_backup(Path(record.backup), record.sha256_before)
    undoable = backup is not None or not record.existed
    if record.through and (not undoable or now != record.sha256_after):
        return None  # its own program takes out what is ours
    if undoable and now == record.sha256_before:
        return None
    if undoable and now == record.sha256_after:
        refuse_read_only(target)
        if backup is None and target.is_link:
            return plan_edit(path, withdraw, check)
        if backup is None:
            return PlannedEdit(path, target.content, b"", show_difference(path, target.content, None), deletes=True)
        return PlannedEdit(path, target.content, backup, show_difference(path, target.content, backup), mode=record.mode)
    return None if now is None else plan_edit(path, withdraw, check)


def _lines(content: bytes | None) -> list[str]:
    lines = re.findall(r"[^\n]*\n|[^\n]+", (content or b"").decode("utf-8", "backslashreplace"))
    if lines and not lines[-1].endswith("\n"):
        lines[-1] += "\n\\ No newline at end of file\n"
    return lines
