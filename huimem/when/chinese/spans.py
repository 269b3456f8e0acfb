"""Chinese compositions: parts of periods, moments of days, ranges, open ends, vague words."""

from __future__ import annotations

from typing import Any

from huimem.when.chinese.dates import either
from huimem.when.chinese.numbers import TO
from huimem.when.chinese.periods import as_day
from huimem.when.expressions import (
    About,
    Between,
    Bounded,
    Calendar,
    DayOfMonth,
    Daypart,
    EveryMonth,
    EveryYear,
    Expression,
    Lunar,
    Moment,
    Month,
    MonthDay,
    Nth,
    Open,
    Part,
    SoFar,
    Stretch,
    Within,
)
from huimem.when.grammar import Rule
from huimem.when.making import anytime, between, itself, nth_of, open_, refined, today_at, word

_YEAR = "<year>|<short year>"


def _part(of: Expression, which: Any) -> Expression:
    return Part(of, which, turn=True)


def _last(of: Expression, count: float, *units: Any) -> Expression | None:
    return _stretch(of, -count, *units)


def _stretch(of: Expression, count: float, *units: Any) -> Expression | None:
    """The first so many units of something, the last where the number is negative."""
    return Stretch(of, int(count), either(*units)) if count and abs(count) < 1000 else None


def _nth(of: Expression, n: int, unit: Any) -> Expression | None:
    return nth_of(n, unit, of)


PARTS = [
    Rule("<period> 的? <turn> !<nth>", "period", _part),
    Rule(f"{_YEAR} 的? 年 <turn> !<nth>", "period", lambda a, b, which: _part(either(a, b), which)),
    Rule("<short year> 年? <turn>", "period", _part),
    Rule("年 <turn> !<nth>", "bare period", lambda which: _part(EveryYear(), which)),
    Rule("月 <turn> !<nth>", "bare period", lambda which: _part(EveryMonth(), which)),
    Rule("<period> 的? <third>", "period", _part),
    Rule("<third>", "bare period", lambda which: _part(EveryMonth(), which)),
    Rule("<period> 的? 第 <nth> 个? <unit>", "day", _nth),
    Rule("<period> 的? 第 <nth> 个? <week unit>", "week", _nth),
    Rule("<period> 的? 第 <nth> 个? <weekend>", "period", lambda of, n, _: Nth(of, n, "weekend")),
    Rule("<period> 的? 倒数 第 <nth> 个? <unit>", "day", lambda of, n, unit: _nth(of, -n, unit)),
    Rule("<period> 的? 最后 <number>? 个? <unit>", "day", lambda of, n, unit: _final(of, n or 1, unit)),
    Rule("<period> 的? 最后 <number>? 个? <week unit>", "week", lambda of, n, unit: _final(of, n or 1, unit)),
    Rule("<period> 的? 最后 <number>? 个? <weekend>", "period", lambda of, n, _: Nth(of, -1, "weekend")),
    Rule("<period> 的? 前|头 <number> 个? <unit>", "period", _stretch),
    Rule("<period> 的? 后|末 <number> 个? <unit>", "period", _last),
]  # fmt: skip


def _final(of: Expression, count: float, unit: Any) -> Expression | None:
    """The last week or day of something; of several units the stretch."""
    return _nth(of, -1, unit) if count == 1 else _stretch(of, -count, unit)


# ── moments ──


def _at(day: Expression, part: Daypart) -> Expression:
    """The part of a day; of today it may be that of the day just ended."""
    return today_at(part) if day == Calendar("day", 0) else Moment(as_day(day), part)


def _of_day(value: tuple[int, Daypart]) -> Expression:
    return _at(Calendar("day", value[0]), value[1])


def _deeper(value: tuple[int, Daypart], part: Daypart) -> Expression:
    """昨晚凌晨 is after midnight, so the next date; 昨晚深夜 is a part of the same night."""
    day, whole = value
    return _at(Calendar("day", day + (whole.night and part.end <= whole.end - 24 + 1)), part)


MOMENTS = [
    Rule("<day> 的? ,? <daypart>|<close daypart>", "day part", lambda day, a, b: _at(day, either(a, b))),
    Rule("<day with part> 上?", "day part", _of_day),
    Rule("<day with part> 的? <daypart>", "day part", _deeper),
    Rule("<day> 那天|当天|那日|这天 的? <daypart>", "day part", _at),
    Rule("<daypart>", "day part", anytime),
    Rule("<period> 的? <daypart>", "period", lambda of, _: of),
]


def _like(first: Any, second: Any) -> Expression | None:
    """去年三月和五月, 3月5号和6号: what the first of two says serves the second too."""
    if isinstance(first, Moment) and isinstance(second, Moment):
        return Moment(first.day, second.time) if first.day is not None and second.day is None else None
    outer, pattern = (first.outer, first.pattern) if isinstance(first, Within) else (None, first)
    if isinstance(pattern, MonthDay) and isinstance(second, DayOfMonth) and second.weekday is None:
        second = MonthDay(pattern.month, second.day)
        return second if outer is None else Within(outer, second)
    alike = type(pattern) is type(second) or {type(pattern), type(second)} == {Month, MonthDay}
    return Within(outer, second) if outer is not None and alike and not isinstance(second, Within) else None


