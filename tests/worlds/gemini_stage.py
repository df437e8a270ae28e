"""Every scenario of the suite as a person plays it with the real Gemini CLI, and what the CLI left: its hooks and chat logs, as a recording."""

from __future__ import annotations

import hashlib
import json
import pathlib
import sys

from stage import NONCE, mapped
from stage import Stage as AnyStage

from afl_core.testing.gemini_api import MockGemini, Step, call, hang, text
from afl_core.testing.gemini_cli import AGAIN_S, PROMPT, GeminiSandbox, base

PATIENCE_S = 120.0
HOOK_MS = 60_000
CONTEXT = f"card {NONCE}: use <b>tabs</b> & spaces"


class Stage(AnyStage):
    """Gemini CLI."""

    events = ("SessionStart", "BeforeAgent", "AfterAgent", "SessionEnd")
    prompt_event = "BeforeAgent"
    logs = "tmp/*/chats/**/*.jsonl"
    patience_s = PATIENCE_S

    def __init__(self, home, binary, api):
        super().__init__(GeminiSandbox(home, home / "project", api.url, pathlib.Path(binary)), api)
        self.settings()

    def settings(self, **more):
        """The sandbox's settings with the hooks that take notes; `more` are whole sections."""
        hooks = self.groups(timeout=HOOK_MS)
        self.sandbox.settings_path.write_text(json.dumps({**base(), "hooks": hooks, **more}), encoding="utf-8")

    def say(self, prompt, *arguments):
        """One headless turn; gives the session's id."""
        run = self.sandbox.headless(prompt, *arguments)
        assert run.returncode == 0, run
        return run.envelope["session_id"]

    def interactive(self, *arguments):
        return self.sandbox.interactive(*arguments)

    def answered(self, terminal, prompt, shown, count):
        """Type a prompt and wait for the end of its turn, which is the session's turn number `count`."""
        self.sandbox.say(terminal, prompt)
        terminal.wait_for(shown, timeout=PATIENCE_S)
        self.wait_hooks("AfterAgent", count)

    def wait_log(self, words, count=1):
        """Until the chat logs hold these words so often."""
        self.wait(lambda: sum(path.read_text("utf-8").count(words) for path in self.sandbox.transcripts()) >= count, f"{words!r} in a log")


# one function a scenario: plays it on a stage and gives the words of its rule


def plain(stage):
    stage.api.add("Hello from the mock.")
    stage.say("say hello")
    return {"request": "say hello", "answer": "Hello from the mock."}


def _shell(command):
    return call("run_shell_command", {"command": command, "description": "run it"}, say="Running.")


def tool_success(stage):
    stage.api.add(_shell("echo one"), Step("Done.", raw="Output: one"))
    stage.say("run it", "--approval-mode", "yolo")
    return {"request": "run it"}


def tool_failure(stage):
    stage.api.add(_shell("echo bad; exit 3"), "It failed.")
    stage.say("run it", "--approval-mode", "yolo")
    return {"request": "run it"}


def interrupted_then_corrected(stage):
    """While a tool runs: of an answer that is cut while it is streamed, the host keeps nothing."""
    stage.api.add(_shell("touch started; sleep 600"), "OK, no sleeps.")
    with stage.interactive("--approval-mode", "yolo") as terminal:
        stage.sandbox.say(terminal, "run the long command")
        stage.wait((stage.sandbox.project / "started").exists, "the command")
        terminal.key("escape")
        stage.wait_log("[Operation Cancelled]")
        stage.answered(terminal, "stop running sleeps", "OK, no sleeps", 1)
    return {"request": "run the long command", "correction": "stop running sleeps"}


def interrupted_before_output(stage):
    stage.api.add(hang(), "Understood.")
    with stage.interactive() as terminal:
        stage.sandbox.say(terminal, "rewrite the parser")
        stage.api.wait_requests(1)
        terminal.key("escape")
        stage.api.wait_aborted()
        stage.wait_log("Request cancelled.")
        stage.answered(terminal, "no, use the tokenizer", "Understood", 1)
    return {"request": "rewrite the parser", "correction": "no, use the tokenizer"}


def steering_additive(stage):
    """What is typed while the agent answers waits for the turn's end and is a prompt of its own."""
    stage.api.add(
        text("The weather is fine. " + " ".join(f"Day {number}." for number in range(60)), chunk=10, pause=0.1), "In Celsius then."
    )
    with stage.interactive() as terminal:
        stage.sandbox.say(terminal, "weather please")
        terminal.wait_for("weather is fine", timeout=PATIENCE_S)
        stage.sandbox.say(terminal, "in Celsius")
        terminal.wait_for("In Celsius then", timeout=PATIENCE_S)
        stage.wait_hooks("AfterAgent", 2)
    return {"request": "weather please", "addition": "in Celsius"}


