"""What a question asks for besides its words: the present, other than what it names, a new topic.

Rules over words, English and Chinese alike; whoever writes otherwise is answered without them.
"""

from __future__ import annotations

import re

# "current" is also a sort of account and of electricity.
_CURRENT = (
    r"(?<!direct )(?<!alternating )(?<!electric )(?<!electrical )"
    r"current(?! accounts?\b(?! (?:manager|team)s?\b))"
)
# Of 实现, 出现, 发现 … with 在 behind them; but 其实, 支出, 沙发 … may stand before 现在.
_APPEARS = (
    r"(?<!(?<![其确真现老])实)(?<!(?<![演支付输退])出)(?<!(?<![头沙开研])发)(?<!(?<![身具整总集全])体)"
    r"(?<!(?<![手报图列代])表)(?<!(?<![发进])展)(?<![呈浮])"
)
# No part of a name: "latest-stable", "5-year-old"; nor of another word: 项目|前端, 出现|在, 比如|今天.
_LATEST = re.compile(
    rf"(?<![\w-])(?:latest|newest|most recent|{_CURRENT}|currently|now(?! and (?:then|again)\b)|nowadays"
    r"|updated|these days|at the moment|as of today)(?![\w-])"
    rf"|{_APPEARS}(?:现在|現在)(?!(?:完成|进行)时)|(?<!(?<![事款选各])项)目前|最新(?!鲜|鮮)"
    r"|(?<!(?<![对相])比)(?<![例譬假正])如今|(?:当前|當前)(?!往)|眼下",
    re.I,
)
# What has held and perhaps no longer does.
_ONCE = "original|originally|previous|previously|former|formerly|used to|back then"
_ONCE_CHINESE = "以前|原来|最初|当初|起初|之前|从前|旧(?!金山)|原來|當初"
_PASSED = re.compile(
    rf"(?<![\w-])(?:{_ONCE}|old|older|initial|initially|first)(?![\w-])|{_ONCE_CHINESE}", re.I
)
# "First" and "older" may be of anything, and ask for nothing that is past.
_FORMER = re.compile(rf"(?<![\w-])(?:{_ONCE}|no longer|any more)(?![\w-])|{_ONCE_CHINESE}|從前", re.I)
# What is named to be told apart from what is meant: ", not Atlas", 而不是上海那家. Only behind a comma
# or "and": "why did I not buy it" asks for the buying.
_ASIDE = re.compile(
    r"(?:[,;(—–]\s*|\s-\s*|\b(?:and|but) )not\b(?! (?:only|just|yet|sure|quite|necessarily))[^,.;:?!()]{1,60}"
    r"|[，；（](?:而)?不是[^，。；？！）]{1,20}|而不是[^，。；？！]{1,20}",
    re.I,
)
# A part of a sentence, to its end or to the next question.
_PART = r"(?:(?!\b(?:and|or|but|who|what|which|where|when|how|why)\b)[^,.;:?!])"
# "after replacing the first proposal", "since my preference changed": when something came to hold.
_AFTER = re.compile(
    rf"\b(?:after|once|since)\b{_PART}{{0,40}}?"
    r"\b(?:replac|chang|switch|drop|retir|supersed|revis|updat|mov)(?:e|es|ed|ing|ped|ping)\b(?! off\b)"
    rf"(?P<old>{_PART}{{0,60}})",
    re.I,
)
# What was replaced, where it is named to tell what came after it.
_INSTEAD = re.compile(
    rf"\b(?:instead of|rather than|in place of|as opposed to)\b(?P<old>{_PART}{{1,60}})"
    rf"|\b(?:that|which)\b(?: \w+){{0,3}}? (?:replaced|superseded)\b(?P<former>{_PART}{{1,60}})"
    r"|(?:代替|替代|取代|替换|替換|更换|更新|换掉|換掉|改掉|推翻|放弃|放棄|不用)"
    r"(?P<passed>(?:(?!现在|目前|如今|最新|当前|眼下|現在|當前|哪|谁|什么)[^，。；？！]){1,20}?)"
    r"(?:之后|以后|之後|後|后|的(?=现在|目前|如今)|(?=[，；]))",
    re.I,
)
# How an answer shall be given: "can you give me a short summary of", 帮我总结一下. It stands first, behind
# something polite or before somebody or something to tell of: "list the cafes", but not "list price", 说明书.
_POLITE = (
    r"(?:(?:please|kindly|(?:can|could|would|will) you|help me(?: to)?|i(?:['’]d| would) like(?: you)? to"
    r"|i (?:want|need) (?:you )?to|let['’]?s|let us)\b[\s,]*)"
)
_TELL = (
    r"(?:give|tell|show|list|describe|explain|summari[sz]e|sum up|outline|provide|remind|recap|recall|go over"
    r"|name|enumerate|mention|find|look up|pull up|search for)\b"
)
_OF = r"(?:the|an?|my|our|all|every|any|some|how|why|what|which|who|where|when|whether|if|again|about)\b"
_ANSWER = (
    r"(?:(?:\s+(?:clear|brief|short|quick|simple|concise|comprehensive|detailed|thorough|complete|full"
    r"|high-level|step-by-step|chronological)\b,?(?:\s+and\b)?)*"
    r"\s+(?:summary|overview|list|timeline|rundown|recap|breakdown|description|explanation|outline|account"
    r"|synopsis|details?|idea|order)\b(?=\s+(?:of|on|about|for|in|how|what|which)\b))?"
)
_REQUEST = re.compile(
    r"^\W*(?:(?:hey|hi|hello|ok|okay|so|and|now)\b[\s,]*)*"
    rf"(?:{_POLITE}+(?:{_TELL}|(?:understand|know)\b)|{_TELL}(?=\s+(?:(?:me|us)\b|{_OF}))"
    rf"|{_POLITE}*walk(?=\s+(?:me|us)\s+through\b))"
    rf"(?:\s+(?:me|us)\b)?(?:\s+(?:about|through|of)\b)?(?:\s+(?:an?|the|some|all)\b)?{_ANSWER}"
    r"|^\W*(?:(?:请|麻烦|劳驾|你|能不能|能否|可以|可不可以|帮我|帮忙|给我|跟我|为我)+"
    r"(?:总结|概括|概述|归纳|回顾|描述|说明|介绍|解释|整理|梳理|复述|回忆|汇总|列出|列举|罗列|找出|查找|说说|讲讲)"
    r"|列出|列举|罗列|找出|(?:告诉|提醒|请?问)(?=我)"
    r"|(?:总结|概括|概述|归纳|回顾|描述|说明|介绍|解释|整理|梳理|复述|回忆|汇总|列|说|讲|查|找)(?=一下))"
    r"(?:我们|我)?(?:一下)?",
    re.I,
)
# Talking itself, where it frames what was talked about: "that I mentioned", "in our chats", 我们聊过的, and
# 问过 at the beginning. Where time words stood are blanks. What goes on behind 过 is a word: 问过敏的药.
_ADVERBS = r"(?:(?:之前|以前|上次|曾经|曾經|最近|都|也|还|還|有[没沒]有|是不是|是否)\s*)*"
_TALKING = "(?:提|聊|谈|談|说|說|讨论|討論|问|問|讲|講)"
_PAST = "[过過](?![敏户戶期程年节節度分头頭滤濾夜路境来來去往后後世])(?![关關](?![于於]))"
_TALKED = re.compile(
    r"\b(?:i|we|you)(?:['’](?:ve|d))?(?:\s+(?:have|had))?(?:\s+(?:ever|already|last|just))*"
    r"\s+(?:mention(?:ed)?|discuss(?:ed)?|(?:talk|chat|ask)(?:ed)?\s+about|(?:speak|spoke|spoken)\s+about"
    r"|(?:write|wrote|written)\s+about|brought\s+up|bring\s+up|(?:tell|told)\s+you(?:\s+about)?)\b"
    r"|\b(?:throughout|across|during|over|in|from|based on|of) (?:all )?(?:our|my)"
    r"(?: (?:recent|past|last|previous|earlier|latest|many))? "
    r"(?:conversations?|chats?|discussions?|talks|sessions?)\b"
    rf"|(?:我们|我們|我|咱们|咱們|你)\s*{_ADVERBS}(?:[跟和对對][你我]\s*)?"
    rf"(?:{_TALKING}(?:到(?:{_PAST})?|{_PAST}|起(?![诉訴]))|提及|(?:提|聊|谈|談|讨论|討論)(?=的))的?"
    rf"|^\W*{_ADVERBS}{_TALKING}{_PAST}的?",
    re.I,
)
# What only joins a question to its subject: "anything about", "regarding", 关于, 跟…相关的, 的事情. The same
# letters stand in words that are subjects: a concerning lump, 有关部门, 海关于, 事情的经过.
_END = r"(?=\s*(?:$|[，。；：？！,.;:?!吗嗎呢吧啊呀有是怎我你说說聊谈談提问問]|后来|後來))"
_MATTERS = "(?:内容|內容|事情|东西|東西|话题|話題)"
_JOINING = re.compile(
    r"\b(?:anything|something|everything|stuff|(?:any|some|more|all)\s+(?:info|information|details?|notes?"
    r"|mentions?))(?:\s+(?:else|new|more))?\s+(?:about|on|of|regarding|concerning|(?:related|relating)\s+to"
    r"|to\s+do\s+with)\b"
    r"|(?<![\w-])regarding\b|\b(?:with|in)\s+regards?\s+to\b|\bas\s+regards\b|\bwith\s+respect\s+to\b"
    r"|^\W*concerning\b|\bconcerning(?=\s+(?:the|my|our|your|his|her|their|its|these|those)\b)"
    r"|\b(?:do|did)\s+(?:i|we|you)\s+(?:already\s+)?know(?:\s+so\s+far)?\s+(?:about|of|on)\b"
    r"|^\W*do\s+you\s+(?:still\s+)?(?:remember|recall|know)\b"
    r"|有[没沒]有"
    r"|有[关關][于於]|(?<![海机機公开開双雙难難])[关關][于於]"
    r"|(?<![没沒])有[关關](?!系|係|部[门門]|[单單]位|人[士员員]|方面|[机機][构構关關]|[当當]局"
    r"|[门門窗灯燈火掉上店停闭閉注心照爱愛机機键鍵卡联聯节節怀懷税稅口东東羽])的?"
    rf"|(?<!高)跟(?![进進踪蹤前随隨班拍鞋])(?=[^，。；？！,;?!]{{1,20}}?(?:相[关關](?!性)|有[关關](?!系|係)))"
    rf"|相[关關](?:的{_MATTERS}?|{_MATTERS}|{_END})"
    rf"|(?<=[^\s，。；？！])的(?:事情|事[儿兒]?){_END}|[这這那]件(?:事情|事[儿兒]?){_END}",
    re.I,
)
_POINTING = re.compile(
    r"\b(?:it|its|that|this|those|these|they|them|their|he|she|him|her|his|there|then|one|ones|same|other"
    r"|another|second|last|former|latter|above)\b"
    r"|它|他|她|那(?:个|些|里|边|次|家|件)?|这(?:个|些|里|边|次|家|件)?|前者|后者|上面|刚才|另(?:一|外)|第[二三]个|呢[？?]?$",
    re.I,
)
_NEW_TOPIC = re.compile(
    r"\b(?:new|different|another|change of) (?:topic|subject|question)"
    r"|\b(?:ignore|forget|leave) (?:the|that|all|what)"
    r"[^.:,;?!]*\b(?:previous|earlier|before|topic|above|said)"
    r"|\bunrelated|\bswitching (?:topics?|gears)"
    r"|换个话题|另一个话题|另外一个问题|不(?:说|聊|谈)(?:这|那)个了|题外话|先不管",
    re.I,
)
_A_WORD = re.compile(r"\w")
_FEW = 2  # words of a question that cannot stand alone
_STANDS = 0.25  # how far the history counts for a question that names its own subject


