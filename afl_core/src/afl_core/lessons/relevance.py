"""Whether a lesson fits a task, and why. Decides on terms, paths and tools; reads the session's recent tool events; nothing else.

The front runs through this file: rows and dictionaries only. What it reports is taken from the lesson, never from the prompt.
"""

from __future__ import annotations

import functools
import json
import posixpath
import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from afl_core.model.words import CJK, MAX_TEXT, fold, sequence, terms

if TYPE_CHECKING:
    import sqlite3

RECENT_TOOLS = 20
"""Tool calls of the session that count as what the agent works with."""

RECENT_EVENTS = 400
"""Events looked through for them: a bound on the work of one prompt."""

MIN_TERMS = 2
"""Words of a spaced script that make a match."""

_MAX_PATHS = 64
_PATH_TEXT = MAX_TEXT
_TOOL_TEXT = 1_000
_NAME = re.compile(r"[\w-]+")
_TOKEN = re.compile(r"[\w@+./~-]+")
_EXTENSION = re.compile(r"[\w-]\.[A-Za-z][A-Za-z0-9]{0,7}$")
_CJK_RUN = re.compile(rf"[{CJK}\u30fc]{{2,}}")


class Recent(NamedTuple):
    """What the session's last tool calls named: tools (case-folded) and paths."""

    tools: frozenset[str] = frozenset()
    paths: tuple[str, ...] = ()


class Task(NamedTuple):
    """What is known about the work a prompt asks for.

    `names`: its words as written; `order`: all of them folded; `definite`: paths that leave no doubt about the place; `paths`: those and hints.
    """

    names: frozenset[str]
    folded: str
    words: frozenset[str]
    grams: frozenset[str]
    order: str
    paths: tuple[str, ...]
    definite: tuple[str, ...]
    tools: frozenset[str]


def recent(db: sqlite3.Connection, session_id: str) -> Recent:
    """Tools and paths of the session's last tool calls, by where the transcript has them."""
    rows = db.execute(
        "SELECT tool_name, substr(text, 1, ?) FROM (SELECT kind, tool_name, text, generation, offset, part FROM events WHERE session_id = ?"
        " ORDER BY generation DESC, offset DESC, part DESC LIMIT ?) WHERE kind = 'tool_call' LIMIT ?",
        (_TOOL_TEXT, session_id, RECENT_EVENTS, RECENT_TOOLS),
    ).fetchall()
    paths: list[str] = []
    for row in rows:
        paths += _mentioned(row[1])
    return Recent(frozenset(row[0].casefold() for row in rows if row[0]), tuple(paths[: _MAX_PATHS * 2]))


def task(prompt: str, cwd: str = "", seen: Recent | None = None) -> Task:
    """Read a prompt. `cwd` and `seen` are hints: they can make a lesson fit, never exclude one."""
    seen = seen or Recent()
    found = terms(prompt)
    mentioned = _mentioned(prompt)
    definite = [_absolute(path, cwd) for path in mentioned if _is_definite(path)]
    hints = [*mentioned, *definite, *seen.paths, *([cwd] if cwd else [])]
    return Task(
        names=frozenset(_NAME.findall(prompt[:_PATH_TEXT])),
        folded=fold(prompt),
        words=frozenset(found.words),
        grams=frozenset(found.grams),
        order=_spaced(sequence(prompt)),
        paths=tuple(_clean(path) for path in hints),
        definite=tuple(_clean(path) for path in definite),
        tools=seen.tools,
    )


Rule = Mapping[str, tuple[str, ...]]
"""What a lesson is looked for by: paths, tools, signals, words and grams, each a tuple of texts."""


@functools.lru_cache(maxsize=4096)
def rule(match_json: str) -> Rule:
    """A projection row's `match_json`, read once: the same few are asked about at every prompt. What is no list of texts says nothing."""
    body = json.loads(match_json)
    found = {}
    for key in ("paths", "tools", "signals", "words", "grams"):
        values = body.get(key) if isinstance(body, dict) else None
        found[key] = tuple(value for value in values if isinstance(value, str)) if isinstance(values, list) else ()
    return found


