"""Which hosts are connected, where their settings are, and which hook entries they get. Reads, changes nothing."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import attrs

from afl_core.model.errors import SetupError
from afl_core.settings.paths import Paths
from afl_core.setup.json_splice import HookEntry
from afl_core.setup.render import command_for
from afl_core.spec.host import HostAdapter, HostManifest, HostPlace
from afl_core.spec.plugin_folder import PluginFolder
from afl_core.spec.transcripts import FindsTranscripts, TranscriptRoot


@attrs.frozen
class Selected:
    """One host to connect. `config_dir` and `settings_path` are those of this run, or those remembered from an earlier one.

    `plugin`: the folder its hooks stand in instead of in its settings.
    """

    adapter: HostAdapter
    manifest: HostManifest
    config_dir: Path
    settings_path: Path
    binary: Path | None
    present: bool
    plugin: PluginFolder | None = None

    @property
    def hooks_path(self) -> Path:
        """The file our entries stand in."""
        return self.plugin.folder / self.plugin.hooks_file if self.plugin else self.settings_path

    @property
    def name(self) -> str:
        """The host's name."""
        return self.manifest.name

    def roots(self) -> tuple[TranscriptRoot, ...]:
        """Where its transcripts are; nothing where its adapter does not say."""
        place = HostPlace(self.config_dir, self.settings_path, self.binary, self.present)
        return self.adapter.transcript_roots(place) if isinstance(self.adapter, FindsTranscripts) else ()

    def entries(self, paths: Paths, python: str) -> tuple[HookEntry, ...]:
        """What stands in its settings."""
        return tuple(
            HookEntry(
                event.name,
                event.matcher,
                command_for(paths.hook, python, self.name, event.name, own_shell=self.manifest.own_shell),
                event.timeout_s * 1000 // self.manifest.timeout_unit_ms,
                self.manifest.entry,
            )
            for event in self.manifest.events
        )


@attrs.frozen
class Selection:
    """The selected hosts, those that are here but not selected, and those that were selected before and are no longer."""

    selected: tuple[Selected, ...]
    unselected: tuple[str, ...]
    dropped: tuple[str, ...]
    warnings: tuple[str, ...]


def select_hosts(
    adapters: Mapping[str, HostAdapter],
    paths: Paths,
    environ: Mapping[str, str],
    remembered: Mapping[str, Any],
    wanted: Sequence[str] | None,
) -> Selection:
    """The hosts named; else those remembered; else those found here. Raises `SetupError` for a name no plug-in provides."""
    known = remembered_hosts(remembered)
    if wanted is not None and (unknown := sorted(set(wanted) - set(adapters))):
        raise SetupError(
            f"no plug-in provides the host {unknown[0]!r}",
            code="AFL-SETUP-026",
            hint="known: " + (", ".join(sorted(adapters)) or "none; install a provider, for example afl-providers-claude"),
        )
    here = {name: place_of(adapter, paths, environ, known) for name, adapter in sorted(adapters.items())}
    names = (
        set(wanted) if wanted is not None else set(known) & set(adapters) or {name for name, (place, _) in here.items() if place.present}
    )
    warnings = [
        f"the host {name} was connected, but no plug-in provides it now; its hooks stay" for name in sorted(set(known) - set(adapters))
    ]
    selected = []
    for name in sorted(names):
        place, warning = here[name]
        warnings += [warning] if warning else []
        selected.append(
            Selected(adapters[name], adapters[name].manifest(), place.config_dir, place.settings_path, place.binary, place.present)
        )
    unselected = tuple(name for name, (place, _) in here.items() if place.present and name not in names)
    return Selection(tuple(selected), unselected, tuple(sorted(set(known) & set(adapters) - names)), tuple(warnings))


def remembered_hosts(remembered: Mapping[str, Any]) -> dict[str, dict[str, str]]:
    """The hosts an earlier install connected, with their places; entries of another shape are left out."""
    hosts = remembered.get("hosts")
    if not isinstance(hosts, dict):
        return {}
    return {
        name: entry
        for name, entry in hosts.items()
        if isinstance(entry, dict) and all(isinstance(entry.get(key), str) for key in ("config_dir", "settings_path"))
    }


def place_of(
    adapter: HostAdapter, paths: Paths, environ: Mapping[str, str], known: Mapping[str, Mapping[str, str]]
) -> tuple[HostPlace, str]:
    """Where a host is: what the environment says now, else what an earlier install was told. The second value is a warning or ''."""
    place = adapter.locate(Path(paths.home), environ)
    before = known.get(adapter.name)
    if before is None or str(place.settings_path) == before["settings_path"]:
        return place, ""
    usual = adapter.locate(Path(paths.home), {"HOME": paths.home, "PATH": environ.get("PATH", "")})
    if place.settings_path == usual.settings_path:
        return attrs.evolve(place, config_dir=Path(before["config_dir"]), settings_path=Path(before["settings_path"]), present=True), ""
    return place, f"{before['settings_path']} was connected before and stays connected; `afl uninstall` disconnects both"


def owner_of(adapters: Mapping[str, HostAdapter], name: str) -> Callable[[dict[str, Any]], bool]:
    """Says of a hook handler whether it is ours, of any version and any home."""
    adapter = adapters[name]

    def owned(handler: dict[str, Any]) -> bool:
        command = handler.get("command")
        return isinstance(command, str) and adapter.owns_command(command)

    return owned
