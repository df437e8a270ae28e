"""The root is a workspace, not a project: installing it says what to install instead."""

from __future__ import annotations

import shutil
import sys

import pytest


@pytest.mark.parametrize("arguments", [["."], ["--editable", "."]], ids=["plain", "editable"])
def test_installing_the_root_fails_and_names_the_folders_to_install(fresh_venv, run, root, tmp_path, arguments):
    for name in ("pyproject.toml", "tools"):
        copy = shutil.copytree if (root / name).is_dir() else shutil.copy
        copy(root / name, tmp_path / name)
    said = run(sys.executable, "-m", "pip", "--python", fresh_venv, "install", *arguments, cwd=tmp_path, status=1).stdout
    assert "not a project" in said
    assert "pip install ./afl_core ./afl_redactors ./afl_providers_claude ./afl_providers_codex ./afl_providers_gemini" in said
