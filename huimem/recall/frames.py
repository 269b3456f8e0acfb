"""Words that only frame a question about a time: "what did we talk about", 聊了什么.

In: a question without its time words. Out: whether anything is left to search for. Where nothing is,
that time's sessions are what is asked for. A further language is a further row of words.
"""

from __future__ import annotations

import re
from functools import cache

from huimem.index.tokens import fold

LONGEST = 120  # characters; who says more says something
_SHOUTED = 3  # words in capitals: then they make no names

# Of each script: words that name talking, and other words of a frame. A word that could be what the
# question is about ("decide", 决定) must not stand here.
_ENGLISH_TALK = """
talk talked talking discuss discussed discussing discussion discussions say said saying speak spoke
spoken speaking chat chats chatted chatting conversation conversations session sessions mention
mentioned ask asked question questions message messages told cover covered topic topics
note notes noted write writes wrote writing written recorded jot jotted
"""
_ENGLISH = """
what whats what's which when how anything something everything all any some else things thing stuff
do did does done doing was were is are be been being have has had happen happened happening happens
occur occurred go goes going went new i i've i'd we we've we'd you you've me us my our ours your it that
this there the a an of on in at from for during over about with to and up by then so just also again
please can could would tell show list give get got summarize summarise summary recap review overview
remember remind recall come came comes who main interesting hey hi hello ok okay what'd whatever want know
let see quick quickly rundown pls plz wat
"""
# Words that belong to a frame only together.
_ENGLISH_PHRASES = """
work(ed|ing)? on|look(ed|ing)? (at|into)|catch (me )?up|(pull|bring|brought) up|go back to
(get|got|go|going|gone|went|talk(ed|ing)?) (over|through)
(note[ds]?|write|wrote|written|jot(ted|ting)?) down|(did|have|had) (I|we|you) log(ged)?
(take|taking|took|taken) (any |some )?notes?|notes (did|have) (I|we) (take|taken)
"""
_CHINESE_TALK = """
聊天记录 聊天 聊 商量 谈论 谈到 谈 讨论 说过的话 说 讲 提到 提 沟通 交流 对话 会话 记录 纪录 笔记 话题 主题
问题 问 记下来 记下 记 写下来 写下 写
"""
_CHINESE = """
我们 咱们 你们 咱俩 我俩 俩人 两人 两个人 大家 我 你 您 咱 都 有 是 做 干 忙 弄 搞 发生 经历 了 过 的 些
哪些 什么 甚么 啥 何 事情 事儿 事 内容 东西 呢 吗 吧 呀 啊 嘛 和 跟 与 在 里 中 那天 当天 时候 期间 一下
总结 回顾 列出 列表 看看 看 记得 有没有 没有 新鲜 给 帮 请 告诉 把 一共 主要 曾经 关于 还 又 也 到 来着 出
哪 几 次 个 列 列一下 所有 全部 点 到底 过一遍 整理 想知道 概括 概述 汇总 梳理 回忆
"""
_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")
_HAN = re.compile(r"[㐀-鿿]+")
_SENTENCE_ENDS = ".?!。？！"


def is_frame(text: str) -> bool:
    """Whether a question, its time words taken out, holds nothing but the frame of one."""
    if len(text) > LONGEST:
        return False
    plain = _phrases().sub(" ", fold(text))
    if not all(map(_is_made_of_frames, _HAN.findall(plain))):
        return False
    spoken = _HAN.sub(" ", plain)
    if spoken.isupper() and len(spoken.split()) >= _SHOUTED:
        spoken = spoken.lower()
    return all(_frames(found, spoken) for found in _WORD.finditer(spoken))


def asks_for_talk(text: str) -> bool:
    """Whether a frame asks for what was said then, and not for what happened."""
    plain = fold(text)
    words = {found[0].lower() for found in _WORD.finditer(_HAN.sub(" ", plain))}
    words.update(_chinese_word().findall(plain))
    return not words.isdisjoint((*_ENGLISH_TALK.split(), *_CHINESE_TALK.split()))


def _frames(found: re.Match[str], text: str) -> bool:
    """Whether a word belongs to a frame. Capitals make names of words: IT, US, and in a sentence Go."""
    written = found[0].replace("’", "'")
    before = text[: found.start()].rstrip()
    least = 1 if before and before[-1] not in _SENTENCE_ENDS else 2  # a sentence begins with one anyway
    named = len(written) >= least and written[:least].isupper() and written[:2] not in ("I", "I'")
    return not named and written.lower() in _english()


@cache
def _phrases() -> re.Pattern[str]:
    return re.compile(rf"\b({'|'.join(_ENGLISH_PHRASES.strip().splitlines())})\b", re.I)


@cache
def _english() -> frozenset[str]:
    return frozenset((*_ENGLISH_TALK.split(), *_ENGLISH.split()))


def _is_made_of_frames(run: str) -> bool:
    """Whether Chinese characters can be cut into words of frames, in time by their number."""
    words = _chinese()
    longest = max(map(len, words))
    ends = {0}  # where a word may begin
    for end in range(1, len(run) + 1):
        if any(start in ends and run[start:end] in words for start in range(max(0, end - longest), end)):
            ends.add(end)
    return len(run) in ends


@cache
def _chinese() -> frozenset[str]:
    return frozenset((*_CHINESE_TALK.split(), *_CHINESE.split()))


@cache
def _chinese_word() -> re.Pattern[str]:
    """One frame word of Chinese, the longest first: 记得 asks for no 记."""
    return re.compile("|".join(sorted(_chinese(), key=lambda word: (-len(word), word))))
