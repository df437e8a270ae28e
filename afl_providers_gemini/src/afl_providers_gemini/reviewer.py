"""The reviewer `gemini`: Gemini CLI without a person, tools or hooks, describing one run and reading its end. Core runs the process."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from afl_core.model.errors import ReviewError
from afl_core.spec.reviewer import ProcessResult, ReviewerAnswer, ReviewerCommand, ReviewRequest, Viability
from afl_providers_gemini import reviewer_answer
from afl_providers_gemini.manifest import LABEL, NAME, ROUTING_ENV
from afl_providers_gemini.place import COMMAND_VARIABLE, find_command
from afl_providers_gemini.reviewer_input import arguments, model_of, standard_input
from afl_providers_gemini.reviewer_login import find_login
from afl_providers_gemini.reviewer_schema import accepted
from afl_providers_gemini.reviewer_settings import FOLDER, environment, files


class GeminiReviewer:
    """Gemini CLI, as core knows a reviewer. It sees sessions of Gemini CLI only."""

    name = NAME
    host = NAME
    label = LABEL

    def viable(self, environ: Mapping[str, str]) -> Viability:
        """Whether the command is there, and in which home it would run. A missing login shows only when it runs."""
        binary = _binary(environ)
        if binary is not None:
            return Viability(ok=True, reason=f"{binary} ({find_login(environ).how})")
        named = environ.get(COMMAND_VARIABLE, "").strip()
        missing = f"{named} ({COMMAND_VARIABLE}) is not a command that can be run" if named else "the command gemini was not found"
        return Viability(ok=False, reason=f"{missing}; set {COMMAND_VARIABLE} to its path")

    def command(self, request: ReviewRequest, environ: Mapping[str, str]) -> ReviewerCommand:
        """The command, isolated in a home of its own where the login reaches it, else in an empty folder with the person's home.

        ReviewError `reviewer_missing` when the command has gone since `viable` was asked.
        """
        binary = _binary(environ)
        if binary is None:
            raise ReviewError(self.viable(environ).reason, reason="reviewer_missing")
        login, model = find_login(environ), model_of(request)
        return ReviewerCommand(
            arguments(binary, request.workdir),
            standard_input(request),
            env_names=ROUTING_ENV,
            env=environment(login, str(request.workdir)),
            files=files(login, model, accepted(request.schema)),
            folder=FOLDER,
            lasting=not login.isolated,
        )

    def read(self, result: ProcessResult) -> ReviewerAnswer:
        """The receipt or the reason."""
        return reviewer_answer.read(result)


def _binary(environ: Mapping[str, str]) -> Path | None:
    home = environ.get("HOME")
    return find_command(Path(home) if home else Path.home(), environ)
