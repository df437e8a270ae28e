"""Credentials told in sentences of many languages: found beside their word, in every kind of quotes, and only in the word's own sentence."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from afl_redactors.families.told_grammar import grammar
from afl_redactors.packs import PACKS, Spec
from afl_redactors.packs.load import PackError, read_pack
from afl_redactors.redactor import RULES, CredentialRedactor, redact_counting

TOLD = [one for one in PACKS if one.reader == "told"]
LANGUAGES = {"de", "es", "fr", "ja", "ko", "pt", "ru", "zh"}
SECRET = "Igel#Wald44"
RANDOM = "a8f3k2L9x0q7Ww"

SAID = [
    "Hier ist das neue Passwort: {}", "Das Passwort vom NAS wurde auf {} geändert.", 'Für den SMTP-Server gilt das Kennwort "{}"', "das root-pw ist {}",
    "Die Zugangsdaten: Benutzer max, Passwort {}", "Bitte als Passwort {} eintragen", "Das Passwort ist „{}“.", "{} ist ab heute das Passwort",
    "Tu nueva contraseña: {}", "la contraseña que uso es {}", "restablece la contraseña de ana a {}", "Te paso la contraseña, {}", "el password es {}",
    "mon mot de passe est « {} ».", "le nouveau mdp c'est {}", "mets {} comme mot de passe root", "le mot de passe pour se connecter à la VM est : {}",
    "a senha pra acessar o servidor é {}", "minha senha é {}, não conta pra ninguém", "altere a senha para {}", "a senha do wifi é “{}”.",
    "Мой пароль {}", "пароль от базы данных postgres — {}", "смени пароль на «{}»", "Новый пароль администратора - {}",
    "root用户的密码为 {}", "请把密码改为{}", "密码就是{}啊", "数据库连接密码（生产）：{}", "口令是『{}』。", "密码用 {} 就行", "登录密码：\n{}\n完",
    "パスワードは{}です", "新しいパスワードは {} になります", "パスワードを「{}」に設定してください", "rootのパスワードは{}でお願いします",
    "비밀번호는 {}입니다", "비밀번호는 '{}'입니다.", "비밀번호를 {}로 바꿨어요", "와이파이 비번 {}", "암호는 {}예요",
]  # fmt: skip
NAMED = [
    "Der geheime Schlüssel ist {}", "la clave api es {}", "La clé d'API OpenWeather est {}", "le token est {}", "a chave da API é {}", "ключ API: {}",
    "секретный ключ от s3 — {}", "токен {}", "API密钥是{}", "访问令牌为 {}。", "APIキーは {} です", "シークレットキーは{}です", "API 키는 {}입니다", "액세스 키는 {} 입니다.",
]  # fmt: skip
NUMBERS = [
    ("暗証番号は{}です。", "1234"), ("支付密码是{}", "654321"), ("비번은 {}야", "1234"), ("Die PIN lautet {}.", "7302"), ("密码是１２３４５６。".replace("１２３４５６", "{}"), "１２３４５６"),
]  # fmt: skip
ORDINARY = [
    "Das Passwort-Feld hat den Namen user_pw_2.", "Der Code ist auf GitHub, Commit 3f2a9bc1d4.", "Das Token ist in Zeile 42 undefiniert.",
    "Das Passwort ist seit 2024-05-01 abgelaufen", "Passwort zurücksetzen: https://example.com/reset?x=1", "Passwort kopieren: Strg+Umschalt+P",
    "El código de error es E1042", 'la clave de caché es "cart:user42:v3"', "el token es un JWT firmado con HS256", "la contraseña es texto plano",
    "le mot de passe est en clair dans config2.yml", "La clé est user_42:v3 dans le cache", "le jeton est un JWT signé RS256",
    "a senha é guardada na coluna pwd_hash2", "a chave do cache é user:42:v3", "пароль от Windows10 не подходит", "пароль — поле типа VARCHAR(255)",
    'ключ в словаре — "user42"', "密码字段叫 user_pw2", "密钥长度是 2048 位", "缓存的 key 是 user:42:v3", "这个 token 是 undefined", "token 数是 4096",
    "パスワードは users.password_hash2 に保存", "キーは F12 です", "トークンは 4096 です", "암호는 auth2.ts 에서 검증합니다", "캐시 토큰은 user:42:v3 입니다",
]  # fmt: skip


def redacted(text: str) -> str:
    """The text without its credentials, found the same way in both modes."""
    result = redact_counting(text)[0]
    assert redact_counting(text, everywhere=True)[0] == result
    return result.text


@pytest.mark.parametrize("frame", SAID)
def test_a_value_goes_whole_and_alone(frame: str) -> None:
    assert re.sub(r"\[REDACTED:[a-z-]+\]", SECRET, redacted(frame.format(SECRET))) == frame.format(SECRET)
    assert SECRET not in redacted(frame.format(SECRET))


@pytest.mark.parametrize("frame", NAMED)
def test_a_key_that_looks_drawn_goes(frame: str) -> None:
    left = redacted(frame.format(RANDOM))
    assert RANDOM not in left
    assert re.sub(r"\[REDACTED:[a-z-]+\]", RANDOM, left) == frame.format(RANDOM)


@pytest.mark.parametrize(("frame", "number"), NUMBERS)
def test_a_number_told_as_a_password_goes_in_any_digits(frame: str, number: str) -> None:
    assert re.fullmatch(re.escape(frame).replace(r"\{\}", r"\[REDACTED:credential-[a-z]{2}\]"), redacted(frame.format(number)))


@pytest.mark.parametrize("text", ORDINARY)
def test_talk_about_credentials_stays(text: str) -> None:
    assert redacted(text) == text


@pytest.mark.parametrize(
    "text",
    [
        "Das Passwort steht im Tresor. Der Rechner heißt Fuchs#Bau31.",
        "La contraseña caducó; el servidor nuevo se llama Fuchs#Bau31",
        "Le mot de passe a expiré. Le serveur est Fuchs#Bau31",
        "Пароль истёк! Сервер зовут Fuchs#Bau31",
        "密码过期了。服务器是Fuchs#Bau31",
        "パスワードは期限切れです。サーバーは Fuchs#Bau31 です",
        "비밀번호가 만료되었습니다. 서버는 Fuchs#Bau31 입니다",
    ],
)
def test_a_word_reaches_no_farther_than_its_sentence(text: str) -> None:
    assert not [found for found in CredentialRedactor().redact(text).findings if found.rule in {one.id for one in TOLD}]


def test_each_language_has_one_rule_that_names_it_and_a_dozen_examples_of_both_kinds() -> None:
    assert {one.id for one in TOLD} == {f"credential-{language}" for language in LANGUAGES}
    assert {one.id for one in TOLD} <= {rule.name for rule in RULES}
    assert all(min(len(set(one.positive)), len(set(one.negative))) >= 12 for one in TOLD)


@pytest.mark.parametrize("one", TOLD, ids=lambda one: one.id)
def test_every_word_leads_somewhere(one: Spec) -> None:
    language = grammar(one)
    assert all(any(literal.startswith(word) for literal in language.literals) for word in one.keywords)
    assert max(map(len, language.literals)) <= 40


@given(
    st.lists(
        st.sampled_from(
            [*(frame.format(SECRET) for frame in SAID), *ORDINARY, " ", "\n", ". ", "Passwort", "パスワードは", "密码", "как пароль", "を"]
        ),
        max_size=5,
    )
)
def test_mixtures_are_found_in_both_modes_and_stay(parts: list[str]) -> None:
    once = redacted("".join(parts))
    assert redacted(once) == once


RULE = '[[rule]]\nid = "x"\nkeywords = ["wort"]\npositive = ["⟦a⟧"]\nnegative = ["b"]\n'


@pytest.mark.parametrize("told", ['joint = ["ist"]', 'joints = "ist"', 'joints = ["Ist"]', 'named = ["anders"]'])
def test_words_that_the_reader_does_not_know_are_refused(told: str) -> None:
    with pytest.raises(PackError, match="rule 'x'"):
        grammar(read_pack("x", f'{RULE}reader = "told"\n[rule.told]\n{told}\n')[0])


def test_words_are_for_the_reader_only() -> None:
    with pytest.raises(PackError, match="only there"):
        read_pack("x", f'{RULE}reader = "other"\n[rule.told]\njoints = ["ist"]\n')