def steering_corrective(stage):
    """With the host's experimental steering switched on."""
    stage.settings(experimental={"modelSteering": True})
    stage.api.add(Step("Noted, no sleeps.", raw="never use sleep"), _shell("touch started; while [ ! -e go ]; do sleep 0.05; done"))
    stage.api.add(Step("Noted, no sleeps.", raw="never use sleep", repeat=True))
    with stage.interactive("--approval-mode", "yolo") as terminal:
        stage.sandbox.say(terminal, "do the long thing")
        stage.wait((stage.sandbox.project / "started").exists, "the command")
        stage.sandbox.say(terminal, "also: never use sleep here")
        terminal.wait_for(PROMPT, timeout=PATIENCE_S)  # the input line is empty again: the host has taken the words
        (stage.sandbox.project / "go").touch()
        terminal.wait_for("Noted, no sleeps", timeout=PATIENCE_S)
        stage.wait_hooks("AfterAgent")
    return {"request": "do the long thing", "correction": "also: never use sleep here"}


def _answer_plan(terminal, words):
    """Refuse a plan with words: the field for them is the last entry of the menu."""
    terminal.wait_for("Ready to start implementation", timeout=PATIENCE_S)
    for number in (2, 3):
        GeminiSandbox.press(terminal, "down", rf"● {number}\.")
    for size, char in enumerate(words, 1):  # this field keeps only the last of the keys that come at once
        shown = rf"● 3\.\s+{words[:size].rstrip()}"
        terminal.insist(lambda char=char: terminal.type(char), shown, again=AGAIN_S, timeout=PATIENCE_S)
    GeminiSandbox.press(terminal, "enter", "Feedback: ")


def rejected_with_words(stage):
    """The question about a plan takes words; the others only take yes or no."""
    plan = stage.sandbox.project / "plans" / "plan.md"
    plan.parent.mkdir()
    plan.write_text("# Move\n\n1. Move it.\n")
    stage.settings(general={**base()["general"], "plan": {"directory": "plans"}})
    stage.api.add(call("exit_plan_mode", {"plan_filename": "plan.md"}, say="Here is the plan."), "A new plan then.")
    with stage.interactive("--approval-mode", "plan") as terminal:
        stage.sandbox.say(terminal, "plan the move")
        _answer_plan(terminal, "keep the old module")
        terminal.wait_for("A new plan then", timeout=PATIENCE_S)
        stage.wait_hooks("AfterAgent")
    return {"request": "plan the move", "correction": "keep the old module"}


def rejected_without_words(stage):
    stage.api.add(call("write_file", {"file_path": "c.txt", "content": "x\n"}, say="I write it."), "In docs then.")
    with stage.interactive() as terminal:
        stage.sandbox.say(terminal, "create the file")
        terminal.wait_for("suggest changes", timeout=PATIENCE_S)
        terminal.key("escape")
        stage.wait_log("Request cancelled.")
        terminal.wait_gone("suggest changes", timeout=PATIENCE_S)
        stage.answered(terminal, "I said docs, not the root", "In docs then", 1)
    return {"request": "create the file", "correction": "I said docs, not the root"}


def complaint(stage):
    stage.api.add("All tests pass.", "I had not run them.")
    with stage.interactive() as terminal:
        stage.answered(terminal, "fix the tests", "All tests pass", 1)
        stage.answered(terminal, "you never ran them", "had not run them", 2)
    return {"request": "fix the tests", "complaint": "you never ran them", "answer": "All tests pass."}


def compacted(stage):
    snapshot = "<state_snapshot>A summary of turtles, SUMMARYMARK.</state_snapshot>"
    stage.api.add(Step(snapshot, raw="(?i)state_snapshot", last="(?i)snapshot", repeat=True))
    full = {"promptTokenCount": 90_000, "totalTokenCount": 90_010}  # else the host finds that nothing would be gained
    stage.api.add(*(Step(text(f"{name.title()} answer.", usage=full), last=f"{name} question") for name in ("first", "second", "third")))
    with stage.interactive() as terminal:
        stage.answered(terminal, "first question", "First answer", 1)
        stage.answered(terminal, "second question", "Second answer", 2)
        stage.sandbox.say(terminal, "/compress", shown="Compresses the context")
        stage.wait_log("SUMMARYMARK")
        stage.answered(terminal, "third question", "Third answer", 3)
    return {"before": ("first question", "second question"), "after": "third question", "summary": "SUMMARYMARK"}


def resumed(stage):
    stage.api.add("First answer.", "Second answer.")
    session = stage.say("first prompt")
    stage.say("second prompt", "--resume", session)
    return {"request": "first prompt", "later": "second prompt", "answer": "First answer."}


def _rewind(terminal, prompt):
    """Go back to before a prompt, leaving the files as they are."""
    GeminiSandbox.say(terminal, "/rewind", shown="ewind", taken="Stay at current position")
    GeminiSandbox.press(terminal, "up", f"● {prompt}")
    GeminiSandbox.press(terminal, "enter", "Rewind conversation")
    GeminiSandbox.press(terminal, "enter", f"> {prompt}")  # it is back in the input line
    GeminiSandbox.press(terminal, "ctrl-u", PROMPT)


