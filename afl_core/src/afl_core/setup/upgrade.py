"""What an install changes compared with the one before it: a list for programs, lines and warnings for a person. Pure."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from typing import Any

import attrs

_SAID = {"version": "version", "build": "build", "python": "Python", "data_root": "data root"}
"""Values of the pointer file that are told one by one, and what they are called."""


@attrs.frozen
class Change:
    """One thing that is another one after the install. `before` None: it was not there; `after` None: it is no longer."""

    what: str
    before: Any
    after: Any

    def document(self) -> dict[str, Any]:
        """For programs."""
        return {"what": self.what, "from": self.before, "to": self.after}


def changes(
    before: Mapping[str, Any], after: Mapping[str, Any], *, hook_files: Sequence[str] = (), commands: Sequence[str] = ()
) -> list[Change]:
    """What differs between two pointer files, and which files of the hook and which hosts' settings are written anew; nothing for a first install.

    A host in `commands` that asks for trust has to be asked again: its commands, or the file they stand in, are not what it trusted.
    """
    if not before.get("build"):
        return []
    found = [Change(key, before[key], after.get(key)) for key in _SAID if key in before and before[key] != after.get(key)]
    if "schema_version" in before and before["schema_version"] != after.get("schema_version"):
        found.append(Change("schema", before["schema_version"], after.get("schema_version")))
    if "site" in before and before["site"] != after.get("site"):
        found.append(Change("packages", before["site"], after.get("site")))
    old, new = _names(before, "hosts"), _names(after, "hosts")
    found += [Change("host", None, name) for name in new if name not in old]
    found += [Change("host", name, None) for name in old if name not in new]
    if "redactors" in before and before["redactors"] != after.get("redactors"):
        found.append(Change("redactors", before["redactors"], after.get("redactors")))
    found += [Change("hook_file", None, path) for path in hook_files]
    return found + [Change("settings", None, name) for name in commands]


def lines(found: Sequence[Change]) -> list[str]:
    """The same for a person, as far as no other step of the plan says it."""
    said = [f"change the {_SAID[one.what]} from {one.before} to {one.after}" for one in found if one.what in _SAID]
    said += [f"connect {one.after}" for one in found if one.what == "host" and one.before is None]
    said += [f"no longer connect {one.before}" for one in found if one.what == "host" and one.after is None]
    for one in found:
        if one.what == "redactors":
            said.append(f"expect the redactors {', '.join(one.after) or 'none'} (before: {', '.join(one.before) or 'none'})")
    if not said and any(one.what == "packages" for one in found):
        said.append("change where the packages are found")
    return said


def warnings(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[str]:
    """What a person should know about an upgrade before it is made."""
    said = []
    if before.get("python") and before["python"] != after["python"]:
        said.append(f"the Python changes from {before['python']} to {after['python']}, so the command in each host's settings changes too")
    if before.get("data_root") and before["data_root"] != after["data_root"]:
        said.append(
            f"the data root changes to {after['data_root']}; what was kept in {before['data_root']} stays there and is no longer used"
        )
    if before.get("version") and _order(str(before["version"])) > _order(str(after["version"])):
        said.append(f"the version goes back from {before['version']} to {after['version']}; the memory can be read by both")
    gone = sorted(set(before.get("redactors") or ()) - set(after.get("redactors") or ()))
    if gone:
        said.append(f"what {', '.join(gone)} made unreadable so far is no longer looked for: that redactor is not installed now")
    return said


def same_install(before: Mapping[str, Any], after: Mapping[str, Any]) -> bool:
    """Whether two pointer files say the same, apart from when they were written."""
    return {key: value for key, value in before.items() if key != "installed_ms"} == {
        key: value for key, value in after.items() if key != "installed_ms"
    }


def sources(paths: Sequence[str]) -> list[str]:
    """The names of Python sources among files of the hook, without what is only compiled from them."""
    return sorted(os.path.basename(path) for path in paths if path.endswith(".py"))


def _names(pointer: Mapping[str, Any], key: str) -> list[str]:
    held = pointer.get(key)
    return sorted(held) if isinstance(held, Mapping) else []


def _order(version: str) -> tuple[int, ...]:
    """The numbers of a version, for comparing; what follows them (a pre-release) is not told apart."""
    found = re.match(r"\d+(?:\.\d+)*", version)
    return tuple(int(part) for part in found.group().split(".")) if found else ()