ALIKE = Rule("<time>= 、|和|与|跟|及|同|以及 > <time>", "time", _like)
_CLOCK = "<clock>|<clock range>"
TIMES = [
    Rule(f"<day> 的? ,? {_CLOCK}", "moment", lambda day, a, b: Moment(as_day(day), either(a, b))),
    Rule(f"<day part> 的? ,? {_CLOCK}", "moment", lambda base, a, b: refined(base, either(a, b))),
    Rule("<clock>", "clock time", anytime),
    Rule("<clock range>", "moment", anytime),
    ALIKE,
]

# ── ranges and open ends ──

_NOW = "至今|到现在|迄今|到目前|直到现在|到如今|到今天为止|到现在为止|到目前为止|至今为止"
_FROM = "从|自|打|自从"
_BEFORE = "之前|以前|前|前夕"
_AFTER = "之后|以后|后|过后"

RANGES = [
    ALIKE,
    Rule(f"{_FROM}? <time> 开始|起 到|至|一直到|直到 <time> 为止|止?", "range", between),
    Rule(f"{_FROM}|在? <time> 一直到|直到 <time> 为止|止?", "range", between),
    Rule(f"{_FROM}|在? <time> {TO} 初 <nth>", "range", lambda first, n: Between(first, Lunar(1, n))),
    Rule(f"{_FROM}|在? <time> {TO} <time> 为止|止|期间|之间|这段时间?", "range", between),
    Rule("在? <time> 和|与|跟|同|及 <time> 之间|间", "range", between),
    Rule("<year> 到|至|- <short year>", "range", between),
    Rule("从 <short year> 到|至|- <short year>", "range", between),
]
EDGES = [
    Rule(f"{_FROM}? <time> {_NOW}", "edge", SoFar),
    Rule(f"{_FROM} <time> 开始|起|算起 {_NOW}", "edge", SoFar),
    Rule("<time> 早些时候|早先|早前", "time", lambda of: SoFar(of, until_now=of == Calendar("day", 0))),
    Rule(f"{_FROM}? <time> 以来|起|开始|算起", "edge", lambda of: _since(of)),
    Rule("自|自从 <time>", "edge", lambda of: open_("since", of)),
    Rule("从 <time>", "time", itself),
    Rule(f"在? <time> {_AFTER} !<number>", "edge", lambda of: open_("after", of)),
    Rule(f"在? <time> {_BEFORE} !<number>", "edge", lambda of: open_("before", of)),
    Rule("到|截至|截止|截止到|截至到|直到 <time> 为止|止", "edge", lambda of: open_("until", of)),
    Rule("截至|截止|截止到|截至到|直到 <time>", "edge", lambda of: open_("until", of)),
    Rule("<time> 为止", "edge", lambda of: open_("until", of)),
    Rule("包括? <time> 及|或|及其|或者 以前|之前", "edge", lambda of: open_("until", of)),
    Rule("包括? <time> 及|或|及其|或者 以后|之后", "edge", lambda of: open_("since", of)),
    Rule("不晚于|不迟于 <time>", "edge", lambda of: open_("until", of)),
    Rule("不早于 <time>", "edge", lambda of: open_("since", of)),
    Rule("早于 <time>", "edge", lambda of: open_("before", of)),
    Rule("晚于 <time>", "edge", lambda of: open_("after", of)),
    Rule("在? <time> 之后|以后|后 ,|到|至|且|但|、? 在? <time> 之前|以前|前", "edge", (
        lambda a, b: Bounded(Open("after", a), Open("before", b)))),
    Rule("<time> 左右|前后|上下|附近", "time", About),
    Rule("大概|大约|差不多|大致|约莫|大概是 <time>", "time", About),
    # Sets and any ones.
    Rule(
        "每|逢|每个|每逢|每到|每隔|每到了|every|each|天天|年年 <number>? 个? <unit>|<span "
        "unit>|晚|早|早晨? 的? <time>",
        "word", word,
    ),
    Rule("每|逢|每个|每逢|每到|每隔 <time> 和|、|与|跟|及 <time>", "word", word),
    Rule(
        "那天|那一天|那日|当天|当日|有天|某天|第二天|次日|翌日|那次|这天 的? "
        "<day part>|<moment>|<clock time>",
        "word", word,
    ),
    Rule("前|后|头 <number> 天 的? <day part>|<moment>", "word", word),
    Rule(
        "哪|某|那个|那年|那一年|工作日|平日|休息日|节假日|哪个|某个|有个|任何|任意|随便"
        "|一般|通常|平时|往常|经常|习惯|总是 的? <number>? 个? <time>",
        "word", word,
    ),
]  # fmt: skip


def _since(of: Expression) -> Expression | None:
    """今年以来 ends today, 去年以来 is open."""
    return SoFar(of) if isinstance(of, Calendar) and of.offset == 0 else open_("since", of)
