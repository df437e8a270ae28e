"""The manifest agrees with the payloads that were recorded from the real host."""

from __future__ import annotations

import json
import re

import pytest

from afl_core.capture.payload import own_words
from afl_core.setup.render import _host as rendered
from afl_core.testing.recorded_gemini import RecordedGemini
from afl_core.worker.arrival import understand
from afl_core.worker.frames import Frame
from afl_core.worker.manifests import _host as held
from afl_providers_gemini.host import GeminiHost

MANIFEST = GeminiHost().manifest()
OURS = {event.name: event for event in MANIFEST.events}
HOST = held(MANIFEST.name, json.loads(json.dumps(rendered(MANIFEST))))


def arrival(payload):
    data = json.dumps(payload).encode()
    return understand(
        HOST, Frame(id="i", host="gemini", event=payload["hook_event_name"], payload=data, total_bytes=len(data), env=b"", build="b"), 0
    )


def test_four_events_are_registered_and_only_the_prompt_injects():
    assert {event.name: (event.kind, event.timeout_s, event.injects, event.matcher) for event in MANIFEST.events} == {
        "BeforeAgent": ("prompt", 5, True, None),
        "AfterAgent": ("stop", 5, False, None),
        "SessionStart": ("session_start", 5, False, None),
        "SessionEnd": ("session_end", 2, False, None),
    }


@pytest.mark.parametrize("name", [name for name in RecordedGemini.names("hooks") if name.split(".")[0] in OURS])
def test_every_recorded_payload_has_the_fields_under_the_names_we_read(name):
    payload = RecordedGemini.hook(name)
    kind = OURS[payload["hook_event_name"]].kind
    needed = {"session", "cwd", "transcript"} | {"prompt": {"prompt"}, "session_start": {"source"}, "session_end": {"reason"}}.get(
        kind, set()
    )

    assert {ours for ours in needed if MANIFEST.fields[ours] not in payload} == set()
    assert "turn" not in MANIFEST.fields


@pytest.mark.parametrize("name", [name for name in RecordedGemini.names("hooks") if name.startswith("AfterAgent.")])
def test_the_reply_that_a_stop_brings_is_never_read(name):
    payload = RecordedGemini.hook(name)

    assert payload["prompt_response"]
    assert arrival(payload).text is None


def test_a_prompt_is_told_without_the_context_that_stands_before_it():
    payload = RecordedGemini.hook("BeforeAgent.injected")

    assert payload["prompt"].startswith("<hook_context>")
    assert arrival(payload).text == "hello there"
    assert not arrival(payload).by_machine


def test_a_prompt_is_told_without_the_files_that_stand_behind_it():
    prompt = "look at @a.py\n--- Content from referenced files ---\nContent from @a.py:\nx = 1\n--- End of content ---"

    assert own_words(prompt, MANIFEST.prepended, MANIFEST.appended) == "look at @a.py"


def test_the_note_of_a_loop_is_told_from_a_prompt():
    payload = {**RecordedGemini.hook("BeforeAgent.plain"), "prompt": "System: Potential loop detected. Details: x"}

    assert arrival(payload).by_machine


def test_the_reply_is_what_the_host_takes():
    assert json.loads(HOST.reply("BeforeAgent", "a card")) == {
        "hookSpecificOutput": {"hookEventName": "BeforeAgent", "additionalContext": "a card"}
    }
    assert [json.loads(HOST.reply(name, "a card")) for name in ("AfterAgent", "SessionStart", "SessionEnd")] == [{}] * 3
    assert json.loads(MANIFEST.noop) == {}


def test_times_are_told_in_milliseconds_and_settings_may_hold_comments():
    assert (MANIFEST.timeout_unit_ms, MANIFEST.comments, MANIFEST.own_shell) == (1, True, False)


def test_no_credential_is_a_route():
    suspicious = [name for name in MANIFEST.routing_env if re.search(r"KEY|TOKEN|SECRET|PASS|CREDENTIAL|HEADERS", name)]

    assert suspicious == ["GOOGLE_APPLICATION_CREDENTIALS"], "which holds a path"
    assert len(set(MANIFEST.routing_env)) == len(MANIFEST.routing_env)
    needed = {"GEMINI_CLI_HOME", "GOOGLE_GEMINI_BASE_URL", "GOOGLE_GENAI_USE_VERTEXAI", "GOOGLE_CLOUD_PROJECT", "GOOGLE_CLOUD_LOCATION"}
    needed |= {"HTTPS_PROXY", "https_proxy", "NO_PROXY", "NODE_EXTRA_CA_CERTS", "SSL_CERT_FILE", "PATH", "LANG"}
    assert needed <= set(MANIFEST.routing_env)
