"""Numbers, clocks, dates and telephones in a text → the one term that every way of writing them shares.

Pure, over folded text. The term is the way of writing that can mean nothing else: 15:00, 12000,
2026-04-08; a day without a year is --04-08, as ISO 8601 wrote it, which no word looks like.
Left alone because they mean different things to different people: 3:00 of an afternoon, 4/8/2026,
1.2k, Chinese numerals below a hundred.
"""

from __future__ import annotations

import re
from calendar import monthrange
from collections.abc import Callable
from decimal import Decimal
from typing import NamedTuple


class Form(NamedTuple):
    """A value where it stands in the text. `whole`: its own words add nothing to its terms."""

    start: int
    end: int
    terms: tuple[str, ...]
    whole: bool


_DIGITS = {c: n for n, c in enumerate("零一二三四五六七八九")} | {"〇": 0, "两": 2}
_DIGITS |= {str(n): n for n in range(10)}
_UNITS = {"十": 10, "百": 100, "千": 1_000, "万": 10_000, "亿": 100_000_000}
_N = "0-9〇零一二两三四五六七八九十"
_NAMES = """
january=1 jan=1 february=2 feb=2 march=3 mar=3 april=4 apr=4 may=5 june=6 jun=6 july=7 jul=7 august=8 aug=8
september=9 sept=9 sep=9 october=10 oct=10 november=11 nov=11 december=12 dec=12
"""
_MONTHS = {name: int(month) for name, month in (pair.split("=") for pair in _NAMES.split())}
_MONTH = "|".join(sorted(_MONTHS, key=len, reverse=True))
_MONTH_BEFORE = re.compile(rf"(?<![a-z])({_MONTH})\.? $", re.I)
_DAYPART_BEFORE = re.compile(
    r"(凌晨|清晨|早上|早晨|今早|明早|上午|中午|下午|傍晚|晚上|今晚|明晚|昨晚|半夜|夜里|午夜) ?$"
)
_MORNING = frozenset(("清晨", "早上", "早晨", "今早", "明早", "上午"))
_NIGHT = frozenset(("晚上", "今晚", "明晚", "昨晚", "半夜", "夜里", "午夜"))

# Figures, and then what makes a form of them. Both begin with the characters they are found by, and
# each branch with its own, so that text without forms is passed over quickly.
_AFTER_MONTH = "[yhletrnbgpvcYHLETRNBGPVC.]\\ "
_IN_FIGURES = rf"""
      :[0-5][0-9](?:(?P<half>\ ?[aApP](?:[mM]\b|\.[mM]\b))|(?P<time>(?![:0-9])))
    | \ ?[aApP](?P<full>[mM]\b|\.[mM]\b)
    | (?P<sep>[-/.])(?P<iso>(?<=[0-9]{{4}}.)[0-9]{{1,2}}(?P=sep)[0-9]{{1,2}}(?![0-9]))
    | (?P<grouped>(?:-[0-9]++)++(?![A-Za-z0-9_])
        | (?<=\([0-9]{{3}})\)\ ?[0-9]{{3}}-[0-9]{{4}}(?![-0-9])
        | (?<=1[3-9][0-9])(?:\ [0-9]{{4}}){{2}}(?!\ ?[0-9])
        | (?<=[0-9]{{4}})(?:\ [0-9]{{4}}){{3}}(?!\ ?[0-9]))
    | \.00(?P<cents>(?![.0-9]))
    | [kK](?P<kilo>\b)
    | (?:st|nd|rd|th)?\ (?:of\ )?(?P<dayfirst>(?i:{_MONTH})\b\.?(?:,?\ [12][0-9]{{3}}\b)?)
    | (?:(?<={_AFTER_MONTH}[0-9])|(?<={_AFTER_MONTH}[0-9][0-9]))
      (?P<monthfirst>(?:st|nd|rd|th)?\b(?:,?\ [12][0-9]{{3}}\b(?![-/.:][0-9]))?)
"""
_IN_HAN = rf"""
      (?P<year>(?<=[〇零一二三四五六七八九]{{4}})(?=年)(?!年\ ?[{_N}]{{1,2}}\ ?月\ ?[{_N}]{{1,3}}\ ?[日号]))
    | \ ?年\ ?[{_N}]{{1,2}}\ ?月\ ?[{_N}]{{1,3}}\ ?(?P<date>[日号])
    | \ ?月\ ?[{_N}]{{1,3}}\ ?(?P<day>[日号])
    | \ ?点(?P<clock>半|[一1三3]刻|[{_N}]{{2,3}}分?|[{_N}]分|整|钟|)
    | (?:\.[0-9]{{1,8}})?(?P<amount>[百千万亿][{_N}百千万亿]*+(?![多来几余数.]))
"""
_ASCII_FORM = re.compile(rf"[0-9](?<![0-9A-Za-z.:][0-9])[0-9]{{0,11}}+(?:{_IN_FIGURES})", re.X)
_FORM = re.compile(
    rf"[{_N}](?<![0-9A-Za-z.:〇零一二两三四五六七八九十百千万亿第][{_N}])[{_N}]{{0,11}}+"
    rf"(?:{_IN_HAN}|{_IN_FIGURES})",
    re.X,
)
_HAN_MARK = re.compile("[年月点百千万亿]")
_FIGURES = re.compile(r"\d+", re.ASCII)
_WORDS = re.compile(r"[A-Za-z]+")
_GROUPED = range(9, 21)  # figures of a telephone, a card, an ISBN
_SPAN = re.compile(r"(?:19|20)\d\d(?:\d{4})?\D", re.ASCII)  # years or days, from one to another
_FROM_ABROAD = re.compile(r"86-(?=1[3-9]\d-?\d{4}-?\d{4}$)|1-(?=\d{3}-\d{3}-\d{4}$)", re.ASCII)
_DECIMAL = re.compile(r"\d{1,12}\.\d{1,8}[百千万亿]", re.ASCII)


