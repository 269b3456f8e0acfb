"""Chinese: words (`words`, `others`) and rules by rung, from what is no time (`names`) to open ends."""

from huimem.when.chinese import dates, names, numbers, others, periods, spans, words
from huimem.when.chinese.characters import SAME
from huimem.when.language import Language

CHINESE = Language(
    name="zh",
    words=words.WORDS,
    rules={
        "names": names.NAMES,
        "numbers": numbers.NUMBERS,
        "clocks": [*dates.MONTH_DAYS, *periods.COUNTED, *numbers.CLOCKS],
        "clock ranges": numbers.CLOCK_RANGES,
        "years": dates.YEARS,
        "dates": dates.DATES,
        "dated": dates.DATED,
        "months": dates.MONTHS,
        "periods": [*periods.PERIODS, *periods.VAGUES],
        "days": [*periods.DAYS, *periods.HOLIDAY_DAYS],
        "parts": spans.PARTS,
        "moments": spans.MOMENTS,
        "times": spans.TIMES,
        "ranges": spans.RANGES,
        "edges": spans.EDGES,
    },
    others=others.OTHERS,
    spaced=False,
    digits=words.DIGITS,
    number=numbers.number,
    same=SAME,
)
