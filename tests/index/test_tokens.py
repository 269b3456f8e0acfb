"""Words a text is found by. A case is a row: what is asked, the text that must be found or not."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from huimem.index.tokens import asked, fold, pairs_for, query_terms, tokenize

FOUND = [
    # asked, text that holds it
    ("svc-mail", "重启svc-mail后一切正常"),
    ("mail", "重启svc-mail后一切正常"),
    ("重启", "重启svc-mail后一切正常"),
    ("Redis", "用Redis做缓存"),
    ("租房", "下个月要租房子"),
    ("面试", "明天面试官会问什么"),
    ("概股", "最近中概股跌得厉害"),
    ("龙虎", "获取今日龙虎榜数据"),
    ("三连板", "三连板前五只股票"),
    ("猫", "猫不吃东西"),
    ("資料庫", "资料库怎么备份"),
    ("开会", "下午三點開會"),
    ("API", "新的ＡＰＩ网关"),
    ("2026", "２０２６年的计划"),
    ("cafe", "Meet at café Zürich"),
    ("Zürich", "we flew to zurich"),
    ("naïve", "a naive approach"),
    ("decided", "what we decide today"),
    ("indices", "the indices are rebuilt"),
    ("E1042", "报错E1042怎么办"),
    ("c++", "learning C++ templates"),
    ("node.js", "a Node.js server"),
    ("node", "a Node.js server"),
    ("parseTimeRange", "call parseTimeRange(text)"),
    ("range", "call parseTimeRange(text)"),
    ("HTTP", "the HTTPServer class"),
    ("snake_case", "use snake_case here"),
    ("3.14", "pi is 3.14 or so"),
    ("1200", "it cost 1,200 yuan"),
    ("2026-04-08", "see the log of 2026-04-08"),
    ("000001", "龙虎榜：000001、000002"),
    ("Caroline's", "Caroline went home"),
    ("o'brien", "Mr O’Brien called"),
    ("user@example.org", "write to user@example.org"),
    ("ラーメン", "おいしいラーメン屋"),
    ("한국", "한국어 수업"),
]
NOT_FOUND = [
    ("caf", "Meet at café Zürich"),
    ("java", "we like javascript"),
    ("1", "version 3.14"),
    ("the", "the who and the what"),
    ("什么", "这是什么"),
    ("mai", "重启svc-mail后"),
]
# Each pair finds each other: forms of one word, spellings of one word, characters of one word.
ALIKE = [
    ("mice", "mouse"),
    ("children", "child"),
    ("men", "man"),
    ("women", "woman"),
    ("feet", "foot"),
    ("knives", "knife"),
    ("wolves", "wolf"),
    ("shelves", "shelf"),
    ("cities", "city"),
    ("parties", "party"),
    ("potatoes", "potato"),
    ("buses", "bus"),
    ("quizzes", "quiz"),
    ("indices", "index"),
    ("matrices", "matrix"),
    ("analyses", "analysis"),
    ("hypotheses", "hypothesis"),
    ("criteria", "criterion"),
    ("lenses", "lens"),
    ("aliases", "alias"),
    ("boxes", "box"),
    ("queries", "query"),
    ("addresses", "address"),
    ("databases", "database"),
    ("studies", "study"),
    ("bought", "buy"),
    ("wrote", "writing"),
    ("chosen", "chose"),
    ("paid", "pays"),
    ("sold", "selling"),
    ("colour", "color"),
    ("coloured", "coloring"),
    ("favourite", "favorites"),
    ("neighbours", "neighbor"),
    ("organise", "organize"),
    ("organisation", "organizations"),
    ("summarising", "summarize"),
    ("tokeniser", "tokenizers"),
    ("analyse", "analyzing"),
    ("centre", "centers"),
    ("theatre", "theater"),
    ("travelling", "travels"),
    ("cancelled", "cancel"),
    ("labelled", "labels"),
    ("modelling", "models"),
    ("defence", "defense"),
    ("licence", "licenses"),
    ("catalogue", "catalog"),
    ("programmes", "program"),
    ("grey", "gray"),
    ("jewellery", "jewelry"),
    ("Caroline’s", "Caroline"),
    ("the boys' room", "boy"),
    ("boss's", "boss"),
    ("e-mail", "email"),
    ("E-mails", "email"),
    ("re-rank", "rerank"),
    ("re-ranking", "reranked"),
    ("web-site", "website"),
    ("docker-compose", "dockercompose"),
    ("docker-compose", "docker compose"),
    ("docker_compose", "docker-compose"),
    ("parseTimeRange", "parse_time_range"),
    ("parse-time-range", "parsetimerange"),
    ("GPT-4", "gpt4"),
    ("covid-19", "COVID19"),
    ("HTTPServer", "http server"),
    ("EH-NA0J", "EHNA0J"),
    ("eh_na0j", "EH-NA0J"),
    ("1-on-1", "1on1"),
    ("gpt-4-turbo", "gpt4-turbo"),
    ("WH-1000XM5", "wh1000xm5"),
    ("v2.5.2", "2.5.2"),
    ("V2.5.2", "v2.5.2"),
    ("v2.5.2-beta", "2.5.2-beta"),
    ("2.5.2", "orderhub@2.5.2"),
    ("2.5.2", "v2.5.2-rc.1"),
    ("3.11", "python3.11"),
    ("10.0.0.7", "10.0.0.7:8080"),
    ("ＧＰＴ－４", "gpt-4"),
    ("１２３４", "1,234"),
    ("ﬁle", "file"),
    ("裏面", "里面"),
    ("裡面", "里面"),
    ("臺北", "台北"),
    ("颱風", "台风"),
    ("麵條", "面条"),
    ("乾淨", "干净"),
    ("幹部", "干部"),
    ("頭髮", "头发"),
    ("出發", "出发"),
    ("鐘錶", "钟表"),
    ("綫上", "线上"),
    ("説明", "说明"),
    ("說明", "说明"),
    ("羣組", "群组"),
    ("週末", "周末"),
    ("砲台", "炮台"),
    ("化粧", "化妆"),
    ("東京タワー", "東京タワー"),
    ("ﾗｰﾒﾝ", "ラーメン"),
]
# Alike only to the eye.
UNLIKE = [
    ("a1-23", "a12-3"),
    ("2026-04", "202604"),
    ("news", "new"),
    ("left", "leave"),
    ("LED", "lead"),
    ("1.2", "12"),
    ("x86_64", "x8664"),
    ("v2", "2"),
    ("2.5.2", "12.5.2"),
    ("2.5", "2.5.2"),
    ("2.5.2", "2.5.20"),
    ("3.5", "3.5mm"),
    ("tyre", "tire"),
    ("ハイキング", "東京タワー"),
]


@pytest.mark.parametrize(("a", "b"), ALIKE)
def test_two_forms_of_a_word_find_each_other(a: str, b: str) -> None:
    assert set(query_terms(a)) & set(tokenize(b))
    assert set(query_terms(b)) & set(tokenize(a))


@pytest.mark.parametrize(("a", "b"), UNLIKE)
def test_other_words_do_not(a: str, b: str) -> None:
    assert not set(query_terms(a)) & set(tokenize(b))
    assert not set(query_terms(b)) & set(tokenize(a))


@pytest.mark.parametrize(("question", "text"), FOUND)
def test_finds(question: str, text: str) -> None:
    assert set(query_terms(question)) & set(tokenize(text))


@pytest.mark.parametrize(("question", "text"), NOT_FOUND)
def test_does_not_find(question: str, text: str) -> None:
    assert not set(query_terms(question)) & set(tokenize(text))


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("", []),
        ("The who, and what is it?", []),
        ("😀 🚀", []),
        ("running runs", ["run", "run"]),
        ("svc-mail", ["svcmail", "svc", "mail"]),
        ("snake_case", ["snakecas", "snake", "case"]),
        ("gpt-4", ["gpt4", "gpt"]),
        ("a1-23", ["a1-23", "a1", "23"]),
        ("v2.5.2", ["2.5.2", "v2"]),
        ("向量索引", ["向量", "索引"]),
        ("三连板", ["三连板", "三连", "连板"]),
        ("租房子", ["租房子", "租房", "房子"]),
        ("要租大房子", ["要租", "租", "租大", "大房子", "大房", "房子"]),
        ("a" * 200, ["a" * 200]),
        ("x" * 100 + "-" + "y" * 100, []),
    ],
)
def test_terms(text: str, terms: list[str]) -> None:
    assert tokenize(text) == terms


@pytest.mark.parametrize(
    ("term", "pairs"),
    [
        ("法喜寺", ("法喜", "喜寺")),
        ("林悦然", ("林悦", "悦然")),
        ("北京大学", ()),  # the dictionary has it
        ("章鱼串", ()),  # and 章鱼
        ("法喜", ()),
        ("svc-mail", ()),
        ("000001", ()),
    ],
)
def test_pairs_stand_for_a_name_that_no_dictionary_has(term: str, pairs: tuple[str, ...]) -> None:
    assert pairs_for(term) == pairs


NAMES = """
法喜寺 永福寺 林悦然 裴志远 顾晓楠 陈曦微 王小磊 赵铁柱 沈佳宜 江蟹生 岩点馆 安德院 拱宸桥 青芝坞 满觉陇
有次刀 贝果店 慢食碗 云舟社 悦诗风 花筑店 梅家坞 断舍离 岚山町 马库斯 顾千帆 宋引章 苏明玉 孟宴臣 许沁雪
"""
SENTENCES = [
    "改走{}后山",
    "我昨天和{}去吃饭",
    "下周一{}说不来了",
    "听说{}又涨价了",
    "小顾和{}一起上线",
    "去{}人太多",
]


@pytest.mark.parametrize("sentence", SENTENCES)
def test_a_name_is_found_however_its_sentence_is_cut(sentence: str) -> None:
    for name in NAMES.split():
        looked_for = {one for term in query_terms(name) for one in pairs_for(term) or (term,)}
        assert looked_for & set(tokenize(sentence.format(name))), name


def test_a_term_keeps_the_word_as_asked() -> None:
    assert asked("Which indices did Caroline's team choose?") == {
        "index": "indices",
        "carolin": "Caroline's",
        "team": "team",
        "choos": "choose",
    }


def test_a_version_is_asked_for_without_its_v() -> None:
    assert asked("is v2.5.2 out") == {"2.5.2": "v2.5.2"}
    assert asked("v1." + "1." * 40 + "1x") == {"v1": "v1.1" + ".1" * 40 + "x", "1x": "1x"}


def test_two_characters_are_found_except_across_two_whole_words() -> None:
    import rjieba

    text = "今天我们把北京大学生前来应聘的材料都整理好了"
    words, found = rjieba.cut(text), set(tokenize(text))
    solid = {word for word in words if len(word) > 1 and rjieba.has_word(word)}
    borders = {a[-1] + b[0] for a, b in pairwise(words) if {a, b} <= solid}
    particles = set("的了们来我")
    missed = {a + b for a, b in pairwise(text)} - found - borders
    assert all(particles & set(pair) for pair in missed)


def test_rjieba_and_jieba_cut_alike() -> None:
    import logging

    import jieba
    import rjieba

    jieba.setLogLevel(logging.ERROR)
    texts = [
        "获取今日龙虎榜和三连板前五只股票数据",
        "我们上周三决定用分段索引，冷月份再压缩",
        "妈妈的体检报告出来了，血压有点高",
        "他来到了网易杭研大厦",
        "下雨天留客天留我不留",
    ]
    for text in texts:
        assert sorted(rjieba.cut_for_search(text)) == sorted(jieba.cut_for_search(text))
        assert rjieba.cut(text) == jieba.lcut(text)


@given(st.text())
def test_any_text_has_words_and_finds_itself(text: str) -> None:
    assert set(query_terms(text)) <= set(tokenize(text)) | set(query_terms(fold(text)))
    assert all(term for term in tokenize(text))


@given(st.text(alphabet="股票租房 svc-mail E1042 的了 café ＡＢ開會", max_size=40))
def test_folding_twice_is_folding_once(text: str) -> None:
    assert fold(fold(text)) == fold(text)
