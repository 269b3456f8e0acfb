"""Chinese periods: 上个月, 最近三天, 三季度, 去年夏天, 两周前; and the days: 上周三, 三天前, 国庆当天."""

from __future__ import annotations

from typing import Any

from huimem.when.chinese.dates import either
from huimem.when.chinese.numbers import TO
from huimem.when.expressions import (
    Ago,
    Between,
    Calendar,
    DayOfMonth,
    Days,
    EveryYear,
    Expression,
    Festival,
    Half,
    Nth,
    Quarter,
    SameTime,
    Season,
    Shifted,
    Stretch,
    Vague,
    Weekend,
    WeekNumber,
    WeekOf,
    Which,
    Whole,
    Within,
)
from huimem.when.grammar import Rule
from huimem.when.making import ago, ago_range, day_in, hence, itself, rolling, rolling_ahead

_N = "<number>|<amount>"
_YEAR = "<year>|<short year>"
_RECENT = "近|最近|过去|之前|刚过去|这过去|最近这|过去这"
_AGO = "前|之前|以前"
_HENCE = "后|之后|以后"
# After these a phrase may begin; elsewhere 后 and 前 belong to what was said before (毕业后两年).
_BEGIN = "<edge>|<lead in>|,"
_THIS_TIME = "这时候|这个时候|此时|这会儿|这个时间|此刻|这个点"


def _stepped(offset: int, unit: Any) -> Expression:
    if unit == "weekend":
        return _weekend(offset)
    return Calendar(unit, offset)


def _weekend(offset: int) -> Expression:
    """Weekends are counted as those of Monday weeks; this week's may still lie ahead."""
    return Which(Weekend(), "this") if offset == 0 else Within(Calendar("isoweek", offset), Weekend())


def _stepped_by(offset: int, count: float, unit: Any) -> Expression | None:
    """上两周 are two whole weeks before this one, 上一周 the one; 这三周 the last three up to now."""
    if abs(offset) > 1 or count != int(count) or not 1 <= count <= 1000 or (unit == "day" and count == 1):
        return None
    if offset == 0:
        return Calendar(unit, 0) if count == 1 else rolling(count, unit)
    return Calendar(unit, offset) if count == 1 else Whole(unit, int(count), ahead=offset > 0)


def _one(count: float | None, of: Expression) -> Expression | None:
    """上一个春节: only one is counted so."""
    return of if count in (None, 1) else None


def _stepped_weekday(offset: int, weekday: Expression) -> Expression:
    return Within(Calendar("isoweek", offset), weekday)


def _in(outer: Expression, pattern: Expression) -> Expression:
    return Within(outer, pattern)


def _ago_in(count: float, unit: Any, pattern: Expression) -> Expression | None:
    outer = ago(count, unit)
    return outer and Within(outer, pattern)


def _ago(count: float, unit: Any) -> Expression | None:
    """2018年之前 is before a year, not so many years ago."""
    return None if _a_year(count, unit) else ago(count, unit)


def _a_year(count: float, unit: Any) -> bool:
    return unit == "year" and count >= 1000


def _ago_pair(pair: tuple[int, int], unit: Any) -> Expression | None:
    return ago_range(pair[0], pair[1], unit)


def _rolling(count: float, unit: Any) -> Expression | None:
    return None if _a_year(count, unit) else rolling(count, unit)


def _before_now(count: float, unit: Any) -> Expression | None:
    """前一天 is the day before something else."""
    return None if count == 1 and unit == "day" else _rolling(count, unit)


def _hence(count: float, unit: Any) -> Expression | None:
    return None if _a_year(count, unit) else hence(count, unit)


