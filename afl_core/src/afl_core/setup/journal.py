"""The journal of edits of hosts' settings, kept with the data: it outlives the pack, so that whoever deleted the pack by hand can still undo them."""

from __future__ import annotations

import contextlib
import os

import attrs

from afl_core.files.private import ensure_private_dir, write_private_file
from afl_core.model.codec import loads
from afl_core.settings.paths import Paths
from afl_core.setup.edit_journal import EditJournal, join_journals
from afl_core.setup.pack_files import look
from afl_core.setup.render import as_json

_NAME = "settings-journal.json"


def journal_path(paths: Paths) -> str:
    """Where it lies."""
    return os.path.join(paths.data, _NAME)


def read_journal(paths: Paths) -> EditJournal:
    """The stored journal; an empty one when nothing was edited. Raises `SetupError` or `ModelError` for a damaged one."""
    raw = look(journal_path(paths))
    return EditJournal(()) if raw is None else EditJournal.from_json(loads(raw, journal_path(paths)))


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