def match(wanted: Rule, work: Task) -> dict[str, Any] | None:
    """Why a lesson fits: a dictionary of its own values found in the task, `{}` when nothing was found, None when a known value conflicts.

    Only a path can conflict: a prompt that names a place elsewhere says where the work is.
    Which tools, task types or words a turn will need cannot be known from a prompt, so their absence says nothing.
    """
    why: dict[str, Any] = {}
    if wanted["paths"]:
        paths = [path for path in wanted["paths"] if any(_covers(path, known) for known in work.paths)]
        if paths:
            why["paths"] = paths
        elif work.definite:
            return None
    tools = [tool for tool in wanted["tools"] if _uses(tool, work)]
    if tools:
        why["tools"] = tools
    signals, spoken, runs = _signals(wanted["signals"], work)
    words = [word for word in wanted["words"] if word in work.words]
    grams = [gram for gram in wanted["grams"] if gram in work.grams]
    enough = len(spoken.union(words)) >= MIN_TERMS
    if signals and (runs or enough):
        why["signals"] = signals
    if words and enough:
        why["words"] = words
    if grams:
        why["grams"] = grams
    return why


def _signals(wanted: Sequence[str], work: Task) -> tuple[list[str], set[str], bool]:
    """The signals the prompt holds, the words they speak, and whether one of them is a CJK run of two characters or more.

    A phrase speaks with all of its words (`deploy now`: two) as long as one of them has content.
    """
    found, spoken, runs = [], set[str](), False
    for signal in wanted:
        known = _phrase(signal)
        if known.is_run:
            if known.folded in work.folded:
                found.append(signal)
                runs = True
        elif known.content and known.spaced in work.order:
            found.append(signal)
            spoken.update(known.words if len(known.words) > 1 else known.content)
    return found, spoken, runs


class _Phrase(NamedTuple):
    folded: str
    is_run: bool
    content: tuple[str, ...]
    words: tuple[str, ...]
    spaced: str


@functools.lru_cache(maxsize=4096)
def _phrase(signal: str) -> _Phrase:
    """A lesson's signal as it is looked for; the same few are asked about at every prompt."""
    words = tuple(sequence(signal))
    folded = fold(signal)
    return _Phrase(folded, _CJK_RUN.search(folded) is not None, terms(signal).words, words, _spaced(words))


def _spaced(words: Sequence[str]) -> str:
    """Words so that a phrase is found at word borders by looking for text in text."""
    return f" {' '.join(words)} "


def _uses(tool: str, work: Task) -> bool:
    """A tool was used lately, or the prompt names it exactly as written: `Read` is a tool, `read` is a verb."""
    name = tool.split("(", 1)[0].strip()
    return bool(name) and (name.casefold() in work.tools or name in work.names)


def _mentioned(text: str) -> list[str]:
    """Paths a text names: with a slash, or a bare file name with an extension. A Windows path reads like any other; URLs are none."""
    found: dict[str, None] = {}
    for piece in text[:_PATH_TEXT].replace("\\", "/").split():
        if "://" in piece:
            continue
        for token in _TOKEN.findall(piece):
            path = token.rstrip(".")
            if ("/" in path and path.strip("/.~")) or ("." in path and _EXTENSION.search(path)):
                found[path] = None
                if len(found) == _MAX_PATHS:
                    return list(found)
    return list(found)


def _is_definite(path: str) -> bool:
    """Whether a mention says where the work is: rooted or with a file's extension, and never a bare name, `and/or` or a `/command`."""
    if path.startswith("~"):
        return False
    body = path.strip("/")
    if "/" not in body:
        return False
    return path.startswith(("/", "./", "../")) or _EXTENSION.search(body) is not None


def _absolute(path: str, cwd: str) -> str:
    return path if path.startswith("/") or not cwd else posixpath.join(cwd, path)


def _clean(path: str) -> str:
    cleaned = posixpath.normpath(path.replace("\\", "/")) if path else ""
    return "" if cleaned == "." else cleaned.casefold()


def _covers(scope: str, known: str) -> bool:
    """Whether a known place is the lesson's path or below it, or a shorter way to write it (`api/routes.py` for `src/api/routes.py`).

    A lesson's relative path is found anywhere inside an absolute one: worktrees and checkouts elsewhere share their lessons.
    """
    wanted = _clean(scope.removesuffix("/**").removesuffix("/*"))
    if not wanted or not known:
        return False
    if known == wanted or known.startswith(wanted + "/"):
        return True
    if wanted.startswith("/"):
        return not known.startswith("/") and wanted.endswith("/" + known)
    return f"/{wanted}/" in f"/{known}/" or wanted.endswith("/" + known)
