"""Chinese numerals, weekdays and clock times: 二十三, 二〇二五, 两三; 周三; 三点一刻, 差五分八点."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from huimem.when.clocks import clock_range, figures, hour
from huimem.when.expressions import Clock, ClockRange, Expression, Weekday, Weekend, Year
from huimem.when.grammar import Rule

_FIGURES = {figure: value for value, figure in enumerate("零一二三四五六七八九")} | {"〇": 0, "两": 2}
_TENS = {"十": 10, "百": 100, "千": 1000}
_WHOLE_TENS = {"廿": 20, "卅": 30}
TO = "到|至|-|(- -)"


def number(text: str) -> Mapping[str, Any]:
    """What a group of Chinese figures may be: a number, figures one by one, or one or the other."""
    if len(text) == 1 or not _FIGURES.keys() >= set(text):
        return _one(text)
    if "两" in text:
        return {"<two numbers>": (2, 3)} if text == "两三" else {}
    digits = "".join(str(_FIGURES[figure]) for figure in text)
    values: dict[str, Any] = {"<spelled digits>": digits, "<digits>": digits}
    if len(digits) == 4 and digits >= "1000":
        values["<year4>"] = Year(int(digits))
    if len(digits) == 2 and digits[0] == "0":
        values["<number>"] = values["<nth>"] = int(digits)
    if len(digits) == 2 and 0 < int(digits[0]) == int(digits[1]) - 1:
        values["<two numbers>"] = (int(digits[0]), int(digits[1]))
    return values


def _one(text: str) -> Mapping[str, Any]:
    value = _sum(text)
    if value is None:
        return {}
    kinds = ("<number>", "<count>") if text == "两" else ("<number>", "<count>", "<nth>")
    return dict.fromkeys(kinds, value)


def _sum(text: str) -> int | None:
    """三百二十五: each figure with its ten, hundred or thousand, which only fall; None for no such number."""
    total, figure, least = 0, None, 10_000
    for character in text:
        if character in _FIGURES:
            if figure:  # two figures in a row
                return None
            figure = _FIGURES[character]
            continue
        size = _TENS.get(character, 10)
        if size >= least:
            return None
        least = size
        total += _WHOLE_TENS.get(character) or size * (1 if figure is None else figure)
        figure = None
    return total + (figure or 0)


# ── weekdays ──


def _weekday(figure: int) -> Expression | None:
    return Weekday(figure - 1, "isoweek") if 1 <= figure <= 6 else None


def _sunday(day: int) -> Expression:
    return Weekday(day, "isoweek")


def _halved(count: float) -> float | None:
    return count + 0.5 if count >= 1 else None


NUMBERS = [
    Rule(
        "周|星期|礼拜 <number> !<counted> !<day unit> !<month unit> !<year unit> !<clock unit>",
        "weekday",
        _weekday,
    ),
    Rule("周|星期|礼拜 <sunday>", "weekday", _sunday),
    Rule(
        "周|星期|礼拜 <number> 、? <sunday>",
        "weekend",
        (lambda figure, _: Weekend() if figure == 6 else None),
    ),
    Rule("<number> 个 半", "amount", _halved),
    Rule("半 个? &<unit>", "amount", lambda: 0.5),
    Rule("<decimal>", "amount", lambda value: value),
]


# ── clock times ──


def _quarters(hours: int, count: int) -> Clock | None:
    return hour(hours, 15 * count) if 1 <= count <= 3 else None


def _before(minutes: int, hours: int) -> Clock | None:
    """So many minutes to an hour."""
    return hour(hours - 1 or 12, 60 - minutes) if 1 <= hours <= 24 and 0 < minutes < 60 else None


def _spoken_minutes(hours: int, minutes: int) -> Clock | None:
    """Minutes without their word: ten or more, so that 三点五 is no time."""
    return hour(hours, minutes) if minutes >= 10 else None


def _from_hour(first: int, last: Clock | None) -> ClockRange | None:
    """Three to five o'clock: the word said once serves both ends."""
    start = hour(first)
    return clock_range(start, last) if start and last else None


_TOLD = "<daypart>|<close daypart>|<relative day>|<day with part>|<weekday>|<festival>|日|号"
_PARTED = "<daypart>|<close daypart>|<day with part>"
_BARE = "!<points> !<measure> !<number> !<digits> !<unit>"


def _padded_minutes(hours: int, minutes: str) -> Clock | None:
    return hour(hours, int(minutes)) if len(minutes) == 2 and minutes[0] == "0" else None


def _whole(number: float, _: Any) -> bool | None:
    """A whole afternoon is a duration."""
    return True if number == 1 else None


CLOCKS = [
    # Alone 点 is also a remark and 一点 "a bit".
    Rule(f"<number> 点 {_BARE}", "clock", lambda hours: hour(hours) if hours != 1 else None),
    Rule(f"{_TOLD}|到|至|从 > <number> 点 {_BARE}", "clock", hour),
    # Behind a part of a day it is a clock, whatever else 面 or 部 count: 下午四点面试.
    Rule(f"{_PARTED} > <number> 点 !<points> !<number> !<digits>", "clock", hour),
    Rule("<number> 点 &到 &至 &-", "clock", hour),
    Rule("<number> 点钟|点整|点正|点多钟|点来钟", "clock", hour),
    Rule("<number> 点多", "clock", lambda hours: hour(hours) if hours != 1 else None),
    Rule("<number> <daypart>", "word", _whole),
    Rule("<number> 点 半 !<unit>", "clock", lambda hours: hour(hours, 30)),
    Rule("<number> 点|时 <number> 刻", "clock", _quarters),
    Rule("<number> 点|点钟 零? <number> 分", "clock", hour),
    Rule("<number> 点 <number> !<unit> !<measure> !点 !月 !号", "clock", _spoken_minutes),
    Rule("<number> 点 <digits> 分? !<measure>", "clock", _padded_minutes),
    Rule("<number> 点 <number> 分 <number> 秒", "clock", hour),
    Rule("<number> 时 整? !<measure>", "clock", figures),
    Rule("<number> 时 <number> 分", "clock", figures),
    Rule("<number> 时 <number> 分 <number> 秒", "clock", figures),
    Rule("差 <number> 分|分钟 <number> 点", "clock", _before),
    Rule("<number> 点 差 <number> 分|分钟", "clock", lambda hours, minutes: _before(minutes, hours)),
    Rule("差 <number> 刻 <number> 点", "clock", lambda count, hours: _before(15 * count, hours)),
    Rule("<number> 点 差 <number> 刻", "clock", lambda hours, count: _before(15 * count, hours)),
]
CLOCK_RANGES = [
    Rule(f"<clock> {TO} <clock>", "clock range", clock_range),
    Rule(f"<number> {TO} <clock>", "clock range", _from_hour),
    Rule("<dashed> 点|点钟", "clock range", lambda ends: _from_hour(ends[0], hour(ends[1]))),
]
