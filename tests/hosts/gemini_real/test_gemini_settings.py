"""Settings with comments after our edit, on the real CLI: it starts, runs our hook, and goes on when the hook is gone."""

from __future__ import annotations

import json
import time
from types import SimpleNamespace

import pytest

from afl_core.setup.edit_json_comments import texts_of
from afl_core.setup.json_splice import HookEntry, ensure_hook_entries, remove_hook_entries
from afl_core.setup.render import command_for
from afl_core.setup.vanished import running
from afl_core.testing.gemini_api import MockGemini, call
from afl_core.testing.gemini_cli import base

pytestmark = pytest.mark.real_cli

REPLY = {"hookSpecificOutput": {"additionalContext": "a lesson: {context} use tabs & spaces"}}


@pytest.fixture
def commented(gemini, home):
    """A sandbox whose settings hold comments and our hooks; gives it, the file of the hook and what was there before."""

    def made(api):
        sandbox = gemini(api)
        hook = home / "hook dir" / "hook.py"
        hook.parent.mkdir()
        log = home / "seen.jsonl"
        lines = ["import json, sys", f"open({str(log)!r}, 'a').write(sys.stdin.read() + '\\n')", f"print(json.dumps({REPLY!r}))"]
        hook.write_text("\n".join(lines), encoding="utf-8")
        plain = json.dumps(base(), indent=2)
        before = f"// mine\n{plain[:-2]} // all of it\n  /* no hooks yet */\n}}\n// the end\n".encode()
        entry = HookEntry("BeforeAgent", None, command_for(str(hook), "/usr/bin/env", "gemini", "BeforeAgent"), 10_000)
        entry = HookEntry("BeforeAgent", None, entry.command.replace("'/usr/bin/env' -I -S", "python3 -I -S"), 10_000)
        after = ensure_hook_entries(before, (entry,), lambda handler: "hook.py" in str(handler.get("command")), comments=True)
        assert texts_of(after) == texts_of(before)
        sandbox.settings_path.write_bytes(after)
        return sandbox, hook, log, before

    return made


def test_the_cli_starts_with_edited_comments_and_the_context_of_our_hook_reaches_the_model(commented):
    with MockGemini(["Hello from the mock."]) as api:
        sandbox, _hook, log, before = commented(api)
        run = sandbox.headless("say hello")
        assert (run.returncode, run.response) == (0, "Hello from the mock.")
        payload = json.loads(log.read_text("utf-8"))
        assert (payload["hook_event_name"], payload["prompt"]) == ("BeforeAgent", "say hello")
        (seen,) = api.requests
        assert "a lesson: {context} use tabs & spaces" in seen.contents_text
        after = remove_hook_entries(
            sandbox.settings_path.read_bytes(), lambda handler: "hook.py" in str(handler.get("command")), comments=True
        )
        assert after == before


def test_with_the_hook_file_gone_the_turn_is_one_request_and_nothing_else(commented):
    with MockGemini(["Hello all the same."]) as api:
        sandbox, hook, log, _before = commented(api)
        hook.unlink()
        run = sandbox.headless("say hello")
        assert (run.returncode, run.response) == (0, "Hello all the same.")
        assert not log.exists()
        assert [(seen.method, seen.status) for seen in api.traffic] == [("streamGenerateContent", 200)]


@pytest.mark.parametrize("document", [b'{"a": 1,}', b"\xef\xbb\xbf{}"])
def test_what_we_refuse_to_edit_the_host_refuses_to_start_with(gemini, document):
    with MockGemini() as api:
        sandbox = gemini(api)
        sandbox.settings_path.write_bytes(document)
        assert sandbox.headless("say hello").returncode == 52
        assert api.traffic == []


def test_a_session_that_runs_is_seen_and_writes_our_hooks_away_but_no_comment(gemini, home):
    entry = HookEntry("BeforeAgent", None, "true afl", 5000)
    with MockGemini([call("read_file", {"file_path": "note.txt"}), "It says one."]) as api:
        sandbox = gemini(api)
        before = b"// mine\n" + sandbox.settings_path.read_bytes()
        sandbox.settings_path.write_bytes(before)
        (sandbox.project / "note.txt").write_text("one\n", encoding="utf-8")
        selected = SimpleNamespace(binary=sandbox.binary, manifest=SimpleNamespace(rewrites_settings=True))
        with sandbox.interactive() as terminal:
            assert terminal.pid in running(selected)
            sandbox.say(terminal, "what does the note say")
            terminal.wait_for("It says one", timeout=120)
            sandbox.settings_path.write_bytes(ensure_hook_entries(before, (entry,), comments=True))
            sandbox.say(terminal, "/vim", shown="Toggle vim mode")
            deadline = time.monotonic() + 120
            while b"true afl" in (now := sandbox.settings_path.read_bytes()) and time.monotonic() < deadline:
                time.sleep(0.05)
        assert b"true afl" not in now
        assert texts_of(now) == (b"// mine",)
        assert terminal.pid not in running(selected)
        first, second = api.requests
        assert "read_file" in first.function_names
        assert "one" in second.contents_text
        (transcript,) = sandbox.transcripts()
        assert b"what does the note say" in transcript.read_bytes()
