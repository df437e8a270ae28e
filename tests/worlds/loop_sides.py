"""One real CLI at its mock model, as a person uses it: the same verbs for all hosts."""

from __future__ import annotations

import json
import pathlib
import re
import time
from collections.abc import Callable, Iterator
from typing import Any, ClassVar

import attrs

from afl_core.demo.reviewer import answer
from afl_core.testing import anthropic_api, claude_keys, codex_keys, gemini_api, gemini_keys, openai_api
from afl_core.testing.claude_cli import ClaudeSandbox
from afl_core.testing.codex_cli import KEY_VARIABLE, CodexSandbox
from afl_core.testing.failure import KitError
from afl_core.testing.gemini_cli import GeminiSandbox
from afl_core.testing.terminal import Terminal

PATIENCE_S = 120.0
EVIDENCE = re.compile(r"<afl_evidence>\s*(\{.*\})\s*</afl_evidence>", re.DOTALL)
WRONG = "I will rewrite the module with the old API because that seems right.\n\nFirst I remove"
CORRECTION = "no, do not use the old API, use the new one"


def strings(value: Any) -> Iterator[str]:
    """Every string in a JSON value, in order."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for inner in value.values():
            yield from strings(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from strings(inner)


@attrs.frozen
class Asked:
    """One finished headless run: its status, what was answered, and the host's id of the session."""

    returncode: int
    answer: str
    session_id: str


class Side:
    """One CLI at its mock model: what a person does there, what the model shall answer, and what it was told."""

    name: str
    kit: Any
    """The mock's module."""
    mock: Any
    keys: Any
    kind: Any
    key_variable: str
    """The variable that holds the CLI's key, and that the reviewer is allowed."""
    arguments: tuple[str, ...] = ()
    manner: ClassVar[dict[str, Any]] = {}
    """How the model speaks."""

    def __init__(self, home: pathlib.Path, project: pathlib.Path, binary: str) -> None:
        self.binary = binary
        self.api = self.mock(self.own_steps())
        self.sandbox = self.kind(home, project, self.api.url, pathlib.Path(binary))

    def own_steps(self) -> list[Any]:
        """Answers to what the CLI asks the model for itself."""
        return []

    # -------------------------------------------------------------------------------------------------------------------- the model

    def expect(self, words: str, reply: str, *, hold: bool = False, **more: Any) -> None:
        """Answer the request whose last words match with `reply`; `hold`: never end that answer."""
        said = self.kit.text(reply, chunk=10, pause=0.02, hold=True) if hold else self.kit.text(reply, **self.manner)
        self.api.add(self.kit.Step(said, last=words, **more))

    def review(self) -> None:
        """Answer reviews from the evidence in them, as the schema asks."""
        self.api.add(self.kit.reviewing(self.receipt, repeat=True))

    def receipt(self, request: Any) -> dict[str, Any]:
        """A receipt that cites what was sent; `request` is whatever the mock hands over."""
        found = EVIDENCE.search("\n".join(strings(getattr(request, "body", request))))
        assert found, "the reviewer was sent no evidence"
        return answer(json.loads(found.group(1)))

    def turns(self) -> list[Any]:
        """The requests that are neither a review's nor the CLI's own, in order of arrival."""
        return [one for one in self.api.requests if not EVIDENCE.search(self.told(one))]

    def reviews(self) -> list[Any]:
        """The requests of reviewers."""
        return [one for one in self.api.requests if EVIDENCE.search(self.told(one))]

    def told(self, request: Any) -> str:
        """Everything a request tells the model of the conversation, context from hooks included."""
        return str(request.conversation_text)

    def asking(self, words: str) -> Any:
        """The last turn whose newest words hold `words`."""
        return next(one for one in reversed(self.turns()) if words in one.last_user_text)

    # ------------------------------------------------------------------------------------------------------------------- the person

    def session(self) -> Terminal:
        """The interactive CLI, waiting for words."""
        return self.sandbox.interactive(*self.arguments)

    def say(self, terminal: Terminal, words: str) -> None:
        """Type words and send them."""
        terminal.submit(words, timeout=PATIENCE_S)

    def talk(self, terminal: Terminal, words: str, reply: str) -> None:
        """Say words and wait until the reply is on the screen and the turn is over."""
        self.say(terminal, words)
        terminal.wait_for(reply, timeout=PATIENCE_S)
        self.keys.wait_idle(terminal)

    def interrupted_and_corrected(self, words: str = "refactor the module") -> None:
        """One interactive session in which the person stops the agent and corrects it."""
        self.expect("refactor the module", WRONG, hold=True)
        self.expect("use the new one", "OK, using the new API.\n")
        with self.session() as terminal:
            self.say(terminal, words)
            terminal.wait_for("with the old API", timeout=PATIENCE_S)
            self.keys.interrupt(terminal)
            self.api.wait_aborted()
            self.talk(terminal, CORRECTION, "using the new API")
            assert b"hook.py" not in terminal.output()  # the person is not shown our command
            assert self.keys.leave(terminal) == 0

    def compacted(self, product: Any) -> None:
        """Wait until the compaction asked for has opened an epoch."""
        product.until(lambda home: home.db.execute("SELECT 1 FROM sessions WHERE epoch = 2").fetchone(), "the new epoch")

    def ask(self, words: str, *arguments: str) -> Asked:
        """One headless run, with more arguments for the CLI."""
        raise NotImplementedError


