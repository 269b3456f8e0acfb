"""English words of time, by kind. Variants of one word are joined by `|`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from huimem.when.expressions import Daypart


def _listed(words: str) -> list[str]:
    return words.split()


_ONES = _listed("one two three four five six seven eight nine")
_TEENS = _listed("ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen")
_TENS = _listed("twenty thirty forty fifty sixty seventy eighty ninety")
_FIRSTS = _listed("first second third fourth fifth sixth seventh eighth ninth")
_TENTHS = _listed(
    "tenth eleventh twelfth thirteenth fourteenth fifteenth sixteenth seventeenth eighteenth nineteenth"
)

_ones = {word: number for number, word in enumerate(_ONES, 1)}
_teens = {word: number for number, word in enumerate(_TEENS, 10)}
_tens = {word: 10 * number for number, word in enumerate(_TENS, 2)}
_first_nine = {word: number for number, word in enumerate(_FIRSTS, 1)}
_numbers = _ones | _teens | _tens
_ordinals = _first_nine | {word: number for number, word in enumerate(_TENTHS, 10)}
_ordinals |= {"twentieth": 20, "thirtieth": 30}

NOON = Daypart(11, 14)
NIGHT = Daypart(18, 29, night=True)
LATE_NIGHT = Daypart(22, 29, night=True)

_WEEKDAYS = {
    "monday": 0,
    "tuesday|tues|tue": 1,
    "wednesday|weds": 2,
    "thursday|thurs|thur|thu": 3,
    "friday|fri": 4,
    "saturday": 5,
    "sunday": 6,
}
_MONTHS = {
    "january": 1,
    "february|feb": 2,
    "july|jul": 7,
    "august|aug": 8,
    "september|sept": 9,
    "october": 10,
    "november|nov": 11,
    "december": 12,
}
# Also a verb, a person's name or a word of code: a month only where something beside it says so.
_SHY_MONTHS = {
    "jan": 1, "march|mar": 3, "april|apr": 4, "may": 5, "june|jun": 6, "sep": 9, "oct": 10, "dec": 12,
}  # fmt: skip
_SHY_WEEKDAYS = {"mon": 0, "wed": 2, "sat": 5, "sun": 6}
_YEAR_CODES = {f"cy{number:02}": number for number in range(100)}
_DECADES = _listed("twenties thirties forties fifties sixties seventies eighties nineties")
_CLUES = _listed(
    "tonight ago lately recently midnight o'clock holidays easter christmas halloween "
    "thanksgiving valentine valentines juneteenth pentecost lunch holiday clock past now once back "
    "then nye mlk qingming mardi cinco q1 q2 q3 q4 h1 h2 veterans presidents mothers fathers "
    "festival twenties thirties forties fifties sixties seventies eighties nineties"
)
_SMALL = (
    "i you we he she it they my our his her their who what which when where why how did do does was were"
    " is are had have has will would that with so if"
)

# What is named by a number that follows: version 2023.3.4, order id 20231105.
_LABELS = dict.fromkeys(
    _listed(
        "version versions release v build id ids uuid order invoice ticket tracking serial code zip"
        " postcode pin port isbn issn ssn model commit pr issue bug case reference ref account number no nr"
        " sku room apt gate flight platform route error level area chapter page verse row"
        " item po vol volume fig figure section appendix exercise clause slide flat suite psalm psalms"
    )
)

_TONGUES = dict.fromkeys(
    _listed(
        "english german french spanish italian portuguese dutch polish russian ukrainian turkish arabic"
        " hebrew hindi chinese mandarin cantonese japanese korean latin greek welsh irish swedish finnish"
        " norwegian danish"
    )
)
# What belongs to a feast and not to the day on which it was kept.
_LORE = dict.fromkeys(
    _listed(
        "tree trees egg eggs card cards ornament ornaments wreath stocking stockings wishes greetings quotes"
        " jokes movie movies film song songs plot wallpaper"
    )
)

WORDS: Mapping[str, Mapping[str, Any]] = {
    "label": _LABELS,
    "lore": _LORE,
    "tongue": _TONGUES,
    "word": _LABELS | _LORE | _TONGUES,
    "one": _ones,
    "teen": _teens,
    "tens": _tens,
    "number": _numbers,
    "count": _numbers | {"a|an": 1},
    "first nine": _first_nine,
    "ordinal": _ordinals,
    "nth": _numbers | _ordinals,
    "weekday name": _WEEKDAYS,
    "dayparts": {
        "mornings": Daypart(5, 12),
        "afternoons": Daypart(12, 18),
        "evenings": Daypart(18, 24),
        "nights": NIGHT,
    },
    "weekdays": {f"{name.split('|')[0]}s": number for name, number in _WEEKDAYS.items()},
    # Also a verb, a star, a title: a weekday only where something beside it says so.
    "shy weekday": _SHY_WEEKDAYS,
    # Which one: last week, this May, next Friday.
    "which": {"last|previous|prior|preceding": -1, "this|current": 0, "next|coming|upcoming": 1},
    "minutes from": {"past|after": 1, "to|before|till": -1},
    "side": {"since": "since", "after": "after", "before": "before", "until|till|til|by": "until"},
    "weekday word": {"mon": 0, "wed": 2},
    "month word": _MONTHS | _SHY_MONTHS,
    "month name": _MONTHS,
    "shy month": _SHY_MONTHS,
    "quiet month": {"jan": 1, "april|apr": 4, "june|jun": 6},
    "unit": {
        "second|seconds|sec|secs": "second",
        "minute|minutes|min|mins": "minute",
        "hour|hours|hr|hrs": "hour",
        "day|days": "day",
        "weekend|weekends": "weekend",
        "week|weeks|wk|wks": "week",
        "fortnight|fortnights": "fortnight",
        "month|months|mth|mths": "month",
        "quarter|quarters|qtr|qtrs": "quarter",
        "year|years|yr|yrs": "year",
        "decade|decades": "decade",
        "century|centuries": "century",
    },
    "units": {f"{name}s": name for name in ("day", "week", "month", "year")},
    "one unit": {name: name for name in _listed("second minute hour day week fortnight month year decade")},
    "shy daypart": {
        "morning": Daypart(5, 12),
        "noon|midday|lunchtime|noontime": NOON,
        "afternoon|arvo": Daypart(12, 18),
        "evening": Daypart(18, 24),
        "night|nite|nighttime": NIGHT,
        "dawn|daybreak": Daypart(5, 9),
        "dusk": Daypart(17, 19),
    },
    "season": {"spring|springtime": 3, "summer|summertime": 6, "autumn|fall": 9, "winter|wintertime": 12},
    "seasons": {"springs": 3, "summers": 6, "autumns": 9, "winters": 12},
    "meridian": {"am|a.m|a.m.": "am", "pm|p.m|p.m.": "pm"},
    "quarter code": {f"q{n}": n for n in range(1, 5)},
    "half code": {"h1": 1, "h2": 2},
    "week code": {f"w{n}": n for n in range(1, 54)} | {f"wk{n}": n for n in range(1, 54)},
    "year code": _YEAR_CODES,
    "relative day": {"today|todays": 0, "yesterday|yesterdays|yday": -1, "tomorrow|tomorrows": 1},
    "decade word": {word: 20 + 10 * place for place, word in enumerate(_DECADES)},
    # What may follow a time without being named by it: "on the 3rd we …", not "on the 3rd floor".
    "small": {word: None for word in _listed(_SMALL)},
    # Words that make a run worth parsing, beside units, weekdays, months, dayparts and seasons.
    "clue": dict.fromkeys([*_CLUES, *_SHY_WEEKDAYS, *_YEAR_CODES, *_TEENS, *_TENS]),
}

MISSPELLED = {
    "wensday": "wednesday", "wendsday": "wednesday", "wednsday": "wednesday", "wedensday": "wednesday",
    "wednesdy": "wednesday", "wendesday": "wednesday", "tuseday": "tuesday", "teusday": "tuesday",
    "tuesdy": "tuesday", "tusday": "tuesday", "tueday": "tuesday", "thrusday": "thursday",
    "thursdy": "thursday", "thurday": "thursday", "thusday": "thursday", "thurdsay": "thursday",
    "firday": "friday", "frday": "friday", "fridy": "friday",
    "saterday": "saturday", "saturdy": "saturday", "satuday": "saturday", "saturaday": "saturday",
    "munday": "monday", "mondy": "monday", "monady": "monday", "sundy": "sunday", "suday": "sunday",
    "janurary": "january", "januray": "january", "janury": "january", "janaury": "january",
    "jaunary": "january", "febuary": "february", "feburary": "february", "februrary": "february",
    "febrary": "february", "febraury": "february", "martch": "march", "apirl": "april",
    "aprl": "april", "arpil": "april", "agust": "august", "augst": "august", "augest": "august",
    "septemeber": "september", "setpember": "september", "septmber": "september",
    "spetember": "september", "septembre": "september", "octuber": "october", "ocotber": "october",
    "octobor": "october", "novemeber": "november", "novmber": "november", "noveber": "november",
    "decemeber": "december", "decmber": "december", "dicember": "december", "desember": "december",
    "yesturday": "yesterday", "yesteday": "yesterday", "yesterdy": "yesterday", "yestarday": "yesterday",
    "yeserday": "yesterday", "yesterady": "yesterday", "yestreday": "yesterday",
    "tommorow": "tomorrow", "tommorrow": "tomorrow", "tomorow": "tomorrow", "tomorro": "tomorrow",
    "tmrw": "tomorrow", "tonite": "tonight", "tonght": "tonight", "mornin": "morning",
    "morining": "morning", "moring": "morning", "afernoon": "afternoon", "afternon": "afternoon",
    "evning": "evening", "evenning": "evening", "weekened": "weekend", "lst": "last",
    "prev": "previous", "xmas": "christmas", "recenlty": "recently", "recentley": "recently",
}  # fmt: skip
SHORTENED = frozenset(
    _listed(
        "jan feb mar apr jun jul aug sep sept oct nov dec mon tue tues wed weds thu thur thurs fri sat"
        " sun hr hrs min mins sec secs wk wks mth mths yr yrs qtr approx st"
    )
)
# What no single word tells: "at five", "on the fifth", "seven thirty p.m.", "the two thousands".
_HOURS = "|".join((*_ONES, *_TEENS[:3]))
HINTING = frozenset((*_ONES, *_TEENS[:3], "fifteen", "thirty", "the"))
HINT_PARTS = frozenset({"thousand"})
HINT = (
    rf"\bat\s+(?:{_HOURS})\b|\bthousand|\b(?:{_HOURS}|fifteen|thirty)\s+[ap]\.?\s*m\b"
    r"|\b(?:on|by|since|until|till|before|after|from|to|of)\s+the\s+[a-z-]+(?:th|first|second|third)\b"
)
