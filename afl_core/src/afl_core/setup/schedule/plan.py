"""Whether a home gets a schedule, what has to be done for that, and doing it. Killed anywhere, the next install or uninstall finishes."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import attrs

from afl_core.files.private import FILE_MODE, ensure_private_dir, sync_dir
from afl_core.model.clock import Clock
from afl_core.model.errors import AflError, PathError
from afl_core.settings.paths import Paths
from afl_core.setup.backups import keep_backup, prune, shelf_for
from afl_core.setup.edit_plan import PlannedEdit, show_difference
from afl_core.setup.edit_write import leftovers, sweep_leftovers
from afl_core.setup.made_folders import make_folders, remove_made_folders
from afl_core.setup.pack_files import PackFile, is_in_place, look, put_set
from afl_core.setup.schedule.choose import is_own_home, manager_of, search_path
from afl_core.setup.schedule.job import Job, Manager, State, job_of
from afl_core.setup.stop import stop_daemon

KEY = "schedule"
"""Where the pointer file remembers it: `wanted` (true, false or null), `manager`, `file`, `path`; absent when there is nothing to remember."""

MEANING = "what hooks miss is read while the worker runs, or by: afl reconcile"


@attrs.frozen
class SchedulePlan:
    """`installed`: there will be one. `remember`: for the pointer file. `steps` and `note` are for a person. `removal`: what has to go first."""

    installed: bool
    remember: dict[str, Any] | None
    steps: tuple[str, ...] = ()
    note: str = ""
    manager: Manager | None = None
    job: Job | None = None
    file: PackFile | None = None
    writes: bool = False
    starts: bool = False
    removal: Removal | None = None

    def edits(self) -> tuple[PlannedEdit, ...]:
        """The service file, for a person to see before it is written."""
        if self.file is None or not self.writes:
            return ()
        path, before = Path(self.file.path), look(self.file.path)
        return (PlannedEdit(path, before, self.file.data, show_difference(path, before, self.file.data)),)

    def all_steps(self) -> list[str]:
        """What goes, then what comes."""
        return [*(self.removal.steps() if self.removal is not None else ()), *self.steps]


@attrs.frozen
class Removal:
    """A schedule that is there: its manager, its job, and its files, which are more than one where the place changed meanwhile."""

    manager: Manager
    job: Job
    files: tuple[str, ...]

    def steps(self) -> list[str]:
        """A line for a person."""
        return [f"stop the schedule and delete {path}" for path in self.files]


def plan_schedule(
    paths: Paths, python: str, before: Mapping[str, Any], environ: Mapping[str, str], asked: bool | None, binaries: Iterable[str]
) -> SchedulePlan:
    """Decide. `asked`: what this command said, None for nothing: then what an earlier one said counts, then whether it is the person's own home."""
    kept = _kept(before)
    wanted = asked if asked is not None else kept.get("wanted")
    remembered = {"wanted": wanted} if isinstance(wanted, bool) else None
    is_own = is_own_home(paths.home)
    manager = manager_of(paths, environ)
    if wanted is False or (not isinstance(wanted, bool) and not is_own):
        removal = plan_removal(paths, python, before, environ)
        return SchedulePlan(installed=False, remember=remembered, removal=removal)
    if manager is None:
        return SchedulePlan(
            installed=False, remember=remembered, note=f"no schedule was installed: this system has no known service manager; {MEANING}"
        )
    job = job_of(paths, python, search_path(environ, str(kept.get("path", "")), binaries), is_own=is_own)
    try:
        file = PackFile(manager.place(job), manager.render(job), "")
        in_place = is_in_place(file)
    except AflError as bad:
        return SchedulePlan(installed=False, remember=remembered, note=f"no schedule was installed: {bad.sentence}; {MEANING}")
    body = {"wanted": wanted, "manager": manager.name, "file": file.path, "path": job.search}
    if refusal := manager.refusal():
        if in_place and kept.get("file") == file.path:  # installed from a session that had one; from here it cannot be looked at
            return SchedulePlan(installed=True, remember=body, manager=manager, job=job, file=file)
        return SchedulePlan(installed=False, remember=remembered, note=f"no schedule was installed: {refusal}; {MEANING}")
    runs = manager.state(job) is State.RUNNING
    steps = [f"{'replace' if os.path.lexists(file.path) else 'write'} {file.path}"] if not in_place else []
    steps += [f"start the schedule ({manager.name})"] if not (in_place and runs) else []
    return SchedulePlan(
        True,
        body,
        tuple(steps),
        "",
        manager,
        job,
        file,
        writes=not in_place,
        starts=not (in_place and runs),
        removal=_moved(paths, python, kept, environ, file),
    )


