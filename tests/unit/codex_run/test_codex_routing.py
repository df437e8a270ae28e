"""Of the person's configuration only where the model is goes along, strictly checked, and never a secret."""

from __future__ import annotations

import json
import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from afl_core.model.errors import ReviewError
from afl_providers_codex.reviewer_routing import Routing, routing, text

PROVIDER = """
model = "gpt-x"
model_provider = "corp"
approval_policy = "never"
[model_providers.corp]
name = "Corp \\"Gate\\""
base_url = "https://gate.example/v1"
wire_api = "responses"
env_key = "CORP_KEY"
requires_openai_auth = false
query_params = { api-version = "2025" }
env_http_headers = { x-team = "CORP_TEAM" }
request_max_retries = 9
[model_providers.other]
base_url = "https://other.example"
[mcp_servers.mine]
command = "mine"
"""


@pytest.fixture
def configured(tmp_path):
    def write(config):
        (tmp_path / "config.toml").write_bytes(config if isinstance(config, bytes) else config.encode())
        return tmp_path

    return write


def overrides(found):
    """The overrides as the host reads them: one TOML document."""
    return tomllib.loads("\n".join(found.overrides))


def test_no_configuration_is_no_routing(tmp_path):
    assert routing(tmp_path) == Routing()
    assert routing(tmp_path / "missing") == Routing()


def test_the_provider_and_its_keys_go_along_and_nothing_else(configured):
    found = routing(configured(PROVIDER))
    assert found.model == "gpt-x"
    assert overrides(found) == {
        "model_provider": "corp",
        "model_providers": {
            "corp": {
                "name": 'Corp "Gate"',
                "base_url": "https://gate.example/v1",
                "wire_api": "responses",
                "env_key": "CORP_KEY",
                "requires_openai_auth": False,
                "query_params": {"api-version": "2025"},
                "env_http_headers": {"x-team": "CORP_TEAM"},
                "request_max_retries": 1,
                "stream_max_retries": 1,
            }
        },
    }


def test_a_built_in_provider_is_named_and_left_as_it_is(configured):
    assert overrides(routing(configured('model_provider = "openai"\n'))) == {"model_provider": "openai"}


def test_the_chosen_profile_wins(configured):
    found = routing(configured('model = "a"\nprofile = "p"\n[profiles.p]\nmodel = "b"\nmodel_provider = "oss"\n'))
    assert (found.model, overrides(found)) == ("b", {"model_provider": "oss"})


def test_a_byte_order_mark_and_line_ends_of_another_system_are_read(configured):
    assert routing(configured(b'\xef\xbb\xbfmodel = "a"\r\n')).model == "a"


@pytest.mark.parametrize(
    "secret",
    [
        'experimental_bearer_token = "SECRET-9"',
        'http_headers = { authorization = "SECRET-9" }',
        'auth = { command = "SECRET-9" }',
        'base_url = "https://me:SECRET-9@gate.example"',
    ],
)
def test_a_secret_in_the_file_is_refused_and_not_repeated(configured, secret):
    with pytest.raises(ReviewError) as refused:
        routing(configured(f'model_provider = "corp"\n[model_providers.corp]\nname = "x"\n{secret}\n'))
    assert (refused.value.reason, "SECRET-9" in str(refused.value)) == ("reviewer_settings", False)


@pytest.mark.parametrize(
    "config",
    [
        "[[broken",
        'model = ["x"]',
        "model_provider = 5",
        'model_provider = "a.b"',
        'openai_base_url = "file:///etc/passwd"',
        'model_provider = "c"\n[model_providers.c]\nenv_key = "A B"',
        'model_provider = "c"\n[model_providers.c]\nrequires_openai_auth = "yes"',
        'model_provider = "c"\n[model_providers.c]\nquery_params = 1',
        'model_provider = "c"\n[model_providers.c]\nname = "a\\u0000b"',
        b"\xff\xfe",
    ],
)
def test_a_value_of_a_wrong_shape_is_named(configured, config):
    with pytest.raises(ReviewError) as refused:
        routing(configured(config))
    assert refused.value.reason == "reviewer_settings"


@given(st.text(min_size=1, max_size=50))
def test_a_text_is_refused_or_read_back_as_it_was(value):
    try:
        written = text("key", value)
    except ReviewError:
        assert not value.isprintable()
    else:
        assert tomllib.loads(f"x = {written}")["x"] == value
        json.dumps(written)
