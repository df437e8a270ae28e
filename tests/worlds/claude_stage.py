"""Every scenario of the suite as a person plays it with the real Claude Code, and what the CLI left: its hooks and transcripts, as a recording."""

from __future__ import annotations

import json
import pathlib
import platform
import re
import sys

from stage import NONCE, mapped
from stage import Stage as AnyStage

from afl_core.testing.anthropic_api import MockAnthropic, Step, hang, text, tool
from afl_core.testing.claude_cli import PROMPT, ClaudeSandbox
from afl_core.testing.claude_keys import deny, deny_with_words, interrupt, leave, rewind, steer

CONTEXT = f"<card {NONCE}>Quote the command before you call anything done.</card>"


class Stage(AnyStage):
    """Claude Code."""

    events = ("SessionStart", "UserPromptSubmit", "Stop", "SubagentStop", "SessionEnd")
    logs = "projects/**/*.jsonl"

    def __init__(self, home, binary, api):
        super().__init__(ClaudeSandbox(home, home / "project", api.url, pathlib.Path(binary)), api)
        self.sandbox.settings_path.write_text(json.dumps({"hooks": self.groups()}), encoding="utf-8")

    def say(self, prompt, *arguments, resume=None):
        """One headless turn; gives the session's id."""
        run = self.sandbox.headless(prompt, *arguments, resume=resume)
        assert run.returncode == 0, run
        return run.session_id

    def interactive(self, *arguments):
        return self.sandbox.interactive(*(arguments or ("--permission-mode", "acceptEdits")))


def typed(stage, *exchanges):
    """An interactive session of prompts and answers."""
    with stage.interactive() as terminal:
        for number, (prompt, answer) in enumerate(exchanges, 1):
            terminal.submit(prompt)
            terminal.wait_for(answer)
            stage.wait_hooks("Stop", number)
        leave(terminal)


# one function a scenario: plays it on a stage and gives the words of its rule


def plain(stage):
    stage.api.add("Hello from the mock.")
    stage.say("say hello")
    return {"request": "say hello", "answer": "Hello from the mock."}


def tool_success(stage):
    stage.api.add(tool("Bash", {"command": "echo one", "description": "say one"}, say="Running."), Step("Done.", last="one"))
    stage.say("run it", "--allowedTools", "Bash")
    return {"request": "run it"}


def tool_failure(stage):
    stage.api.add(tool("Bash", {"command": "echo bad; exit 3", "description": "fail"}, say="Running."), "It failed.")
    stage.say("run it", "--allowedTools", "Bash")
    return {"request": "run it"}


def interrupted_then_corrected(stage):
    wrong = text("I will rewrite the module with the old API.\n\nFirst I remove", chunk=10, pause=0.02, hold=True)
    stage.api.add(wrong, "OK, using the new API.")
    with stage.interactive() as terminal:
        terminal.submit("refactor the module")
        terminal.wait_for("with the old API")
        interrupt(terminal)
        stage.api.wait_aborted()
        terminal.submit("no, do not use the old API, use the new one")
        terminal.wait_for("using the new API")
        stage.wait_hooks("Stop")
        leave(terminal)
    return {"request": "refactor the module", "correction": "no, do not use the old API, use the new one"}


def withdrawn(stage):
    stage.api.add(hang(), Step("second reply", last="second try"))
    with stage.interactive() as terminal:
        terminal.submit("first try prompt")
        stage.api.wait_requests(1)
        terminal.key("escape")
        stage.api.wait_aborted()
        terminal.wait_for(rf"{PROMPT}\s*first try prompt")  # it is back in the input line
        terminal.press("ctrl-u", "first try prompt", gone=True)
        terminal.submit("second try prompt")
        terminal.wait_for("second reply")
        stage.wait_hooks("Stop")
        leave(terminal)
    return {"request": "first try prompt", "instead": "second try prompt", "answer": "second reply"}


def steering_additive(stage):
    stage.api.add(text("The weather of today is fine.\n\nIt is " + "very " * 60 + "fine.", chunk=10, pause=0.1), "In Celsius then.")
    with stage.interactive() as terminal:
        terminal.submit("weather please")
        terminal.wait_for("of today is fine")
        terminal.submit("actually in Celsius")
        terminal.wait_for("In Celsius then")
        stage.wait_hooks("Stop", 2)
        leave(terminal)
    return {"request": "weather please", "addition": "actually in Celsius"}


def steering_corrective(stage):
    long = "touch started; while [ ! -e go ]; do sleep 0.05; done; echo finished"
    stage.api.add(tool("Bash", {"command": long, "description": "long"}, say="Running a long command."), "Noted.")
    with stage.interactive("--permission-mode", "acceptEdits", "--allowedTools", "Bash") as terminal:
        terminal.submit("do the long thing")
        stage.wait((stage.sandbox.project / "started").exists, "the command")
        steer(terminal, "also: never use sleep here")
        (stage.sandbox.project / "go").touch()
        terminal.wait_for("Noted")
        stage.wait_hooks("Stop")
        leave(terminal)
    return {"request": "do the long thing", "correction": "also: never use sleep here"}


REMOVE = tool("Bash", {"command": "rm -rf build", "description": "clean"}, say="I will delete it.")


def rejected_with_words(stage):
    stage.api.add(REMOVE, "Okay, I will move it instead.")
    with stage.interactive("--permission-mode", "manual") as terminal:
        terminal.submit("clean up")
        deny_with_words(terminal, "do not delete it, move it to old")
        terminal.wait_for("move it instead")
        stage.wait_hooks("Stop")
        leave(terminal)
    return {"request": "clean up", "correction": "do not delete it, move it to old"}


