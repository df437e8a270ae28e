"""Files of the pack that a person may edit: replaced only while they are as they were shipped, otherwise the new one is put beside."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from importlib import resources

import attrs

from afl_core.model.codec import loads
from afl_core.model.errors import ModelError, SetupError
from afl_core.settings.paths import Paths
from afl_core.setup import render
from afl_core.setup.pack_files import PackFile, look

NEW = ".new"


@attrs.frozen
class EditablePlan:
    """What to write, what to remove, and the manifest afterwards; `pending` are files whose shipped version waits as `<file>.new`."""

    files: tuple[PackFile, ...]
    removed: tuple[str, ...]
    manifest: dict[str, str]
    pending: tuple[str, ...]


def shipped(paths: Paths) -> dict[str, bytes]:
    """What this version ships, by the path it goes to."""
    folder = resources.files("afl_core.review") / "pack"
    try:
        return {
            paths.prompt_file: (folder / "reviewer.md").read_bytes(),
            paths.rules_file: (folder / "rules.md").read_bytes(),
            paths.schema_file: (folder / "receipt.schema.json").read_bytes(),
            paths.policy_file: render.policy_file(),
        }
    except FileNotFoundError as bad:
        raise SetupError(
            f"the package is incomplete: {bad.filename} is missing", code="AFL-SETUP-024", hint="install the package afl-core again"
        ) from bad


def read_manifest(paths: Paths) -> dict[str, str]:
    """SHA-256 of each editable file as it was last shipped, by its path in the pack; {} when nothing was."""
    raw = look(paths.manifest)
    if raw is None:
        return {}
    try:
        body = loads(raw, paths.manifest)
        return {str(name): str(digest) for name, digest in body["files"].items()}
    except (ModelError, KeyError, TypeError, AttributeError):
        return {}  # without it every file that differs counts as edited, which loses nothing


def plan_editable(paths: Paths, new: Mapping[str, bytes], *, empty: bool = False) -> EditablePlan:
    """Decide for every file: write it, leave it, or put the new one beside it. `empty`: what is there now will have been moved away."""
    manifest = {} if empty else read_manifest(paths)
    files: list[PackFile] = []
    removed: list[str] = []
    pending: list[str] = []
    for path, data in new.items():
        name, there, beside = os.path.relpath(path, paths.pack), None if empty else look(path), None if empty else look(path + NEW)
        if there is None or (there != data and _sha(there) == manifest.get(name)):
            files.append(PackFile(path, data, f"{'write' if there is None else 'update'} {path}"))
        elif there == data:
            files.append(PackFile(path, data, f"make {path} private"))
            if beside is not None:  # the person took the new version over
                removed.append(path + NEW)
        elif manifest.get(name) != _sha(data):
            files.append(
                PackFile(
                    path + NEW, data, f"keep {path}, which was edited, and put the new version beside it as {os.path.basename(path)}{NEW}"
                )
            )
            pending.append(path + NEW)
        elif beside is not None:
            pending.append(path + NEW)
    return EditablePlan(
        tuple(files), tuple(removed), {os.path.relpath(path, paths.pack): _sha(data) for path, data in new.items()}, tuple(pending)
    )


def _sha(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
