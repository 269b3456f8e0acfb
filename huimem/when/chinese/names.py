"""Chinese: what only looks like time — greetings, ages, addresses, names, points and other reigns' years."""

from __future__ import annotations

from huimem.when.grammar import Rule
from huimem.when.making import word

_GIVEN = "良|鸣|帆|凡|诺|鹏|涵|娇|丰|升|围|楠|璐|妍|铭|曼|豪|琪|倩|磊"
_REIGNS = (
    "民国|康熙|雍正|乾隆|嘉庆|道光|咸丰|同治|光绪|宣统|万历|崇祯|贞观|开元|洪武|永乐|令和|平成|昭和|大正|明治"
)
_CLOSED = "&<edge> &, &啊 &呀 &哇 &哦 &嘛 &吖"


def _if_small(number: float) -> bool | None:
    return True if number < 10 else None


NAMES = [
    Rule(pattern, "word", word)
    for pattern in (
        # Greetings.
        f"<daypart>|周末 好 {_CLOSED}",
        "<edge> > 早晨 &<edge> &,",
        "<festival>|周末|<daypart>|<season>? 快乐|愉快|安康|大吉|吉祥",
        "<festival> 的? <lore>",
        "<edge>|<word>|<lead in> > <season word> 的? <lore>",
        "周|星期|礼拜 <number>|<sunday> 的? 英文|英语|日语|法语|德语|拼音",
        "描写|描述|赞美|歌颂|以 <season word>|<daypart>",
        "<edge>|<word>|<lead in> > 周末|<season word>|<daypart> 适合|适宜|不适合|不宜",
        "<nth> <month mark> 有 几|多少 天 &<edge>",
        "<nth> <month mark> <nth> 日|号 是? 什么节|啥节|什么节日|啥节日",
        "<festival> 是? 哪天|哪一天|几月几号|几月几日|几号|什么时候 &<edge>",
        "总分|得分|评分|血量|体力|经验|伤害|攻击|防御|法力|点数|积分 <number> 点",
        # Of some day, any year, all summers.
        "<word>|愉快|快乐|美好|难忘|忙碌 > 的 <daypart>|<season word>|周末",
        "喜欢|最喜欢|喜爱|最爱|热爱|讨厌|期待|适合|怕 <daypart>|<season word>|<festival>|周末",
        "<season word>|<festival>|周末 快? 到|来 了|啦",
        # Ages and durations.
        "<relative year> 才|刚|都|快|已经|大概|也|就? <number> 岁|周岁",
        "<number> <month mark> <number> 次|回|趟",
        "周|星期|礼拜 <number>|<sunday> 综合征|综合症|恐惧症|病",
        # Addresses and what is numbered.
        "<festival>|<number>|<digits>? 路|街|巷|弄|胡同|大道|大街|村|里弄 <number> 号",
        "<festival> 路|街|广场|大道|村|小区|公园|小学|中学",
        "<nth> <month mark> <nth> <numbered>",
        "第|神舟|长征|嫦娥|天宫|天问|风云|东方红|空军|彩虹|生化|亚洲|天舟|玉兔|神州 <nth> 号",
        "<label> 是|为|叫? <figure>|<number>",
        "<two numbers> 日",
        f"周 <number>|<sunday> {_GIVEN}",
        # Points of a talk, of a game, of a curve.
        "第|这|那|了|有|满|扣|加|减|得|涨|跌|降|升|高|低|以下|如下|共|共有|总共|哪|最后|前|后|头 "
        "<number> 点 !钟 !半",
        "比分|比|以|赢|输|比例|比例尺|配比|诗篇 <clock>",
        "最近 的? <number> <measure> !<unit> !<span unit> !半",
        f"{_REIGNS} <number>|<digits> 年 <nth>? <month mark>? <nth>? 日|号?",
    )
] + [Rule("<number> 年 中|里", "word", _if_small)]
