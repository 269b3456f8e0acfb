"""English: a table of words (`words`) and rules by rung, from what is no time (`names`) to open ends."""

from huimem.when.english import clocks, dates, days, holidays, names, numbers, periods, spans, words
from huimem.when.language import Language
from huimem.when.sentences import Hints

ENGLISH = Language(
    name="en",
    words=words.WORDS,
    rules={
        "names": names.NAMES,
        "numbers": [*numbers.NUMBERS, *clocks.DOTTED],
        "clocks": clocks.CLOCKS,
        "clock minutes": clocks.CLOCK_MINUTES,
        "clock ranges": clocks.CLOCK_RANGES,
        "years": [*holidays.HOLIDAYS, *dates.YEARS],
        "dates": dates.DATES,
        "dated": dates.DATED,
        "months": [*dates.MONTHS, *periods.UNITS],
        "periods": [*periods.PERIODS, *periods.VAGUES, *holidays.HOLIDAY_DAYS],
        "weekdays": days.WEEKDAYS,
        "days": days.DAYS,
        "parts": [*periods.PARTS, *days.SHIFTED, *holidays.LORE],
        "moments": days.MOMENTS,
        "times": days.TIMES,
        "ranges": spans.RANGES,
        "edges": spans.EDGES,
    },
    misspelled=words.MISSPELLED,
    shortened=words.SHORTENED,
    hints=Hints(words.HINT, words.HINTING, words.HINT_PARTS),
)
