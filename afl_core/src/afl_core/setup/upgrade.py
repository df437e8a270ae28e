"""What an install changes compared with the one before it, in lines for a person. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_SAID = ("build", "python", "data_root")


def differences(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[str]:
    """What differs between two pointer files, in words; nothing when there was none before."""
    if not before.get("build"):
        return []
    lines = [
        f"change the {_NAMES[key]} from {before.get(key)} to {after.get(key)}"
        for key in _SAID
        if key in before and before[key] != after.get(key)
    ]
    if "schema_version" in before and before["schema_version"] != after.get("schema_version"):
        lines.append(f"bring the database from schema {before.get('schema_version')} to {after.get('schema_version')}")
    if not lines and "site" in before and before["site"] != after.get("site"):
        lines.append("change where the packages are found")
    return lines


def warnings(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[str]:
    """What a person should know about an upgrade before it is made."""
    said = []
    if before.get("python") and before["python"] != after["python"]:
        said.append(f"the Python changes from {before['python']} to {after['python']}, so the command in each host's settings changes too")
    if before.get("data_root") and before["data_root"] != after["data_root"]:
        said.append(
            f"the data root changes to {after['data_root']}; what was kept in {before['data_root']} stays there and is no longer used"
        )
    return said


def same_install(before: Mapping[str, Any], after: Mapping[str, Any]) -> bool:
    """Whether two pointer files say the same, apart from when they were written."""
    return {key: value for key, value in before.items() if key != "installed_ms"} == {
        key: value for key, value in after.items() if key != "installed_ms"
    }


_NAMES = {"build": "build", "python": "Python", "data_root": "data root"}