# Windows and distances in numbers of units; they stand above years, so that 10年前 is no year 10.
COUNTED = [
    Rule(f"{_RECENT} 的|这? {_N} 个? <unit> 来|以来|内|之内|以内|里?", "period", (
        lambda n, a, unit: _rolling(either(n, a), unit))),
    Rule("近|最近 <number> 月", "period", lambda n: rolling(n, "month")),
    Rule(f"{_RECENT} 的|这? <amount> 月 来|以来|内|里?", "period", lambda n: rolling(n, "month")),
    Rule(f"{_RECENT} 的|这? <number> <unit> 半 来|以来|内|里?", "period", (
        lambda n, unit: rolling(n + 0.5, unit))),
    Rule("这 <amount> 个? <unit> 来|以来|里?", "period", rolling),
    Rule("<amount> 月 来|以来|内|之内|以内", "period", lambda n: rolling(n, "month")),
    Rule(f"<amount> 月 {_AGO}", "period", lambda n: ago(n, "month")),
    Rule("最近|过去 的? 个 <unit>", "period", lambda unit: rolling(1, unit)),
    Rule(f"{_BEGIN} > 前 {_N} 个? <unit>", "period", lambda n, a, unit: _before_now(either(n, a), unit)),
    Rule("花|用|拿|抽|耗 了? <number>|<amount> 个? <unit> 来|内?", "word", lambda *_: True),
    Rule(f"{_N} 个? 多? <clock unit> 内|之内|以内", "period", (
        lambda n, a, unit: _rolling(either(n, a), unit))),
    Rule(f"{_N} 个? 多? <day unit>|<week unit>|<month unit>|<year unit> 多? 来|以来|内|之内|以内", "period", (
        lambda n, a, *unit: _rolling(either(n, a), either(*unit)))),
    Rule(f"未来|接下来|今后|往后 的? {_N} 个? <unit> 内|里?", "period", (
        lambda n, a, unit: rolling_ahead(either(n, a), unit))),
    Rule(f"{_BEGIN} > 后 {_N} 个? <unit>", "period", lambda n, a, unit: rolling_ahead(either(n, a), unit)),
    *(
        Rule(f"{_N} 个? 多? <{unit}> 多? {_AGO}", kind, lambda n, a, unit: _ago(either(n, a), unit))
        for unit, kind in (
            ("week unit", "week"), ("month unit", "period"), ("year unit", "year"), ("unit", "day"),
        )
    ),
    Rule("<relative year> 前 <number> 个? 季度", "period", (
        lambda y, n: Stretch(Calendar("year", y), n, "quarter"))),
    Rule("<year4> 年 前 <number> 个? 季度", "period", lambda y, n: Stretch(y, n, "quarter")),
    Rule("前 <number> 季度", "bare period", lambda n: Stretch(EveryYear(), n, "quarter")),
    Rule(f"<number> <unit> 零? <number> <unit> {_AGO}", "day", ago),
    Rule(f"<number> <unit> 零|又? <number> <unit> 零? <number> <unit> {_AGO}", "day", ago),
    Rule(f"<two numbers> 个? <unit> {_AGO}", "day", _ago_pair),
    Rule(f"<dashed> 个? <unit> {_AGO}", "day", _ago_pair),
    Rule(f"<number> {TO} <number> 个? <unit> {_AGO}", "day", ago_range),
    Rule("<number> <unit> 半 前|之前|以前", "period", lambda n, unit: ago(n + 0.5, unit)),
    Rule(f"{_N} 个? <unit> {_AGO} 的? 今天|今日", "day", (
        lambda n, a, unit: Ago(((either(n, a), unit),), exact=True))),
    Rule(f"<number> 个? <unit> {_AGO} 的? {_THIS_TIME}", "day", lambda n, unit: SameTime(unit, -n)),
    Rule(f"<number> 个? <week unit> {_AGO} 的? <weekday>", "day", _ago_in),
    Rule(f"{_BEGIN} > {_N} 个? <unit> {_HENCE}", "day", lambda n, a, unit: _hence(either(n, a), unit)),
    Rule("后|起 <number> 个? <unit> 内|之内|以内|里|后", "word", lambda *_: True),
]  # fmt: skip
PERIODS = [
    Rule("<step> 个? <week unit>", "week", _stepped),
    Rule("<step> 个? <span unit>", "period", _stepped),
    Rule("<step> 个 <amount> 年", "period", lambda o, n: Calendar("half", o) if n == 0.5 else None),
    Rule("<step> <number>? 个 <number> 年", "period", (
        lambda o, one, n: _one(one, Calendar("decade", o)) if n == 10 else None)),
    Rule(f"{_RECENT} 的|这? <number> 个? 周末", "word", lambda n: True if n > 1 else None),
    Rule("<step> <number> 个? <span unit>|<day unit>|<year unit>", "period", (
        lambda o, n, *units: _stepped_by(o, n, either(*units)))),
    *(
        Rule(f"<step> 个? {word}", "period", lambda offset, unit=word: _stepped(offset, unit))
        for word in ("week", "weekend", "month", "quarter")
    ),
    *(
        Rule(f"{word} 周末", "period", lambda which=word: Which(Weekend(), which))
        for word in ("last", "this", "next")
    ),
    Rule("当 月", "period", lambda: Calendar("month", 0)),
    Rule("当 周", "week", lambda: Calendar("isoweek", 0)),
    Rule("周末", "weekend", Weekend),
    Rule("刚过去|刚过 的? 这? 个? 周末", "period", lambda: Which(Weekend(), "last")),
    # Quarters, halves, seasons.
    Rule("第? <nth> 季度", "bare period", lambda n: Quarter(n) if 1 <= n <= 4 else None),
    Rule(f"{_YEAR} 的? 第? <nth> 季度", "period", (
        lambda a, b, n: Within(either(a, b), Quarter(n)) if n <= 4 else None)),
    Rule("<short year> 的? <quarter code>", "period", lambda year, n: Within(year, Quarter(n))),
    Rule("<half word>", "bare period", Half),
    Rule(f"{_YEAR} 的? <half word>", "period", lambda a, b, n: Within(either(a, b), Half(n))),
    Rule("<season word>", "bare period", Season),
    Rule("这 个? <season>", "period", lambda first: Which(Season(first), "this")),
    Rule("上 <number>? 个? <season word>", "period", lambda n, first: _one(n, Which(Season(first), "last"))),
    Rule("下 <number>? 个? <season word>", "period", lambda n, first: _one(n, Which(Season(first), "next"))),
    Rule(f"{_YEAR} 的? <season>", "period", lambda a, b, n: Within(either(a, b), Season(n))),
    Rule("暑假|暑期", "bare period", lambda: Season(7, 2)),
    Rule("寒假", "bare period", lambda: Days((1, 11), (2, 20), fuzzy=True)),
    Rule(f"{_YEAR} 的? 暑假|暑期", "period", lambda a, b: Within(either(a, b), Season(7, 2))),
    Rule(f"{_YEAR} 的? 寒假", "period", (
        lambda a, b: Within(either(a, b), Days((1, 11), (2, 20), fuzzy=True)))),
    Rule(f"{_YEAR} 的? 第 <nth> 周|星期", "week", (
        lambda a, b, n: Within(either(a, b), WeekNumber(n)) if 1 <= n <= 53 else None)),
]  # fmt: skip


