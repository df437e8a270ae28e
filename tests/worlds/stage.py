"""A sandboxed CLI on which a person's scenes are played: its hooks only take notes, and what it leaves is a recording. The same for every host."""

from __future__ import annotations

import json
import pathlib
import shutil
import sys
import tempfile
import time

from afl_core.testing.conformance.recording import Hook, Recording, Thread
from afl_core.testing.failure import KitError

NONCE = "nonce=00c0ffee00c0ffee"

PROBE = r"""
import glob, json, os, sys, time
kept, logs, prompt, event = sys.argv[1:5]
at = time.time()
payload = json.load(sys.stdin)
sizes = {path: os.path.getsize(path) for path in glob.glob(logs, recursive=True)}
name = "%s/%017.6f-%d" % (kept, at, os.getpid())
with open(name + ".tmp", "w", encoding="utf-8") as file:
    json.dump({"event": event, "payload": payload, "at": at, "sizes": sizes}, file)
os.rename(name + ".tmp", name + ".json")
while event == prompt and os.path.exists(kept + "/gate"):
    time.sleep(0.01)
context = kept + "/context"
if event == prompt and os.path.exists(context):
    out = {"hookEventName": event, "additionalContext": open(context, encoding="utf-8").read()}
    print(json.dumps({"hookSpecificOutput": out}))
"""
"""The hook: what came and how long each transcript was then; it holds a prompt back while there is a gate, and gives the context that is there."""


class Stage:
    """What a host's own stage builds on: it makes the sandbox, lets `command` be run at `events`, and knows how its CLI is typed into."""

    events = ()
    prompt_event = "UserPromptSubmit"
    logs = ""
    """Where transcripts are, below the configuration directory."""
    patience_s = 90.0

    def __init__(self, sandbox, api):
        self.sandbox, self.api = sandbox, api
        self.kept = sandbox.home / "kept"
        self.kept.mkdir()
        (sandbox.home / "probe.py").write_text(PROBE, encoding="utf-8")

    def commands(self):
        """Event -> the command that takes notes of it."""
        probe = [
            sys.executable,
            "-I",
            "-S",
            f"{self.sandbox.home}/probe.py",
            str(self.kept),
            f"{self.sandbox.config}/{self.logs}",
            self.prompt_event,
        ]
        quoted = " ".join(word if word.startswith("-") else f"'{word}'" for word in probe)
        return {event: f"{quoted} {event}" for event in self.events}

    def groups(self, **more):
        """The same as a table of settings."""
        return {event: [{"hooks": [{"type": "command", "command": command, **more}]}] for event, command in self.commands().items()}

    def inject(self, context):
        (self.kept / "context").write_text(context, encoding="utf-8")

    def wait(self, found, what):
        deadline = time.monotonic() + self.patience_s
        while not found():
            if time.monotonic() > deadline:
                raise KitError(f"{what} did not come within {self.patience_s:g} s")
            time.sleep(0.02)

    def wait_hooks(self, event, count=1, **fields):
        def enough():
            return sum(one["event"] == event and fields.items() <= one["payload"].items() for one in self.notes()) >= count

        self.wait(enough, f"hook number {count} of {event}")

    def notes(self):
        return [json.loads(path.read_text("utf-8")) for path in sorted(self.kept.glob("*.json"))]

    def by_person(self, payload):
        """Whether a hook tells of a person's session, and not of a subagent's."""
        return True

    def recording(self, words):
        home = self.sandbox.home
        files = {str(path.relative_to(home)): path.read_bytes() for path in self.sandbox.config.glob(self.logs)}
        hooks, threads = [], {}
        for note in self.notes():
            payload = note["payload"]
            sizes = {str(pathlib.Path(path).relative_to(home)): size for path, size in note["sizes"].items()}
            hooks.append(Hook(note["event"], payload, int(note["at"] * 1000), sizes))
            path = str(pathlib.Path(payload["transcript_path"]).relative_to(home))
            if path in files and self.by_person(payload):
                threads[Thread(payload["session_id"], path)] = None
        return Recording(str(home), files, tuple(threads), tuple(hooks), words)


def played_once(record):
    """`record` (scene, binary, home) as a function of scene and binary that plays each scene once, in a home of its own, however often it is asked."""
    kept = {}

    def recording(scene, binary):
        if scene not in kept:
            home = pathlib.Path(tempfile.mkdtemp(prefix="afl-stage-", dir="/tmp"))
            try:
                kept[scene] = record(scene, binary, home)
            except KitError as bad:  # not played once more for every test that asks
                kept[scene] = bad
            finally:
                shutil.rmtree(home, ignore_errors=True)
        if isinstance(kept[scene], KitError):
            raise kept[scene]
        return kept[scene]

    return recording


def mapped(value, text):
    """A JSON value with every text in it as `text` makes it."""
    if isinstance(value, dict):
        return {name: mapped(item, text) for name, item in value.items()}
    if isinstance(value, list):
        return [mapped(item, text) for item in value]
    return text(value) if isinstance(value, str) else value