def apply_schedule(plan: SchedulePlan, paths: Paths, clock: Clock, checkpoint: Callable[[str], None]) -> list[str]:
    """Do it; gives notes about what did not go as planned: the product works without a schedule, so its failure is none of the install."""
    if plan.removal is not None:
        remove_schedule(plan.removal, paths)
        checkpoint("removed")
    if plan.manager is None or plan.job is None or plan.file is None:
        return []
    try:
        if plan.writes:
            _write(plan.file, paths, clock, checkpoint)
            checkpoint("written")
        if plan.starts:
            _make_log(paths)
            plan.manager.start(plan.job)
            checkpoint("started")
    except AflError as bad:
        return [f"the schedule does not run: {bad.sentence}; {MEANING}"]
    return []


def plan_removal(paths: Paths, python: str, before: Mapping[str, Any], environ: Mapping[str, str]) -> Removal | None:
    """What there is of a schedule of this home; None for nothing. What was remembered may be lost, so the usual place is looked at too."""
    manager = manager_of(paths, environ)
    if manager is None:
        return None
    job = job_of(paths, python, "", is_own=is_own_home(paths.home))
    return _removal(manager, job, [str(_kept(before).get("file", "")), manager.place(job)])


def remove_schedule(removal: Removal, paths: Paths) -> list[str]:
    """Stop it, delete its files, end a daemon that still runs. Gives lines of what was ended."""
    removal.manager.stop(removal.job)
    for path in removal.files:
        try:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(path)
            sweep_leftovers(Path(path).parent, os.path.basename(path))
            sync_dir(os.path.dirname(path))
        except OSError as bad:
            raise PathError(f"{path} cannot be deleted: {bad.strerror}", code="AFL-PATH-005", hint="check the permissions there") from bad
    remove_made_folders(paths)
    removal.manager.forget(removal.job)
    return stop_daemon(paths)


def _removal(manager: Manager, job: Job, places: Iterable[str]) -> Removal | None:
    files = tuple(dict.fromkeys(path for path in places if path and (os.path.lexists(path) or _was_begun(path))))
    return Removal(manager, job, files) if files else None


def _was_begun(path: str) -> bool:
    """Whether an install was killed while it wrote the file."""
    return bool(leftovers(Path(path).parent, os.path.basename(path)))


def _moved(paths: Paths, python: str, kept: Mapping[str, Any], environ: Mapping[str, str], file: PackFile) -> Removal | None:
    """The file of an earlier place: two schedules of one home never stand side by side."""
    earlier, manager = str(kept.get("file", "")), manager_of(paths, environ)
    if manager is None or not earlier or earlier == file.path:
        return None
    return _removal(manager, job_of(paths, python, "", is_own=is_own_home(paths.home)), [earlier])


def _kept(before: Mapping[str, Any]) -> dict[str, Any]:
    kept = before.get(KEY)
    return kept if isinstance(kept, dict) else {}


def _write(file: PackFile, paths: Paths, clock: Clock, checkpoint: Callable[[str], None]) -> None:
    folder = os.path.dirname(file.path)
    try:
        make_folders(folder, paths)
        there = look(file.path)
        if there is not None and there != file.data:  # somebody may have edited it
            shelf = shelf_for(Path(file.path), Path(paths.backups))
            keep_backup(shelf, there, clock, uid=os.getuid(), gid=os.getgid())
            prune(shelf)
    except OSError as bad:
        raise PathError(f"{folder} cannot be written: {bad.strerror}", code="AFL-PATH-005", hint="check the permissions there") from bad
    put_set([file], checkpoint)


def _make_log(paths: Paths) -> None:
    """A service manager opens the log before the daemon could make it private."""
    ensure_private_dir(paths.logs, paths.data)
    with contextlib.suppress(FileExistsError):
        os.close(os.open(paths.reconcile_log, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, FILE_MODE))
