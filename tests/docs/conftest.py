"""The documentation as pages with headings, tables and fenced blocks, and the source as syntax trees, so that each can be held against the other."""

from __future__ import annotations

import ast
import functools
import operator
import pathlib
import re
import shlex
import subprocess
import sys
from typing import NamedTuple

import pytest

ROOT = pathlib.Path(__file__).parents[2]
DISTRIBUTIONS = ("afl_core", "afl_redactors", "afl_providers_claude", "afl_providers_codex", "afl_providers_gemini")

HEADING = re.compile(r"(#{1,6}) +(.+?)\s*$")
FENCE = re.compile(r"\s*(```+|~~~+)\s*(\S*)\s*$")
CELL = re.compile(r"(?<!\\)\|")
LINK = re.compile(r"(?<!!)\[[^\]]*\]\(([^)\s]+)\)")
CODE = re.compile(r"`([^`]+)`")
FENCED = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
VARIES = "…"
"""Stands in documented sentences for what differs each time."""


class Fence(NamedTuple):
    """A fenced block: its language, its text, and the heading it stands under."""

    language: str
    text: str
    heading: str


class Row(NamedTuple):
    """A table's row: the heading it stands under and its cells by column."""

    heading: str
    cells: dict[str, str]


class Page:
    """One Markdown file, read once."""

    def __init__(self, path):
        self.path = path
        self.text = path.read_text("utf-8")
        self.headings, self.rows, self.fences, self.prose = [], [], [], []
        self._read()

    def _read(self):
        heading, columns, fence = "", None, None
        for line in self.text.splitlines():
            found = FENCE.match(line)
            if fence is not None:
                if found and found[1] == fence[0] and not found[2]:
                    self.fences.append(Fence(fence[1], "\n".join(fence[2]) + "\n", heading))
                    fence = None
                else:
                    fence[2].append(line)
                continue
            if found:
                fence = (found[1], found[2], [])
                continue
            self.prose.append(line)
            if titled := HEADING.match(line):
                heading = titled[2]
                self.headings.append((len(titled[1]), heading))
            if not line.startswith("|"):
                columns = None
                continue
            cells = [cell.strip().replace(r"\|", "|") for cell in CELL.split(line.strip())[1:-1]]
            if columns is None:
                columns = cells
            elif not all(set(cell) <= set(":-") for cell in cells):
                assert len(cells) == len(columns), f"{self.path.name}: a row has {len(cells)} cells instead of {len(columns)}: {line}"
                self.rows.append(Row(heading, dict(zip(columns, cells, strict=True))))
        assert fence is None, f"{self.path.name}: a fenced block is not closed"

    @property
    def anchors(self):
        """Anchors of the headings, as GitHub makes them."""
        seen = {}
        found = set()
        for _level, title in self.headings:
            plain = re.sub(r"[^\w\- ]", "", title.replace("`", "").lower()).replace(" ", "-")
            number = seen[plain] = seen.get(plain, -1) + 1
            found.add(plain if number == 0 else f"{plain}-{number}")
        return found

    @property
    def links(self):
        """Targets of links outside of fenced blocks and code."""
        return LINK.findall(CODE.sub("", "\n".join(self.prose)))

    def section(self, title):
        """The text under one heading, up to the next of its level or above."""
        lines, level = [], 0
        for line in self.text.splitlines():
            found = HEADING.match(line)
            if level:
                if found and len(found[1]) <= level:
                    return "\n".join(lines)
                lines.append(line)
            elif found and found[2] == title:
                level = len(found[1])
        assert level, f"{self.path.name} has no heading {title!r}"
        return "\n".join(lines)

    def table(self, *columns):
        """Rows of the tables that have these columns."""
        found = [row for row in self.rows if set(columns) <= row.cells.keys()]
        assert found, f"{self.path.name} has no table with the columns {columns}"
        return found


class Module(NamedTuple):
    """A source file: its name from the package on (`worker/jobs.py` in core, whole elsewhere) and its tree."""

    name: str
    tree: ast.Module


@functools.cache
def page_of(path):
    """The page of a path below the repository's root."""
    return Page(ROOT / path)


@functools.cache
def modules():
    """Every module that is shipped."""
    found = []
    for distribution in DISTRIBUTIONS:
        source = ROOT / distribution / "src"
        paths = [path for path in sorted(source.rglob("*.py")) if "fixtures" not in path.parts]
        found += [Module(str(path.relative_to(source)), ast.parse(path.read_text("utf-8"))) for path in paths]
    return found


@pytest.fixture
def root():
    """The repository."""
    return ROOT


@pytest.fixture
def page():
    """Gives the page of a path, such as `docs/reference/errors.md`."""
    return page_of


@pytest.fixture
def pages():
    """Every Markdown file that is ours."""
    own = [
        *ROOT.glob("*.md"),
        *ROOT.glob("docs/**/*.md"),
        *ROOT.glob("changelog.d/*.md"),
        *(ROOT / name / "README.md" for name in DISTRIBUTIONS),
    ]
    return [page_of(str(path.relative_to(ROOT))) for path in sorted(own)]


