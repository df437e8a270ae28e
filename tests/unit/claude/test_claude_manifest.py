"""The manifest agrees with the payloads and answers that were recorded from the real host."""

from __future__ import annotations

import json
import re

import pytest

from afl_core.testing.recorded import Recorded
from afl_providers_claude.host import ClaudeHost

MANIFEST = ClaudeHost().manifest()
OURS = {event.name: event for event in MANIFEST.events}


def test_four_events_are_registered_and_two_of_them_may_inject():
    assert {event.name: (event.kind, event.timeout_s, event.injects, event.matcher) for event in MANIFEST.events} == {
        "UserPromptSubmit": ("prompt", 5, True, None),
        "Stop": ("stop", 5, False, None),
        "SessionStart": ("session_start", 5, True, None),
        "SessionEnd": ("session_end", 2, False, None),
    }


@pytest.mark.parametrize("name", [name for name in Recorded.names("hooks") if name.split(".")[0] in OURS])
def test_every_recorded_payload_has_the_fields_under_the_names_we_read(name):
    payload = Recorded.hook(name)
    kind = OURS[payload["hook_event_name"]].kind
    needed = {"session", "cwd", "transcript"} | {"prompt": {"prompt", "turn"}, "stop": {"answer", "turn"}}.get(kind, set())
    needed |= {"session_start": {"source"}, "session_end": {"reason"}}.get(kind, set())

    assert {ours for ours in needed if MANIFEST.fields[ours] not in payload} == set()


def test_a_subagents_events_are_told_by_the_agent_field():
    assert MANIFEST.fields["agent"] in Recorded.hook("PreToolUse.in_subagent")
    assert MANIFEST.fields["agent"] not in Recorded.hook("UserPromptSubmit.interactive")


def test_the_recorded_notification_starts_with_a_machines_tag_and_the_recorded_words_do_not():
    def is_machine(name):
        return Recorded.hook(name)["prompt"].startswith(MANIFEST.machine_prefixes)

    assert is_machine("UserPromptSubmit.task_notification")
    assert not any(map(is_machine, ["UserPromptSubmit.correction", "UserPromptSubmit.steering", "UserPromptSubmit.interactive"]))


def test_the_recorded_compaction_is_a_source_that_opens_an_epoch():
    assert Recorded.hook("SessionStart.compact")["source"] in MANIFEST.compaction_sources
    assert Recorded.hook("SessionStart.resume")["source"] not in MANIFEST.compaction_sources


def test_the_envelope_names_the_event_it_answers_and_says_nothing_for_the_others():
    assert MANIFEST.envelope == {
        name: {"hookSpecificOutput": {"hookEventName": name, "additionalContext": "{context}"}}
        for name in ("UserPromptSubmit", "SessionStart")
    }
    assert json.loads(MANIFEST.noop) == {}
    assert MANIFEST.limit_chars < 10_000


def test_no_credential_is_a_route():
    # Two of these names hold a path, as routes may.
    paths = {"AWS_SHARED_CREDENTIALS_FILE", "GOOGLE_APPLICATION_CREDENTIALS"}
    suspicious = [name for name in MANIFEST.routing_env if re.search(r"KEY|TOKEN|SECRET|PASS|CREDENTIAL|HEADERS", name)]

    assert set(suspicious) == paths
    assert len(set(MANIFEST.routing_env)) == len(MANIFEST.routing_env)
    needed = {
        "CLAUDE_CONFIG_DIR",
        "ANTHROPIC_BASE_URL",
        "CLAUDE_CODE_USE_BEDROCK",
        "CLAUDE_CODE_USE_VERTEX",
        "AWS_REGION",
        "CLOUD_ML_REGION",
    }
    needed |= {
        "HTTP_PROXY",
        "HTTPS_PROXY",
        "NO_PROXY",
        "http_proxy",
        "https_proxy",
        "no_proxy",
        "NODE_EXTRA_CA_CERTS",
        "SSL_CERT_FILE",
        "PATH",
        "LANG",
    }
    assert needed <= set(MANIFEST.routing_env)
