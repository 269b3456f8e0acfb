"""What a question asks for besides its words: tables in both languages."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from huimem.index.tokens import query_terms
from huimem.recall.intent import (
    asks_for_latest,
    need_of_history,
    without_asides,
    without_now,
    without_request,
)
from tests.recall.made import NOW, sessions, told

LATEST = [
    "what is our current database?",
    "What is the LATEST version of the plan?",
    "which phone do I use now",
    "where does she live these days",
    "who is on call at the moment?",
    "the most recent quote from the printer",
    "我们现在用什么数据库？",
    "目前的房租是多少",
    "最新的方案是哪一个",
    "當前的密码规则是什么",
    "what does my 5-year-old like now",
    "who is our current account manager",
    "now that the lamp works, where is it now?",
    "the current current account number",
    "目前项目的负责人是谁",
    "这个项目目前谁负责",
    "我发现现在的房租太贵了，多少钱",
    "现在旧金山的房租",
    "最新版本号是多少",
    "其实现在的房租是多少",
    "支出现在是多少",
    "这个问题目前怎么样",
    "沙发现在在哪",
    "身体现在怎么样",
    "手表现在放在哪",
    "进展现在如何",
    "事项目前有几个",
    "相比如今的房租",
    # What held before is only named to be told apart, or as what was replaced.
    "what is my current address, not the old one?",
    "what is our latest decision, after replacing the first proposal?",
    "what do I pay now instead of the original price?",
    "the current policy rather than the previous one",
    "after the first filter was replaced, which one is current?",
    "我现在用哪个号，不是以前那个",
    "最新的房租，而不是原来的，是多少",
    "取代最初的方案之后，现在的方案是什么",
    "the current policy that superseded the original policy",
    "after we moved from the old one, what is the current host?",
    "since I changed doctors, which clinic do I currently use",
    "换掉旧锅炉之后现在用的是什么",
    "取代旧系统的现在是哪一个",
    "放弃最初的学校后目前在哪读",
    "更新旧合同之后，目前的条款是什么",
    "不用原来那家了，现在去哪家",
    "改掉之前的密码后，现在的密码规则是什么",
]
NOT_LATEST = [
    "what database did we choose?",
    "what was our original database before the current one?",  # both are asked for
    "did we first use the current database?",
    "which phone did I use previously, and which now?",
    "what did I know about it",  # "now" inside a word
    "the currents in the bay",
    # In names and in other words.
    "how do I install latest-stable",
    "the now-playing widget",
    "my current account number",
    "which plug takes alternating current",
    "direct current or alternating current for the pump?",
    "the song that I hear every now and then",
    "项目前端用什么框架",
    "怎么实现在线支付",
    "问题出现在哪里",
    "水果比如今天买的苹果",
    "他应当前往哪个城市",
    "最新鲜的鱼在哪买",
    "现在完成时怎么用",
    "snow in May",
    "我们以前用什么数据库，现在呢？",
    "最初的方案是什么",
    "现在的房租和之前的差多少",
    "did we keep the old key after changing the current lock?",
    "which old phone did I have, not the current one?",
    "what did the first plan say, and the latest?",
    "what did we replace the old boiler with",
    "what did I do after updating my resume with the current job",
    "旧地址是什么",
    # What was replaced is itself asked for, or the only handle to what came after it.
    "现在的方案取代了哪个旧方案",
    "现在用什么取代了最初的方案",
    "the current plan for replacing my old laptop",
    "after dropping off the first child at school, where do I go now",
    "",
]


@pytest.mark.parametrize("text", LATEST)
def test_the_present_is_asked_for(text: str) -> None:
    assert asks_for_latest(text)


@pytest.mark.parametrize("text", NOT_LATEST)
def test_the_present_is_not_asked_for(text: str) -> None:
    assert not asks_for_latest(text)


# question, what the answer may say of it (blanks apart)
OF_NOW = [
    ("how should you answer now, after my preference changed?", "how should you answer , ?"),
    ("where do we keep the current backups, since we replaced the old disk", "where do we keep the backups,"),
    ("the latest rent instead of the first offer", "the rent"),
    ("取代最初的方案之后，现在用什么", "，用什么"),
    ("where did we stay after we switched trains", "where did we stay after we switched trains"),  # a time
    ("what was replaced after the storm", "what was replaced after the storm"),
    (
        "the most recent quote for replacing the bathroom window",
        "the quote for replacing the bathroom window",
    ),
    ("the current plan for replacing my old laptop", "the plan for replacing my old laptop"),
    ("what do I currently drink instead of coffee", "what do I drink instead of coffee"),
    ("who is currently chosen instead of Anna as team lead", "who is chosen instead of Anna as team lead"),
    ("current budget since we revised the original estimate and who pays", "budget and who pays"),
    ("since I changed doctors, which clinic do I use now", "since I changed doctors, which clinic do I use"),
    ("目前用什么代替咖啡", "用什么代替咖啡"),
    ("my current account number", "my current account number"),
    ("项目前端用什么框架", "项目前端用什么框架"),
    ("换掉旧锅炉之后现在用的是什么", "用的是什么"),
]


@pytest.mark.parametrize(("text", "said"), OF_NOW)
def test_what_was_replaced_is_no_word_of_what_holds_now(text: str, said: str) -> None:
    assert "".join(without_now(text).split()) == "".join(said.split())


# question, what of it is meant (blanks apart)
ASIDES = [
    ("which laptop did I buy, not the work one?", "which laptop did I buy ?"),
    ("the meeting with Lena (not Paul) in March", "the meeting with Lena ) in March"),
    ("the budget for Oslo and not Bergen", "the budget for Oslo"),
    ("上海那家咖啡店，而不是北京那家，叫什么？", "上海那家咖啡店 ，叫什么？"),
    ("我说的是新合同，不是旧合同", "我说的是新合同"),
    ("我要找新的而不是旧的", "我要找新的"),
]
# Nothing of these is set aside.
MEANT = [
    "why did I not buy it",
    "should we not go?",
    "not the blue one",
    "she said she was not hungry",
    "the soup, not only the salad",
    "the lease, not yet signed",
    "a knot, and notes",
    "我是不是该买",
    "这不是我的",
    "",
]


@pytest.mark.parametrize(("text", "meant"), ASIDES)
def test_what_is_named_to_be_told_apart_is_left_out(text: str, meant: str) -> None:
    assert "".join(without_asides(text).split()) == "".join(meant.split())


@pytest.mark.parametrize("text", MEANT)
def test_what_is_meant_stays(text: str) -> None:
    assert without_asides(text) == text


def test_a_question_that_is_nothing_but_an_aside_stays() -> None:
    assert without_asides(", not the blue one") == ", not the blue one"


@given(st.text(max_size=80))
def test_no_text_is_emptied(text: str) -> None:
    assert bool(without_asides(text).strip()) == bool(text.strip())


# question, what it is about
REQUESTS = [
    ("Can you summarize how my budget evolved?", "how my budget evolved?"),
    ("Could you please give me a short summary of the kitchen plans", "of the kitchen plans"),
    ("give us a clear and comprehensive overview of what the vet said", "of what the vet said"),
    ("Describe the backups: where, how long", "the backups: where, how long"),
    ("ok, remind me which hotel we took", "which hotel we took"),
    ("Hey, can you walk me through the tax return", "the tax return"),
    ("I'd like you to list all the books I borrowed", "the books I borrowed"),
    ("Tell me about the lease", "the lease"),
    ("please explain again why postgres", "again why postgres"),
    ("the plants we've talked about", "the plants"),
    ("which cafes have I mentioned in our chats?", "which cafes"),
    ("what is the bug I brought up across our recent conversations", "what is the bug"),
    ("帮我总结一下装修预算", "装修预算"),
    ("请列出书单", "书单"),
    ("你能不能说说那次面试", "那次面试"),
    ("告诉我房东的电话", "房东的电话"),
    ("麻烦介绍一下备份策略", "备份策略"),
    ("列出书单", "书单"),
    ("查一下上次的合同", "上次的合同"),
    ("提醒我续签的日子", "续签的日子"),
    ("list the cafes by the river", "cafes by the river"),
    ("name all the restaurants", "restaurants"),
    ("我们之前讨论过的餐厅", "餐厅"),
    ("我们聊的那本书", "那本书"),
    ("我跟你提到过的那家面馆叫什么", "那家面馆叫什么"),
    ("關於候補", "候補"),
    ("关于候补", "候补"),
    ("有关候补的", "候补"),
    ("有没有关于候补的记录", "候补的记录"),
    ("候补的事情", "候补"),
    ("候补的事儿怎么样了", "候补怎么样了"),
    ("候补那件事", "候补"),
    ("跟候补相关的", "候补"),
    ("跟候补有关的邮件", "候补的邮件"),
    ("和候补有关", "候补"),
    ("候补相关内容", "候补"),
    ("我问过候补", "候补"),
    ("我问过关于候补的", "候补"),
    ("有没有聊过候补", "候补"),
    ("之前问过的候补", "候补"),
    ("提过候补吗", "候补吗"),
    ("我们    聊过的候补", "候补"),  # where its time words stood are blanks
    ("    聊过的候补", "候补"),
    ("我們聊過的候補", "候補"),
    ("anything about stollen", "stollen"),
    ("is there anything about stollen?", "is there stollen?"),
    ("do I have anything else on stollen", "do I have on stollen"),
    ("something about stollen", "stollen"),
    ("any notes on stollen", "stollen"),
    ("stuff related to stollen", "stollen"),
    ("Regarding stollen", "stollen"),
    ("with regard to the lease", "the lease"),
    ("concerning stollen", "stollen"),
    ("the email concerning my lease", "the email my lease"),
    ("what do I have on stollen", "stollen"),
    ("what do you know about stollen", "stollen"),
    ("do you remember the lease", "the lease"),
    ("what we      talked about, the lease", "the lease"),
    ("did I ask about the lease", "the lease"),
]
# These ask with their first words for something, or speak of somebody's talk: nothing is set aside.
NO_REQUESTS = [
    "which list did I give to Nora",
    "list price of the bike",
    "bill from my therapy sessions",
    "during my training sessions how many",
    "name of the dentist",
    "recall of the car",
    "explain plan in postgres",
    "give up smoking plan",
    "know-how transfer",
    "walk the dog schedule",
    "walk me home",
    "tell Lena about the party",
    "Let's Encrypt renewal",
    "说明书放哪了",
    "总结会是几点",
    "整理箱买的什么牌子",
    "介绍信在哪里",
    "解释权归谁",
    "说说而已是谁写的歌",
    "告诉妈妈房东来过",
    "我聊天记录里的照片",
    "我提前交的房租",
    "我谈判的底价",
    "查房是几点",
    "the summary of the meeting, who wrote it",
    "who mentioned the leak?",
    "listless days in May",
    "showroom in Bergen",
    "what did Paul discuss with the landlord",
    "总部搬到哪里",
    "谁提到了漏水",
    "小王讨论的方案",
    "事情的经过",
    "妈妈的事业",
    "妹妹的事故报告",
    "相关性分析",
    "有关部门的电话",
    "有关系吗",
    "没有关灯",
    "有关门的店吗",
    "有关节痛吗",
    "海关于三月放行",
    "我问过敏的药",
    "我们聊过去的学校",
    "我提起诉讼的法院",
    "高跟鞋",
    "问题清单",
    "a concerning lump",
    "was the lump concerning?",
    "is it concerning that the cat drinks",
    "Everything but the Girl tickets",
    "did I forget anything",
    "who is related to Lena",
    "highly regarded dentists",
    "who did I get to know in Bergen",
    "did I remember to lock the door",
    "notes on the piano",
    "",
]


@pytest.mark.parametrize(("text", "meant"), REQUESTS)
def test_how_an_answer_shall_be_given_is_left_out(text: str, meant: str) -> None:
    assert query_terms(without_request(text)) == query_terms(meant)


@pytest.mark.parametrize("text", NO_REQUESTS)
def test_what_a_question_is_about_stays(text: str) -> None:
    assert without_request(text) == text


# Whoever frames a word in these ways is answered as whoever says it alone.
FRAMES = [
    "关于{}",
    "有关{}的",
    "{}的事情",
    "跟{}相关的",
    "我问过{}",
    "我们之前聊过的{}",
    "anything about {}",
    "is there anything about {}?",
    "regarding {}",
    "concerning {}",
    "what do you know about {}",
]
TOLD = {
    "train": "高铁一直候补，抢不到票，还是开车回去吧",
    "cake": "the stollen dries out when it is cut too early",
    "lamp": "the lamp in the hall flickers, the fuse is fine",
    "tea": "龙井泡了三遍还是有点苦，水温高了",
    "bike": "the rear tyre of the bike lost its air again",
}


@pytest.mark.parametrize("frame", FRAMES)
def test_what_frames_a_word_takes_little_from_its_answer(frame: str, tmp_path: Path) -> None:
    with told(tmp_path / "vault", TOLD) as memory:
        for word, session in (("候补", "train"), ("stollen", "cake")):
            alone, framed = (memory.recall(asked, now=NOW) for asked in (word, frame.format(word)))
            assert sessions(framed)[:1] == [session]
            assert framed.hits[0].score > 0.75 * alone.hits[0].score


@pytest.mark.parametrize("text", ["Can you summarize?", "tell me", "帮我总结一下", "the ones we discussed"])
def test_a_question_that_is_nothing_but_a_request_keeps_a_word(text: str) -> None:
    assert without_request(text).strip(" ?")


@given(st.text(max_size=80))
def test_a_request_leaves_something(text: str) -> None:
    assert bool(without_request(text).strip()) == bool(text.strip())


# question, how many words it searches for, how far it leans on what was said before
NEEDS = [
    ("when was that?", 0, 1.0),
    ("how much did it cost", 1, 1.0),
    ("and what did she answer about the lease", 3, 1.0),
    ("which one was cheaper in the end", 3, 1.0),
    ("and Porto?", 1, 1.0),
    ("the second restaurant on the list of places", 4, 1.0),
    ("它多少钱", 1, 1.0),
    ("那个方案后来怎么样了", 3, 1.0),
    ("他为什么辞职去开店", 3, 1.0),
    ("刚才说的价格和运费", 3, 1.0),
    ("房租押金合同呢？", 3, 1.0),
    ("which database did the billing service take", 4, 0.25),
    ("房东什么时候把合同寄给我们签字", 5, 0.25),
    ("new topic: how do I prune an apple tree", 4, 0.0),
    ("On an unrelated note, when is it due?", 2, 0.0),
    ("Forget what I said before. Where did we park?", 3, 0.0),
    ("switching gears, who paints the fence", 3, 0.0),
    ("换个话题，苹果树怎么修剪", 3, 0.0),
    ("不说这个了，它的保修到什么时候", 2, 0.0),
    ("题外话：周末去哪里", 2, 0.0),
]


@pytest.mark.parametrize(("text", "words", "need"), NEEDS)
def test_how_far_a_question_leans_on_what_came_before(text: str, words: int, need: float) -> None:
    assert need_of_history(text, words) == need


@given(st.text(max_size=80), st.integers(0, 40))
def test_the_need_is_a_share(text: str, words: int) -> None:
    assert 0 <= need_of_history(text, words) <= 1