@pytest.fixture
def sources():
    """Every shipped module with its syntax tree."""
    return modules()


@pytest.fixture
def code():
    """Gives what stands in backticks in a text, in order; fenced blocks are left out."""
    return lambda text: CODE.findall(FENCED.sub("", text))


@pytest.fixture
def pattern():
    """Gives the sentences an expression can make, with `…` for what varies; nothing when it makes them elsewhere."""
    return sentences


@pytest.fixture
def value():
    """Gives the value of a constant's expression, from the numbers and constants of its module; None when it is no such value."""
    return evaluated


@pytest.fixture
def run_afl(home, child_environment):
    """Run one `afl` line in the scratch home, which has Claude Code's directory; gives the ended process.

    Only the doctor finds a `claude`, because who reads the pages has one: it never runs it, and nothing that would can.
    """
    claude = home / "only-found/claude"

    def run_afl(command):
        (home / ".claude").mkdir(mode=0o700, exist_ok=True)
        claude.parent.mkdir(exist_ok=True)
        claude.write_text("#!/bin/false\n", "utf-8")
        claude.chmod(0o700)
        places = ([str(claude.parent)] if shlex.split(command)[1:2] == ["doctor"] else []) + ["/usr/bin", "/bin"]
        return subprocess.run(
            [sys.executable, "-m", "afl_core.cli.main", *shlex.split(command)[1:]],
            env={**child_environment, "PATH": ":".join(places), "TZ": "UTC"},
            cwd=home,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
            timeout=120,
        )

    return run_afl


@pytest.fixture
def run_console(run_afl):
    """Run the `afl` lines of a page's console blocks one after the other in one scratch home; gives how many there were.

    A line ends with status 0, or with the one in its comment `# exit N`. The lines below it are what it prints; `…` in them stands for any
    text, and alone on a line for any lines.
    """

    def run_console(page):
        commands = [found for fence in page.fences if fence.language == "console" for found in commands_of(fence.text)]
        for command, status, expected in commands:
            done = run_afl(command)
            assert done.returncode == status, f"{page.path.name}: {command}: exit {done.returncode} instead of {status}\n{done.stdout}"
            said = [line for line in done.stdout.splitlines() if not PLACE.match(line)]
            assert not expected or is_printed(expected, said), f"{page.path.name}: {command}: printed\n{done.stdout}"
        return len(commands)

    return run_console


PLACE = re.compile(r"note: .* lies in .*; when it is removed, hooks do nothing")
"""Said where the interpreter lies in a temporary directory, which says something of this checkout and nothing of the page."""

EXIT = re.compile(r"\s+# exit (\d)$")


def commands_of(text):
    """(command, status, lines it is expected to print, if any) of a console block."""
    found = []
    for line in text.splitlines():
        if line.startswith("afl "):
            status = EXIT.search(line)
            found.append((EXIT.sub("", line), int(status[1]) if status else 0, []))
        else:
            assert found, f"a console block begins with {line!r} and not with a command"
            found[-1][2].append(line)
    return found


def is_printed(expected, said):
    """Whether the lines are what was expected: `…` inside a line stands for any text, alone on a line for any lines."""
    reached = {0}
    for line in expected:
        if line.strip() == VARIES:
            reached = set(range(min(reached, default=0), len(said) + 1)) if reached else set()
        else:
            pattern = ".*".join(re.escape(part) for part in line.split(VARIES))
            reached = {at + 1 for at in reached if at < len(said) and re.fullmatch(pattern, said[at])}
    return len(said) in reached


def sentences(node):
    """See the fixture `pattern`."""
    if isinstance(node, ast.Constant):
        return [node.value] if isinstance(node.value, str) else []
    if isinstance(node, ast.JoinedStr):
        text = "".join(str(part.value) if isinstance(part, ast.Constant) else VARIES for part in node.values)
        return [" ".join(re.sub(f"{VARIES}+", VARIES, text).split())]
    if isinstance(node, ast.IfExp):
        return [*sentences(node.body), *sentences(node.orelse)]
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        left, right = sentences(node.left) or [VARIES], sentences(node.right) or [VARIES]
        return (
            [re.sub(f"{VARIES}+", VARIES, one + other) for one in left for other in right] if left != [VARIES] or right != [VARIES] else []
        )
    return []


OPERATIONS = {ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.LShift: operator.lshift, ast.Pow: operator.pow}


def evaluated(node, names):
    """See the fixture `value`."""
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, int | float) and not isinstance(node.value, bool) else None
    if isinstance(node, ast.Name):
        return names.get(node.id)
    if isinstance(node, ast.Tuple):
        parts = [evaluated(part, names) for part in node.elts]
        return tuple(parts) if parts and None not in parts else None
    if isinstance(node, ast.BinOp) and type(node.op) in OPERATIONS:
        left, right = evaluated(node.left, names), evaluated(node.right, names)
        return None if left is None or right is None else OPERATIONS[type(node.op)](left, right)
    return None
