"""Run as a script by the interpreter that is tried: say what it is and where it finds the packages named. Imports nothing of the product."""

from __future__ import annotations

import importlib.util
import json
import os
import sqlite3
import sys


def places(names: list[str], distributions: list[str]) -> tuple[list[str], list[str]]:
    """The directories (entries of a `sys.path`) that hold these modules and distributions, and the modules that are nowhere."""
    found: list[str] = []
    missing: list[str] = []
    for name in names:
        spec = importlib.util.find_spec(name)
        if spec is None:
            missing.append(name)
            continue
        inside = [*(spec.submodule_search_locations or ()), *([spec.origin] if spec.origin else [])]
        found.extend(os.path.dirname(place) for place in inside[:1])
    if "importlib_metadata" not in missing:
        from importlib_metadata import PackageNotFoundError, distribution

        for name in distributions:
            try:
                found.append(os.path.abspath(str(distribution(name).locate_file(""))))
            except PackageNotFoundError:  # removed since the entry points were read
                continue
    return list(dict.fromkeys(found)), missing


def main() -> None:
    """Print one JSON object."""
    names, distributions = json.loads(sys.argv[1])
    site, missing = places(names, distributions)
    facts = {
        "executable": sys.executable,
        "numbers": list(sys.version_info[:3]),
        "version": sys.version,
        "sqlite": sqlite3.sqlite_version,
        "magic": importlib.util.MAGIC_NUMBER.hex(),
        "tag": sys.implementation.cache_tag,
        "site": site,
        "missing": missing,
    }
    sys.stdout.write(json.dumps(facts))


if __name__ == "__main__":
    main()
