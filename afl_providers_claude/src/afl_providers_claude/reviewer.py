"""The reviewer `claude`: Claude Code in print mode, isolated, describing one run and reading its end. Core runs the process."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from afl_core.model.errors import ReviewError
from afl_core.spec.reviewer import ProcessResult, ReviewerAnswer, ReviewerCommand, ReviewRequest, Viability
from afl_providers_claude import reviewer_answer
from afl_providers_claude.manifest import LABEL, NAME, ROUTING_ENV
from afl_providers_claude.place import COMMAND_VARIABLE, find_command
from afl_providers_claude.reviewer_input import ENVIRONMENT, arguments, standard_input


class ClaudeReviewer:
    """Claude Code, as core knows a reviewer. It sees sessions of Claude Code only."""

    name = NAME
    host = NAME
    label = LABEL

    def viable(self, environ: Mapping[str, str]) -> Viability:
        """Whether the command is there. A missing login shows only when it runs."""
        binary = _binary(environ)
        if binary is not None:
            return Viability(ok=True, reason=str(binary))
        named = environ.get(COMMAND_VARIABLE, "").strip()
        missing = f"{named} ({COMMAND_VARIABLE}) is not a command that can be run" if named else "the command claude was not found"
        return Viability(ok=False, reason=f"{missing}; set {COMMAND_VARIABLE} to its path")

    def command(self, request: ReviewRequest, environ: Mapping[str, str]) -> ReviewerCommand:
        """The isolated command. ReviewError `reviewer_missing` when the command has gone since `viable` was asked."""
        binary = _binary(environ)
        if binary is None:
            raise ReviewError(self.viable(environ).reason, reason="reviewer_missing")
        return ReviewerCommand(arguments(binary, request), standard_input(request), env_names=ROUTING_ENV, env=ENVIRONMENT)

    def read(self, result: ProcessResult) -> ReviewerAnswer:
        """The receipt or the reason."""
        return reviewer_answer.read(result)


def _binary(environ: Mapping[str, str]) -> Path | None:
    home = environ.get("HOME")
    return find_command(Path(home) if home else Path.home(), environ)