def _dated_day(of: Expression, day: Expression) -> Expression | None:
    """3号 of a month."""
    return day_in(day.day, of) if isinstance(day, DayOfMonth) and day.weekday is None else None


def _elsewhere(of: Any, make: Any) -> Expression | None:
    """The same day or time of another year, month or week."""
    return make(of.unit, of.offset) if isinstance(of, Calendar) and of.offset else None


DAYS = [
    Rule("<relative day>", "day", lambda n: Calendar("day", n)),
    Rule("<weekday>", "day", itself),
    Rule("今明两天", "range", lambda: Between(Calendar("day", 0), Calendar("day", 1))),
    Rule("昨今两天", "range", lambda: Between(Calendar("day", -1), Calendar("day", 0))),
    Rule("<relative day> ,? 是|就是? <weekday>|<weekend>|<holiday>", "day", lambda n, *_: Calendar("day", n)),
    Rule("<step> 个? <weekday>", "day", _stepped_weekday),
    Rule("<week> 的? <weekday>", "day", _in),
    Rule("<period> 的? <day>", "day", _dated_day),
    Rule("<date> ,? <holiday>", "date", lambda date, _: date),
    Rule("<date> ,? <weekday>", "date", lambda date, _: date),
    Rule("<date> <opens> <weekday> <closes>", "date", lambda date, *_: date),
    Rule("<weekday> ,? <date>", "date", lambda _, date: date),
    Rule("<weekday> <opens> <date> <closes>", "date", lambda _, __, date, ___: date),
    # The same day or time elsewhere.
    Rule("<period> 的? 今天|今日", "day", (
        lambda of: _elsewhere(of, lambda unit, n: Ago(((abs(n), unit),), ahead=n > 0, exact=True)))),
    Rule(f"<period> 的? {_THIS_TIME}", "day", lambda of: _elsewhere(of, SameTime)),
    Rule(f"<relative day> 的? {_THIS_TIME}", "moment", lambda n: SameTime("day", n) if n else None),
    # Weekdays counted within something.
    Rule("<period> 的? 第 <nth> 个? <weekday>", "day", lambda of, n, day: Nth(of, n, day)),
    Rule("<period> 的? 第二天", "day", lambda of: Nth(of, 2, "day")),
    Rule("<period> 的? 倒数 第二天", "day", lambda of: Nth(of, -2, "day")),
    Rule("<period> 的? 倒数 第 <nth> 个? <weekday>", "day", lambda of, n, day: Nth(of, -n, day)),
    Rule("<period> 的? 最后 <number>? 个? <weekday>", "day", lambda of, n, day: _one(n, Nth(of, -1, day))),
    # Holidays.
    Rule("上 <number>? 个? <holiday>", "day", lambda n, of: _one(n, Which(of, "last"))),
    Rule("下 <number>? 个? <holiday>", "day", lambda n, of: _one(n, Which(of, "next"))),
]  # fmt: skip


