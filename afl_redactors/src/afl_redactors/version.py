"""The version of the rules: made from the rules themselves, so that none can change without it. A store is told by it that other rules filled its index."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from importlib.resources import files
from importlib.resources.abc import Traversable

_FORM = 2
"""Of the version's own form."""

_ENDINGS = (".py", ".toml")
_DIGITS = 12


def version_of(sources: Iterable[tuple[str, bytes]]) -> str:
    """The form, and the beginning of a hash over names and contents in order of the names."""
    told = hashlib.sha256()
    for name, content in sorted(sources):
        told.update(b"%d:%b%d:%b" % (len(name), name.encode(), len(content), content))
    return f"{_FORM}-{told.hexdigest()[:_DIGITS]}"


def sources() -> Iterator[tuple[str, bytes]]:
    """The files of this distribution that make its rules: code and packs, each by its place."""
    yield from _below(files(__package__), "")


def _below(folder: Traversable, place: str) -> Iterator[tuple[str, bytes]]:
    for found in folder.iterdir():
        if found.is_dir():
            yield from _below(found, f"{place}{found.name}/")
        elif found.name.endswith(_ENDINGS):
            yield place + found.name, found.read_bytes().replace(b"\r\n", b"\n")
