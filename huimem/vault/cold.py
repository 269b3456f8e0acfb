"""Which files are cold: sessions of which everything was said in months long over.

In: a vault, a moment. Out: a plan by archive, and the cold files that stay where they are, with the reason.
Nothing but what a file says of itself counts: no date of the file system makes anything old.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from hashlib import sha256

from huimem import files
from huimem.errors import Problem
from huimem.months import Archived, is_cold, month_of
from huimem.records import Session
from huimem.vault.archive import Cold
from huimem.vault.layout import split_namespace
from huimem.vault.markdown import sort_of
from huimem.vault.moments import read_moment
from huimem.vault.pack import Member, packable
from huimem.vault.reading import text_field
from huimem.vault.sources import digest, session_of
from huimem.vault.vault import Vault


@dataclass(frozen=True, slots=True)
class Plan:
    """What would be packed, by archive; `kept` are cold files that stay, each with the reason."""

    months: dict[Archived, tuple[Cold, ...]] = field(default_factory=dict)
    kept: tuple[Problem, ...] = ()


def plan(
    vault: Vault,
    now: datetime,
    *,
    keep: int | None = None,
    month: str | None = None,
    stop: Callable[[], bool] | None = None,
) -> Plan:
    """The sessions that can be packed: all said in months over for more than `keep` months, by their first.

    `month`: that one alone. Those of them that have faults are `kept`, and so are files that cannot be read,
    whose month nobody knows. `stop` ends it between two files, with what was found.
    """
    keep = vault.config.archive.keep if keep is None else keep
    months: dict[Archived, list[Cold]] = {}
    kept: list[Problem] = []
    for path in sorted(vault.scan().files):
        if stop is not None and stop():
            break
        owner, name = _owner(path)
        if not packable(name):
            continue
        found = _looked_at(vault, path, name)
        if isinstance(found, Problem):
            kept.append(found)
        elif found and month in (None, found.cold.month) and _is_cold(vault, found.cold, now, keep):
            if found.fault:
                kept.append(found.fault)
            else:
                months.setdefault(Archived(owner, found.cold.month), []).append(found.cold)
    return Plan({place: tuple(ones) for place, ones in sorted(months.items(), key=_by_path)}, tuple(kept))


def _by_path(one: tuple[Archived, list[Cold]]) -> str:
    return one[0].archive


def _owner(path: str) -> tuple[str, str]:
    """The folder of the namespace that a path lies in, and the rest."""
    rest = split_namespace(path)[1]
    return path.removesuffix(rest), rest


@dataclass(frozen=True, slots=True)
class _Session:
    """A session as a member to be, and what keeps it from being one."""

    cold: Cold
    fault: Problem | None


def _looked_at(vault: Vault, path: str, name: str) -> _Session | Problem | None:
    """A session; why it cannot be read; None for what is no session, or tells no time."""
    try:
        data, stamp = files.read(vault.root / path, within=vault.root)
    except files.Unreadable as error:
        return None if error.gone else vault.fault(path, error)
    if (sort := sort_of(data, path)) != "session":
        return None
    session = session_of(data, path, zone=vault.zone, sort=sort)
    created, said = _created(session), [message.at for message in session.messages if message.at]
    if created is None or not said:
        return None
    member = Member(
        name=name,
        size=len(data),
        sha256=sha256(data).hexdigest(),
        digest=digest(data),
        mtime_ns=stamp.mtime_ns,
        mode=os.lstat(vault.root / path).st_mode & 0o777,
        id=session.id,
        title=session.title,
        created=created.isoformat(timespec="seconds"),
        refs=tuple(str(turn.ref) for turn in session.turns),
    )
    cold = Cold(path, month_of(created, vault.zone), month_of(max(said), vault.zone), member)
    return _Session(cold, _fault(path, session))


def _fault(path: str, session: Session) -> Problem | None:
    for first in session.problems[:1]:
        return Problem(path, first.line, f"is not packed: {first.message}", first.remedy)
    return None


def _created(session: Session) -> datetime | None:
    """When a session began: by its front matter, else by its first message; None where nothing says it."""
    if named := read_moment(text_field(session.fields, "created"), session.zone):
        return named
    return session.turns[0].at if session.turns and not session.turns[0].inferred else None


def _is_cold(vault: Vault, found: Cold, now: datetime, keep: int) -> bool:
    return is_cold(max(found.month, found.newest), now, vault.zone, keep)