def _as(form: Any) -> Any:
    """The same holiday, its day or its period meant."""

    def make(holiday: Any) -> Expression | None:
        if isinstance(holiday, Festival):
            return holiday.but(form=form)
        if isinstance(holiday, Within | Which) and isinstance(holiday.pattern, Festival):
            return holiday.but(pattern=holiday.pattern.but(form=form))
        return None

    return make


def as_day(of: Expression) -> Expression:
    """A long holiday as its day where a time of day or a neighbour is told; all else as it is."""
    return _as("day")(of) or of


def _away_from(of: Expression, other: Expression) -> Expression | None:
    """Two weeks before 13 May: one day."""
    if not isinstance(other, Ago) or other.exact or other.most:
        return None
    return Shifted(as_day(of), other.amounts, other.ahead)


def _next_to(of: Expression, count: float, unit: Any, *, ahead: bool) -> Expression | None:
    return Shifted(as_day(of), ((count, unit),), ahead) if 0 < count < 1000 else None


def _nth_day(holiday: Any, n: int) -> Expression | None:
    """The n-th day of a long holiday; those of the spring festival are counted from its eve or its day."""
    period = _as("period")(holiday)
    told = holiday.pattern if isinstance(holiday, Within) else holiday
    return None if told == Festival("spring_festival", "long") else period and Nth(period, n, "day")


HOLIDAY_DAYS = [
    Rule("<holiday> 假期? 的? 第 <nth> 天", "day", _nth_day),
    Rule("<holiday> 假期? 的? 最后 <number>? 天", "day", (
        lambda of, n: _one(n, Nth(_as("period")(of), -1, "day")))),
    Rule("<number> 大促|购物节|活动|那天|当天|期间", "day", (
        lambda n: Festival("shopping_618") if n == 618 else None)),
    Rule("<holiday> 那天|当天|当日|那日|正日|这天|那一天", "day", _as("day")),
    Rule("<holiday> 期间|假期|长假|小长假|黄金周|的时候|那几天|这几天|放假|那阵子", "period", _as("period")),
    Rule("<holiday>|<date>|<day> 那|所在 的|个? <number>? 周|星期|礼拜", "week", (
        lambda *v: _one(v[-1], WeekOf(as_day(either(*v[:-1])), "isoweek")))),
    Rule("<holiday>|<date> 的? 前 <number> 个? <unit>", "day", (
        lambda a, b, n, u: _next_to(either(a, b), n, u, ahead=False))),
    Rule("<holiday>|<date> 的? 后 <number> 个? <unit>", "day", (
        lambda a, b, n, u: _next_to(either(a, b), n, u, ahead=True))),
    Rule("<holiday>|<date> 的? 第二天|次日|翌日|隔天|转天", "day", (
        lambda *of: _next_to(either(*of), 1, "day", ahead=True))),
    Rule("<holiday>|<date> 的? <day>|<week>|<period>", "day", (
        lambda a, b, *other: _away_from(either(a, b), either(*other)))),
]  # fmt: skip


# ── vague words ──

VAGUES = [
    Rule("<holiday>|<date> 的? 前两天", "day", lambda *of: _next_to(either(*of), 2, "day", ahead=False)),
    Rule("<vague word> !<number>", "vague", itself),
    Rule("<edge>|<lead in>|, > 以前|之前|早些时候", "vague", Vague),
]
