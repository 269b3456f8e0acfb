"""English: what only looks like a time — greetings, sets, idioms, durations, names and titles."""

from __future__ import annotations

from huimem.when.grammar import Rule
from huimem.when.making import word

_DAY = "<weekday name>|<shy weekday>"
_OWN = "my|your|his|her|its|our|their"
_GREETINGS = (
    "happy|blessed|casual <weekday name>|<shy daypart>|weekend",
    "happy|merry new|christmas|xmas|easter|halloween|thanksgiving|holidays|hanukkah|valentine|valentines",
    "happy new year",
    "a|any|another|some|no|long|recent|rainy|nice|good|great|lovely|free|busy|quiet weekend",
)
_SETS = (
    f"every|each last|first|other|second|third|<ordinal>? <unit>|{_DAY}|<shy daypart>|<month word>|<season>",
    f"every|each {_DAY} and|or|, {_DAY}",
    "every <number> <unit>",
    "once|twice|times a|an|per|every|each|in <unit>|<weekday name>",
    "once|twice|times in|every a|<number> <unit>",
    "once and|more|again|removed|over|or|every|bitten",
    f"{_DAY} to|through|- {_DAY} schedule|job|hours|workers",
    "a|any|some|another|one <weekday name>",
    "usual|regular|typical|average|normal <weekday name>|weekend",
)
_IDIOMS = (
    "last - minute|second|ditch",
    "last minute|second &<word> &,",
    "next -? day|gen &<word>",
    "<one> may|march",
    "this may or|be|not|have|help|cause|need|take|mean|well|also",
    "i|you|we|they|he|she|been|get|got|adds|add up to",
    "came|come|stopped|stop|dropped|drop|went|go|passed|pass|swung by",
    "<nth> <month word> street|road|lane|avenue|drive|place|court|close",
    "march madness|hare|hares",
    "an|so|most august",
    "in|within|for a day|lifetime",
    "at one time|with|point",
    "today 's world|society|age|market|economy|youth",
    "one of these days",
    "five o'clock shadow",
    "in the <shy daypart> sky|paper|papers|news|edition|light",
    "score|scores|rating|ratio|odds|chance|chances|probability|average|fraction|pressure|grade of",
    "a month of <weekdays>",
)
# Durations: what a number of units measures.
_DURATIONS = (
    "in|within <number> <one unit> &<word>",
    "<number> - <unit> !ago !back !of",
    "<number> -? <unit> - old",
    "<number> <unit> old|long|away",
    "the <number> <unit> plan|war|rule|mark|itch",
    f"{_OWN} early|mid|late -? <digits> s|'s",
    f"{_OWN} early|mid|late -? <decade word>",
    "<number> st|nd|rd|th and|or|to <number> st|nd|rd|th &<word>",
)
_NOUNS = (
    "weekend|<weekday name>|morning edition|newspaper|paper|supplement|magazine|warrior|rates|pass",
    "christmas|easter island|islands|carol|carols|bunny|rising|cactus|pudding",
    "new year 's? resolution|resolutions",
    "audi|question q1|q2|q3|q4",
    "h1 tag|tags|heading|headings|visa",
    "<weekday name> club|market|school|roast|times|best|service|addams",
    "my neighbour|neighbor <weekday name> &<word>",
    "<label> <label>? is|of? <figure>|<number>|<decimal> !<month word> !<meridian>",
    "apollo|studio|highway <number>",
)
_TITLES = (
    "usa|psychology|history today",
    "the? day after tomorrow movie|film",
    "tomorrow never dies|knows",
    "yesterday once more",
    "friday night lights|dinner|funkin",
    "saturday night live|fever",
    "sunday bloody sunday",
    "freaky|ruby|manic|super|stormy|taco|wacky|throwback <weekday name>",
    "last christmas lyrics|song|film",
    "nightmare before christmas",
    "a christmas carol|story",
    "i know what you did last summer",
    "last week tonight",
    "tonight show",
    "late night with",
    "midnight in paris",
    "midnight cowboy|oil",
    "nineteen eighty - ? four",
    "plot|ending|moral|remake|sequel|cast|soundtrack of <year4>|<spelled year>",
    "june carter|cash",
)
NAMES = [
    *(Rule(pattern, "word", word) for pattern in (*_GREETINGS, *_IDIOMS, *_DURATIONS, *_NOUNS)),
    *(Rule(pattern, "set", word) for pattern in _SETS),
    Rule("|".join(f"({title})" for title in _TITLES), "word", word),
]
