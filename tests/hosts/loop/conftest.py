"""Real CLIs in one home with the product, and what is checked of each of them alike."""

from __future__ import annotations

import os
import pathlib
import shutil
from collections.abc import Callable, Iterator

import pytest
from loop_home import NONCE, Installed

from afl_core.api.home import Home

MUST_DO = "Name the production cluster before every deploy"


@pytest.fixture
def installed(home: pathlib.Path, request: pytest.FixtureRequest) -> Iterator[Callable[..., Installed]]:
    """Install for the hosts named: `installed("codex", "claude")`."""
    made: list[Installed] = []

    def make(*names: str) -> Installed:
        made.append(Installed(home, {name: request.getfixturevalue(f"{name}_bin") for name in names}))
        return made[-1]

    yield make
    for one in made:
        one.close()


def _hook(home: Home) -> None:
    pathlib.Path(home.paths.hook).unlink()


def _pack(home: Home) -> None:
    shutil.rmtree(home.paths.pack)


def _everything(home: Home) -> None:
    folder = pathlib.Path(home.paths.pack).parent
    while folder.exists():  # a living worker may write another file meanwhile
        shutil.rmtree(folder, ignore_errors=True)


def _client_broken(home: Home) -> None:
    pathlib.Path(home.paths.hook_dir, "client.py").write_text("raise SystemExit(2)\n", "utf-8")
    shutil.rmtree(pathlib.Path(home.paths.hook_dir, "__pycache__"), ignore_errors=True)


def _hook_unreadable(home: Home) -> None:
    os.chmod(home.paths.hook, 0)


@pytest.fixture(params=[_hook, _pack, _everything, _client_broken, _hook_unreadable], ids=lambda one: one.__name__.strip("_"))
def remove(request: pytest.FixtureRequest) -> Callable[[Installed], None]:
    """Take away, or break, a part of what was installed."""

    def act(product: Installed) -> None:
        with product.open() as home:
            request.param(home)

    return act


@pytest.fixture
def card_comes_back(installed: Callable[..., Installed]) -> Callable[..., list[tuple[int, str]]]:
    """A card given before a compaction is given again after it, once, under a new nonce; gives epoch and state of both arrivals."""

    def check(name: str, compact: str, *summaries: str) -> list[tuple[int, str]]:
        product = installed(name)
        side = product.sides[name]
        product.teach(MUST_DO)
        side.expect("first question", "The first answer.\n")
        for summary in summaries:
            side.api.add(side.kit.Step(side.kit.text("A short summary of the talk.\n"), raw=summary, last=summary))
        side.expect("second question", "The second answer.\n")
        with side.session() as terminal:
            side.talk(terminal, "first question about the deploy", "The first answer")
            side.say(terminal, compact)
            side.compacted(product)
            side.talk(terminal, "second question about the deploy", "The second answer")
            assert side.keys.leave(terminal) == 0
        first, second = (side.told(side.asking(f"{nth} question")) for nth in ("first", "second"))
        assert MUST_DO in first
        assert MUST_DO in second
        assert len(NONCE.findall(first)) == 1
        assert len(NONCE.findall(second)) == 1
        assert NONCE.findall(first) != NONCE.findall(second)
        query = "SELECT epoch, state FROM deliveries ORDER BY epoch"

        def proved(home: Home) -> list[tuple[int, str]]:
            rows = [tuple(row) for row in home.db.execute(query)]
            return rows if len(rows) == 2 and all(state == "reached" for _, state in rows) else []

        return product.until(proved, "the proof of both")

    return check


@pytest.fixture
def runs_headless_without(
    installed: Callable[..., Installed], remove: Callable[[Installed], None]
) -> Callable[[str], tuple[int, str, int]]:
    """A run begun after the loss; gives its status, its answer and how many requests it made."""

    def check(name: str) -> tuple[int, str, int]:
        product = installed(name)
        side = product.sides[name]
        side.expect("say hello", "Hello from the model.", repeat=True)
        remove(product)
        run = side.ask("say hello")
        return run.returncode, run.answer, len(side.api.requests)

    return check


@pytest.fixture
def goes_on_without(installed: Callable[..., Installed], remove: Callable[[Installed], None]) -> Callable[[str], list[str]]:
    """A session begun before the loss goes on, with no word of a hook in it; gives the words of every request, one a turn."""

    def check(name: str) -> list[str]:
        product = installed(name)
        side = product.sides[name]
        for nth in ("first", "second", "third"):
            side.expect(f"{nth} question", f"The {nth} answer.\n", repeat=True)
        with side.session() as terminal:
            side.talk(terminal, "first question", "The first answer")
            product.until(lambda home: home.db.execute("SELECT 1 FROM events WHERE role = 'user'").fetchone(), "the first question")
            remove(product)
            side.talk(terminal, "second question", "The second answer")
            side.talk(terminal, "third question", "The third answer")  # by now the end of the second turn is long over
            assert side.keys.leave(terminal) == 0
        assert "hook error" not in side.told(side.turns()[-1])
        return [one.last_user_text.strip().splitlines()[-1] for one in side.turns()]

    return check


@pytest.fixture
def loses_the_pack_while_it_runs(installed: Callable[..., Installed]) -> Callable[..., tuple[int, str, int]]:
    """A headless run whose agent removes our files with `command` made to a tool call; gives its status, its answer and how many requests it made."""

    def check(name: str, call: Callable[[str], object], *arguments: str) -> tuple[int, str, int]:
        product = installed(name)
        side = product.sides[name]
        with product.open() as home:
            pack = pathlib.Path(home.paths.pack)
        side.api.add(side.kit.Step(call(f"rm -r '{pack}'"), last="tidy up"))
        side.expect(".", "All is tidy.")
        run = side.ask("tidy up", *arguments)
        assert not (pack / "hook").exists()
        return run.returncode, run.answer, len(side.api.requests)

    return check