def rejected_without_words(stage):
    stage.api.add(REMOVE, "Okay, I will move it instead.")
    with stage.interactive("--permission-mode", "manual") as terminal:
        terminal.submit("clean up")
        deny(terminal)
        terminal.submit("do not delete it")
        terminal.wait_for("move it instead")
        stage.wait_hooks("Stop")
        leave(terminal)
    return {"request": "clean up", "correction": "do not delete it"}


def complaint(stage):
    stage.api.add("All tests pass.", "I had not run them.")
    typed(stage, ("fix the tests", "All tests pass"), ("you never ran them", "had not run them"))
    return {"request": "fix the tests", "complaint": "you never ran them", "answer": "All tests pass."}


def compacted(stage):
    stage.api.add(Step("A summary of turtles, SUMMARYMARK.", raw="(?i)summar", last="(?i)summar"))
    stage.api.add(Step("First answer.", last="first question"), Step("Second answer.", last="second question"))
    with stage.interactive() as terminal:
        terminal.submit("first question")
        terminal.wait_for("First answer")
        stage.wait_hooks("Stop")
        terminal.submit("/compact")
        stage.wait_hooks("SessionStart", source="compact")
        terminal.submit("second question")
        terminal.wait_for("Second answer")
        stage.wait_hooks("Stop", 2)
        leave(terminal)
    return {"before": "first question", "after": "second question", "summary": "SUMMARYMARK"}


def resumed(stage):
    stage.api.add("First answer.", "Second answer.")
    session = stage.say("first prompt")
    stage.say("second prompt", resume=session)
    return {"request": "first prompt", "later": "second prompt", "answer": "First answer."}


def rewound(stage):
    stage.api.add("First answer.", "Second answer.", "Third answer.")
    with stage.interactive() as terminal:
        for number, (prompt, answer) in enumerate((("alpha prompt", "First answer"), ("beta prompt", "Second answer")), 1):
            terminal.submit(prompt)
            terminal.wait_for(answer)
            stage.wait_hooks("Stop", number)
        rewind(terminal, "beta prompt")
        terminal.submit("gamma prompt")
        terminal.wait_for("Third answer")
        stage.wait_hooks("Stop", 3)
        leave(terminal)
    return {"request": "alpha prompt", "undone": "beta prompt", "instead": "gamma prompt"}


def forked(stage):
    stage.api.add("First answer.", "Forked answer.")
    session = stage.say("first prompt")
    stage.say("fork prompt", "--fork-session", resume=session)
    return {"shared": "first prompt", "new": "fork prompt", "answer": "Forked answer."}


def _delegated(stage, **more):
    task = {"description": "check things", "prompt": "Please check.", "subagent_type": "general-purpose", **more}
    stage.api.add(
        Step(tool("Agent", task, say="Delegating."), last="use a subagent$"),
        Step(tool("Bash", {"command": "echo in-sub", "description": "step"}, say="Sub checking."), last="Please check.$"),
        Step("Subagent final report.", last="in-sub"),
        Step("Main continues.", tools=True),
        Step("Main saw the notification.", tools=True),
    )
    stage.say("use a subagent", "--allowedTools", "Bash", "Agent")


def subagent(stage):
    _delegated(stage, run_in_background=False)
    return {"request": "use a subagent", "task": "Please check.", "work": "Sub checking"}


def machine_prompts(stage):
    _delegated(stage, run_in_background=True)
    return {"request": "use a subagent", "prompt": "<task-notification>"}


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
        plain, tool_success, tool_failure, interrupted_then_corrected, withdrawn, steering_additive, steering_corrective, rejected_with_words,
        rejected_without_words, complaint, compacted, resumed, rewound, forked, subagent, machine_prompts, injected, same_text_twice,
    )
}  # fmt: skip


def record(scenario, binary, home):
    """Play one scenario in a fresh home and give what the CLI left."""
    with MockAnthropic() as api:
        stage = Stage(home, binary, api)
        words = SCENES[scenario](stage)
        return stage.recording(words)


# from a recording to a fixture

LONG = 120


BULK = "api-request"


def as_fixture(recording):
    """(hooks as lines of a sequence, transcripts by session) with the recorded home mapped to the fixtures' and the vendor's long texts elided."""
    slug = re.sub(r"[^A-Za-z0-9]", "-", recording.home)

    def shown(moved):
        for ours, theirs in (
            (sys.executable, "/usr/bin/python3"),
            (platform.release(), "6.1.0"),
            (recording.home, "/home/dev"),
            (slug, "-home-dev"),
        ):
            moved = moved.replace(ours, theirs)
        return f"<elided {len(moved)} chars>" if len(moved) > LONG else moved

    def line(value):
        if value.get("type", "").startswith(BULK):
            value = {"type": value["type"], "elided": f"<elided {len(json.dumps(value))} chars>"}
        return json.dumps(mapped(value, shown), ensure_ascii=False) + "\n"

    transcripts = {name: "".join(line(json.loads(one)) for one in data.splitlines()) for name, data in recording.transcripts.items()}
    sequence = ""
    for hook in recording.hooks:
        own = str(pathlib.Path(hook.payload["transcript_path"]).relative_to(recording.home))
        lines = recording.transcripts.get(own, b"")[: hook.sizes.get(own, 0)].count(b"\n")
        sequence += line({"t": round(hook.at_ms / 1000, 3), "transcript_lines": lines, "stdin": dict(hook.payload)})
    return sequence, transcripts
