"""What `afl.plugins` finds here: one redactor."""

from __future__ import annotations

from afl_core.spec.marker import hookimpl
from afl_core.spec.redactor import Redactor
from afl_redactor_sample.redactor import HarbourRedactor

AFL_API_VERSION = 1


@hookimpl
def afl_redactors() -> list[Redactor]:
    """Harbour's."""
    return [HarbourRedactor()]
