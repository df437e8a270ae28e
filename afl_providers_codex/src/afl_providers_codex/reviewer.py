"""The reviewer `codex`: one isolated `codex exec`, described and understood. Core runs the process."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from afl_core.model.errors import ReviewError
from afl_core.spec.reviewer import ProcessResult, ReviewerAnswer, ReviewerCommand, ReviewRequest, Viability
from afl_providers_codex import reviewer_answer
from afl_providers_codex.manifest import LABEL, NAME, ROUTING_ENV
from afl_providers_codex.place import COMMAND_VARIABLE, codex_home, find_command
from afl_providers_codex.reviewer_input import ANSWER_FILE, EMPTY, ENVIRONMENT, RECEIPT_FILE, arguments, files, standard_input
from afl_providers_codex.reviewer_routing import routing


class CodexReviewer:
    """Codex CLI, as core knows a reviewer. It sees sessions of Codex only."""

    name = NAME
    host = NAME
    label = LABEL

    def viable(self, environ: Mapping[str, str]) -> Viability:
        """Whether the command is there. A missing login shows only when it runs."""
        binary = find_command(_home(environ), environ)
        if binary is not None:
            return Viability(ok=True, reason=str(binary))
        named = environ.get(COMMAND_VARIABLE, "").strip()
        missing = f"{named} ({COMMAND_VARIABLE}) is not a command that can be run" if named else "the command codex was not found"
        return Viability(ok=False, reason=f"{missing}; set {COMMAND_VARIABLE} to its path")

    def command(self, request: ReviewRequest, environ: Mapping[str, str]) -> ReviewerCommand:
        """The isolated command. Reads the person's config.toml for where the model is.

        ReviewError `reviewer_missing` when the command has gone since `viable` was asked, `reviewer_settings` for a configuration that cannot be
        passed on.
        """
        home = _home(environ)
        binary = find_command(home, environ)
        if binary is None:
            raise ReviewError(self.viable(environ).reason, reason="reviewer_missing")
        return ReviewerCommand(
            arguments(binary, request, routing(codex_home(home, environ))),
            standard_input(request),
            env_names=ROUTING_ENV,
            env=ENVIRONMENT,
            files=files(request),
            outputs=(ANSWER_FILE, RECEIPT_FILE),
            folder=EMPTY,
        )

    def read(self, result: ProcessResult) -> ReviewerAnswer:
        """The receipt or the reason."""
        return reviewer_answer.read(result)


def _home(environ: Mapping[str, str]) -> Path:
    home = environ.get("HOME")
    return Path(home) if home else Path.home()
