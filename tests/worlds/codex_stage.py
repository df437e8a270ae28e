"""Every scenario of the suite as a person plays it with the real Codex CLI, and what the CLI left: its hooks and rollouts, as a recording."""

from __future__ import annotations

import contextlib
import json
import pathlib
import re
import sys
import threading
import time

from stage import NONCE, mapped
from stage import Stage as AnyStage

from afl_core.testing.codex_cli import CodexSandbox
from afl_core.testing.codex_keys import deny, interrupt, leave, rewind, steer, submit
from afl_core.testing.failure import KitError
from afl_core.testing.openai_api import MockOpenAI, Step, shell, structured, text, tool
from afl_providers_codex.people import SAME_BREATH_MS

PATIENCE_S = 90.0
BREATH_S = SAME_BREATH_MS / 1000
CONTEXT = f"<card {NONCE}>Quote the command before you call anything done.</card>"

TRUSTED = "--dangerously-bypass-hook-trust"
TITLE = Step(structured({"title": "A title"}), last="Generate a concise", repeat=True)
"""The CLI asks the model for a title after the first prompt."""

TURN_OVER = re.compile(rb'"type":"(?:task_complete|turn_aborted)"')


class Stage(AnyStage):
    """Codex CLI."""

    events = ("SessionStart", "UserPromptSubmit", "Stop", "SessionEnd")
    logs = "sessions/**/*.jsonl"
    patience_s = PATIENCE_S

    def __init__(self, home, binary, api):
        super().__init__(CodexSandbox(home, home / "project", api.url, pathlib.Path(binary)), api)
        api.add(TITLE)
        self.pending = threading.Event()
        self.sandbox.write_hooks(self.commands(), timeout=90)

    def by_person(self, payload):
        return "agent_id" not in payload

    @contextlib.contextmanager
    def prompts_held(self):
        """Hooks of prompts that begin in here end only behind it."""
        gate = self.kept / "gate"
        gate.touch()
        try:
            yield
        finally:
            gate.unlink()

    def say(self, prompt, *arguments):
        """One headless turn; gives the thread's id."""
        run = self.sandbox.exec(prompt, TRUSTED, *arguments)
        assert run.returncode == 0, run
        return run.thread_id

    def interactive(self, *arguments):
        return self.sandbox.interactive(TRUSTED, *arguments)

    def wait_pending(self):
        if not self.pending.wait(PATIENCE_S):
            raise KitError("the words into the running turn did not come")

    def breathe(self):
        """Wait until the words that were recorded last are longer ago than one breath."""
        said = self.sandbox.rollouts()[-1]
        self.wait(lambda: time.time() - said.stat().st_mtime > BREATH_S, "a breath")

    def end(self, terminal, turns):
        """Leave once so many turns are over: an earlier ctrl-c would cut the last one off."""
        self.wait_turns(turns)
        leave(terminal)

    def answered(self, terminal, turns):
        """Wait until so many turns are over for the screen, too: words that come sooner go into the running one."""
        self.wait_turns(turns)
        terminal.wait_until(lambda shown: shown.count("Worked for") >= turns, f"the end of turn {turns}", timeout=PATIENCE_S)

    def wait_turns(self, count):
        def enough():
            return sum(len(TURN_OVER.findall(path.read_bytes())) for path in self.sandbox.rollouts()) >= count

        self.wait(enough, f"the end of turn {count}")


# one function a scenario: plays it on a stage and gives the words of its rule


def plain(stage):
    stage.api.add("Hello from the mock.")
    stage.say("say hello")
    return {"request": "say hello", "answer": "Hello from the mock."}


def tool_success(stage):
    stage.api.add(shell("echo one", say="Running."), Step("Done.", last="one"))
    stage.say("run it")
    return {"request": "run it"}


def tool_failure(stage):
    stage.api.add(shell("echo bad; exit 3", say="Running."), "It failed.")
    stage.say("run it")
    return {"request": "run it"}


