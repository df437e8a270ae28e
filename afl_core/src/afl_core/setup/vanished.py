"""Hooks that install wrote and that are gone, although nobody took them out: a session that ran meanwhile wrote its settings back from memory."""

from __future__ import annotations

import os
from pathlib import Path

from afl_core.model.errors import AflError
from afl_core.settings.paths import Paths
from afl_core.setup.backups import read_backup
from afl_core.setup.doctor_settings import Configured, values_of
from afl_core.setup.edit_target import look_at, sha256
from afl_core.setup.journal import read_journal
from afl_core.setup.process_table import Process, processes
from afl_core.setup.selection import Selected

_INTERPRETERS = ("node", "bun", "deno")
_WORDS = 8
"""Arguments that are looked at: options of the interpreter, and then the script."""


def have_vanished(paths: Paths, one: Selected, found: Configured) -> bool:
    """Whether the journal says that we wrote to the file, nothing of ours is left in it, and all it held before is still there."""
    if not one.manifest.rewrites_settings or found.keys is None or found.commands or found.hidden:
        return False
    try:
        record = next((each for each in read_journal(paths).records if each.path == os.path.abspath(one.hooks_path)), None)
        content = look_at(one.hooks_path).content
    except AflError:  # another line of the doctor says what is wrong there
        return False
    if record is None or record.sha256_after is None or content is None or sha256(content) in (record.sha256_before, record.sha256_after):
        return False
    before = None if record.backup is None else read_backup(Path(record.backup), record.sha256_before)
    return before is None or set(values_of(before)) - {"hooks"} <= found.keys


def running(one: Selected) -> list[int]:
    """Processes of this person that certainly run the host's command; none where arguments cannot be told apart. Never a guess."""
    if one.binary is None or not one.manifest.rewrites_settings:
        return []
    wanted = os.path.realpath(one.binary)
    return sorted(each.pid for each in processes() if each.user == os.getuid() and _runs(each, wanted))


def _runs(process: Process, wanted: str) -> bool:
    """Whether the program, or the script of an interpreter of JavaScript, is the file `wanted`."""
    if b"\0" not in process.command:
        return False
    words = [os.fsdecode(word) for word in process.command.split(b"\0")[:_WORDS]]
    if os.path.basename(words[0]) in _INTERPRETERS:
        words = [word for word in words[1:] if not word.startswith("-")]
    return bool(words) and os.path.isabs(words[0]) and os.path.realpath(words[0]) == wanted
