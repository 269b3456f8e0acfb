"""What time words mean, before anyone knows what day it is: small frozen records that nest.

A grammar builds them from words; `conventions` places them in time. Nothing here depends on a
language or on a clock. A *pattern* recurs (a Wednesday, 5 March, Christmas, three o'clock); `Within`
ties it to a named stretch, `Which` to the last, this or the next one, and alone it means the latest
one that has begun. Everything else is one place in time.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any, ClassVar, Literal, Self, dataclass_transform

# `week` begins on the day of the settings; a Chinese week and an `isoweek` always on Monday.
Unit = Literal[
    "second", "minute", "hour", "day", "weekend", "week", "isoweek", "fortnight", "month", "quarter",
    "half", "season", "year", "decade", "century",
]  # fmt: skip
Which_ = Literal["last", "past", "this", "next"]
FAR = 2200  # the first year that is rather a number of something, where no word says that it is a year


_MISSING: Any = object()


@dataclass_transform(frozen_default=True)
class Expression:
    """Anything that time words can mean: immutable, equal to one of its type with the same parts.

    Written out, since forty generated record classes would cost every start 20 ms.
    """

    __match_args__: ClassVar[tuple[str, ...]] = ()
    _defaults: ClassVar[tuple[Any, ...]] = ()

    def __init_subclass__(cls) -> None:
        names = tuple(cls.__annotations__)
        type.__setattr__(cls, "__match_args__", names)
        cls._defaults = tuple(getattr(cls, name, _MISSING) for name in names)

    def __init__(self, *values: Any, **named: Any) -> None:
        """The parts in order or by name. Raises TypeError for one too many or one that is missing."""
        names = self.__match_args__
        parts = values + self._defaults[len(values) :]
        if named:
            given = dict(zip(names, parts, strict=False)) | named
            parts = tuple(given.values())
        if len(parts) != len(names) or _MISSING in parts:
            raise TypeError(f"{type(self).__name__} is made of {', '.join(names)}")
        self.__dict__.update(zip(names, parts, strict=True))

    def but(self, **changes: Any) -> Self:
        """The same with other values for some parts."""
        return type(self)(**(self.__dict__ | changes))

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"{type(self).__name__} cannot be changed; make another with but()")

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self.__dict__ == other.__dict__

    def __hash__(self) -> int:
        return hash((type(self), *self.__dict__.values()))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{k}={v!r}' for k, v in self.__dict__.items())})"


class Calendar(Expression):
    """The calendar unit `offset` away from the present one: last week is −1, this month 0."""

    unit: Unit
    offset: int


class Year(Expression):
    number: int


class ShortYear(Expression):
    """A year of two figures: of the century that puts it at most ten years after the present one."""

    number: int


class Instant(Expression):
    """A moment of the clock, naive or with the offset it was written with."""

    at: datetime
    grain: Literal["minute", "second"]


class Decade(Expression):
    """The ten years from `first` on; one of two figures is of the nearest century, as years are."""

    first: int


class Century(Expression):
    """Century n is [(n − 1)·100, n·100)."""

    number: int


class Rolling(Expression):
    """`count` units up to the present, today included; `ahead`: from tomorrow on."""

    unit: Unit
    count: float
    ahead: bool = False


class Whole(Expression):
    """`count` whole calendar units before the present one, or after it."""

    unit: Unit
    count: int
    ahead: bool = False


Amount = tuple[float, Unit]


class Ago(Expression):
    """A point `amounts` back (or ahead), as wide as its unit; `exact`: the very day.

    `most`: the second number of "two or three days ago", 0 where there is none.
    """

    amounts: tuple[Amount, ...]
    ahead: bool = False
    most: float = 0
    exact: bool = False


class Shifted(Expression):
    """The day that lies `amounts` before or after the first day of `of`."""

    of: Expression
    amounts: tuple[Amount, ...]
    ahead: bool = False


class SameTime(Expression):
    """This time last year (the week), last month or week (the day), yesterday (the hour)."""

    unit: Unit
    offset: int


# ── patterns ──


class Weekday(Expression):
    """0 is Monday. `week` says what "this" and "next" count in."""

    day: int
    week: Unit = "week"


class Weekend(Expression):
    """Saturday and Sunday."""


class Month(Expression):
    """A month of any year; 0 is the month of the present day."""

    number: int


class MonthDay(Expression):
    month: int
    day: int


class DayOfMonth(Expression):
    """The n-th of any month; with `weekday`, only of those where it falls on that day."""

    day: int
    weekday: int | None = None


class EveryMonth(Expression):
    """Any month: what "month end" without a month is a part of."""


class EveryYear(Expression):
    """Any year: what "year end" without a year is a part of."""


class Quarter(Expression):
    number: int


class Half(Expression):
    """Half of a year, 1 or 2."""

    number: int


class Season(Expression):
    """By its first month: 3 spring, 6 summer, 9 autumn, 12 winter; `months` long."""

    first: int
    months: int = 3


class Days(Expression):
    """A stretch of a year from month-day to month-day, both inside (winter holidays)."""

    first: tuple[int, int]
    last: tuple[int, int]
    fuzzy: bool = False


class WeekNumber(Expression):
    """An ISO week of any year, with `weekday` (0 is Monday) one day of it."""

    number: int
    weekday: int | None = None


class Festival(Expression):
    """A holiday by its name in the holidays' table: its day, its period, its weekend.

    `long`: its bare name means the period, and the day as well may be meant. `also`: another holiday
    that the name may mean.
    """

    name: str
    form: Literal["day", "long", "period", "weekend"] = "day"
    also: str = ""


class Lunar(Expression):
    """A date of the lunar calendar; day 0 is the whole month."""

    month: int
    day: int = 0
    leap: bool = False


# ── times of day ──


class Clock(Expression):
    """A time on a clock; its grain is the smallest part given. `shift` counts days to add.

    `twelve`: a daypart beside it may mean the hour twelve hours away; `unsure`: even alone it may.
    """

    hour: int
    minute: int | None = None
    second: int | None = None
    shift: int = 0
    twelve: bool = False
    unsure: bool = False


class Daypart(Expression):
    """Local hours [start, end) of a day; an end above 24 lies on the next one."""

    start: float
    end: float
    night: bool = False


class ClockRange(Expression):
    """From one time to another; an end that is not later is the next day's."""

    start: Clock
    end: Clock


