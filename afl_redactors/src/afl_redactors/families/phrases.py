"""Secrets of several words: the phrase that a wallet is recovered with, and a passphrase told without quotes."""

from __future__ import annotations

import re
from collections.abc import Iterator

from afl_redactors import lookalikes, wordlists
from afl_redactors.packs import PACKS
from afl_redactors.rules import Lead, Rule, Span, leading, matching
from afl_redactors.windows import Clip, View

_SEEDS = (
    *(f"{kind}{joint}{noun}" for kind in ("seed", "recovery", "backup", "wallet", "secret") for joint in (" ", "_", "-", "") for noun in ("phrase", "words")),
    "seed: ", "seed is ", "seed = ", "seed=", 'seed": ', "12 words", "24 words", "12-word", "24-word", "mnemonic", "bip39", "bip-39", "wiederherstellungsphrase", "wiederherstellungswörter", "frase semilla", "frase de recuperación", "palabras semilla",
    "frase de recuperação", "frase-semente", "frase semente", "phrase de récupération", "phrase mnémonique", "сид-фраз", "сид фраз", "мнемони",
    "фраза восстановления", "助记词", "助記詞", "シードフレーズ", "リカバリーフレーズ", "ニーモニック", "復元フレーズ", "니모닉", "시드 구문", "시드구문", "복구 구문", "복구 문구",
)  # fmt: skip
_LENGTHS = (24, 21, 18, 15, 12)
"""Words that a phrase of BIP-39 has."""
_ROOM = 120
"""Characters behind the introducing words within which the phrase begins."""
_LONGEST = 700
_ITEM = re.compile(r"(?:\d{1,2}[.):][ \t]{0,3})?(?:\\{0,3}[\"'`])?(?P<word>[^\W\d_]{1,12})(?:\\{0,3}[\"'`])?(?![\w'’])")
_BEGINS = re.compile(r"(?<!\w)(?=\w)")
_NUMBER = re.compile(r"\d{1,2}[.):][ \t]{0,3}(?:\\{0,3}[\"'`])?$")
_BETWEEN = re.compile(r"(?:[ \t]{0,4}[,;|])?(?:[ \t]{0,4}(?:\\n|\r?\n)[ \t>*•-]{0,8}|[ \t\u3000]{1,4}|(?<=[,|]))")
_PARTICLES = frozenset("はがを는은이가是为為")
_SHORTEST, _MEAN = 3, 4.3
"""Letters of a word of Latin letters, and how many one has on the average: instructions and units are shorter."""

_SEED = re.compile(rf"(?:{'|'.join(map(re.escape, sorted(_SEEDS, key=len, reverse=True)))})", re.IGNORECASE)


def _seed(view: View, found: re.Match[str]) -> Iterator[Span]:
    text, at = view.text, found.end()
    high = min(len(text), at + _LONGEST)
    while (start := _BEGINS.search(text, at, min(high, found.end() + _ROOM))) is not None:
        words = list(_words(text, start.start(), high)) if text[start.start()] not in _PARTICLES else []
        if len(words) >= _LENGTHS[-1]:
            words = words[: next(length for length in _LENGTHS if length <= len(words))]
            view.count(words[-1][1] - words[0][0])
            if _are_drawn([text[first:last] for first, last in words]):
                first = words[0][0]
                number = _NUMBER.search(text[max(0, first - 8) : first])
                yield first - (len(number.group()) if number else 0), words[-1][1]
                return
        at = (words[-1][1] if words else start.start()) + 1


def _words(text: str, at: int, high: int) -> Iterator[Span]:
    """The words of a list from `at` on, up to the first that can be none of it."""
    for _ in range(_LENGTHS[0]):
        item = _ITEM.match(text, at, high)
        if item is None or not _may_be_of_a_list(item["word"]):
            return
        yield item.span("word")
        between = _BETWEEN.match(text, item.end(), high)
        if between is None:
            return
        at = between.end()


def _may_be_of_a_list(word: str) -> bool:
    if word.isascii() and not _SHORTEST <= len(word) <= 8:
        return False
    return word.casefold() not in wordlists.JOINING and (word.islower() or word.istitle() or word.isupper() or not word.isascii())


def _are_drawn(words: list[str]) -> bool:
    if not all(word.isascii() for word in words):
        return True
    return sum(map(len, words)) >= _MEAN * len(words) and len({*words}) * 2 >= len(words)


