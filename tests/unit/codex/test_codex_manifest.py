"""The manifest agrees with the payloads and answers that were recorded from the real host."""

from __future__ import annotations

import json
import re

import pytest

from afl_core.testing.recorded_codex import OLDER, RecordedCodex
from afl_providers_codex.host import CodexHost

MANIFEST = CodexHost().manifest()
OURS = {event.name: event for event in MANIFEST.events}
RECORDED = [(name, release) for release in ("", OLDER) for name in RecordedCodex.names("hooks", release) if name.split(".")[0] in OURS]


def test_four_events_are_registered_and_two_of_them_may_inject():
    assert {event.name: (event.kind, event.timeout_s, event.injects, event.matcher) for event in MANIFEST.events} == {
        "UserPromptSubmit": ("prompt", 5, True, None),
        "Stop": ("stop", 5, False, None),
        "SessionStart": ("session_start", 5, True, None),
        "SessionEnd": ("session_end", 3, False, None),
    }


@pytest.mark.parametrize(("name", "release"), RECORDED)
def test_every_recorded_payload_has_the_fields_under_the_names_we_read(name, release):
    payload = RecordedCodex.hook(name, release)
    kind = OURS[payload["hook_event_name"]].kind
    needed = {"session", "cwd", "transcript"} | {"prompt": {"prompt", "turn"}, "stop": {"answer", "turn"}}.get(kind, set())
    needed |= {"session_start": {"source"}, "session_end": {"reason"}}.get(kind, set())

    assert {ours for ours in needed if MANIFEST.fields[ours] not in payload} == set()


def test_a_subagents_prompt_is_told_by_the_agent_field():
    assert MANIFEST.fields["agent"] in RecordedCodex.hook("UserPromptSubmit.subagent")
    assert MANIFEST.fields["agent"] not in RecordedCodex.hook("UserPromptSubmit.steering")


def test_no_recorded_prompt_of_a_person_looks_like_the_machines():
    prompts = [RecordedCodex.hook(name, release)["prompt"] for name, release in RECORDED if name.startswith("UserPromptSubmit")]

    assert len(prompts) > 4
    assert not [prompt for prompt in prompts if prompt.startswith(MANIFEST.machine_prefixes)]


def test_the_recorded_compaction_is_a_source_that_opens_an_epoch():
    assert RecordedCodex.hook("SessionStart.compact")["source"] in MANIFEST.compaction_sources
    assert not {RecordedCodex.hook(f"SessionStart.{name}")["source"] for name in ("startup", "resume", "fork")} & set(
        MANIFEST.compaction_sources
    )


def test_the_envelope_holds_nothing_that_the_host_would_drop_it_for():
    assert MANIFEST.envelope == {
        name: {"hookSpecificOutput": {"hookEventName": name, "additionalContext": "{context}"}}
        for name in ("UserPromptSubmit", "SessionStart")
    }
    assert json.loads(MANIFEST.noop) == {"continue": True}


def test_a_context_stays_below_what_the_host_puts_into_a_file():
    assert (MANIFEST.limit_chars, MANIFEST.limit_bytes) == (None, 8_000)


def test_commands_are_wrapped_for_the_persons_own_shell_and_timeouts_are_seconds():
    recorded = json.loads(RecordedCodex.config("hooks.json"))["hooks"]["Stop"][0]["hooks"][0]

    assert MANIFEST.own_shell
    assert recorded["timeout"] * 1000 == OURS["Stop"].timeout_s * MANIFEST.timeout_unit_ms


def test_no_credential_is_a_route():
    assert not [name for name in MANIFEST.routing_env if re.search(r"KEY|TOKEN|SECRET|PASS|CREDENTIAL|HEADERS", name)]
    assert len(set(MANIFEST.routing_env)) == len(MANIFEST.routing_env)
    needed = {"CODEX_HOME", "OPENAI_BASE_URL", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy"}
    assert needed | {"SSL_CERT_FILE", "PATH", "LANG"} <= set(MANIFEST.routing_env)
