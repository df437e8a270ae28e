"""Which project a directory belongs to, by reading git's own files; no git process is started and nothing is written.

Every worktree of a repository is one project, a submodule is its own, a directory outside of any repository is one by itself, and so is a
session of which no directory is known.
The front runs through this file.
"""

from __future__ import annotations

import os
import time
from typing import NamedTuple

from afl_core.model.ids import digest

CONFIG_BYTES = 256 * 1024
"""A git configuration is read this far."""

CACHE_S = 30.0
CACHE_ENTRIES = 64
MAX_DEPTH = 64
DEFAULT_PORTS = {"ssh": "22", "https": "443", "http": "80", "git": "9418"}


class Project(NamedTuple):
    """`root` is the real path of git's common directory (kind `git`) or of the directory itself (kind `directory`); '' of kind `unscoped`."""

    project_id: str
    root: str
    kind: str


_cache: dict[str, tuple[float, Project]] = {}


def locate(cwd: str) -> Project:
    """The project of a working directory, an absolute path. The directory need not exist any more."""
    held = _cache.get(cwd)
    now = time.monotonic()
    if held and now - held[0] < CACHE_S:
        return held[1]
    found = _locate(cwd)
    if len(_cache) >= CACHE_ENTRIES:
        _cache.clear()
    _cache[cwd] = (now, found)
    return found


def _locate(cwd: str) -> Project:
    start = os.path.realpath(cwd)
    common = _common_dir(start)
    root, kind = (common, "git") if common else (start, "directory")
    return Project(digest("project:v1", root)[:32], root, kind)


def unscoped(session_id: str) -> Project:
    """The project of a session whose directory nobody said: its own, so that nothing said there counts anywhere else."""
    return Project(digest("project:v1", "", session_id)[:32], "", "unscoped")


def _common_dir(start: str) -> str | None:
    here = start
    for _ in range(MAX_DEPTH):
        for candidate in (os.path.join(here, ".git"), here):
            common = _git_dir(candidate)
            if common:
                return common
        parent = os.path.dirname(here)
        if parent == here:
            return None
        here = parent
    return None


def _git_dir(path: str) -> str | None:
    """The common directory `path` leads to when it is a git directory, or the file a worktree or submodule has in its place."""
    if os.path.isfile(path) and os.path.basename(path) == ".git":
        line = _first_line(path)
        if not line.startswith("gitdir:"):
            return None
        path = os.path.join(os.path.dirname(path), line[len("gitdir:") :].strip())
    if not os.path.lexists(os.path.join(path, "HEAD")):
        return None
    shared = _first_line(os.path.join(path, "commondir"))
    common = os.path.realpath(os.path.join(path, shared) if shared else path)
    return common if os.path.isdir(os.path.join(common, "objects")) and os.path.isdir(os.path.join(common, "refs")) else None


def _first_line(path: str) -> str:
    return _text(path, 4096).partition("\n")[0].strip("\r")


def _text(path: str, limit: int) -> str:
    try:
        with open(path, "rb") as handle:
            return os.fsdecode(handle.read(limit))
    except OSError:  # not there, or not ours to read: then it leads nowhere
        return ""


def lineage(common_dir: str) -> str | None:
    """A digest that is equal for every clone of one remote, whatever way it is reached and whoever logs in; None without a remote.

    `origin` counts, else the first remote.
    """
    remotes = _remotes(_text(os.path.join(common_dir, "config"), CONFIG_BYTES))
    url = remotes.get("origin") or next(iter(remotes.values()), "")
    return digest("lineage:v1", normal_url(url, common_dir)) if url else None


def _remotes(config: str) -> dict[str, str]:
    found: dict[str, str] = {}
    name = ""
    for raw in config.splitlines():
        line = raw.strip()
        if line.startswith("["):
            words = line[1:].partition("]")[0].split(None, 1)
            name = words[1].strip().strip('"') if len(words) == 2 and words[0].lower() == "remote" else ""
            continue
        key, separator, value = line.partition("=")
        if name and separator and key.strip().lower() == "url":
            found.setdefault(name, _config_value(value))
    return found


def _config_value(raw: str) -> str:
    """A value of git's configuration: quotes and backslashes resolved, comments outside of quotes cut off."""
    out: list[str] = []
    quoted = escaped = False
    for char in raw.strip():
        if escaped:
            out.append(char)
            escaped = False
        elif char == "\\":
            escaped = True
        elif char == '"':
            quoted = not quoted
        elif char in "#;" and not quoted:
            break
        else:
            out.append(char)
    return "".join(out).strip()


def normal_url(url: str, base: str) -> str:
    """`host/path` for every way of writing one remote: no scheme, no login, no default port, no `.git`. A local path is made absolute."""
    scheme, separator, rest = url.partition("://")
    if separator and scheme.lower() != "file":
        place, _, path = rest.partition("/")
        host, port = _host_and_port(place.rpartition("@")[2])
        if port == DEFAULT_PORTS.get(scheme.lower().removeprefix("git+")):
            port = ""
        path = path.partition("?")[0].partition("#")[0]
    elif separator:
        return _local(rest, base)
    else:
        place, colon, path = url.partition(":")
        if not colon or "/" in place:
            return _local(url, base)
        host, port = place.rpartition("@")[2].lower(), ""
    return f"{host}{':' + port if port else ''}/{path.strip('/').removesuffix('.git').rstrip('/')}"


def _host_and_port(place: str) -> tuple[str, str]:
    if place.startswith("["):
        host, _, rest = place.partition("]")
        return host.lower() + "]", rest.lstrip(":")
    host, _, port = place.partition(":")
    return host.lower(), port


def _local(path: str, base: str) -> str:
    whole = os.path.realpath(os.path.join(os.path.dirname(base), path))
    return "file:" + whole.rstrip("/").removesuffix(".git").rstrip("/")
