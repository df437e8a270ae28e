"""What holds for any text: redaction is idempotent, deterministic, consistent with its findings, and a secret does not survive its surroundings."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from afl_core.spec.redactor import Redaction, Redactor
from afl_redactors.markers import MARKER, marker
from afl_redactors.redactor import CredentialRedactor

FRAGMENTS = st.sampled_from(
    [
        "password",
        "token",
        "secret",
        "api_key",
        '"password"',
        "'token'",
        "pwd",
        "AWS_SECRET_ACCESS_KEY",
        "--token",
        "--password",
        "Authorization:",
        "Bearer",
        "Basic",
        "Cookie:",
        "=",
        ":",
        ":=",
        "=>",
        "==",
        ",",
        ";",
        ".",
        "!",
        "?",
        '"',
        "'",
        "`",
        '\\"',
        "(",
        ")",
        "[",
        "]",
        "{",
        "}",
        "<",
        ">",
        "$",
        "&",
        "@",
        "/",
        "\\",
        "|",
        "*",
        "#",
        "-",
        "_",
        "+",
        "://",
        "://u:p@",
        "is",
        "was",
        "密码",
        "是",
        "为",
        "：",
        "。",
        "“",
        "”",
        "hunter2",
        "x",
        "abc",
        "a1b2c3d4",
        "Foo-731+",
        "gpt-4o-mini",
        "2026-07-14",
        "src/v2/file.py",
        "get_token()",
        "None",
        "string",
        "ghp_",
        "sk-",
        "eyJ",
        "-----BEGIN",
        "[REDACTED:assignment]",
        "[REDACTED:",
        "]",
        "the",
        "as",
        "and",
    ]
) | st.sampled_from(
    [
        " ",
        "  ",
        "\n",
        "\t",
        "\\n",
        "-----BEGIN PRIVATE KEY-----",
        "-----END PRIVATE KEY-----",
        "\n\n",
        "curl -u a:",
        "[REDACTED:jwt]",
        "İ",
        "é",
    ]
)
TEXTS = st.lists(FRAGMENTS | st.text(max_size=4), max_size=30).map("".join) | st.lists(FRAGMENTS, max_size=24).map(" ".join)

LETTER = st.sampled_from("abcdefghijkmnpqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ")
BODY = st.text(alphabet="abcdefghijkmnpqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ0123456789_+/=-%^~", min_size=6, max_size=40)
SECRETS = st.builds(lambda first, body, digit, last: f"{first}{body}{digit}Z{last}", LETTER, BODY, st.sampled_from("3579"), LETTER)
SURROUNDINGS = st.sampled_from(
    [
        '{{"user": "bob", "password": "{}", "n": 1}}',
        "{{'token': '{}'}}",
        '"{{\\"client_secret\\": \\"{}\\"}}"',
        "AWS_SECRET_ACCESS_KEY={}\nOTHER=1",
        "export DB_PASSWORD='{}'",
        "db_password: {}\nport: 5432",
        'token = "{}"',
        'const apiKey: string = "{}";',
        "tool --token {} --verbose",
        "tool --password={}",
        "Authorization: Bearer {}",
        'curl -H "X-Api-Key: {}" https://example.com',
        "https://example.com/x?access_token={}&page=2",
        "postgres://app:{}@db.internal:5432/x",
        "The password is {}",
        'the password is "{}".',
        "服务器密码是 {}，请登录",
        "口令为{}。",
        "<password>{}</password>",
        "Cookie: sid={}; theme=dark",
        "- name: API_TOKEN\n  value: {}",
        "| x | password: {} | y |",
    ]
)
NOISE = st.lists(
    st.sampled_from(["see", "the log", "gpt-4o-mini", "2026-07-14", "(ok)", "然后", "a=1", "{", "}", "it's", "done."]), max_size=6
).map(" ".join)


def rebuilt(text: str, result: Redaction) -> str:
    """Put the markers of the findings into the text as given."""
    pieces, at = [], 0
    for found in result.findings:
        assert at <= found.start < found.end <= len(text)
        pieces += [text[at : found.start], marker(found.rule)]
        at = found.end
    return "".join([*pieces, text[at:]])


@given(TEXTS)
def test_redacting_twice_changes_nothing(text: str) -> None:
    once = CredentialRedactor().redact(text).text
    again = CredentialRedactor().redact(once)
    assert (again.text, again.findings) == (once, ())


@given(TEXTS)
def test_two_redactors_agree_and_the_findings_rebuild_the_result(text: str) -> None:
    result = CredentialRedactor().redact(text)
    assert CredentialRedactor().redact(text) == result
    assert rebuilt(text, result) == result.text


@given(TEXTS)
def test_ordinary_mixtures_settle(text: str) -> None:
    assert not any(found.rule == "unstable" for found in CredentialRedactor().redact(text).findings)


@given(SECRETS, SURROUNDINGS, NOISE, NOISE)
def test_a_secret_never_survives_its_surroundings_not_even_its_tail(secret: str, surroundings: str, before: str, after: str) -> None:
    text = f"{before}\n{surroundings.format(secret)}\n{after}"
    result = CredentialRedactor().redact(text)
    assert secret not in result.text
    parts = {secret[cut : cut + 6] for cut in range(len(secret) - 5)}
    left = MARKER.sub("", result.text)
    assert [part for part in parts if part in left and part not in f"{before}{surroundings}{after}"] == []
    assert rebuilt(text, result) == result.text


@given(SECRETS, SURROUNDINGS)
def test_the_name_in_front_of_a_secret_stays_readable(secret: str, surroundings: str) -> None:
    front = surroundings.split("{}", maxsplit=1)[0].replace("{{", "{")
    result = CredentialRedactor().redact(surroundings.format(secret)).text
    assert re.search(re.escape(front.rstrip("'\"`\\ ")), result)


def test_an_empty_text_has_no_findings() -> None:
    assert CredentialRedactor().redact("") == Redaction("", ())


def test_the_redactor_keeps_the_contract() -> None:
    redactor = CredentialRedactor()
    assert isinstance(redactor, Redactor)
    assert redactor.name == "credentials"
