"""What install says of plug-ins: those that cannot be used, and an index that other rules filled. Reads only."""

from __future__ import annotations

from afl_core.plugins.registry import Registry
from afl_core.redaction.chain import versions_of
from afl_core.redaction.options import option_names, with_options
from afl_core.settings.paths import Paths
from afl_core.settings.schema import Settings
from afl_core.setup.database import Database, Kind, index_needs_purge


def about_plugins(registry: Registry, settings: Settings, paths: Paths, database: Database) -> list[str]:
    """In lines for a person. Raises `SettingsError` when `redact_options` names what no redactor has."""
    said = [f"the plug-in {one.name} cannot be used: {one.problem}" for one in registry.plugins() if one.problem]
    if not registry.redactors():
        return [*said, "no redactor is installed, so nothing can be kept or reviewed; install afl-redactors"]
    names = option_names(settings.redact_options)
    versions = versions_of(with_options(registry.redactors(), names, registry.guard), names)
    if database.kind in (Kind.CURRENT, Kind.OLDER) and (why := index_needs_purge(paths.database, versions)):
        said.append(f"{why}; next: afl redact purge")
    return said