_PHRASES = (
    "passphrase", "pass phrase", "pass-phrase", "passsatz", "kennsatz", "frase de contraseña", "frase de paso", "frase de acceso", "frase secreta",
    "phrase secrète", "phrase de passe", "frase-senha", "frase senha", "frase de senha", "парольная фраза", "парольную фразу", "кодовая фраза", "фраза-пароль",
    "密码短语", "口令短语", "密碼短語", "通关密语", "パスフレーズ", "합언어", "패스프레이즈", "암호문구", "암호 문구", "암호문", "비밀 문구",
)  # fmt: skip
_TELLS = re.compile(
    rf"""(?:{"|".join(re.escape(word) for word in sorted(_PHRASES, key=len, reverse=True))})["'`*]{{0,2}}
    (?:[ ]\([^()\n]{{1,24}}\))?(?:[ ](?:for|to|of|on|für|zu|von|para|de|del|do|da|pour|du|для|от)(?:[ ][^\s.,;:!?=]{{1,24}}){{1,4}}?)?
    (?:[ ]?[:：=＝][ \t]{{0,4}}|[ ]?[—–-][ ]|[ ]?(?:is|was|ist|lautet|war|es|era|est|était|é|это|是|为|為|は|는|은)(?=[\s:：])[ ]?[:：]?[ ]{{0,3}}
    |(?:是|为|為|は)(?=[A-Za-z]))(?:now[ ]|still[ ]|jetzt[ ]|ahora[ ])?(?=[^\W\d_])""",
    re.VERBOSE | re.IGNORECASE,
)
_WORD = re.compile(r"(?P<word>[^\W_]{2,24})(?![\w'’=(:/@\\])")
_ENDS = re.compile(r"[ \t]{0,4}(?:[.,;!?)\]}\n\r\"'`<。，；！？、）#—–]|$|[ ]-[ ]|\\[nr\"])")
_LEAST, _MOST = 4, 12
"""Words of a phrase; three are enough behind a copula where none of them is ordinary."""
_ORDINARY = frozenset(word for one in PACKS if one.reader == "told" for word in one.told.get("ordinary", ()))
_MEASURES = re.compile(r"(?:word|character|letter|token|string|phrase|wort|wörter|palabra|palavra|mot|слов|zeichen|caract)", re.IGNORECASE)


def _told(view: View, found: re.Match[str]) -> Iterator[Span]:
    text, at = view.text, found.end()
    words: list[Span] = []
    while len(words) < _MOST and (word := _WORD.match(text, at)) is not None:
        if word["word"].casefold() in wordlists.JOINING_ANY:
            break
        words.append(word.span("word"))
        at = word.end()
        if text[at : at + 1] not in {" ", "-"}:
            break
        at += 1
    least = _LEAST - (found.group().rstrip()[-1:] not in ":：=＝—–-")
    if len(words) < least or not (_ENDS.match(text, words[-1][1]) or _continues(text, at)):
        return
    view.count(words[-1][1] - words[0][0])
    said = [text[first:last] for first, last in words]
    usual = sum(lookalikes.is_prose(word) or word.casefold() in _ORDINARY or lookalikes.names_a_credential(word) for word in said)
    if usual > (len(said) // _LEAST) or any(
        _MEASURES.match(word) or (word.isascii() and word.isalpha() and len(word) < 3) for word in said
    ):
        return
    yield words[0][0], words[-1][1]


def _continues(text: str, at: int) -> bool:
    word = _WORD.match(text, at)
    return word is not None and word["word"].casefold() in wordlists.JOINING_ANY


_WALLET = Rule("seed-phrase", _SEEDS, matching(_SEED, _seed), before=0, after=40, clip=Clip.NOTHING)
_PASSPHRASE = Rule("passphrase", _PHRASES, matching(_TELLS, _told), before=0, after=200)

RULES = (_WALLET, _PASSPHRASE)


def _has_words(text: str, at: int) -> bool:
    """Say whether so many letters follow as a dozen words have."""
    return len(text[at : at + 360].split(None, 11)) > 10 or text.count(",", at, at + 360) >= 10


LEADS: tuple[Lead, ...] = (leading(_WALLET, _has_words), leading(_PASSPHRASE, _TELLS.match))
