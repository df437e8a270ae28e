"""The journal of edits of hosts' settings, kept with the data: it outlives the pack, so that whoever deleted the pack by hand can still undo them."""

from __future__ import annotations

import contextlib
import os

import attrs

from afl_core.files.private import ensure_private_dir, sync_dir, write_private_file
from afl_core.model.codec import loads
from afl_core.model.errors import AflError, SetupError
from afl_core.settings.paths import Paths
from afl_core.setup.edit_journal import EditJournal, join_journals
from afl_core.setup.pack_files import look
from afl_core.setup.render import as_json

_NAME = "settings-journal.json"
ASIDE = ".damaged"
"""What is put after the name of a journal that cannot be read when it is moved out of the way."""


def journal_path(paths: Paths) -> str:
    """Where it lies."""
    return os.path.join(paths.data, _NAME)


def read_journal(paths: Paths) -> EditJournal:
    """The stored journal; an empty one when nothing was edited. Raises `SetupError` for a damaged one."""
    raw = look(journal_path(paths))
    try:
        return EditJournal(()) if raw is None else EditJournal.from_json(loads(raw, journal_path(paths)))
    except AflError as bad:
        raise SetupError(
            f"{journal_path(paths)} is damaged: {bad.sentence}",
            code="AFL-SETUP-018",
            hint="run: afl install, which puts it aside; uninstall then takes our hooks out entry by entry",
        ) from bad


def damage_of_journal(paths: Paths) -> str:
    """Why the journal cannot be read; '' when it can, or is not there."""
    try:
        read_journal(paths)
    except SetupError as bad:
        return bad.sentence
    return ""


def put_journal_aside(paths: Paths) -> None:
    """Give a damaged journal another name: what can still be read in it by a person stays."""
    os.replace(journal_path(paths), journal_path(paths) + ASIDE)
    sync_dir(paths.data)


def store_journal(paths: Paths, journal: EditJournal) -> None:
    """Replace it whole; one without records is removed."""
    if journal.records:
        ensure_private_dir(paths.data, paths.home)
        write_private_file(journal_path(paths), as_json(journal.as_json()))
    else:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(journal_path(paths))


def merged(earlier: EditJournal, later: EditJournal) -> EditJournal:
    """One journal for both. A record whose edit never happened (the process was killed before the rename) gives way to the one that starts where it started."""
    starts = {record.path: record.sha256_before for record in later.records}
    happened = tuple(record for record in earlier.records if starts.get(record.path, "") != record.sha256_before)
    return join_journals(attrs.evolve(earlier, records=happened), later)
