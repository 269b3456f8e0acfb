"""A turn → the times that it speaks of: the time words of its messages, resolved at their own times.

In: a record, and how time words are read. Out: closed ranges. What was said on 2 May of "yesterday"
speaks of 1 May.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime, time, timedelta

from huimem.markup import searchable
from huimem.records import Fact, Message, Record, Resolution, TimeRange

Resolve = Callable[[str, datetime], Resolution | None]

# A message longer than this is a paste; what it is about stands at its start. Bounds the work too.
LONGEST_TEXT = 4_000  # characters
BEHIND = 100  # characters that are read behind those, so that a phrase at the end is not cut
MOST = 16  # of one turn: whoever names more gives a table
# Longer ones name an era, which nobody asks a memory for.
LONGEST = timedelta(days=3_653, hours=1)
# Output of programs is full of times that nobody speaks of.
SILENT = frozenset({"tool", "system"})
_EVENING = time(23, 59)  # of a note that only its day dates: all of that day has begun


@dataclass(frozen=True, slots=True)
class Times:
    """How time words are read, and the name of the rules: an index made by other rules is made anew."""

    rules: str
    resolve: Resolve

    def mentioned(self, record: Record) -> tuple[TimeRange, ...]:
        """The ranges that a turn speaks of, in its order, each once; those it came with are first.

        Guessed times do not tell when "yesterday" was. A fact's time is that of its validity alone.
        """
        if isinstance(record, Fact):
            return ()
        found = dict.fromkeys(record.mentions)
        for message in () if record.inferred else record.messages:
            if len(found) >= MOST:
                break
            found |= dict.fromkeys(self._of(message))
        return tuple(found)[:MOST]

    def _of(self, message: Message) -> Iterator[TimeRange]:
        if message.at is None or message.role in SILENT:
            return
        day_only = message.role == "note" and message.at.time() == time()
        at = message.at.replace(hour=_EVENING.hour, minute=_EVENING.minute) if day_only else message.at
        try:
            resolution = self.resolve(searchable(message.text[: LONGEST_TEXT + BEHIND]), at)
        except (ValueError, OverflowError):  # said at the ends of the calendar
            return
        for reading in resolution.readings if resolution else ():
            start, end = reading.range.start, reading.range.end
            if reading.span[1] <= LONGEST_TEXT and start and end and end - start <= LONGEST:
                yield reading.range
