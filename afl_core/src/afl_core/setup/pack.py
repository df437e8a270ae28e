"""The pack of one home: what shall stand in it, what differs from that, and putting it there. Settings of hosts are not its business."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import attrs

from afl_core.files.private import ensure_private_dir
from afl_core.model.codec import loads
from afl_core.model.errors import AflError, SetupError
from afl_core.plugins.discovery import Found
from afl_core.plugins.registry import Registry
from afl_core.settings.load import load_settings
from afl_core.settings.paths import Paths
from afl_core.setup import render
from afl_core.setup.pack_editable import plan_editable, shipped
from afl_core.setup.pack_files import PackFile, is_in_place, look, put_set
from afl_core.setup.pack_hook import hook_files
from afl_core.setup.runtime import Runtime, build_of
from afl_core.spec.host import HostManifest
from afl_core.spec.transcripts import TranscriptRoot


@attrs.frozen
class PackPlan:
    """What differs. `files` are in the order they are put in place; `pending` edited files whose new version waits beside them."""

    build: str
    hook: tuple[PackFile, ...]
    editable: tuple[PackFile, ...]
    removed: tuple[str, ...]
    pending: tuple[str, ...]

    @property
    def changes(self) -> bool:
        """Whether there is anything to do."""
        return bool(self.hook or self.editable or self.removed)

    def _names(self) -> str:
        names = sorted(os.path.basename(file.path) for file in self.hook if file.path.endswith(".py"))
        return ", ".join(names) or "compiled forms only"

    def steps(self) -> list[str]:
        """A line for each thing that will be done."""
        return [
            *([f"put the hook's files of build {self.build} in place: {self._names()}"] if self.hook else []),
            *(file.step for file in self.editable if file.step),
            *(f"remove {path}" for path in self.removed),
        ]


@attrs.frozen
class Watch:
    """What the pack says of the scheduled reconcile: where hosts keep transcripts, and whether one is installed."""

    roots: Mapping[str, Sequence[TranscriptRoot]] = attrs.field(factory=dict)
    scheduled: bool = False


def plan_pack(
    paths: Paths,
    runtime: Runtime,
    manifests: Sequence[HostManifest],
    found: Sequence[Found],
    registry: Registry,
    *,
    watch: Watch,
    empty: bool = False,
) -> PackPlan:
    """Compare the pack with what it shall be; `empty`: with nothing, because what is there will have been moved away. Settings come from the file alone: a variable of one shell must not stay for good."""
    settings = load_settings(paths.settings_file, {})
    allow = [name.strip() for name in settings.reviewer_env_allowlist.split(",") if name.strip()]
    build = build_of(runtime, render.constants(paths, runtime, manifests, allow, ""), found)
    editable = plan_editable(paths, shipped(paths), empty=empty)
    files = [
        *editable.files,
        PackFile(paths.manifest, render.as_json({"files": editable.manifest}), "note what was shipped"),
        PackFile(
            paths.front_file,
            render.front_file(
                manifests, settings, selector_target(registry, settings.selector), roots=watch.roots, scheduled=watch.scheduled
            ),
            "tell the front what hosts and settings say",
        ),
    ]
    hook = hook_files(paths, runtime, render.constants(paths, runtime, manifests, allow, build))
    return PackPlan(
        build=build,
        hook=tuple(file for file in hook if empty or not is_in_place(file)),
        editable=tuple(file for file in files if empty or not is_in_place(file)),
        removed=() if empty else (*editable.removed, *_strangers(paths, {file.path for file in hook})),
        pending=editable.pending,
    )


def put_pack(paths: Paths, plan: PackPlan, checkpoint: Callable[[str], None]) -> None:
    """Do what the plan says: the hook's files as one set, then the rest."""
    for name, files in (("hook", plan.hook), ("pack", plan.editable)):
        for folder in sorted({os.path.dirname(file.path) for file in files}):
            ensure_private_dir(folder, paths.home)
        put_set(files, lambda step, name=name: checkpoint(f"{name}:{step}"))  # type: ignore[misc]
    for path in plan.removed:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(path)


def rendered_watch(paths: Paths) -> Watch:
    """What the pack says now; nothing where it cannot be read."""
    try:
        body = loads(look(paths.front_file) or b"{}", paths.front_file)
        roots = {
            name: tuple(TranscriptRoot(Path(root["folder"]), root["pattern"]) for root in host.get("roots", ()))
            for name, host in body.get("hosts", {}).items()
        }
        return Watch(roots, scheduled=bool(body.get("schedule", {}).get("installed")))
    except (AflError, KeyError, TypeError, AttributeError):
        return Watch()


def selector_target(registry: Registry, name: str) -> str | None:
    """By what the front loads the chosen selector; None for the built-in one."""
    if name == "default":
        return None
    selectors = registry.selectors()
    if name not in selectors:
        raise SetupError(
            f"no plug-in provides the selector {name!r}", code="AFL-SETUP-025", hint="known: " + ", ".join(["default", *sorted(selectors)])
        )
    return selectors[name].target


def _strangers(paths: Paths, ours: set[str]) -> list[str]:
    """Python files in the hook folder that this version does not ship: of an earlier one, or compiled for another Python."""
    found = []
    for folder in (paths.hook_dir, os.path.join(paths.hook_dir, "__pycache__")):
        with contextlib.suppress(FileNotFoundError, NotADirectoryError):
            found += [os.path.join(folder, name) for name in sorted(os.listdir(folder)) if name.endswith((".py", ".pyc"))]
    return [path for path in found if path not in ours]
