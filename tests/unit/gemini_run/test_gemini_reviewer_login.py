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


@pytest.mark.parametrize(
    ("variables", "chosen"),
    [
        ({"GOOGLE_GENAI_USE_GCA": "true", "GOOGLE_GENAI_USE_VERTEXAI": "true", "GEMINI_API_KEY": "k"}, "oauth-personal"),
        ({"GOOGLE_GENAI_USE_VERTEXAI": "true", "GEMINI_API_KEY": "k"}, "vertex-ai"),
        ({"GEMINI_API_KEY": "k", "CLOUD_SHELL": "true"}, "gemini-api-key"),
        ({"CLOUD_SHELL": "true"}, "compute-default-credentials"),
        ({"GEMINI_CLI_USE_COMPUTE_ADC": "true"}, "compute-default-credentials"),
        ({"GOOGLE_GENAI_USE_GCA": "1", "GOOGLE_API_KEY": "k"}, ""),
    ],
)
@pytest.mark.parametrize("where", ["the environment", "a file"])
def test_without_a_choice_in_the_settings_variables_choose_in_the_hosts_order(environ, settings_of, tmp_path, variables, chosen, where):
    settings_of("{}")
    if where == "a file":
        (tmp_path / ".gemini/.env").write_text("".join(f'{name}="{value}"\r\n' for name, value in variables.items()), encoding="utf-8")
        variables = {}
    assert find_login({**environ, **variables}).auth_type == chosen


def test_the_nearer_file_of_variables_hides_the_one_above_it(environ, settings_of, tmp_path):
    settings_of("{}")
    (tmp_path / ".env").write_text("GEMINI_API_KEY=k\n", encoding="utf-8")
    assert str(tmp_path / ".env") in find_login(environ).how
    (tmp_path / ".gemini/.env").write_text("OTHER=1\n", encoding="utf-8")
    assert find_login(environ).auth_type == ""


@pytest.mark.parametrize(
    ("settings", "files", "variables", "told"),
    [
        ("{}", {}, {}, "no login was seen, and no kind of login is chosen: set GEMINI_API_KEY"),
        (
            "{}",
            {".gemini/oauth_creds.json": "{}"},
            {},
            "a login with Google is in {home}/.gemini/oauth_creds.json, but {home}/.gemini/settings.json",
        ),
        ("{}", {".gemini/gemini-credentials.json": "{}"}, {}, "a login that the host sealed is in {home}/.gemini/gemini-credentials.json"),
        ("{}", {".env": "GOOGLE_API_KEY=abc"}, {}, "the key in {home}/.env is one of Vertex AI, which nothing chooses"),
        ("{", {".gemini/oauth_creds.json": "{}"}, {}, "{home}/.gemini/settings.json cannot be read"),
        ("{}", {}, {"GOOGLE_GEMINI_BASE_URL": "http://x"}, "GOOGLE_GEMINI_BASE_URL is set and {home}/.gemini/settings.json names no kind"),
        ("{}", {".env": "GEMINI_API_KEY=abc"}, {"GOOGLE_GEMINI_BASE_URL": "http://x"}, "GOOGLE_GEMINI_BASE_URL is set"),
        (selected("gemini-api-key"), {".env": "GEMINI_API_KEY=abc"}, {"GOOGLE_GEMINI_BASE_URL": "http://x"}, "the key is in {home}/.env"),
        (selected("oauth-personal"), {}, {}, "its login (oauth-personal) lives there"),
        (selected("vertex-ai"), {}, {}, "Vertex AI is chosen and no login for it was seen"),
        (selected("vertex-ai"), {}, {"GOOGLE_API_KEY": "abc"}, "name GOOGLE_API_KEY in AGENT_FEEDBACK_LOOP_REVIEWER_ENV_ALLOWLIST"),
        (selected("vertex-ai"), {".env": "GOOGLE_API_KEY=abc"}, {}, "the login of Vertex AI is in {home}/.env"),
        (selected("x\\nSECRET"), {}, {}, "its login (of a kind that is not known here) lives there"),
    ],
)
def test_what_can_be_told_of_a_login_that_stays_in_the_persons_home_is_told(
    environ, settings_of, tmp_path, settings, files, variables, told
):
    settings_of(settings)
    for name, content in files.items():
        (tmp_path / name).write_text(content, encoding="utf-8")
    login = find_login({**environ, **variables})
    assert not login.isolated
    assert told.replace("{home}", str(tmp_path)) in login.how
    assert not [secret for secret in ("abc", "SECRET", "\n", "unknown") if secret in login.how]


def test_without_the_command_it_is_not_usable_and_says_what_to_set(environ, tmp_path):
    viability = GeminiReviewer().viable({**environ, "PATH": str(tmp_path), "AGENT_FEEDBACK_LOOP_GEMINI_COMMAND": "/missing/gemini"})
    assert not viability.ok
    assert viability.reason.startswith("/missing/gemini (AGENT_FEEDBACK_LOOP_GEMINI_COMMAND) is not a command that can be run")
