"""Text in every script is found by words, pieces of words that belong together, and neighbouring characters."""

from __future__ import annotations

import pytest

from afl_core import Memory
from afl_core.memory import index, terms
from afl_core.model.grain import GrainType, make
from afl_core.model.grain_text import searchable
from afl_core.store import terms as rows

TEXTS = {
    "zh": "我们把订单服务部署到东京机房",
    "ja": "デプロイ先は東京リージョンです",
    "ko": "배포 대상은 서울 지역입니다",
    "th": "เราใช้ฐานข้อมูลในกรุงเทพ",
    "hi": "हम मुंबई में तैनात करते हैं",
    "ar": "ننشر الخدمة في القَاهِرة",
    "el": "Η υπηρεσία τρέχει στην Αθήνα",
    "ru": "Сервис развёрнут в Москве",
    "en": "the parser lives in src/parse/tokenizer.py and calls getUserName2",
}
QUESTIONS = [
    *[("zh", word) for word in ("东京", "订单", "部署到", "机房", "单服", "东京机房")],
    *[("ja", word) for word in ("東京", "デプロイ", "先は", "リージョン", "プロ")],
    *[("ko", word) for word in ("서울", "배포", "대상", "지역입", "상은")],
    *[("th", word) for word in ("ฐานข้อมูล", "กรุงเทพ", "เรา", "ข้อ", "ใช้")],
    *[("hi", word) for word in ("मुंबई", "तैनात", "हम", "मुं", "में")],
    *[("ar", word) for word in ("القاهرة", "الخدمة", "ننشر", "في", "الق", "القَاهِرة")],
    *[("el", word) for word in ("Αθήνα", "αθηνα", "ΑΘΗΝΑ", "υπηρεσία", "τρ", "στην")],
    *[("ru", word) for word in ("Москве", "москв", "развернут", "РАЗВЁРНУТ", "се", "Мо")],
    *[
        ("en", word)
        for word in ("tokenizer", "src/parse/tokenizer.py", "parse", "tokenizer.py", "getUserName2", "user", "name", "token", "pars")
    ],
]


@pytest.fixture(scope="module")
def memory(tmp_path_factory):
    with Memory(tmp_path_factory.mktemp("m") / "m.afl", telemetry="off") as made:
        for language, text in TEXTS.items():
            made.add("observation", content=text, language=language)
        yield made


@pytest.mark.parametrize(("language", "question"), QUESTIONS, ids=lambda value: value)
def test_a_question_of_two_characters_or_more_finds_its_grain(memory, language, question):
    assert language in [one["language"] for one in memory.search(question)]


@pytest.mark.parametrize("question", ["東京都庁", "Москва сервис", "unrelated tokenizer question", "กรุงเทพมหานคร"])
def test_one_telling_word_of_a_longer_question_is_enough(memory, question):
    assert memory.search(question) != []


@pytest.mark.parametrize("question", ["", "   ", "!?", "\u200b", "zzz", '"', "a OR b*", "NEAR(", "terms:x"])
def test_what_says_nothing_finds_nothing_and_breaks_nothing(memory, question):
    assert memory.search(question) == []


def test_the_terms_of_a_text_are_pinned_by_their_version():
    grain = make(
        GrainType.TOOL,
        {"tool_name": "Bash", "input": {"command": "ls a_b"}, "tool_content": "Fehler: Größe 3.14 ≠ 東京x", "tags": ["HTTPServer"]},
        1,
    )
    assert terms.VERSION == 1
    assert searchable(grain) == 'Bash\nFehler: Größe 3.14 ≠ 東京x\n{"command":"ls a_b"}\nHTTPServer'
    said = "http server 東京 東 京 bash fehler grösse grosse 3.14 3 14 x command ls a_b a b httpserver"
    assert terms.terms(searchable(grain)) == said.split()


def test_an_index_of_older_terms_is_made_anew_and_nothing_is_taken_out_of_it_by_newer_ones(tmp_path, monkeypatch):
    with Memory(tmp_path / "m.afl", telemetry="off") as memory:
        kept = memory.add_fact("acme", "tier", "gold standard")
        gone = memory.add_fact("acme", "owner", "gold digger")
        monkeypatch.setattr(terms, "VERSION", 7)
        monkeypatch.setattr(terms, "terms", lambda text: [word[::-1] for word in text.lower().split()])
        assert [one["hash"] for one in memory.search("digger")] == [gone]
        monkeypatch.undo()
        memory.forget(gone)
        assert rows.upto(memory._files.reader()) == 0
        assert index.waiting(memory._files.reader()) > 0
        assert [one["hash"] for one in memory.search("gold")] == [kept]
        assert memory.verify()["ok"]


def test_what_another_process_added_is_found_at_once(tmp_path):
    with Memory(tmp_path / "m.afl", telemetry="off") as memory, Memory(tmp_path / "m.afl", telemetry="off", scopes={"read"}) as other:
        address = memory.add_fact("acme", "tier", "gold")
        assert [one["hash"] for one in other.search("gold")] == [address]


def test_grains_are_indexed_behind_the_writes_a_few_hundred_at_a_time(tmp_path):
    with Memory(tmp_path / "m.afl", telemetry="off") as memory:
        for number in range(index.WAITING):
            memory.add_fact("acme", str(number), "gold")
        assert memory.stats()["not_indexed"] == 0
        memory.add_fact("acme", "more", "gold")
        assert memory.stats()["not_indexed"] == 1


def test_a_word_that_nearly_everything_holds_finds_the_newest(tmp_path, monkeypatch):
    monkeypatch.setattr("afl_core.memory.recall.COMMON_MOST", 30)
    monkeypatch.setattr("afl_core.memory.recall.COMMON_ROWS", 20)
    with Memory(tmp_path / "m.afl", telemetry="off") as memory:
        for number in range(60):
            memory.add_fact(f"s{number}", "tier", "gold", created_at=1_000 + number)
        found = [one["subject"] for one in memory.search("gold", k=5)]
        assert found == ["s59", "s58", "s57", "s56", "s55"]
        assert [one["subject"] for one in memory.search("gold s7")] == ["s7"]
