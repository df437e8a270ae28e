"""In which home a review runs is decided by the login that can reach it, and the person is told in one line."""

from __future__ import annotations

import pytest

from afl_providers_gemini.reviewer import GeminiReviewer
from afl_providers_gemini.reviewer_login import find_login


def selected(kind):
    return f'// mine\n{{"security": {{ /* how */ "auth": {{"selectedType": "{kind}"}}}}}} // end'


def test_a_key_that_the_allowlist_lets_through_reaches_an_isolated_home(with_key, settings_of):
    assert find_login(with_key).isolated  # the settings name no kind: the key decides
    settings_of(selected("gemini-api-key"))
    login = find_login(with_key)
    assert (login.isolated, login.auth_type) == (True, "gemini-api-key")
    assert "secret-1" not in str(login)


@pytest.mark.parametrize("allowlist", ["", "OTHER", "GEMINI_API_KEY_2"])
def test_a_key_that_is_not_on_the_allowlist_does_not_and_the_hint_names_the_list(with_key, settings_of, allowlist):
    settings_of(selected("gemini-api-key"))
    login = find_login({**with_key, "AGENT_FEEDBACK_LOOP_REVIEWER_ENV_ALLOWLIST": allowlist})
    assert not login.isolated
    assert "set GEMINI_API_KEY and name it in AGENT_FEEDBACK_LOOP_REVIEWER_ENV_ALLOWLIST" in login.how


@pytest.mark.parametrize(
    ("kind", "more", "isolated"),
    [
        ("oauth-personal", {}, False),
        ("vertex-ai", {"GOOGLE_CLOUD_PROJECT": "p", "GOOGLE_CLOUD_LOCATION": "l"}, True),
        ("vertex-ai", {"GOOGLE_API_KEY": "k", "AGENT_FEEDBACK_LOOP_REVIEWER_ENV_ALLOWLIST": "GOOGLE_API_KEY"}, True),
        ("vertex-ai", {"GOOGLE_API_KEY": "k"}, False),
        ("vertex-ai", {"GOOGLE_CLOUD_PROJECT": "p"}, False),
        ("compute-default-credentials", {}, True),
        ("cloud-shell", {}, True),
        ("something-new", {}, False),
    ],
)
def test_the_kind_the_person_chose_is_carried_over_and_decides(with_key, settings_of, kind, more, isolated):
    settings_of(selected(kind))
    login = find_login({**with_key, **more})
    assert (login.isolated, login.auth_type) == (isolated, kind)


def test_an_oauth_login_chosen_by_a_variable_is_kept_where_it_lives(with_key):
    assert not find_login({**with_key, "GOOGLE_GENAI_USE_GCA": "true"}).isolated


def test_the_settings_of_another_home_are_asked_where_the_variable_says(with_key, settings_of, tmp_path):
    settings_of(selected("oauth-personal"))
    assert not find_login(with_key).isolated
    assert find_login({**with_key, "GEMINI_CLI_HOME": str(tmp_path / "elsewhere")}).isolated


@pytest.mark.parametrize("text", ["", "{", "[1]", '{"security": 3}', '{"security": {"auth": {"selectedType": 3}}}', "\x00\xff"])
def test_settings_that_say_nothing_of_use_say_nothing(with_key, settings_of, text):
    settings_of(text)
    assert find_login(with_key).auth_type == "gemini-api-key"


@pytest.mark.parametrize(
    ("file", "told"),
    [
        (".gemini/oauth_creds.json", "because its login (gemini-api-key) lives there"),
        (".gemini/gemini-credentials.json", "because its login (gemini-api-key) lives there"),
        (".gemini/.env", "because the key is in "),
        (".env", "because the key is in "),
    ],
)
def test_doctor_can_say_in_one_line_why_the_persons_home_is_kept(environ, settings_of, tmp_path, file, told):
    settings_of(selected("gemini-api-key"))
    (tmp_path / file).write_text("# x\nexport GEMINI_API_KEY=abc\n", encoding="utf-8")
    reason = GeminiReviewer().viable(environ).reason
    assert reason.startswith(f"{environ['PATH']}/gemini (in your own home, {told}")
    assert "\n" not in reason
    assert "abc" not in reason


def test_without_the_command_it_is_not_usable_and_says_what_to_set(environ, tmp_path):
    viability = GeminiReviewer().viable({**environ, "PATH": str(tmp_path), "AGENT_FEEDBACK_LOOP_GEMINI_COMMAND": "/missing/gemini"})
    assert not viability.ok
    assert viability.reason.startswith("/missing/gemini (AGENT_FEEDBACK_LOOP_GEMINI_COMMAND) is not a command that can be run")