def forms(text: str) -> list[Form]:
    """The values in a folded text in order, none inside another."""
    han = not text.isascii() and _HAN_MARK.search(text)
    if not han and not any(map(text.__contains__, "1203456789")):
        return []
    return [
        form
        for found in (_FORM if han else _ASCII_FORM).finditer(text)
        if (form := _READERS[found.lastgroup or ""](found))
    ]


def _clock(found: re.Match[str]) -> Form | None:
    """下午三点半; without a part of the day only hours past noon say which half of it they mean."""
    hours, _, rest = found[0].partition("点")
    hour = number(hours.strip())
    past = {"": 0, "半": 30, "整": 0, "钟": 0}.get(rest)
    if past is None:
        past = 15 * _DIGITS.get(rest[0], 1) if rest.endswith("刻") else number(rest.rstrip("分"))
    return _at(found, hour, past)


def _time(found: re.Match[str]) -> Form | None:
    hour, minute = map(number, found[0].split(":"))
    return _at(found, hour, minute, plain=True)


def _at(found: re.Match[str], hour: int | None, minute: int | None, plain: bool = False) -> Form | None:
    """The clock form with the part of the day that stands before it, None where that gives no time.

    `plain`: figures as on a digital clock, which say the hour by themselves.
    """
    if hour is None or minute is None or hour > 24 or minute > 59:
        return None
    start = found.start()
    part = _DAYPART_BEFORE.search(found.string, max(start - 3, 0), start)
    if part is None:
        return _timed(start, found.end(), hour, minute) if plain or hour > 12 else None
    if part[1] in _NIGHT:
        hour = hour + 12 if 5 <= hour < 12 else hour % 24 if hour != 12 else 0
    elif part[1] == "凌晨":
        hour = hour % 12 if hour <= 12 else hour
    elif part[1] not in _MORNING and (hour < 11 or (hour < 12 and part[1] != "中午")):
        hour += 12
    return _timed(part.start(), found.end(), hour, minute)


def _timed(start: int, end: int, hour: int, minute: int) -> Form | None:
    return Form(start, end, (f"{hour % 24:02}:{minute:02}",), True) if hour <= 24 else None


def _half(found: re.Match[str]) -> Form | None:
    """3pm, 3:30 p.m."""
    hour, *minute = map(int, _FIGURES.findall(found[0])) if found[0].isascii() else (0,)
    if not 1 <= hour <= 12:
        return None
    noon = 12 if "p" in found[0].lower() else 0
    return _timed(found.start(), found.end(), hour % 12 + noon, minute[0] if minute else 0)


def _amount(found: re.Match[str]) -> Form | None:
    value = number(found[0])
    return None if value is None else Form(found.start(), found.end(), (str(value),), True)