WAITS = "touch started; while [ -e started ] && [ ! -e go ]; do sleep 0.05; done; echo finished"
"""It ends with its folder, too: an interrupted command goes on."""


@contextlib.contextmanager
def waiting_command(stage, request, turns):
    """An interactive session in which a command runs until the end of the block, at the latest."""
    go = stage.sandbox.project / "go"
    stage.api.add(shell(WAITS, say="Running a long command."), "Noted.")
    try:
        with stage.interactive() as terminal:
            submit(terminal, request)
            stage.wait((stage.sandbox.project / "started").exists, "the command")
            yield terminal, go
            terminal.wait_for("Noted", timeout=PATIENCE_S)
            stage.end(terminal, turns)
    finally:
        go.touch()


def interrupted_then_corrected(stage):
    with waiting_command(stage, "run the suite", 2) as (terminal, _go):
        interrupt(terminal)
        submit(terminal, "no, not the whole suite, only the quick tests")
    return {"request": "run the suite", "correction": "no, not the whole suite, only the quick tests"}


WRONG = text("I will rewrite the module with the old API.\n\nFirst I remove", chunk=10, pause=0.02, hold=True)


def interrupted_before_output(stage):
    stage.api.add(WRONG, "OK, using the new API.")
    with stage.interactive() as terminal:
        submit(terminal, "refactor the module")
        terminal.wait_for("with the old API", timeout=PATIENCE_S)
        interrupt(terminal)
        stage.api.wait_aborted(timeout=PATIENCE_S)
        submit(terminal, "no, do not use the old API, use the new one")
        terminal.wait_for("using the new API", timeout=PATIENCE_S)
        stage.end(terminal, 2)
    return {"request": "refactor the module", "correction": "no, do not use the old API, use the new one"}


def steering_additive(stage):
    stage.api.add(WRONG, "With the new one then.")
    with stage.interactive() as terminal:
        with stage.prompts_held():  # nothing is recorded before its end, so both are said in one breath however busy the machine is
            submit(terminal, "refactor the module")
            stage.wait_hooks("UserPromptSubmit")
            steer(terminal, "and use the new API")
        terminal.wait_for("With the new one then", timeout=PATIENCE_S)
        stage.end(terminal, 1)
    return {"request": "refactor the module", "addition": "and use the new API"}


def steering_queued(stage):
    stage.api.add(text("It is fine today.\n\nIt is " + "very " * 30 + "fine.", chunk=10, pause=0.05), "In Celsius then.")
    with stage.interactive() as terminal:
        submit(terminal, "weather please")
        terminal.wait_for("fine today", timeout=PATIENCE_S)
        terminal.type("in Celsius")
        terminal.wait_for("in Celsius", timeout=PATIENCE_S)
        terminal.key("tab")
        terminal.wait_for("In Celsius then", timeout=PATIENCE_S)
        stage.end(terminal, 2)
    return {"request": "weather please", "addition": "in Celsius"}


def steering_corrective(stage):
    with waiting_command(stage, "do the long thing", 1) as (terminal, go):
        steer(terminal, "also: never use sleep here")
        go.touch()
    return {"request": "do the long thing", "correction": "also: never use sleep here"}


def steering_mid_stream(stage):
    stage.api.add(WRONG, "OK, using the new API.")
    with stage.interactive() as terminal:
        submit(terminal, "refactor the module")
        terminal.wait_for("First I remove", timeout=PATIENCE_S)
        stage.breathe()
        submit(terminal, "no, do not use the old API, use the new one")
        stage.api.wait_aborted(timeout=PATIENCE_S)
        terminal.wait_for("using the new API", timeout=PATIENCE_S)
        stage.end(terminal, 1)
    return {"request": "refactor the module", "correction": "no, do not use the old API, use the new one"}


