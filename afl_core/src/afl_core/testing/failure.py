"""The one error of the test kit: something a test waited for, asked for or scripted did not come true."""

from __future__ import annotations

from afl_core.model.errors import AflError


class KitError(AflError):
    """A wait that ran out, a script that does not fit, a recording that does not exist."""

    code = "AFL-TESTING-001"
