"""The earlier product of this name, which runs on Node and lies where ours does: recognised by what it leaves, moved aside only when asked."""

from __future__ import annotations

import os
import platform
import re
from collections.abc import Callable, Sequence
from pathlib import Path

import attrs

from afl_core.files.private import FILE_MODE, ensure_private_dir, sync_dir
from afl_core.model.errors import AflError, PathError
from afl_core.processes.environment import child_environment
from afl_core.processes.run import run
from afl_core.settings.paths import Paths
from afl_core.setup.database import Kind, look_at_database, table_names
from afl_core.setup.edit_json_hooks import find_owned
from afl_core.setup.edit_json_scan import BOM, Node, is_blank, scan
from afl_core.setup.edit_target import look_at

LABEL = "io.github.super3ben.agent-feedback-loop.reconcile"
ASIDE = "reference"
"""What is put after a name when something is moved aside: `feedback-loop.reference`, then `feedback-loop.reference-2`."""

PACK_MARKS = ("bin/afl-hook", "versions", "hooks/core-hook.sh", "hooks/stop-hook.sh")
TABLES = {"store_meta", "session_events", "reviewer_jobs"}
"""Tables of its database; ours has none of these names."""

_COMMAND = re.compile(r"feedback-loop/(?:hooks/(?:core|stop|codex|claude)-hook\.sh|bin/afl-hook|versions/)")
"""Its scripts in its own folder: other tools have a `stop-hook.sh` too."""

LAUNCHCTL_SECONDS = 10.0


@attrs.frozen
class Legacy:
    """What of the earlier product is here; empty fields are not."""

    pack: str = ""
    store: str = ""
    agent: str = ""
    settings: tuple[Path, ...] = ()

    @property
    def found(self) -> bool:
        """Whether anything is."""
        return bool(self.pack or self.store or self.agent or self.settings)

    def named(self) -> list[str]:
        """What was found, for a sentence."""
        hooks = [f"its hooks in {path}" for path in self.settings]
        return [text for text in (self.pack, self.store, self.agent) if text] + hooks


def owns_handler(handler: dict[str, object]) -> bool:
    """Whether a hook handler is the earlier product's: it runs one of its scripts, or is an agent hook that points at its prompt."""
    return any(
        isinstance(text := handler.get(key), str) and (_COMMAND.search(text) or (key == "prompt" and "prompts/reflection-agent.md" in text))
        for key in ("command", "prompt")
    )


def recognise(paths: Paths, settings: Sequence[Path]) -> Legacy:
    """Look for it; reads only. A settings file that is no strict JSON is left to the edit, which says so.

    A database that is not ours is its own only where there is another sign of it: a damaged one of ours looks just as strange.
    """
    pack = paths.pack if any(os.path.lexists(os.path.join(paths.pack, mark)) for mark in PACK_MARKS) else ""
    agent = os.path.join(paths.home, "Library", "LaunchAgents", LABEL + ".plist")
    found = Legacy(pack, "", agent if os.path.lexists(agent) else "", tuple(path for path in settings if _has_hooks(path)))
    if look_at_database(paths.database).kind is Kind.FOREIGN and (found.found or table_names(paths.database) >= TABLES):
        return attrs.evolve(found, store=os.path.dirname(paths.database))
    return found


def _has_hooks(path: Path) -> bool:
    try:
        content = look_at(path).content
        return content is not None and not is_blank(content) and bool(find_owned(content, _tree(content), owns_handler))
    except AflError:
        return False


def _tree(content: bytes) -> Node:
    """Read with comments, which some hosts allow: whether they may stand here is for the edit to say."""
    return scan(content, comments=not content.startswith(BOM))


def move_aside(legacy: Legacy, paths: Paths, checkpoint: Callable[[str], None]) -> list[str]:
    """Rename the folder of its database, its job file and its pack, each in one step; return a line for each. Keys and blobs are not touched.

    The pack comes last: it is the sign by which a run that was cut off is gone on with, and the database alone may have none.
    """
    done = []
    if legacy.agent and platform.system() == "Darwin":  # it may not run: then launchd says so and nothing is lost
        command = ["launchctl", "bootout", f"gui/{os.getuid()}/{LABEL}"]
        run(command, environment=child_environment(os.environ), cwd="/", deadline_seconds=LAUNCHCTL_SECONDS)
    if legacy.store:
        done.append(_rename(legacy.store, _free(legacy.store)))
        checkpoint("store")
    if legacy.agent:
        ensure_private_dir(paths.backups, paths.data)
        os.chmod(legacy.agent, FILE_MODE)
        done.append(_rename(legacy.agent, _free(os.path.join(paths.backups, LABEL + ".plist"))))
        checkpoint("agent")
    if legacy.pack:
        done.append(_rename(legacy.pack, _free(legacy.pack)))
        checkpoint("pack")
    return done


def _free(path: str) -> str:
    number = 1
    while True:
        name = f"{path}.{ASIDE}" + (f"-{number}" if number > 1 else "")
        if not os.path.lexists(name):
            return name
        number += 1


def _rename(path: str, target: str) -> str:
    try:
        os.rename(path, target)
        sync_dir(os.path.dirname(target))
    except OSError as bad:
        raise PathError(
            f"{path} cannot be moved to {target}: {bad.strerror}", code="AFL-PATH-005", hint="check the permissions there"
        ) from bad
    return f"moved {path} to {target}"