class ClaudeSide(Side):
    """Claude Code."""

    name, kit, mock, keys, kind = "claude", anthropic_api, anthropic_api.MockAnthropic, claude_keys, ClaudeSandbox
    key_variable = "ANTHROPIC_API_KEY"
    arguments = ("--permission-mode", "acceptEdits")

    def receipt(self, request: Any) -> dict[str, Any]:
        return {"result": super().receipt(request)}

    def ask(self, words: str, *arguments: str) -> Asked:
        run = self.sandbox.headless(words, *arguments)
        return Asked(run.returncode, str((run.envelope or {}).get("result")), run.session_id)


class CodexSide(Side):
    """Codex CLI. It also asks the model for the title of a session begun at its screen."""

    name, kit, mock, keys, kind = "codex", openai_api, openai_api.MockOpenAI, codex_keys, CodexSandbox
    key_variable = KEY_VARIABLE
    title = "Generate a concise, single-line task title"

    def own_steps(self) -> list[Any]:
        return [openai_api.Step(openai_api.structured({"title": "Title"}), last=self.title, repeat=True)]

    def turns(self) -> list[Any]:
        return [one for one in super().turns() if self.title not in one.last_user_text]

    def compacted(self, product: Any) -> None:
        """The host tells of it at the next prompt only, so wait until it has written it down."""
        wait(lambda: b'"type":"compacted"' in self.sandbox.rollouts()[-1].read_bytes(), "the compaction")

    def say(self, terminal: Terminal, words: str) -> None:
        codex_keys.submit(terminal, words)

    def talk(self, terminal: Terminal, words: str, reply: str) -> None:
        before = self.sandbox.completed()
        self.say(terminal, words)
        terminal.wait_for(reply, timeout=PATIENCE_S)
        wait(lambda: self.sandbox.completed() > before, "the end of the turn")

    def ask(self, words: str, *arguments: str) -> Asked:
        run = self.sandbox.exec(words, *arguments)
        return Asked(run.returncode, run.answer, run.thread_id)


class GeminiSide(Side):
    """Gemini CLI."""

    name, kit, mock, keys, kind = "gemini", gemini_api, gemini_api.MockGemini, gemini_keys, GeminiSandbox
    key_variable = "GEMINI_API_KEY"
    manner: ClassVar[dict[str, Any]] = {"usage": {"promptTokenCount": 50_000}}  # the host compacts no history that costs little

    def told(self, request: Any) -> str:
        return str(request.contents_text)

    def say(self, terminal: Terminal, words: str) -> None:
        self.sandbox.say(terminal, words)

    def ask(self, words: str, *arguments: str) -> Asked:
        run = self.sandbox.headless(words, *arguments)
        return Asked(run.returncode, run.response, str((run.envelope or {}).get("session_id")))


SIDES: dict[str, type[Side]] = {one.name: one for one in (ClaudeSide, CodexSide, GeminiSide)}


def wait(found: Callable[[], Any], what: str) -> Any:
    """Look until there is something, and give it; `what` names it in the KitError."""
    end = time.monotonic() + PATIENCE_S
    while not (got := found()):
        if time.monotonic() > end:
            raise KitError(f"{what} did not come within {PATIENCE_S:g} s")
        time.sleep(0.05)
    return got
