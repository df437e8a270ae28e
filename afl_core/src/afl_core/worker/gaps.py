"""What a pass could not read, by kind: the word that programs are given, and the sentence for a person."""

from __future__ import annotations

from collections.abc import Mapping

from afl_core.model.errors import CaptureError

BY_CODE: Mapping[str, str] = {
    "AFL-CAPTURE-008": "compressed",
    "AFL-CAPTURE-009": "unpacks_too_large",
    "AFL-CAPTURE-011": "damaged",
    "AFL-CAPTURE-012": "cut",
}
"""Errors of a file that are told as a gap of what is covered: nothing can be done about them now."""

KINDS: Mapping[str, str] = {
    "oversized_record": "a record is longer than is read; the rest of the file was read",
    "symlink": "a link stands in a transcript's place; links are not followed",
    "not_a_file": "something else than a file stands in a transcript's place",
    "foreign_owner": "the file belongs to somebody else",
    "name_not_text": "the file's name is no text",
    "not_looked_through": "a directory was not looked through to its end",
    "compressed": "the file is compressed, and no library is installed that can read it",
    "unpacks_too_large": "the file unpacks to more than is read",
    "damaged": "the compressed file cannot be unpacked",
    "cut": "the compressed file ends in the middle; what it holds was read, and the rest is when it is whole",
}
"""Every kind, with what happened."""


def told_of(bad: CaptureError) -> str:
    """What a gap says of a file that this is the matter with."""
    return f"{bad.sentence}; {bad.hint}"


def sentence_of(kind: str, message: str = "") -> str:
    """For a person: what was told of this one, else what its kind means."""
    return message or KINDS.get(kind, "it could not be read")
