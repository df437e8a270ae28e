"""What holds for every test: reproducible examples, a clean environment, no traces, and homes that are thrown away."""

from __future__ import annotations

import contextlib
import os
import pathlib
import shutil
import signal
import stat
import tempfile
import time
from collections.abc import Generator, Iterator

import hypothesis
import pytest

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # as a shell leaves it to what it runs in the background, and that to its children
    signal.signal(signal.SIGINT, signal.default_int_handler)

hypothesis.settings.register_profile("afl", derandomize=True, deadline=None, database=None, print_blob=True)
hypothesis.settings.load_profile("afl")

MARKERS = (
    "real_cli: drives a real coding agent installed from npm; skipped when it is not there, failed when AFL_REQUIRE_REAL_CLI is set",
    "slow: takes more than a few seconds",
)
STRIPPED_PREFIXES = ("AFL_", "AGENT_FEEDBACK_LOOP_", "CLAUDE", "ANTHROPIC_", "CODEX_", "OPENAI_", "GEMINI_", "GOOGLE_", "XDG_", "GIT_")
KEPT_NAMES = {"AFL_REQUIRE_REAL_CLI", "AFL_CLAUDE_BIN", "AFL_CODEX_BIN", "AFL_GEMINI_BIN"}
GIT = {
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_AUTHOR_NAME": "A Person",
    "GIT_AUTHOR_EMAIL": "person@example.org",
    "GIT_COMMITTER_NAME": "A Person",
    "GIT_COMMITTER_EMAIL": "person@example.org",
}
"""Commits work without anybody's own configuration, and nobody's own configuration is read."""

STARTED_BY_PYTHON = (b"multiprocessing.resource_tracker", b"multiprocessing.forkserver")
"""Children that the standard library keeps for the rest of the process; no test can end them."""

# A short path: a Unix socket's path may have 103 bytes on macOS, and the system's temporary directory there has half of that.
SHORT = os.path.realpath("/tmp") if os.name == "posix" else None

_nobodys_home = pytest.StashKey[pathlib.Path]()


# ------------------------------------------------------------------------------------------------------------------------- the whole run


def pytest_configure(config: pytest.Config) -> None:
    """Take the person's home and settings away from this process and everything it starts."""
    for line in MARKERS:
        config.addinivalue_line("markers", line)
    for name in list(os.environ):
        if name.startswith(STRIPPED_PREFIXES) and name not in KEPT_NAMES:
            del os.environ[name]
    home = pathlib.Path(tempfile.mkdtemp(prefix="afl-nobody-", dir=SHORT))
    config.stash[_nobodys_home] = home
    os.environ.update(GIT, HOME=str(home), USERPROFILE=str(home))


def pytest_unconfigure(config: pytest.Config) -> None:
    """Remove the home that nobody should have used."""
    if (home := config.stash.get(_nobodys_home, None)) is not None:
        shutil.rmtree(home, ignore_errors=True)


def real_cli_required() -> bool:
    """Whether a skipped test of a real coding agent counts as failed (CI with npm)."""
    return bool(os.environ.get("AFL_REQUIRE_REAL_CLI"))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Turn the skip of a `real_cli` test into a failure where real coding agents are required."""
    report = yield
    if report.skipped and not hasattr(report, "wasxfail") and real_cli_required() and item.get_closest_marker("real_cli"):
        report.outcome = "failed"
        report.longrepr = f"a real coding agent is required here, but the test was skipped: {_reason(report)}"
    return report


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(collector: pytest.Collector) -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    """The same for a file that skips itself as a whole, before any of its tests has a marker."""
    report = yield
    if report.skipped and real_cli_required() and isinstance(collector, pytest.Module) and "real_cli" in collector.path.read_text("utf-8"):
        report.outcome = "failed"
        report.longrepr = f"a real coding agent is required here, but {collector.path.name} was skipped: {_reason(report)}"
    return report


def _reason(report: pytest.TestReport | pytest.CollectReport) -> str:
    return report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)


# ----------------------------------------------------------------------------------------------------------------------------- every test


@pytest.fixture(autouse=True)
def _leaves_no_trace(request: pytest.FixtureRequest) -> Iterator[None]:
    """Fail the test that changes the environment or the working directory, leaves a child, or writes to a home it was not given."""
    home = request.config.stash[_nobodys_home]
    environment, directory, children = dict(os.environ), os.getcwd(), _children()
    yield
    traces = []
    if changed := _changed(environment):
        traces.append(f"os.environ changed: {', '.join(changed)} (use monkeypatch)")
        os.environ.clear()
        os.environ.update(environment)
    if os.getcwd() != directory:
        traces.append(f"the working directory changed to {os.getcwd()} (use monkeypatch.chdir)")
        os.chdir(directory)
    for pid, command in _children().items():
        if pid in children:
            continue
        traces.append(f"child {pid} was left: {command or 'ended, but nobody waited for it'}")
        with contextlib.suppress(ProcessLookupError, ChildProcessError):
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
    if written := sorted(os.listdir(home)):
        traces.append(
            f"something was written to the home of whoever runs the tests: {', '.join(written)} (give children the `home` fixture)"
        )
        shutil.rmtree(home)
        home.mkdir(mode=0o700)
    if traces:
        pytest.fail("\n".join(["the test left traces", *traces]), pytrace=False)


def _changed(before: dict[str, str]) -> list[str]:
    now = dict(os.environ)
    return sorted(name for name in before.keys() | now.keys() if name != "PYTEST_CURRENT_TEST" and before.get(name) != now.get(name))


def _command(process: pathlib.Path) -> bytes:
    """A process's command line. While a program is being loaded it is empty for a moment; that of one that ended stays empty."""
    for _ in range(200):
        command = (process / "cmdline").read_bytes()
        if command or (process / "stat").read_bytes().rpartition(b")")[2].split()[0] in (b"Z", b"X"):
            return command
        time.sleep(0.01)
    return b""


