"""Which embedder's vectors answer: ours, or the one before it until ours has a vector for every passage.

In: the catalog, the embedder of the settings, and a way to load another one. Out: the embedder to ask.
The catalog names the one that answers, and only the transaction that takes its vectors away names
another; so a question and the passages it is held against are always of one embedder.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable
from dataclasses import dataclass

from huimem.errors import ConfigError, HuimemError
from huimem.ports import Embedder

_NAME, _SPEC, _SINCE = "answering", "answering_spec", "answering_since"  # rows of `meta`
SETTLING = 3600 * 10**9  # nanoseconds after a switch
IDLE = 600.0  # seconds that another embedder stays loaded after it was needed last


@dataclass(frozen=True, slots=True)
class Maker:
    """An embedder as the catalog names it, and the setting that it was loaded by, "" where unknown."""

    name: str
    spec: str = ""

    def __str__(self) -> str:
        return self.spec or self.name


@dataclass(frozen=True, slots=True)
class Choice:
    """The embedder of the settings (None: words alone) with its spec.

    `load` makes an embedder of the spec that the catalog names, which may come from elsewhere with a
    vault; it raises HuimemError for what may not be loaded, or cannot. None: no other is ever loaded.
    """

    embedder: Embedder | None
    spec: str = ""
    load: Callable[[str], Embedder] | None = None

    def maker(self) -> Maker:
        """How the catalog is to name it. Only with an embedder."""
        assert self.embedder is not None
        return Maker(self.embedder.name, self.spec)


def answering(db: sqlite3.Connection) -> Maker | None:
    """The embedder whose vectors answer; None where there are no vectors.

    Where the one that is named has none, because the catalog is older than its name or damage took
    them, it is the one that has most.
    """
    counts = dict(db.execute("SELECT embedder, sum(count) FROM segment GROUP BY embedder"))
    if not counts:
        return None
    named = dict(db.execute("SELECT name, value FROM meta WHERE name IN (?, ?)", (_NAME, _SPEC)))
    if named.get(_NAME) in counts:
        return Maker(named[_NAME], named.get(_SPEC, ""))
    return Maker(max(counts, key=lambda name: (counts[name], name)))


def let_answer(db: sqlite3.Connection, maker: Maker, since: int = 0) -> None:
    """Name the embedder that answers from now on, in the caller's transaction.

    `since`: when it took the place of another one, nanoseconds since 1970; 0 where there was none.
    """
    rows = [(_NAME, maker.name), (_SPEC, maker.spec), (_SINCE, str(since))]
    db.executemany("INSERT OR REPLACE INTO meta VALUES (?, ?)", rows)


def is_settling(db: sqlite3.Connection, now: int) -> bool:
    """Whether the last switch was less than an hour before `now`, nanoseconds since 1970."""
    found = db.execute("SELECT value FROM meta WHERE name = ?", (_SINCE,)).fetchone()
    return found is not None and 0 <= now - int(found[0]) < SETTLING


class Answering:
    """The embedder to ask, loaded when it is needed; usable from several threads.

    `warnings` has a line for each one that could not be used, to be taken by whoever says it.
    """

    def __init__(self, choice: Choice) -> None:
        self.choice = choice
        self.warnings: list[str] = []
        self._others: dict[Maker, Embedder | None] = {}
        self._needed = time.monotonic()

    def now(self, db: sqlite3.Connection) -> Embedder | None:
        """The embedder that answers: ours, also where the one that should cannot be used."""
        ours = self.choice.embedder
        if ours is None:
            return None
        maker = answering(db)
        if maker is None or maker.name == ours.name:
            self._forget()
            return ours
        self._needed = time.monotonic()
        if maker not in self._others:
            self._others[maker] = self._load(maker)
        return self._others[maker] or ours

    def give_up(self, embedder: Embedder, fault: HuimemError) -> None:
        """Never ask another one again that failed; words answer meanwhile."""
        for maker, other in [*self._others.items()]:
            if other is embedder:
                self._others[maker] = None
                self._warn(maker, fault)

    def _load(self, maker: Maker) -> Embedder | None:
        try:
            if not maker.spec or self.choice.load is None:
                raise ConfigError("the index does not say how to load it")
            found = self.choice.load(maker.spec)
            if found.name != maker.name:
                raise ConfigError("it is another model by now")
        except HuimemError as fault:
            self._warn(maker, fault)
            return None
        return found

    def _warn(self, maker: Maker, fault: HuimemError) -> None:
        self.warnings.append(
            f"the vectors were made by {maker} and cannot be used: {fault.message}; "
            f"words answer alone until `huimem sync` has made those of {self.choice.maker()}"
        )

    def _forget(self) -> None:
        """A resident program needs no second model for ever; one that is asked for by turns stays."""
        if self._others and time.monotonic() > self._needed + IDLE:
            self._others.clear()
