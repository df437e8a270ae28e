"""Apply planned edits of settings files, all of them or none, and undo them. What to write is decided by the plan, never here."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path

import attrs

from afl_core.model.clock import Clock
from afl_core.model.errors import SetupError
from afl_core.setup.backups import Backup, Shelf, drop_backup, keep_backup, prune, shelf_for
from afl_core.setup.edit_journal import EditJournal, EditRecord, join_journals
from afl_core.setup.edit_json_compare import both_are_json
from afl_core.setup.edit_plan import Check, PlannedEdit, Transform, plan_edit, plan_undo
from afl_core.setup.edit_target import Target, look_at, refuse_read_only, sha256
from afl_core.setup.edit_write import put_in_place, put_new, sweep_leftovers, sync_directory, write_beside

__all__ = [
    "Check",
    "EditJournal",
    "EditRecord",
    "PlannedEdit",
    "Transform",
    "apply_edits",
    "foreign_edit",
    "join_journals",
    "plan_edit",
    "plan_undo",
    "undo_edits",
]

Checkpoint = Callable[[str], None]
"""Told the name of each step just done; tests stop the process there."""

Record = Callable[[EditJournal], None]
"""Given the journal when everything is prepared and no file is replaced yet, so that it can be stored before it is needed."""


@attrs.define
class _Work:
    """One file on its way through an apply."""

    plan: PlannedEdit
    target: Target
    shelf: Shelf
    backup: Backup | None = None
    temporary: Path | None = None
    replaced: bool = False
    """True from the moment the file may have been replaced."""

    @property
    def after(self) -> bytes | None:
        """What is there when it is done; None for a deleted file."""
        return None if self.plan.deletes else self.plan.after


def apply_edits(
    plans: Sequence[PlannedEdit],
    backups_dir: Path | None,
    clock: Clock,
    *,
    record: Record | None = None,
    checkpoint: Checkpoint | None = None,
) -> EditJournal:
    """Replace every planned file atomically, or none; the journal undoes it.

    Backups stand beside each file, or in `backups_dir`. Each file keeps mode and owner; a link keeps pointing where it points. Steps told to
    `checkpoint`, with the number of the file: backup, written; once: recorded; then replaced, synced; once: done. A process killed at any of
    them leaves every file old or new, and planning and applying again finishes. Raises `SetupError`, and has put everything back, when a file
    changed since it was planned or cannot be written.
    """
    step = checkpoint or _nothing
    works = [_begin(plan, backups_dir) for plan in plans if plan.changes]
    files = [work.target.file for work in works]
    twice = next((file for file in files if files.count(file) > 1), None)
    if twice is not None:
        raise SetupError(f"two edits are planned for {twice}", code="AFL-SETUP-015", hint="plan one edit that does both")
    try:
        for plan in plans:
            _sweep(plan, backups_dir)
        for number, work in enumerate(works):
            _back_up(work, clock)
            step(f"backup:{number}")
            _write(work)
            step(f"written:{number}")
        journal = EditJournal(tuple(_record(plan, works) for plan in plans))
        if record is not None:
            record(journal)
        step("recorded")
        for number, work in enumerate(works):
            _replace(work)
            step(f"replaced:{number}")
            sync_directory(work.target.file.parent)
            step(f"synced:{number}")
        step("done")
    except BaseException as bad:
        _take_back(works, bad)
        if isinstance(bad, OSError):
            raise SetupError(
                f"{bad.filename or 'a file'} could not be written: {bad.strerror}; nothing was changed",
                code="AFL-SETUP-016",
                hint="make room and check the permissions there, then run the same command again",
            ) from bad
        raise
    return journal


def undo_edits(
    journal: EditJournal,
    withdraw: Transform,
    backups_dir: Path | None,
    clock: Clock,
    *,
    check: Check = both_are_json,
    checkpoint: Checkpoint | None = None,
) -> EditJournal:
    """Apply `plan_undo`: old bytes where nobody touched the file since, `withdraw` elsewhere; all files or none. Raises `SetupError`."""
    return apply_edits(plan_undo(journal, withdraw, check), backups_dir, clock, checkpoint=checkpoint)


def foreign_edit(
    path: Path,
    through: str,
    backups_dir: Path | None,
    clock: Clock,
    change: Callable[[], None],
    *,
    record: Record,
    checkpoint: Checkpoint | None = None,
) -> bool:
    """Let a host's own program change a file of its own, with a backup and a journal as for an edit of ours; whether it did change it.

    `record` is given the journal before (without the hash of what will be there) and again after. Steps told to `checkpoint`: recorded, changed.
    What `change` raises is raised, after the journal says what is there now. Raises `SetupError` when the file cannot be read or copied.
    """
    step = checkpoint or _nothing
    target, shelf = look_at(path), shelf_for(path, backups_dir)
    sweep_leftovers(shelf.directory, shelf.stem)
    backup = None
    try:
        if target.content is not None:
            backup = keep_backup(shelf, target.content, clock, uid=target.uid, gid=target.gid)
            prune(shelf)
    except OSError as bad:
        raise SetupError(
            f"{bad.filename or path} could not be written: {bad.strerror}; nothing was changed",
            code="AFL-SETUP-016",
            hint="make room and check the permissions there, then run the same command again",
        ) from bad
    before = None if target.content is None else sha256(target.content)
    done = EditRecord(
        str(path), target.content is not None, before, None, None if backup is None else str(backup.path), target.mode, through
    )
    record(EditJournal((done,)))
    step("recorded")
    try:
        change()
    finally:
        now = look_at(path).content
        changed = now != target.content
        record(EditJournal((attrs.evolve(done, sha256_after=sha256(now)),) if changed and now is not None else ()))
        if not changed and backup is not None and backup.fresh:
            drop_backup(shelf, backup.path)
    step("changed")
    return changed


def _nothing(_step: str) -> None:
    """Stand in for a checkpoint nobody asked for."""


def _begin(plan: PlannedEdit, backups_dir: Path | None) -> _Work:
    target = look_at(plan.path)
    _refuse_changed(plan, target)
    refuse_read_only(target)
    return _Work(plan, target, shelf_for(plan.path, backups_dir))


def _sweep(plan: PlannedEdit, backups_dir: Path | None) -> None:
    """Unchanged files too: the process that made them so may have been killed just afterwards."""
    file, shelf = look_at(plan.path).file, shelf_for(plan.path, backups_dir)
    sweep_leftovers(file.parent, file.name)
    sweep_leftovers(shelf.directory, shelf.stem)


def _refuse_changed(plan: PlannedEdit, target: Target) -> None:
    if target.content != plan.before:
        raise SetupError(
            f"{plan.path} was changed by somebody else after the edit was planned; nothing was changed",
            code="AFL-SETUP-015",
            hint="run the same command again",
        )


def _back_up(work: _Work, clock: Clock) -> None:
    target = work.target
    if target.content is not None:
        work.backup = keep_backup(work.shelf, target.content, clock, uid=target.uid, gid=target.gid)
        prune(work.shelf)


def _write(work: _Work) -> None:
    target = work.target
    if work.after is not None:
        mode = target.mode if work.plan.mode is None else work.plan.mode
        work.temporary = write_beside(target.file, work.after, mode=mode, uid=target.uid, gid=target.gid)


def _record(plan: PlannedEdit, works: list[_Work]) -> EditRecord:
    work = next((work for work in works if work.plan is plan), None)
    return EditRecord(
        path=str(plan.path),
        existed=plan.before is not None,
        sha256_before=None if plan.before is None else sha256(plan.before),
        sha256_after=None if plan.deletes or (plan.before is None and work is None) else sha256(plan.after),
        backup=None if work is None or work.backup is None else str(work.backup.path),
    )


def _replace(work: _Work) -> None:
    file = work.target.file
    _refuse_changed(work.plan, look_at(work.plan.path))
    work.replaced = True
    if work.temporary is None:
        file.unlink()
    elif work.target.content is None:
        put_new(work.temporary, file)
    else:
        put_in_place(work.temporary, file)
    if look_at(work.plan.path).content != work.after:
        raise SetupError(
            f"{work.plan.path} does not hold what was written", code="AFL-SETUP-016", hint="stop the host, then run the same command again"
        )


def _take_back(works: list[_Work], cause: BaseException) -> None:
    """Put every replaced file back, last first, and remove what was made on the way; raises `SetupError` when a file cannot be put back."""
    stuck = [work for work in reversed(works) if work.replaced and not _put_back(work)]
    for work in works:
        if work.temporary is not None:
            work.temporary.unlink(missing_ok=True)
        if work.backup is not None and work.backup.fresh and work not in stuck:
            drop_backup(work.shelf, work.backup.path)
    if stuck:
        names = ", ".join(f"{work.plan.path} (backup: {work.backup.path if work.backup else 'none, it was new'})" for work in stuck)
        raise SetupError(
            f"an edit failed and could not be taken back: {names}", code="AFL-SETUP-017", hint="copy each backup over its file by hand"
        ) from cause


def _put_back(work: _Work) -> bool:
    """True when the file is as it was; False when somebody else changed it meanwhile or it cannot be written."""
    target = work.target
    try:
        now = look_at(work.plan.path).content
        if now == target.content:
            return True
        if now != work.after:
            return False
        if target.content is None:
            os.unlink(target.file)
        else:
            put_in_place(write_beside(target.file, target.content, mode=target.mode, uid=target.uid, gid=target.gid), target.file)
        sync_directory(target.file.parent)
    except (OSError, SetupError):
        return False
    return True
