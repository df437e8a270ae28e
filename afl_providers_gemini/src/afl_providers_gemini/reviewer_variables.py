"""Variables that the host takes from a file of the person's own, and the kind of login that variables choose. Reads, and changes nothing."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path

import attrs

from afl_providers_gemini.reviewer_comments import read_text

API_KEY = "gemini-api-key"
VERTEX = "vertex-ai"
GOOGLE = "oauth-personal"
MACHINE = "compute-default-credentials"

KEY_NAME = "GEMINI_API_KEY"
VERTEX_KEY_NAME = "GOOGLE_API_KEY"
VERTEX_SWITCH = "GOOGLE_GENAI_USE_VERTEXAI"
VERTEX_NAMES = ("GOOGLE_CLOUD_PROJECT", "GOOGLE_CLOUD_LOCATION")

_LINE = re.compile(r"^[ \t]*(?:export[ \t]+)?([A-Za-z_][A-Za-z0-9_]*)[ \t]*=[ \t]*(.*?)[ \t\r]*$", re.MULTILINE)


@attrs.frozen
class VariablesFile:
    """The one file whose variables the host takes where the environment does not set them; without a path there is none."""

    path: Path | None = None
    values: Mapping[str, str] = attrs.field(factory=dict, repr=False)

    def sets(self, *names: str) -> bool:
        """Whether each of them has a value."""
        return all(self.values.get(name) for name in names)


def variables_file(folder: Path) -> VariablesFile:
    """The first that is there: in the configuration directory `folder`, then in the home above it."""
    path = next((path for path in (folder / ".env", folder.parent / ".env") if os.path.isfile(path)), None)
    return VariablesFile() if path is None else VariablesFile(path, {name: _bare(value) for name, value in _LINE.findall(read_text(path))})


def chosen_by(variables: Mapping[str, str]) -> str:
    """The kind of login where the settings name none, in the host's own order; '' for none."""
    if variables.get("GOOGLE_GENAI_USE_GCA") == "true":
        return GOOGLE
    if variables.get(VERTEX_SWITCH) == "true":
        return VERTEX
    if variables.get(KEY_NAME):
        return API_KEY
    is_machines = variables.get("CLOUD_SHELL") == "true" or variables.get("GEMINI_CLI_USE_COMPUTE_ADC") == "true"
    return MACHINE if is_machines else ""


def _bare(value: str) -> str:
    return value[1:-1] if len(value) > 1 and value[0] == value[-1] and value[0] in "\"'`" else value
