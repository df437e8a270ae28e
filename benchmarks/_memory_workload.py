"""The grains that a memory is measured with, from a fixed seed: what agents write (facts, tool calls, observations), facts alone, and texts without spaces.

Only the standard library: the peer's interpreter reads this file too.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator
from typing import Any

SEED = 20_240_229
BEGAN_MS = 1_768_435_200_000
"""When the first grain was made; each next one is a second younger."""
SHARES = {"fact": 0.5, "tool": 0.3, "observation": 0.2}
TOOLS, FAILING = 20, 2
"""The first two tools fail often, the others seldom."""
FAIL_OFTEN, FAIL_SELDOM = 0.80, 0.04
VALID_TO = 10**12
WORDS = """
    service cache deploy region token index shard queue worker retry timeout budget schema migration rollback header payload session
    gateway tenant invoice ledger metric alert dashboard pipeline release branch merge review container cluster volume snapshot replica
    cursor webhook policy secret rotation backup restore latency throughput
""".split()  # noqa: SIM905 - a list literal of so many words is not readable
SYLLABLES = [first + second for first in "bdfgklmnprstvz" for second in "aeiou"]
HAN = (
    "数据库连接失败重试队列部署区域缓存令牌索引服务超时预算迁移回滚会话网关账单告警发布分支合并评审容器集群快照副本策略轮换备份恢复延迟吞吐"
)
KANA = "データベースせつぞくしっぱいキューデプロイきゃっしゅトークンさくいんサービスたいむあうとよさんいこうセッションゲートウェイ"
HANGUL = "데이터베이스연결실패재시도대기열배포지역캐시토큰색인서비스시간초과예산이전세션게이트웨이청구서경보출시병합검토"

Given = dict[str, Any]
"""A grain's type and its fields."""


def mixed(count: int) -> Iterator[Given]:
    """The mixture of section "The workload" of docs/benchmarks.md."""
    draw = random.Random(SEED)
    makers = {"fact": _mixed_facts(), "tool": _calls(draw), "observation": _observations(draw)}
    owed = dict.fromkeys(SHARES, 0.0)
    for number in range(count):
        for kind, share in SHARES.items():
            owed[kind] += share
        kind = max(owed, key=lambda name: owed[name])
        owed[kind] -= 1
        yield {"type": kind, "created_at": BEGAN_MS + 1_000 * number, **next(makers[kind])}


def facts(count: int) -> Iterator[Given]:
    """Facts alone, all different."""
    for number in range(count):
        yield {"type": "fact", "created_at": BEGAN_MS + 1_000 * number, **_fact(f"entity-{number}", "note", f"value {number}")}


def spaceless(count: int) -> Iterator[Given]:
    """Observations in Chinese, Japanese and Korean by turns: forty characters drawn from what such texts are made of."""
    draw = random.Random(SEED)
    for number in range(count):
        letters = (HAN, KANA, HANGUL)[number % 3]
        text = "".join(draw.choices(letters, k=40))
        yield {"type": "observation", "created_at": BEGAN_MS + 1_000 * number, "content": text}


WORKLOADS = {"mixed": mixed, "facts": facts, "spaceless": spaceless}


def batches(given: Iterator[Given], size: int) -> Iterator[list[Given]]:
    """So many at a time."""
    while batch := list(itertools.islice(given, size)):
        yield batch


def unique_word(number: int) -> str:
    """A word that stands in one observation only."""
    word = ""
    while number or len(word) < 6:
        number, which = divmod(number, len(SYLLABLES))
        word += SYLLABLES[which]
    return word


def subjects(count: int, many: int) -> list[str]:
    """Subjects that a memory of `count` mixed grains holds facts about."""
    draw = random.Random(SEED + 1)
    numbers = [number for number in range(int(count * SHARES["fact"])) if number % 100 < 97]
    return [f"entity-{number}" for number in draw.choices(numbers, k=many)]


def questions(kind: str, count: int, many: int) -> list[str]:
    """Free texts asked of a memory of `count` grains: `rare` words, `natural` ones of eight words, `common` words only, `spaceless` ones.

    By turns about observations and about facts, of two characters and of eight.
    """
    draw = random.Random(SEED + 2)
    observations = max(1, int(count * SHARES["observation"]) - 1)
    asked = []
    for number in range(many):
        rare = unique_word(draw.randrange(observations))
        entity = f"entity-{draw.randrange(int(count * SHARES['fact']))}"
        words = draw.choices(WORDS, k=8)
        letters = draw.choices((HAN, KANA, HANGUL)[number % 3], k=2 if number % 2 else 8)
        natural = ["what", "did", "we", "say", "about", rare, *words[:2]]
        if number % 2:
            rare, natural = entity, ["which", "value", "has", entity, "in", "the", *words[:2]]
        asked.append({"rare": rare, "natural": " ".join(natural), "common": " ".join(words), "spaceless": "".join(letters)}[kind])
    return asked


def _fact(subject: str, relation: str, value: str) -> Given:
    return {"subject": subject, "relation": relation, "object": value, "confidence": 0.9}


def _mixed_facts() -> Iterator[Given]:
    """Of every hundred one repeats the one before it, and two give one owner two places to deploy to; every five-hundredth was valid until 2001."""
    for number in itertools.count():
        place = number % 100
        if place == 97:
            fact = _fact(f"entity-{number - 1}", "note", f"value {number - 1}")
        elif place >= 98:
            fact = _fact(f"owner-{number // 100}", "deploy_target", ("us-east-1", "eu-west-1")[place - 98])
        else:
            fact = _fact(f"entity-{number}", "note", f"value {number}")
        yield {**fact, "valid_to": VALID_TO} if number % 500 == 499 else fact


def _calls(draw: random.Random) -> Iterator[Given]:
    for number in itertools.count():
        tool = number % TOOLS
        fails = draw.random() < (FAIL_OFTEN if tool < FAILING else FAIL_SELDOM)
        text = f"rate limited 429 after {draw.randrange(9_999)} ms" if fails else '{"ok":true}'
        yield {"tool_name": f"tool_{tool}", "content": text, "is_error": fails}


def _observations(draw: random.Random) -> Iterator[Given]:
    for number in itertools.count():
        yield {"content": " ".join([*draw.choices(WORDS, k=12), unique_word(number)])}
