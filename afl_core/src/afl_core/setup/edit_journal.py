"""What was done to which file, in a form that can be stored and undone. Reads and writes nothing."""

from __future__ import annotations

from typing import Any

import attrs

from afl_core.model.errors import SetupError

_FIRST_KEYS = 5
"""Keys of a record that were there from the beginning; a stored journal may lack the later ones."""

_ALL_BITS = 0o7777


@attrs.frozen
class EditRecord:
    """One file of one apply; hashes are SHA-256 in hex, None where there is no file."""

    path: str
    existed: bool
    sha256_before: str | None
    sha256_after: str | None
    backup: str | None
    """The file that holds the bytes from before; None when there was no file or nothing was changed."""
    mode: int | None = None
    """Permission bits from before, where they have to be put back too."""
    through: str = ""
    """The host whose own program made the change; '' for an edit of ours. Only that program can take out a part of it."""


@attrs.frozen
class EditJournal:
    """The records of one apply, in the order the files were replaced."""

    records: tuple[EditRecord, ...]

    def as_json(self) -> list[dict[str, Any]]:
        """A list of plain objects for `json.dumps`; `from_json` reads it back."""
        return [attrs.asdict(record) for record in self.records]

    @classmethod
    def from_json(cls, stored: object) -> EditJournal:
        """The journal stored by `as_json`; raises `SetupError` for any other shape."""
        if not isinstance(stored, list):
            raise _damaged("it is not a list")
        return cls(tuple(_record(index, item) for index, item in enumerate(stored)))


def join_journals(earlier: EditJournal, later: EditJournal) -> EditJournal:
    """One journal that undoes both: install followed by upgrade, for example.

    A file nobody touched in between goes back to what it was before `earlier`. Where somebody did, neither backup is what the person wants back,
    so the joined record has none and our entries are taken out of the file instead.
    """
    before = {record.path: record for record in earlier.records}
    after = {record.path for record in later.records}
    kept = tuple(record for record in earlier.records if record.path not in after)
    return EditJournal(kept + tuple(_join(before.get(record.path), record) for record in later.records))


def _join(first: EditRecord | None, second: EditRecord) -> EditRecord:
    if first is None:
        return second
    if first.sha256_after == second.sha256_before:
        return attrs.evolve(first, sha256_after=second.sha256_after)
    return attrs.evolve(second, existed=True, backup=None)


def _record(index: int, item: object) -> EditRecord:
    names = [field.name for field in attrs.fields(EditRecord)]
    if not isinstance(item, dict) or not set(names[:_FIRST_KEYS]) <= set(item) <= set(names):
        raise _damaged(f"record {index} does not have the keys {', '.join(names)}")
    if not isinstance(item["path"], str) or not isinstance(item["existed"], bool):
        raise _damaged(f"record {index} has a path or a flag of the wrong type")
    if any(item[name] is not None and not isinstance(item[name], str) for name in ("sha256_before", "sha256_after", "backup")):
        raise _damaged(f"record {index} has a hash or a backup that is no text")
    mode, through = item.get("mode"), item.get("through", "")
    if not isinstance(through, str) or isinstance(mode, bool) or not (mode is None or (isinstance(mode, int) and 0 <= mode <= _ALL_BITS)):
        raise _damaged(f"record {index} has a mode or a host of the wrong type")
    return EditRecord(**item)


def _damaged(reason: str) -> SetupError:
    return SetupError(
        f"the journal of edits cannot be read: {reason}",
        code="AFL-SETUP-018",
        hint="take our hooks out by hand; backups stand beside the file",
    )
