"""What an earlier install remembered, with the places of its hosts even where they have to be found out anew. Reads only."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from afl_core.api.remember import Recalled, recalled
from afl_core.model.errors import AflError
from afl_core.settings.paths import Paths
from afl_core.setup.doctor_settings import read_configured
from afl_core.setup.journal import read_journal
from afl_core.setup.plugin_folder import place_by_hooks
from afl_core.spec.host import HostAdapter


def recall(paths: Paths, adapters: Mapping[str, HostAdapter], environ: Mapping[str, str]) -> Recalled:
    """The pointer file's body; for a missing or damaged one what the hook's files say, each host with the place where its settings are."""
    found = recalled(paths)
    names = found.body.get("host_names")
    if names is None:
        return found
    edited = _edited(paths)
    hosts = {name: _place(adapters, name, paths, environ, edited) for name in names if name in adapters}
    body: dict[str, Any] = {key: value for key, value in found.body.items() if key != "host_names"}
    return found._replace(body={**body, "hosts": hosts})


def _place(adapters: Mapping[str, HostAdapter], name: str, paths: Paths, environ: Mapping[str, str], edited: list[Path]) -> dict[str, str]:
    """An edited file that holds this host's commands, else where the host says that it is."""
    place = adapters[name].locate(Path(paths.home), environ)
    for path in edited:
        if read_configured(adapters, name, path).commands:
            return place_by_hooks(adapters[name], place, path) or {"config_dir": str(path.parent), "settings_path": str(path)}
    return {"config_dir": str(place.config_dir), "settings_path": str(place.settings_path)}


def _edited(paths: Paths) -> list[Path]:
    """The settings files that were edited and are still there, as far as the journal can be read."""
    try:
        return [Path(record.path) for record in read_journal(paths).records if os.path.lexists(record.path)]
    except AflError:
        return []
