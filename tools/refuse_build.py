"""The build backend of the workspace root, which is no project: it says what to install instead and stops."""

from __future__ import annotations

raise SystemExit(
    "This folder is a workspace of several projects, not a project. Install the ones you want, together:\n"
    "    pip install ./afl_core ./afl_redactors ./afl_providers_claude ./afl_providers_codex ./afl_providers_gemini"
)
