"""Finding plug-ins: entry points of the group `afl.plugins`, read through importlib-metadata and cached, because reading them costs more than all the rest."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import sys

import attrs

from afl_core.files.private import read_private_file, write_private_file
from afl_core.model.errors import PathError
from afl_core.spec.marker import ENTRY_POINT_GROUP


@attrs.frozen
class Found:
    """One entry point: its name, the module it names, and the distribution it came with."""

    name: str
    module: str
    distribution: str
    version: str


def environment_key() -> str:
    """Changes whenever a distribution is installed, upgraded or removed: the Python version and the mtime of every directory on `sys.path`."""
    digest = hashlib.sha256(sys.version.encode())
    for entry in sys.path:
        with contextlib.suppress(OSError):
            digest.update(f"{entry}\0{os.stat(entry).st_mtime_ns}\0".encode("utf-8", "surrogateescape"))
    return digest.hexdigest()


def read_entry_points() -> tuple[Found, ...]:
    """Ask importlib-metadata; sorted by name, duplicates of one module dropped."""
    from importlib_metadata import entry_points

    found: dict[str, Found] = {}
    for point in entry_points(group=ENTRY_POINT_GROUP):
        distribution = point.dist
        found.setdefault(
            point.value,
            Found(
                name=point.name,
                module=point.value,
                distribution=distribution.name if distribution else "",
                version=distribution.version if distribution else "",
            ),
        )
    return tuple(sorted(found.values(), key=lambda one: (one.name, one.module)))


def discover(cache: str | None) -> tuple[Found, ...]:
    """The entry points, from the cache file while the environment is the same. A cache that cannot be read or written is only slower."""
    key = environment_key()
    if cache is not None:
        with contextlib.suppress(OSError, PathError, ValueError, TypeError, KeyError, AttributeError):
            stored = json.loads(read_private_file(cache) or b"{}")
            if stored.get("key") == key:
                return tuple(Found(**entry) for entry in stored["found"])
    found = read_entry_points()
    if cache is not None and os.path.isdir(os.path.dirname(cache)):
        with contextlib.suppress(OSError, PathError):
            write_private_file(cache, json.dumps({"key": key, "found": [attrs.asdict(one) for one in found]}).encode())
    return found