def steering_waited(stage):
    """Words of the same breath, which the CLI takes up only when the model begins to answer."""

    def thinks(_body):
        stage.wait_pending()
        stage.breathe()
        return WRONG

    stage.api.add(Step(thinks, last="refactor the module"), "With the new one then.")
    with stage.interactive() as terminal:
        submit(terminal, "refactor the module")
        stage.api.wait_requests(1, timeout=PATIENCE_S)
        steer(terminal, "and use the new API")
        stage.pending.set()
        terminal.wait_for("With the new one then", timeout=PATIENCE_S)
        stage.end(terminal, 1)
    return {"request": "refactor the module", "correction": "and use the new API"}


ASKS = tool(
    "exec_command",
    {"cmd": "rm -rf build", "sandbox_permissions": "require_escalated", "justification": "it is in the way"},
    say="I will delete it.",
)


def rejected_without_words(stage):
    stage.api.add(ASKS, "Okay, I will move it instead.")
    with stage.interactive("--ask-for-approval", "on-request", "--sandbox", "read-only") as terminal:
        submit(terminal, "clean up")
        deny(terminal)
        submit(terminal, "do not delete it")
        terminal.wait_for("move it instead", timeout=PATIENCE_S)
        stage.end(terminal, 2)
    return {"request": "clean up", "correction": "do not delete it"}


def typed(stage, *exchanges):
    """An interactive session of prompts and answers."""
    with stage.interactive() as terminal:
        for number, (prompt, answer) in enumerate(exchanges, 1):
            submit(terminal, prompt)
            terminal.wait_for(answer, timeout=PATIENCE_S)
            stage.answered(terminal, number)
        stage.end(terminal, len(exchanges))


def complaint(stage):
    stage.api.add("All tests pass.", "I had not run them.")
    typed(stage, ("fix the tests", "All tests pass"), ("you never ran them", "had not run them"))
    return {"request": "fix the tests", "complaint": "you never ran them", "answer": "All tests pass."}


def compacted(stage):
    stage.api.add(Step("A summary of turtles, SUMMARYMARK.", last="CONTEXT CHECKPOINT"))
    stage.api.add(Step("First answer.", last="first question"), Step("Second answer.", last="second question"))
    with stage.interactive() as terminal:
        submit(terminal, "first question")
        terminal.wait_for("First answer", timeout=PATIENCE_S)
        stage.answered(terminal, 1)
        submit(terminal, "/compact")
        terminal.wait_for("Context compacted", timeout=PATIENCE_S)
        stage.answered(terminal, 2)
        submit(terminal, "second question")
        terminal.wait_for("Second answer", timeout=PATIENCE_S)
        stage.end(terminal, 3)
    return {"before": "first question", "after": "second question", "summary": "SUMMARYMARK"}


def resumed(stage):
    stage.api.add("First answer.", "Second answer.")
    thread = stage.say("first prompt")
    stage.say("second prompt", "resume", thread)
    return {"request": "first prompt", "later": "second prompt", "answer": "First answer."}


def rewound(stage):
    stage.api.add("First answer.", "Second answer.", "Third answer.")
    with stage.interactive() as terminal:
        for number, (prompt, answer) in enumerate((("alpha prompt", "First answer"), ("beta prompt", "Second answer")), 1):
            terminal.submit(prompt)
            terminal.wait_for(answer, timeout=PATIENCE_S)
            stage.answered(terminal, number)
        rewind(terminal, "beta prompt")
        submit(terminal, "gamma prompt")
        terminal.wait_for("Third answer", timeout=PATIENCE_S)
        stage.end(terminal, 3)
    return {"request": "alpha prompt", "undone": "beta prompt", "instead": "gamma prompt"}


def forked(stage):
    stage.api.add("First answer.", "Forked answer.")
    thread = stage.say("first prompt")
    stage.say("fork prompt", "fork", thread)
    return {"shared": "first prompt", "new": "fork prompt", "answer": "Forked answer."}


