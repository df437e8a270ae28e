"""What was redacted once stays as it is: also where a text holds line breaks as JSON writes them, in every language and behind commands."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from afl_core.plugins.isolation import Guard, MemoryLedger
from afl_core.redaction.chain import Chain
from afl_redactors.redactor import CredentialRedactor

CHAIN = Chain([("plugin", CredentialRedactor())], Guard(MemoryLedger()), lambda word: word)

SAYINGS = (
    "password is {}",
    "the API key: {}",
    "Die PIN ist {}",
    "Das Passwort lautet {}",
    "La contraseña es {}",
    "Le mot de passe est {}",
    "A senha é {}",
    "La password è {}",
    "密码是 {}",
    "密码：\n{}",
    "パスワードは {} です",
    "비밀번호는 {}",
    "Пароль: {}",
    "пароль {}",
    "TWILIO_AUTH_TOKEN={}",
    "password:\n  {}",
    '"api_key": "{}"',
    "| token | {} |",
    "mysql -u root -p{}",
    "sshpass -p {} ssh a@b",
    'echo "{}" | gh auth login --with-token',
    'printf "{}" | gh auth login',
    'echo "token: {}" | gh auth login',
    "echo {} | docker login --password-stdin",
    "docker login -u a -p {}",
)
VALUES = ("gato123", "4471", "mima77x", "Foo-731+x", "hunter2", "k3Zr9QpLx2Vt7Bn5", "[REDACTED:assignment]", "$TOKEN", "correct horse")
BREAKS = ("\n", "\\n", "\\r\\n", "\\t", "\\\\n", " ", '"', '\\"', ". ", ", ")
ENDS = ("card x", "ls -la", "make test", "OTHER=1", "x", "", "then: go on", "next y2")
SAID = st.builds(lambda saying, value: saying.replace("{}", value), st.sampled_from(SAYINGS), st.sampled_from(VALUES))
PIECES = st.lists(st.tuples(SAID | st.sampled_from(ENDS), st.sampled_from(BREAKS)), min_size=1, max_size=5)
TEXTS = PIECES.map(lambda pieces: "".join(word for piece in pieces for word in piece))


def twice(text: str) -> tuple[str, str]:
    once = CHAIN.redact(text).text
    return once, CHAIN.redact(once).text


@given(TEXTS, st.integers(0, 2))
def test_redacting_again_changes_nothing_however_deep_a_text_lies_in_json(text: str, depth: int) -> None:
    for _ in range(depth):
        text = json.dumps({"c": text}, ensure_ascii=False)
    once, again = twice(text)
    assert again == once


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        (r"Die PIN ist 4471\ncard x", r"Die PIN ist [REDACTED:credential-de]\ncard x"),
        (r"La contraseña es gato123\nls -la", r"La contraseña es [REDACTED:credential-es]\nls -la"),
        (r"Le mot de passe est chat123\nmake test", r"Le mot de passe est [REDACTED:credential-fr]\nmake test"),
        (r"A senha é gato123\nls x", r"A senha é [REDACTED:credential-pt]\nls x"),
        (r'{"c":"密码是 mima77x\nmake test"}', r'{"c":"密码是 [REDACTED:credential-zh]\nmake test"}'),
        (r'{"c":"password is gato123\nls -la"}', r'{"c":"password is [REDACTED:credential]\nls -la"}'),
        (r'{"c":"export DB_PASSWORD=gato123x\nls -la"}', r'{"c":"export DB_PASSWORD=[REDACTED:assignment]\nls -la"}'),
    ],
)
def test_an_escaped_line_break_ends_a_value_and_what_follows_it_stays(text: str, kept: str) -> None:
    assert twice(text) == (kept, kept)


@pytest.mark.parametrize("secret", [r"gato\new123x", r"Pa55\temp-9", r"a1b2\rest77"])
def test_a_backslash_in_a_value_of_plain_text_leaks_no_tail(secret: str) -> None:
    assert CHAIN.redact(f"export DB_PASSWORD={secret} now").text == "export DB_PASSWORD=[REDACTED:assignment] now"
