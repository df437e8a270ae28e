"""The proof that an edit touched only what is ours fails for every other difference."""

from __future__ import annotations

import pytest

from afl_core.model.errors import SetupError
from afl_core.setup.json_splice import only_ours_changed, semantically_equal_outside

OURS = b'{"type": "command", "command": "/opt/afl/hook"}'
THEIRS = b'{"type": "command", "command": "theirs"}'


def ours(handler):
    return handler.get("command") == "/opt/afl/hook"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (b'{"a": 1, "b": 2}', b'{"b": 2, "a": 1}'),
        (b'{"a": 1, "a": 2}', b'{"a": 2}'),
        (b'{"a": 1}', b'{"a": 1.0}'),
        (b'{"a": "\\udc80"}', b'{"a": "\x80"}'),
        (b'{"a": []}', b"{}"),
        (b'{"hooks": {"Stop": []}}', b'{"hooks": {}}'),
        (b'{"hooks": {}}', b"{}"),
        (b'{"hooks": {"Stop": [{"hooks": [' + THEIRS + b"]}]}}", b'{"hooks": {"Stop": [{"hooks": [' + OURS + b"]}]}}"),
        (b'{"hooks": {"Stop": [{"matcher": "a", "hooks": [' + THEIRS + b"]}]}}", b'{"hooks": {"Stop": [{"hooks": [' + THEIRS + b"]}]}}"),
        (b'{"hooks": {"Other": []}}', b'{"hooks": {"Stop": [{"hooks": [' + OURS + b"]}]}}"),
        (b"[1]", b"{}"),
    ],
)
def test_a_difference_that_is_not_ours_is_seen(before, after):
    assert not semantically_equal_outside(before, after, ours)
    with pytest.raises(SetupError) as caught:
        only_ours_changed(ours)(before, after)
    assert caught.value.code == "AFL-SETUP-012"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (b"", b'{"hooks": {"Stop": [{"hooks": [' + OURS + b"]}]}}"),
        (b'{"a": "\xc3\xa9"}', b'\xef\xbb\xbf{\n"a" : "\\u00e9" }'),
        (b'{"hooks": {"Stop": []}}', b'{"hooks": {"Stop": [{"matcher": "", "hooks": [' + OURS + b"]}]}}"),
        (
            b'{"hooks": {"Stop": [{"matcher": "a", "hooks": [' + THEIRS + b"]}]}}",
            b'{"hooks": {"Stop": [{"matcher": "a", "hooks": [' + OURS + b", " + THEIRS + b"]}]}}",
        ),
    ],
)
def test_formatting_and_our_own_entries_make_no_difference(before, after):
    assert semantically_equal_outside(before, after, ours)
    only_ours_changed(ours)(before, after)