class ClockSpan(Expression):
    """A time and how long from there, in seconds."""

    start: Clock
    seconds: int


TimeOfDay = Clock | Daypart | ClockRange | ClockSpan


class SpokenToday(Expression):
    """Today as who is still awake after midnight means it: before 05:00 it may be yesterday."""


class Moment(Expression):
    """A time of day on a day; without one, on the latest day on which it has begun."""

    day: Expression | None
    time: TimeOfDay


# ── what is built of others ──


class Within(Expression):
    """The one `pattern` inside a named stretch: March of last year, Friday of that week."""

    outer: Expression
    pattern: Expression


class Which(Expression):
    """The last (complete), past, this or next one; `back` counts further ones back."""

    pattern: Expression
    which: Which_
    back: int = 0


class Part(Expression):
    """Early, middle or late: thirds of a month, parts of a year, of a week; `turn` is 年初/年底."""

    of: Expression
    which: Literal["early", "mid", "late", "first half", "second half"]
    turn: bool = False


class Nth(Expression):
    """The n-th week, weekday, day, month … of `of`, from its end where n is negative."""

    of: Expression
    n: int
    unit: Unit | Weekday


class Stretch(Expression):
    """The first n units of `of`, or the last where n is negative."""

    of: Expression
    n: int
    unit: Unit


class WeekOf(Expression):
    """The calendar week that holds the first day of `of`."""

    of: Expression
    week: Unit = "week"


class Between(Expression):
    """From the start of one to the end of the other, the last unit inside."""

    first: Expression
    last: Expression


class Open(Expression):
    """since [X.start, …), after [X.end, …), before […, X.start), until […, X.end)."""

    side: Literal["since", "after", "before", "until"]
    of: Expression


class Bounded(Expression):
    """After one and before the other: between two open ends."""

    after: Open
    before: Open


class SoFar(Expression):
    """From the start of X until today, today inside; `until_now`: until this moment."""

    of: Expression
    until_now: bool = False


class About(Expression):
    """The same range, said to be inexact."""

    of: Expression


class Vague(Expression):
    """No range; a window for a scan from `back` ago to `until` ago. None: no window at all.

    Days include today where `until` is zero days.
    """

    back: Amount | None = None
    until: Amount = (0, "day")
