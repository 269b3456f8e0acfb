"""Marks in a question: "as it stands" and -without. What is a mark, and what only looks like one."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from huimem.index.tokens import tokenize
from huimem.recall.wording import Excluded, Worded, holds, needed, shut_out, worded

# question, what is searched for, phrases, excluded words (those in quotes as they stand)
MARKED = [
    ('who said "exact phrase" first', "who said exact phrase first", ["exact phrase"], []),
    ("the note on “cold months” please", "the note on cold months please", ["cold months"], []),
    ("谁说过「分段索引」", "谁说过 分段索引", ["分段索引"], []),
    ("『冷月份』怎么处理", "冷月份 怎么处理", ["冷月份"], []),
    ("什么是“内卷”？", "什么是 内卷 ？", ["内卷"], []),
    ("the « plan B » again", "the plan B again", ["plan B"], []),
    ("他说过＂早睡＂吗", "他说过 早睡 吗", ["早睡"], []),
    ('"red bike" and "blue car"', "red bike and blue car", ["red bike", "blue car"], []),
    ('"red bike"', "red bike", ["red bike"], []),
    ('我们聊过"向量索引"没有', "我们聊过 向量索引 没有", ["向量索引"], []),
    ('("inner words")', "( inner words )", ["inner words"], []),
    ("soup recipe -lentil", "soup recipe", [], ["lentil"]),
    ("soup -lentil recipe", "soup recipe", [], ["lentil"]),
    ("soup -lentil -tomato", "soup", [], ["lentil", "tomato"]),
    ("-lentil soup", "soup", [], ["lentil"]),
    ("which soup, -lentil?", "which soup, ?", [], ["lentil"]),
    ("火锅推荐 -麻辣", "火锅推荐", [], ["麻辣"]),
    ("火锅推荐 －麻辣 －海鲜", "火锅推荐", [], ["麻辣", "海鲜"]),
    ("index -svc-mail", "index", [], ["svc-mail"]),
    ("model -gpt4", "model", [], ["gpt4"]),
    ('soup -"red lentil"', "soup", [], ['"red lentil"']),
    ("餐厅 -“海鲜大餐”", "餐厅", [], ['"海鲜大餐"']),
    ('"red bike" -helmet', "red bike", ["red bike"], ["helmet"]),
    ("python tutorial -django", "python tutorial", [], ["django"]),
    ("Python -Django?", "Python ?", [], ["Django"]),
    # Marks of a sentence at the ends of a phrase are those of the question, and marks of code its own.
    ('what about the "root canal?"', "what about the root canal?", ["root canal"], []),
    ('"root canal," he said', "root canal, he said", ["root canal"], []),
    ("“根管治疗，”是谁说的", "根管治疗， 是谁说的", ["根管治疗"], []),
    ("「……然后呢？！」谁说的", "……然后呢？！ 谁说的", ["然后呢"], []),
    ('teeth -"root canal."', "teeth", [], ['"root canal"']),
    ('who wrote "Wait...!"', "who wrote Wait...!", ["Wait"], []),
    ('the line "| Town77 |" of it', "the line | Town77 | of it", ["| Town77 |"], []),
    ('why "C++" and "#42" now', "why C++ and #42 now", ["C++", "#42"], []),
    ('where is ".env" read', "where is .env read", [".env"], []),
    ('the "(draft)" note', "the (draft) note", ["(draft)"], []),
    ('the mail "To: Ana" there', "the mail To: Ana there", ["To: Ana"], []),
    # A word ends at a mark of a sentence.
    ("咖啡豆 -日晒，哪种好？", "咖啡豆 ，哪种好？", [], ["日晒"]),
    ("咖啡豆 -日晒、水洗的呢", "咖啡豆 、水洗的呢", [], ["日晒"]),
    ("咖啡豆（非洲 -日晒）哪种好", "咖啡豆（非洲 ）哪种好", [], ["日晒"]),
    ("咖啡豆 -日晒（便宜）", "咖啡豆 （便宜）", [], ["日晒"]),
    ("咖啡豆 -日晒！哪种", "咖啡豆 ！哪种", [], ["日晒"]),
    ("drinks -tea,milk", "drinks ,milk", [], ["tea"]),
    ("drinks -tea;milk", "drinks ;milk", [], ["tea"]),
    ("code -svc.mail", "code", [], ["svc.mail"]),
    # Two capitals are a word.
    ("robots -AI", "robots", [], ["AI"]),
    ("hotels -UK", "hotels", [], ["UK"]),
    ("movies -TV, please", "movies , please", [], ["TV"]),
    ("项目 -AI -旧版", "项目", [], ["AI", "旧版"]),
    ("robots -AI -django", "robots", [], ["AI", "django"]),
    # A flag makes flags of what could be one.
    ("项目 -v -旧版", "项目 -v", [], ["旧版"]),
    ("ls -la -旧版", "ls -la", [], ["旧版"]),
    ("robots -AI -v", "robots -v", [], ["AI"]),
]
# Nothing of these is a mark.
PLAIN = [
    "the well-known svc-mail fault",
    "e-mail from o-ring maker",
    "svc-mail为什么重启",
    "it was -5 degrees",
    "a value of -3.14 and -1e9",
    "零下 -5 度",
    "milk - eggs - bread",
    "- milk",
    "- [ ] call the bank",
    "what does --force do",
    "git push --force-with-lease",
    "what does ls -l show",
    "tar -xzf archive meaning",
    "rm -rf danger",
    "docker run -it image",
    "find . -name notes",
    "java -jar app",
    "gcc -Wall warnings",
    "run it with -debug please",
    "what does -ish mean",
    "words with the suffix -ness",
    "参数 -Wall 是什么",
    "pytest -v -slow",  # another dash here is a flag
    "pytest -slow -v -x",
    "curl -sS -XPOST",
    "cargo build --release -verbose",
    "ls -la -AF",
    "use `make -silent` there",
    "-v",
    "range 3 -5",
    "2020-2024",
    "Monday–Friday",
    "really — no way",
    ":-D that joke",
    "-_- again",
    "Bob -the plumber- called",
    'an unclosed "quote here',
    "an unclosed “quote here",
    "未闭合「的引号",
    "don't, won't and can't",
    "the '90s and rock 'n' roll",
    "'single quotes' are apostrophes",
    'a 27" monitor',
    'a 27" and a 32" monitor',
    "he is 5'10\" tall",
    'empty "" quotes',
    'blank " " quotes',
    "《红楼梦》的作者",
    '"what did we decide about the kiln?"',  # a question handed over in quotes
    "“我们上次决定了什么？”",
    'the "the" word',  # no words to search for
    'a line\n"quoted" text\n-item',  # several lines are a text, no query
    "long " * 80 + '"quoted" -word',
    "a -> b",
    "a --> b",
    "x -= 1",
    "",
    "   ",
]


@pytest.mark.parametrize(("question", "text", "phrases", "excluded"), MARKED)
def test_marks_are_read(question: str, text: str, phrases: list[str], excluded: list[str]) -> None:
    found = worded(question)
    assert found.text.split() == text.split()
    assert [*found.phrases] == phrases
    assert [f'"{one.written}"' if one.exact else one.written for one in found.excluded] == excluded


# Nothing else is asked for: question, and what is searched for instead of shut out.
LONE = [
    ("-lentil", ["-lentil"]),
    ("-lentil -tomato", ["-lentil", "-tomato"]),
    ('-"red lentil"', ['-"red lentil"']),
    ("the -lentil-soup", []),  # a word that is spoken of
    ("－海鲜", ["－海鲜"]),
]


@pytest.mark.parametrize(("question", "lone"), LONE)
def test_a_word_to_shut_out_alone_is_searched_for(question: str, lone: list[str]) -> None:
    assert worded(question) == Worded(question, lone=tuple(lone))


@pytest.mark.parametrize(
    ("question", "text", "excluded"),
    [
        ("-lentil", "", ["lentil"]),
        ("           -lentil -tomato", "", ["lentil", "tomato"]),
        ("what did we talk about in            -dentist", "what did we talk about in", ["dentist"]),
        ("what is in -dentist", "what is in -dentist", []),
    ],
)
def test_beside_a_time_it_is_shut_out(question: str, text: str, excluded: list[str]) -> None:
    """The words of the time are blanks by then."""
    found = worded(question, timed=True)
    assert (found.text, [one.written for one in found.excluded], found.lone) == (text, excluded, ())


@pytest.mark.parametrize("question", PLAIN)
def test_what_is_no_mark_stays(question: str) -> None:
    assert worded(question) == Worded(question)


HELD = [
    ("the Exact  Phrase stands", "exact phrase"),
    ("exact\nphrase", "exact phrase"),
    ("cats and a cat.", "cat"),
    ("docker-compose up", "docker"),
    ("小cat猫", "cat"),
    ("用ＡＰＩ网关", "api"),
    ("向量索引怎么选", "量索"),
    ("資料庫備份", "资料库"),
    ("资料库备份", "資料庫"),
    ("用 GPT-4 模型", "GPT-4模型"),
    ("用GPT-4模型", "GPT-4 模型"),
    ("机器\n学习", "机器学习"),
    ("it’s fine", "it's fine"),
    ("a café nearby", "cafe nearby"),
    ("learn C++ now", "c++"),
    ("version 3.14", "3.14"),
]
NOT_HELD = [
    ("category", "cat"),
    ("bobcat", "cat"),
    ("cats", "cat"),
    ("cat_food", "cat"),
    ("phrase exact", "exact phrase"),
    ("exact, phrase", "exact phrase"),
    ("v13.14", "3.14"),
    ("索引向量", "向量索引"),
    ("", "cat"),
]


@pytest.mark.parametrize(("text", "phrase"), HELD)
def test_a_text_holds_a_phrase(text: str, phrase: str) -> None:
    assert holds(text, phrase)


@pytest.mark.parametrize(("text", "phrase"), NOT_HELD)
def test_a_text_does_not_hold_a_phrase(text: str, phrase: str) -> None:
    assert not holds(text, phrase)


@pytest.mark.parametrize(
    ("text", "written", "exact", "out"),
    [
        ("red lentils today", "lentil", False, True),  # what the word would find
        ("she was running", "run", False, True),
        ("she was running", "run", True, False),  # in quotes: as it stands
        ("restart svc-mail now", "svc-mail", False, True),
        ("restart the mail now", "svc-mail", False, False),
        ("parse_time_range", "time", False, True),
        ("category", "cat", False, False),
        ("干锅辣椒", "辣", False, True),  # Chinese has no borders
        ("清汤", "辣", False, False),
        ("the lentil red", "red lentil", True, False),
        ("call at 3pm", "15:00", False, True),
    ],
)
def test_what_an_excluded_word_takes_away(text: str, written: str, exact: bool, out: bool) -> None:
    assert shut_out(text, (Excluded(written, exact),)) == out


@pytest.mark.parametrize(
    ("phrase", "terms"),
    [
        ("the cold months", ("cold", "month")),
        ("plan B", ("plan",)),
        ("向量索引", ()),  # how a run is cut depends on what stands beside it
        ("用 Redis 缓存", ("redi",)),
        ("3.14", ()),
    ],
)
def test_terms_that_stand_wherever_the_phrase_does(phrase: str, terms: tuple[str, ...]) -> None:
    assert needed(phrase) == terms


_WRITTEN = "the cold-month Redis svc-mail.v2 don't café 用Redis做 1,200 c++ runs_x parseTime a"
_WORDS = st.sampled_from(_WRITTEN.split())


@given(st.lists(_WORDS, min_size=1, max_size=8), st.data())
def test_a_text_that_holds_a_phrase_holds_its_needed_terms(words: list[str], data: st.DataObject) -> None:
    text = " ".join(words)
    start = data.draw(st.integers(0, len(text) - 1))
    phrase = text[start : data.draw(st.integers(start + 1, len(text)))].strip()
    if phrase and holds(text, phrase):
        assert set(needed(phrase)) <= set(tokenize(text))


@given(st.text(alphabet="ab \"-“”「」狗 '", max_size=30))
def test_any_question_is_read(question: str) -> None:
    found = worded(question)
    assert found == Worded(question, lone=found.lone) or found.phrases or found.excluded
    assert all(phrase.strip() for phrase in found.phrases)
    assert not found.excluded or found.text.strip()