def _children() -> dict[int, str]:
    """Process id and command line of each direct child of this process; Linux only, elsewhere empty."""
    found = {}
    for path in pathlib.Path("/proc/self/task").glob("*/children"):
        # A thread, or a child, may end while it is looked at.
        with contextlib.suppress(OSError):
            for pid in path.read_text("ascii").split():
                command = _command(pathlib.Path(f"/proc/{pid}"))
                if not any(name in command for name in STARTED_BY_PYTHON):
                    found[int(pid)] = command.replace(b"\0", b" ").decode("utf-8", "replace").strip()
    return found


# ------------------------------------------------------------------------------------------------------------------------------- fixtures


@pytest.fixture
def home() -> Iterator[pathlib.Path]:
    """A fresh home directory, 0700, with a path short enough for Unix sockets; it goes away with everything that still runs in it."""
    path = pathlib.Path(tempfile.mkdtemp(prefix="afl-", dir=SHORT))
    assert stat.S_IMODE(path.stat().st_mode) == 0o700 or os.name != "posix"
    yield path
    for pid in _running_in(path):
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    shutil.rmtree(path, ignore_errors=True)


@pytest.fixture
def child_environment(home: pathlib.Path) -> dict[str, str]:
    """The variables for a child process that lives in `home`: this process keeps its own HOME."""
    return {**os.environ, "HOME": str(home), "USERPROFILE": str(home)}


def _running_in(home: pathlib.Path) -> set[int]:
    """Processes whose environment, arguments or working directory name `home`: the daemons a test's programs started. Linux only."""
    name, found = os.fsencode(home), set()
    for process in pathlib.Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if (
                name in (process / "environ").read_bytes()
                or name in (process / "cmdline").read_bytes()
                or os.fsencode(os.readlink(process / "cwd")).startswith(name)
            ):
                found.add(int(process.name))
    return found - {os.getpid(), os.getppid()}


class SettableClock:
    """A clock that stands still until it is told: calling it gives milliseconds since the Unix epoch."""

    def __init__(self, now: int) -> None:
        self.now = now

    def __call__(self) -> int:
        return self.now

    def advance(self, *, ms: int = 0, seconds: int = 0, minutes: int = 0, hours: int = 0, days: int = 0) -> int:
        """Move on (negative: back); gives the new time."""
        self.now += ms + 1000 * (seconds + 60 * (minutes + 60 * (hours + 24 * days)))
        return self.now


@pytest.fixture
def clock() -> SettableClock:
    """A clock that stands at 2026-01-01T00:00:00Z."""
    return SettableClock(1_767_225_600_000)


@pytest.fixture
def claude_bin() -> str:
    """The path of the real Claude Code command; skips the test when it is not installed."""
    path = os.environ.get("AFL_CLAUDE_BIN")
    if not path:
        pytest.skip("AFL_CLAUDE_BIN is not set: `python3 tools/dev.py test` installs the real Claude Code where npm is present")
    return path


@pytest.fixture
def gemini_bin() -> str:
    """The path of the real Gemini CLI command; skips the test when it is not installed."""
    path = os.environ.get("AFL_GEMINI_BIN")
    if not path:
        pytest.skip("AFL_GEMINI_BIN is not set: it names the real Gemini CLI where that is installed")
    return path


@pytest.fixture
def codex_bin() -> str:
    """The path of the real Codex command; skips the test when it is not installed."""
    path = os.environ.get("AFL_CODEX_BIN")
    if not path:
        pytest.skip("AFL_CODEX_BIN is not set: `python3 tools/dev.py test` installs the real Codex where npm is present")
    return path
