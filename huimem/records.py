"""The vocabulary: every value that travels between the legs of the journey.

All are frozen; none points back at its owner. Instants are aware datetimes; ranges are half-open.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, tzinfo
from math import prod
from typing import Literal, NamedTuple

from huimem.errors import Problem
from huimem.ranges import Reading as Reading
from huimem.ranges import Resolution as Resolution
from huimem.ranges import TimeRange as TimeRange
from huimem.refs import Ref as Ref


@dataclass(frozen=True, slots=True)
class Message:
    """What one speaker said at one time.

    `role` is user, assistant, system, tool, person (someone with a `name`), note or fact; `at` is
    aware, None where nothing dates it. `line` is the 1-based line of its heading and `text_line` of
    its first line of text (0: not from a file); `raw` its exact bytes in the file, heading and all.
    """

    role: str
    text: str
    at: datetime | None = None
    name: str | None = None
    line: int = field(default=0, compare=False)
    text_line: int = field(default=0, compare=False)
    raw: bytes | None = field(default=None, compare=False, repr=False)

    @property
    def speaker(self) -> str:
        return self.name or self.role


@dataclass(frozen=True, slots=True)
class Turn:
    """The atom of recall: a user message with everything up to the next one, or a part of a note.

    `inferred` says that its times were guessed (file date), so no exact range may hold it;
    `mentions` are its own time words, resolved at its own time. `called`: the title that stands over it, ""
    where it is a later turn of a talk.
    """

    ref: Ref
    messages: tuple[Message, ...]
    mentions: tuple[TimeRange, ...] = ()
    kind: Literal["turn", "note"] = "turn"
    inferred: bool = field(default=False, compare=False)
    called: str = field(default="", compare=False)

    @property
    def at(self) -> datetime | None:
        return self.messages[0].at

    @property
    def text(self) -> str:
        return "\n\n".join(message.text for message in self.messages)


@dataclass(frozen=True, slots=True)
class Session:
    """What a conversation's file holds, losslessly: rendering it gives the file's bytes again.

    `front` is the front matter block as written, fences and all (b"" where there is none);
    `fields` its keys as strings or tuples of strings, in order; `preface` the text before the first
    message as written. `people` says that every message is a turn of its own.
    """

    id: str
    title: str
    zone: tzinfo
    turns: tuple[Turn, ...]
    namespace: str = ""
    people: bool = False
    fields: Mapping[str, str | tuple[str, ...]] = field(default_factory=dict)
    preface: str = ""
    front: bytes = field(default=b"", compare=False, repr=False)
    preface_raw: bytes = field(default=b"", compare=False, repr=False)
    tail: bytes = field(default=b"", compare=False, repr=False)
    problems: tuple[Problem, ...] = field(default=(), compare=False)

    @property
    def messages(self) -> tuple[Message, ...]:
        return tuple(message for turn in self.turns for message in turn.messages)


@dataclass(frozen=True, slots=True)
class Conversation:
    """A conversation as another program kept it, on its way into a session.

    `source` and `id` tell it from every other; `keys`, one a message, tell its messages apart whatever
    their text becomes. Every message has a time; `inferred` says that none of them is its own. `session`
    is the id its session is to have, "" where its time makes one; `left_out` counts by kind what of it
    does not come along. `copied`: messages of it may have come in with another one, under the same keys;
    the first `repeats` are another one's, told again so that the rest can be understood.
    """

    source: str
    id: str
    title: str
    messages: tuple[Message, ...]
    keys: tuple[str, ...]
    model: str = ""
    tags: tuple[str, ...] = ()
    inferred: bool = False
    session: str = ""
    left_out: Mapping[str, int] = field(default_factory=dict)
    copied: bool = False
    repeats: int = 0


@dataclass(frozen=True, slots=True)
class FactVersion:
    """One section of a fact file as written; `end` None where it is open."""

    key: str | None
    kind: str
    text: str
    start: datetime
    end: datetime | None = None
    importance: float | None = None
    attributes: Mapping[str, str] = field(default_factory=dict)
    line: int = field(default=0, compare=False)
    text_line: int = field(default=0, compare=False)
    raw: bytes | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Fact:
    """What is held true in `valid`; computed from the versions of its key, never stored.

    `called`: its key and the title of its file, "" where it has neither.
    """

    ref: Ref
    key: str | None
    kind: str
    text: str
    valid: TimeRange
    importance: float = 1.0
    source: str | None = None
    sources: tuple[str, ...] = ()
    line: int = field(default=0, compare=False)
    text_line: int = field(default=0, compare=False)
    called: str = field(default="", compare=False)

    @property
    def at(self) -> datetime | None:
        return self.valid.start

    @property
    def messages(self) -> tuple[Message, ...]:
        return (Message("fact", self.text, self.at, None, self.line, self.text_line),)

    @property
    def inferred(self) -> bool:
        return False


Record = Turn | Fact
TITLE = "title"  # the role of what nobody said: what a record is called


@dataclass(frozen=True, slots=True)
class Source:
    """A file as the index sees it. `digest` is the blake2b-128 of its bytes, in hex."""

    path: str
    digest: str
    namespace: str
    title: str
    tags: tuple[str, ...]
    records: tuple[Record, ...]
    problems: tuple[Problem, ...] = ()


@dataclass(frozen=True, slots=True)
class Packed:
    """An archive as the index sees it: the paths of the files in it, each with the digest of its bytes."""

    path: str
    files: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Chunk:
    """A passage of one message: what is indexed. `lines` are 1-based, both inside.

    `id` is the hash of what is embedded, so equal passages share one vector; `said` is that text:
    the passage with its speaker's name before it in a conversation between people. Of a brief answer
    its first `asked` characters are the question, which are no words of its own. What a record is called
    is `said` before its first passage, in the role `TITLE`, and shows that passage.
    """

    id: str
    message: int
    role: str
    lines: tuple[int, int]
    text: str
    said: str
    at: datetime | None
    asked: int = 0


class Excluded(NamedTuple):
    """What a text that answers may not hold: a word as the search would find it, or `exact` as it stands."""

    written: str
    exact: bool


@dataclass(frozen=True, slots=True)
class Query:
    """A question, made once and then only read. Filters hold exactly; `during` is a union.

    No `text`: the sessions of that time are asked for. `named` are the ranges as they were named, to
    which `during` may add a margin. `history` are the messages before the question, oldest first. What
    answers holds all of `phrases` as they stand and nothing of what is `excluded`. `latest`: it asks for
    what holds now; `pasted`: it is a piece of talk, of several lines.
    """

    text: str
    terms: tuple[str, ...]
    as_of: datetime
    during: tuple[TimeRange, ...] = ()
    named: tuple[TimeRange, ...] = ()
    vague: bool = False
    said_only: bool = False
    namespace: str | None = None
    kinds: tuple[str, ...] = ()
    roles: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    limit: int = 5
    include_superseded: bool = False
    history: tuple[str, ...] = ()
    phrases: tuple[str, ...] = ()
    excluded: tuple[Excluded, ...] = ()
    latest: bool = False
    pasted: bool = False


@dataclass(frozen=True, slots=True)
class Factor:
    """One named part of a score; `parts` are the summands of `relevance` by name."""

    name: str
    value: float
    note: str = ""
    parts: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Hit:
    """A record found. Its score is the product of its factors and nothing else.

    `message` is the index of the message that holds the evidence; `evidence` the passage itself, and
    `highlight` the span of it (characters, half-open) that holds most of the question's words, (0, 0) where
    none stands in it; `before` and `after` its neighbour records inside the session. Where it stands for
    its whole session, `records` of that lie in the time asked for, else 0.
    """

    ref: Ref
    record: Record
    path: str
    line: int
    title: str
    tags: tuple[str, ...]
    message: int
    evidence: str
    factors: tuple[Factor, ...]
    before: tuple[Record, ...] = ()
    after: tuple[Record, ...] = ()
    records: int = 0
    highlight: tuple[int, int] = (0, 0)

    @property
    def at(self) -> datetime | None:
        return self.record.messages[self.message].at

    @property
    def score(self) -> float:
        return prod(factor.value for factor in self.factors)

    def explain(self) -> str:
        """One line that names every factor: `relevance 0.83 (words …) × time 1.00 = 0.83`."""
        terms = " × ".join(
            f"{f.name} {f.value:.2f}" + (f" ({f.note})" if f.note else "") for f in self.factors
        )
        return f"{terms} = {self.score:.2f}"


@dataclass(frozen=True, slots=True)
class Passage:
    """Neighbouring turns of one session as a model is to read them, around the hits they were chosen for.

    `refs` are the turns in it and `hits` the places (from 0) of the hits among `Recall.hits`; `lines` are
    1-based, both inside; `text` names each speaker and marks by … where something was left out, which
    `cut` says. `tokens` is an estimate. `also` are refs of turns left out because they say the same.
    """

    path: str
    title: str
    lines: tuple[int, int]
    refs: tuple[Ref, ...]
    hits: tuple[int, ...]
    text: str
    tokens: int
    cut: bool = False
    also: tuple[Ref, ...] = ()


@dataclass(frozen=True, slots=True)
class Walked:
    """A week that a scan looked at: how many turns it holds and the score of its best, else 0.

    `monthly`: a month instead; either may be cut where the time that was asked for begins or ends.
    """

    range: TimeRange
    turns: int
    best: float
    monthly: bool = False


@dataclass(frozen=True, slots=True)
class Freshness:
    """How far the index covers the vault at the moment of an answer."""

    fresh: bool
    pending: int
    engine: str
    vectors_done: int
    vectors_total: int

    @property
    def whole(self) -> bool:
        """Whether nothing is left to take in or to embed."""
        return self.fresh and self.vectors_done >= self.vectors_total


@dataclass(frozen=True, slots=True)
class Recall:
    """An answer: how the question was understood, what was found, what was walked and covered.

    `passages` are the hits as a model is to read them, where a context or a budget was asked for. `scanned`
    is the walk in its order; `exhausted`: it came to its limit, and nothing stood out; `cursor` is where it
    would go on, None where nothing older is left. `best` is the greatest relevance that a passage has
    by itself, `floor` what that must be for an answer.
    `sessions` there are where the hits stand for sessions, else 0; where the time asked for holds nothing,
    `nearest` are the days before and after it that hold something.
    """

    id: str
    query: Query
    resolution: Resolution | None
    hits: tuple[Hit, ...]
    freshness: Freshness
    passages: tuple[Passage, ...] = ()
    scanned: tuple[Walked, ...] = ()
    exhausted: bool = False
    cursor: datetime | None = None
    best: float = 0.0
    floor: float = 0.0
    considered: int = 0
    sessions: int = 0
    nearest: tuple[TimeRange, ...] = ()
    warnings: tuple[str, ...] = ()

    @property
    def readings(self) -> tuple[Reading, ...]:
        return self.resolution.readings if self.resolution else ()

    @property
    def vague(self) -> bool:
        return self.query.vague