def _grouped(found: re.Match[str]) -> Form | None:
    """139-0571-2288, (415) 555-0132: the figures alone, without what calls China or America from abroad."""
    written = found[0]
    abroad = _FROM_ABROAD.match(written)
    figures = "".join(_FIGURES.findall(written, abroad.end() if abroad else 0))
    if not written.isascii() or len(figures) not in _GROUPED or _SPAN.match(written):
        return None
    return Form(found.start(), found.end(), (figures,), True)


def _cents(found: re.Match[str]) -> Form | None:
    """$1200.00; a single figure before the point is a version as often as a sum."""
    whole = number(found[0][:-3]) or 0
    return Form(found.start(), found.end(), (str(whole),), True) if whole > 9 else None


def _kilo(found: re.Match[str]) -> Form | None:
    """10k is ten thousand; 4k and 401k are names too, so their own words stay beside the number."""
    thousands = number(found[0][:-1])
    if not thousands or thousands > 999:
        return None
    return Form(found.start(), found.end(), (f"{thousands}000",), False)


def _year(found: re.Match[str]) -> Form:
    return Form(found.start(), found.end(), (str(number(found[0])),), True)


def _iso(found: re.Match[str]) -> Form | None:
    year, month, day = (number(part) or 0 for part in re.split("[-/.]", found[0]))
    return _dated(found.start(), found.end(), year, month, day) if year else None


def _day(found: re.Match[str]) -> Form | None:
    values = [number(part.strip()) for part in re.split("[年月日号]", found[0])[:-1]]
    year, month, day = values if len(values) == 3 else (0, *values)
    if year is None or month is None or day is None:
        return None
    return _dated(found.start(), found.end(), year, month, day)


def _day_first(found: re.Match[str]) -> Form | None:
    """8 April 2026, 8th of April."""
    month = next(word for word in _WORDS.findall(found[0]) if word.lower() in _MONTHS)
    return _english(found, month, found.start())


def _month_first(found: re.Match[str]) -> Form | None:
    """April 8th, 2026."""
    before = _MONTH_BEFORE.search(found.string, max(found.start() - 11, 0), found.start())
    return _english(found, before[1], before.start()) if before else None


def _english(found: re.Match[str], month: str, start: int) -> Form | None:
    if month in ("may", "mar") or not found[0].isascii():  # in small letters they are verbs
        return None
    day, *year = map(int, _FIGURES.findall(found[0]))
    return _dated(start, found.end(), year[0] if year else 0, _MONTHS[month.lower()], day)


def _dated(start: int, end: int, year: int, month: int, day: int) -> Form | None:
    """A day, year 0 = none said; None for a day that no calendar holds. Its own words stay beside it."""
    if not 1 <= month <= 12 or not 1 <= day <= 31 or (year and not 1000 <= year < 10_000):
        return None
    if day > monthrange(year or 2000, month)[1]:
        return None
    short = f"--{month:02}-{day:02}"
    return Form(start, end, (f"{year:04}{short[1:]}", short) if year else (short,), False)


_READERS: dict[str, Callable[[re.Match[str]], Form | None]] = {
    "iso": _iso,
    "grouped": _grouped,
    "date": _day,
    "day": _day,
    "year": _year,
    "clock": _clock,
    "half": _half,
    "full": _half,
    "time": _time,
    "amount": _amount,
    "cents": _cents,
    "kilo": _kilo,
    "dayfirst": _day_first,
    "monthfirst": _month_first,
}


def number(text: str) -> int | None:
    """The whole number that figures or Chinese numerals write, mixed ones too; None for anything else.

    A last numeral counts in the tenth of the unit before it: 一千二 is 1200, 一千零二 is 1002.
    """
    if not text:
        return None
    if "." in text:
        if not _DECIMAL.fullmatch(text):
            return None
        value = Decimal(text[:-1]) * _UNITS[text[-1]]
        return int(value) if value == int(value) else None
    if _UNITS.keys().isdisjoint(text):
        return int("".join(str(_DIGITS[c]) for c in text)) if _DIGITS.keys() >= set(text) else None
    total, section, figure, last = 0, 0, "", 1
    for c in text:
        unit = _UNITS.get(c, 1)
        if unit == 1:
            figure += str(_DIGITS[c])
            continue
        if unit < 10_000:
            section += int(figure or 1) * unit
        elif unit == 10_000:
            total, section = total + (section + int(figure or 0)) * unit, 0
        else:
            total, section = (total + section + int(figure or 0)) * unit, 0
        figure, last = "", unit
    rest = int(figure or 0)
    return total + section + (rest * last // 10 if len(figure) == 1 and last > 10 else rest)