def asks_for_latest(text: str) -> bool:
    """Whether a question asks for what holds now, and not also for what held before."""
    asked = without_asides(text)
    return _LATEST.search(_AFTER.sub(" ", asked)) is not None and _PASSED.search(_without_old(asked)) is None


def asks_for_past(text: str) -> bool:
    """Whether a question asks for what held before: what no longer holds may answer it."""
    return _FORMER.search(_without_old(without_asides(text))) is not None


def _without_old(text: str) -> str:
    """A question without what was replaced, where it says that this is past, or says nothing of it."""
    text = _AFTER.sub(lambda part: " " if _is_old(part["old"]) or not part["old"].strip() else part[0], text)
    return _INSTEAD.sub(lambda part: " " if _is_old(part[part.lastgroup or 0]) else part[0], text)


def _is_old(text: str) -> bool:
    return _PASSED.search(text) is not None


def without_asides(text: str) -> str:
    """A question without what it sets aside; as it is where nothing would be left."""
    left = _ASIDE.sub(" ", text)
    return left if left.strip() else text


def without_request(text: str) -> str:
    """A question without how it wants to be answered; as it is where nothing would be left."""
    left = _JOINING.sub(" ", _TALKED.sub(" ", _REQUEST.sub(" ", text)))
    return left if _A_WORD.search(left) else text


def without_now(text: str) -> str:
    """A question without the words that ask for what holds now, nor what that has replaced.

    What they ask for does not say them.
    """
    said = _without_old(text) if asks_for_latest(text) else text
    return _LATEST.sub(" ", said)


def need_of_history(text: str, words: int) -> float:
    """How far a question of so many `words` leans on the messages before it, in [0, 1].

    It points back ("when was that?") or says too little alone: 1; it names its own subject: little; it
    says that the topic is new: 0.
    """
    if _NEW_TOPIC.search(text):
        return 0.0
    return 1.0 if words <= _FEW or _POINTING.search(text) else _STANDS
