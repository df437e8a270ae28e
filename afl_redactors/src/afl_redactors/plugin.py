"""What this distribution registers with Agent Feedback Loop: its redactors."""

from __future__ import annotations

from afl_core.spec.marker import hookimpl
from afl_core.spec.redactor import Redactor
from afl_redactors.redactor import CredentialRedactor

AFL_API_VERSION = 1


@hookimpl
def afl_redactors() -> list[Redactor]:
    """Return one instance of each redactor."""
    return [CredentialRedactor()]
