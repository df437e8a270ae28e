"""Credentials told or assigned in Chinese: a credential word, then 是, 为 or a colon, then the value."""

from __future__ import annotations

import re
from collections.abc import Iterator

from afl_redactors import lookalikes
from afl_redactors.markers import already_redacted
from afl_redactors.rules import Lead, Rule, Span, leading, matching
from afl_redactors.values import read_value
from afl_redactors.windows import View

WORDS = ("密码", "密碼", "口令", "密钥", "密鑰", "金鑰", "令牌", "秘钥", "密匙")

_SAID = re.compile(
    rf"""(?P<word>{"|".join(WORDS)})[*"'`」』]{{0,2}}[^\n。！？；，,:：=A-Za-z0-9]{{0,8}}?(?:(?:现在|目前|还|应该|就|已经?|被)?(?:是|为|為|改成|改为|设为|设成|设置为|设置成|变成|换成)|[:：=＝])
    [ \t]{{0,4}}[:：]?[ \t]{{0,4}}\*{{0,2}}(?=\S)""",
    re.VERBOSE,
)
_CJK = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")

_FARTHEST = 4096
"""Characters within which Chinese text that goes on ends an unquoted value."""


def _told(view: View, found: re.Match[str]) -> Iterator[Span]:
    start = found.end()
    goes_on = _CJK.search(view.text, start, start + _FARTHEST)
    limit = goes_on.start() if goes_on else None
    value = read_value(view, start, limit) if limit != start else None
    if value is None or already_redacted(value.text):
        return
    content = value.text.strip()
    sure = found["word"] in {"密码", "密碼", "口令"}
    if len(content) <= lookalikes.LONG and not _is_value(content, quoted=value.quoted, sure=sure):
        return
    yield value.start, value.end


def _is_value(content: str, *, quoted: bool, sure: bool) -> bool:
    if lookalikes.is_placeholder(content) or lookalikes.is_type(content) or (lookalikes.is_code(content) and not quoted):
        return False
    if content.isdigit():
        return sure and len(content) >= 4
    if lookalikes.is_known_shape(content) or lookalikes.is_reference(content):
        return False
    if lookalikes.is_plain(content):
        return (sure or quoted) and not lookalikes.is_prose(content) and not lookalikes.names_a_credential(content)
    return True


RULES = (Rule("credential-zh", WORDS, matching(_SAID, _told), before=0, after=96),)
LEADS: tuple[Lead, ...] = (leading(RULES[0], _SAID.match),)