def subagent(stage):
    def is_done():
        return any(b"Subagent final report." in path.read_bytes() for path in stage.sandbox.rollouts())

    def go_on(_body):
        stage.wait(is_done, "the subagent's report")
        return shell("echo waited", say="Main continues.")

    stage.api.add(
        Step(tool("spawn_agent", {"message": "Please check."}, say="Delegating.", namespace="multi_agent_v1"), last="use a subagent$"),
        Step(shell("echo in-sub", say="Sub checking."), last="Please check.$"),
        Step("Subagent final report.", last="in-sub"),
        Step(go_on, last="agent_id"),
        Step("Main saw the notification.", tools=True),
    )
    stage.say("use a subagent")
    return {"request": "use a subagent", "task": "Please check.", "work": "Sub checking", "prompt": "<subagent_notification>"}


def injected(stage):
    stage.inject(CONTEXT)
    stage.api.add("Hello from the mock.")
    stage.say("say hello")
    assert NONCE in stage.api.requests[0].conversation_text
    return {"request": "say hello", "context": CONTEXT}


def same_text_twice(stage):
    stage.api.add("First answer.", "Second answer.")
    typed(stage, ("go on", "First answer"), ("go on", "Second answer"))
    return {"request": "go on"}


SCENES = {
    scene.__name__: scene
    for scene in (
        plain, tool_success, tool_failure, interrupted_then_corrected, interrupted_before_output, steering_additive, steering_corrective,
        rejected_without_words, complaint, compacted, resumed, rewound, forked, subagent, injected, same_text_twice,
    )
}  # fmt: skip

CANNOT = {
    "withdrawn": "a prompt that was sent is not given back: Escape before any output is recorded as the interruption of a turn",
    "rejected_with_words": "the question before a tool runs takes no words: what the person types next is a prompt of its own",
}
"""Scenario -> why there is no scene of it."""

SAME_SCENE = {"machine_prompts": "subagent"}
"""Scenario -> the scene in which it happens beside another."""

OF_SESSIONS = frozenset({"compacted", "resumed", "rewound", "forked", "subagent", "machine_prompts"})
"""Scenarios that are more than turns."""

OTHER_WAYS = {"steering_additive": steering_queued, "steering_corrective": steering_mid_stream}
"""The same scenarios as they happen in another way."""


def record(scene, binary, home):
    """Play one scene in a fresh home and give what the CLI left."""
    with MockOpenAI() as api:
        stage = Stage(home, binary, api)
        words = scene(stage)
        return stage.recording(words)


# from a recording to a fixture

LONG, HEAD, TAIL = 300, 100, 60
"""Characters: a longer text is the vendor's, and only how it begins and ends is kept."""


def as_fixture(recording):
    """(hooks as lines of a sequence, rollouts by path) with the recorded home mapped to the fixtures' and the vendor's long texts elided."""

    def shown(value):
        moved = value.replace(sys.executable, "/usr/bin/python3").replace(recording.home, "/home/dev")
        return moved if len(moved) <= LONG else f"{moved[:HEAD]}<elided {len(moved) - HEAD - TAIL} chars>{moved[-TAIL:]}"

    def line(value):
        return json.dumps(mapped(value, shown), ensure_ascii=False, separators=(",", ":")) + "\n"

    rollouts = {path: "".join(line(json.loads(one)) for one in data.splitlines()) for path, data in recording.transcripts.items()}
    sequence = ""
    for hook in recording.hooks:
        lines = {path: recording.transcripts[path][:size].count(b"\n") for path, size in hook.sizes.items()}
        sequence += line({"t": round(hook.at_ms / 1000, 3), "lines": lines, "stdin": dict(hook.payload)})
    return sequence, rollouts


def keep(folder, name, recording):
    """Write a recording as the fixture `name`: `NAME.hooks.jsonl` begins with where each rollout belongs, `NAME.N.jsonl` are these."""
    sequence, rollouts = as_fixture(recording)
    places = {f"{name}.{number}.jsonl": path for number, path in enumerate(sorted(rollouts))}
    for file, path in places.items():
        (folder / file).write_text(rollouts[path], encoding="utf-8")
    (folder / f"{name}.hooks.jsonl").write_text(json.dumps({"rollouts": places}) + "\n" + sequence, encoding="utf-8")