def rewound(stage):
    stage.api.add("First answer.", "Second answer.", "Third answer.")
    with stage.interactive() as terminal:
        stage.answered(terminal, "alpha prompt", "First answer", 1)
        stage.answered(terminal, "beta prompt", "Second answer", 2)
        _rewind(terminal, "beta prompt")
        stage.answered(terminal, "gamma prompt", "Third answer", 3)
    return {"request": "alpha prompt", "undone": "beta prompt", "instead": "gamma prompt"}


def forked(stage):
    """A kept conversation is taken up in a new session."""
    stage.api.add(Step("First answer.", last="first prompt$"), Step("Forked answer.", last="fork prompt$"), Step("A talk.", repeat=True))
    with stage.interactive() as terminal:
        stage.answered(terminal, "first prompt", "First answer", 1)
        stage.sandbox.say(terminal, "/chat save point", taken="checkpoint saved")
    with stage.interactive() as terminal:
        stage.sandbox.say(terminal, "/chat resume point", taken="First answer")
        stage.answered(terminal, "fork prompt", "Forked answer", 2)
    return {"shared": "first prompt", "new": "fork prompt", "answer": "Forked answer."}


REPORT = {"report": {"SummaryOfFindings": "Nothing there.", "ExplorationTrace": ["looked"], "RelevantLocations": []}}


def subagent(stage):
    task = {"agent_name": "codebase_investigator", "prompt": "Please inspect a.txt"}
    stage.api.add(
        Step(call("invoke_agent", task, say="Delegating."), last="use the agent$"),
        Step(call("complete_task", REPORT, say="Looking inside."), raw='"complete_task"'),
        Step("Done."),
    )
    stage.say("use the agent", "--approval-mode", "yolo")
    return {"request": "use the agent", "task": "Please inspect a.txt", "work": "Looking inside"}


def machine_prompts(stage):
    """A command that the person runs by `!` is told to the model as if the person had said it."""
    stage.api.add("One it is.")
    with stage.interactive() as terminal:
        stage.sandbox.say(terminal, "!echo one", shown="echo one", taken="Shell Command echo one")
        terminal.wait_for("shell mode enabled", timeout=PATIENCE_S)
        stage.sandbox.press(terminal, "escape", PROMPT)
        stage.answered(terminal, "what did it say", "One it is", 1)
    return {"request": "what did it say", "prompt": "I ran the following shell command"}


def injected(stage):
    stage.inject(CONTEXT)
    stage.api.add("Hello from the mock.")
    stage.say("say hello")
    assert NONCE in stage.api.requests[0].contents_text
    return {"request": "say hello", "context": CONTEXT}


def same_text_twice(stage):
    stage.api.add("First answer.", "Second answer.")
    with stage.interactive() as terminal:
        stage.answered(terminal, "go on", "First answer", 1)
        stage.answered(terminal, "go on", "Second answer", 2)
    return {"request": "go on"}


SCENES = {
    scene.__name__: scene
    for scene in (
        plain, tool_success, tool_failure, interrupted_then_corrected, interrupted_before_output, steering_additive, steering_corrective,
        rejected_with_words, rejected_without_words, complaint, compacted, resumed, rewound, forked, subagent, machine_prompts, injected,
        same_text_twice,
    )
}  # fmt: skip


def record(scenario, binary, home):
    """Play one scenario in a fresh home and give what the CLI left."""
    with MockGemini() as api:
        stage = Stage(home, binary, api)
        words = SCENES[scenario](stage)
        return stage.recording(words)


# from a recording to a fixture

HOSTS_OWN = ("<session_context>", "Hook(s) ")
"""How texts open that the vendor's program wrote, and that nothing is told by but their opening."""

LONG = 120


def _hash(home):
    """How the host names a home's project where it does not show its path."""
    return hashlib.sha256(f"{home}/project".encode()).hexdigest()


def as_fixture(recording):
    """(payloads as lines of a sequence, chat logs by path) with the recorded home mapped to the fixtures' and the host's own texts elided."""

    def shown(value):
        moved = (
            value.replace(sys.executable, "/usr/bin/python3")
            .replace(recording.home, "/home/dev")
            .replace(_hash(recording.home), _hash("/home/dev"))
        )
        opens = next((opening for opening in HOSTS_OWN if moved.startswith(opening)), None)
        if opens is None or len(moved) <= LONG:
            return moved
        words = moved.partition("</session_context>")
        return f"{opens}<elided {len(moved)} chars>{words[1]}{words[2]}"

    def line(value):
        return json.dumps(mapped(value, shown), ensure_ascii=False, separators=(",", ":")) + "\n"

    logs = {name: "".join(line(json.loads(one)) for one in data.splitlines()) for name, data in recording.transcripts.items()}
    return "".join(line(dict(hook.payload)) for hook in recording.hooks), logs
