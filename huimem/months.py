"""Months: which are cold, where their archives lie, and the paths of what is packed in them.

Pure. A packed file keeps a path of its own, `archive/2025-12.tar.zst/sessions/2025-W49/chat_….md`: that of
its archive and its name inside the namespace.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime, tzinfo

FOLDER, ENDING = "archive", ".tar.zst"
MONTH = re.compile(r"[0-9]{4}-(?:0[1-9]|1[0-2])")
_ARCHIVED = re.compile(
    rf"((?:namespaces/[^/]+/)*){FOLDER}/({MONTH.pattern}){re.escape(ENDING)}(?:/(.+))?", re.DOTALL
)


@dataclass(frozen=True, slots=True)
class Archived:
    """A place in an archive. `owner` is the folder of its namespace, "" or ending in /; `name` the path of
    a file inside that, "" for the archive itself."""

    owner: str
    month: str
    name: str = ""

    @property
    def archive(self) -> str:
        """The path of the archive."""
        return f"{self.owner}{FOLDER}/{self.month}{ENDING}"

    @property
    def manifest(self) -> str:
        """The path of the copy of its manifest, for programs that do not unpack."""
        return f"{self.owner}{FOLDER}/{self.month}.json"

    @property
    def listing(self) -> str:
        """The path of the list of what lies in it, for people."""
        return f"{self.owner}{FOLDER}/{self.month}.md"

    @property
    def original(self) -> str:
        """Where the file lay, and lies again when it is restored."""
        return self.owner + self.name

    def __str__(self) -> str:
        return self.file(self.name) if self.name else self.archive

    def file(self, name: str) -> str:
        """The path of a file in the archive."""
        return f"{self.archive}/{name}"


def archived(path: str) -> Archived | None:
    """What a path names in an archive, None for any other path."""
    found = _ARCHIVED.fullmatch(path)
    return Archived(found[1], found[2], found[3] or "") if found else None


def month_of(at: datetime, zone: tzinfo) -> str:
    """The calendar month of `zone` that holds an instant, as `2025-12`."""
    here = at.astimezone(zone)
    return f"{here.year:04}-{here.month:02}"  # %Y has three digits for the year 202


def months_between(earlier: str, later: str) -> int:
    """How many months lie between two, 1 for neighbours; negative where `earlier` comes later."""
    (first_year, first), (year, month) = (map(int, one.split("-")) for one in (earlier, later))
    return (year - first_year) * 12 + month - first


def is_cold(month: str, now: datetime, zone: tzinfo, keep: int) -> bool:
    """Whether a month has been over for more than `keep` months."""
    return months_between(month, month_of(now, zone)) > keep
