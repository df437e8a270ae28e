"""Errors of what is read from or written to files of others."""

from __future__ import annotations

from afl_core.model.errors import AflError


class Unfit(Exception):  # noqa: N818 - it ends a row, never a command
    """A row that is not taken; its words are the reason in the report."""


class ExchangeError(AflError):
    """A file cannot be read, written or understood; nothing of it was stored."""

    code = "AFL-EXCHANGE-001"
