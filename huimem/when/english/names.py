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
    f"every|each <number> st|nd|rd|th <unit>|{_DAY}",
    "every|each year in|around|during the? <month word>|<season>",
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
    "in the <shy daypart> sky|paper|papers|news|edition|light",
    "score|scores|rating|ratio|odds|chance|chances|probability|average|fraction|pressure|grade of",
    "a month of <weekdays>",
    "the next|previous day",
    "ides of march",
    "<shy month> <number> to|in|into hex|decimal|binary|octal",
)
# A word that is spoken of, not used: how do you say Monday in Spanish.
_SPOKEN_OF = f"{_DAY}|<month name>|<relative day>|<shy daypart>|<season>"
_MENTIONS = (
    f"(do you|i)|to say|call|spell|write {_SPOKEN_OF} in <tongue>",
    f"translate {_SPOKEN_OF} in|into|to <tongue>",
    f"the word|name|<tongue> for {_SPOKEN_OF}",
    "the word|name <weekday name>|<month name>|<season>",
    f"abbreviation|spelling|pronunciation|spell|pronounce of|for? {_SPOKEN_OF}",
    f"is|does {_SPOKEN_OF} mean|spelled|spelt|pronounced|abbreviated",
    "how many <unit> are? there? in (a|an|one <unit>)|<month word> &<edge>",
    "const|var <relative day>|<weekday name>|<month name>",
)
# Durations: what a number of units measures.
_DURATIONS = (
    "in|within <number> <one unit> &<word>",
    "<number> - <unit> !ago !back !of",
    "<number> -? <unit> - old",
    "<number> <unit> old|long|away",
    "the <number> <unit> plan|war|rule|mark|itch",
    "<bare clock> <unit>",
    # A verse, a lap, a ratio: what a name has before it and nothing of time beside it.
    "<word> > <bare clock> &<word> &<edge> &, &and",
    "<word> > <bare clock> - <number> &<word> &<edge>",
    "<word> > <bare clock> in|for the? &<small> &<word>",
    "at|to? <bare clock> in|into|of the video|clip|recording|song|track|film|movie|episode|podcast|tape",
    "the? <bare clock> ratio|mix|split|screen|monitor|display|pace|gear|video|format",
    "lap|lasts|best|record|timestamp|finish|marathon time|of|is|was? <bare clock> &<word> &<edge> &,",
    "done|ready|dry|dries|cooks|cooked|bakes|boils|finished|learned|gained|doubled|doubles|solved in "
    "<count> <unit>",
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
    "<weekday name> club|market|school|roast|times|best|service|addams|blues|scaries|dress|prayers",
    "<weekday name> feeling|feelings|vibes|motivation|mood|memes|meme|(night football)|(morning cartoons)",
    "a|an <bare clock>|(<number>|<clock> <meridian>|o'clock) &<word> &class",
    "the <number> <meridian>|o'clock news|bulletin",
    "a? <number> o'clock position|direction|high|somewhere|shadow",
    "<weekday name>|<relative day>|<month name> chords|lyrics|tab|tabs|soundtrack|remix",
    "my neighbour|neighbor <weekday name> &<word>",
    "<label> <label>? is|of? <figure>|<number>|<decimal> !<month word> !<meridian>",
    "apollo|studio|highway <number>",
)
_TITLES = (
    "usa|psychology|history today",
    "the today show",
    "yesterday by the beatles",
    "edge of tomorrow",
    "girl|man friday",
    "thank god it 's friday",
    "blue|bloody|super|maundy <weekday name>",
    "black monday|tuesday|wednesday|thursday|saturday|sunday",
    "any given sunday",
    "vampire|lost weekend",
    "this week in startups|tech",
    "this morning itv",
    "last night in soho",
    "last year at|in marienbad",
    "last days of pompeii",
    "last friday night katy",
    "around the world in <number> days",
    "when september ends",
    "november rain",
    "august wilson|rush|alsina|ames",
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
    *(Rule(pattern, "word", word) for pattern in (*_GREETINGS, *_IDIOMS, *_MENTIONS, *_DURATIONS, *_NOUNS)),
    *(Rule(pattern, "set", word) for pattern in _SETS),
    Rule("|".join(f"({title})" for title in _TITLES), "word", word),
]
