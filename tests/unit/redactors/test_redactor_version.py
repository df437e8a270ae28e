"""The redactor's version changes with every rule, and with nothing else."""

from __future__ import annotations

import pytest

from afl_redactors.redactor import CredentialRedactor
from afl_redactors.version import sources, version_of

FILES = [("packs/a.toml", b"one"), ("families/b.py", b"two")]


def test_the_version_is_that_of_the_files() -> None:
    assert CredentialRedactor().version == version_of(sources())
    assert {"redactor.py", "families/assignments.py", "packs/cloud.toml"} <= {name for name, _ in sources()}


def test_the_order_of_the_files_makes_no_difference() -> None:
    assert version_of(FILES) == version_of(reversed(FILES))


@pytest.mark.parametrize(
    "other",
    [
        [("packs/a.toml", b"one."), FILES[1]],
        [("packs/c.toml", b"one"), FILES[1]],
        FILES[:1],
        [("packs/a.toml", b"on"), ("families/b.py", b"etwo")],
    ],
)
def test_another_content_name_or_file_is_another_version(other: list[tuple[str, bytes]]) -> None:
    assert version_of(other) != version_of(FILES)
