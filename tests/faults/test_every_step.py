"""Every verb ended or refused at every step of its writing: nothing is lost or torn, the next run completes.

In: a small vault, and what a verb makes of it undisturbed. Out: the same vault in which a process died at
step n, or the disk said no once; it must hold old or new files, answer with every turn once, and be
completed by the same words said again. An index belongs to a path, so all of it happens at one.

Files alone are tried at each step. With the index, which takes its time, so is every eleventh step;
`EACH_STEP=1` tries all.
"""

from __future__ import annotations

import errno
import os
import re
import shutil
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from huimem import Memory, checking, files
from huimem.config import load
from huimem.errors import HuimemError
from huimem.vault.vault import Vault
from tests.cutting import die_at, refused_at
from tests.faults.scenes import DAYS, IMPORTED, NOW, TALK, hold, import_all, pack_all, said, take, unpack
from tests.importers.exporting import bring, export
from tests.processes import code_of, start
from tests.vault.months_told import MARCH, bytes_of, packed

STRIDE = 1 if os.environ.get("EACH_STEP") else 11


@dataclass(frozen=True)
class Verb:
    """What is done to a vault, after `first` was; `last` is done by whoever looks whether it is complete."""

    run: Callable[[Any], object]
    first: Callable[[Any], object] = lambda vault: None
    last: Callable[[Any], object] = lambda vault: None
    embedder: str = ""  # none: it is a verb of the files alone


def more(session: str, vault: Vault | Memory) -> None:
    """Two days of a session, the first of which it may hold."""
    vault.record(said(session, *DAYS.get(session, ())[-1:], "2026-09-02"), session=session, now=NOW)


def unsynced(memory: Memory) -> None:
    """Files that changed, came and went since the last look."""
    more("today", memory)
    more("new", memory)
    (memory.vault.root / "sessions/2026-W12/second.md").unlink()


A_TURN = "first#20260302T100000"
FILES = {
    "record a new one": Verb(partial(more, "new")),
    "record to a known one": Verb(partial(more, "today")),
    "record to a packed one": Verb(partial(more, "first"), packed, pack_all),
    "remember a new key": Verb(partial(hold, "silk", "A marigold of silk.")),
    "remember a known key": Verb(
        partial(hold, "silk", "A marigold of wool."), partial(hold, "silk", "A marigold of silk.")
    ),
    "remember a note": Verb(
        partial(hold, None, "A marigold stands."), partial(hold, None, "A marigold fell.")
    ),
    "import": Verb(import_all),
    "import to a packed one": Verb(import_all, packed, pack_all),
    "archive": Verb(packed),
    "archive once more": Verb(pack_all, packed),
    "unarchive": Verb(unpack, packed),
    "forget a packed turn": Verb(partial(take, A_TURN), packed),
    "forget a session": Verb(partial(take, "today")),
}
INDEXED = {
    "sync": Verb(lambda memory: memory.sync(), unsynced, embedder="hashing:32"),
    "embed": Verb(lambda memory: memory.index.embed(), embedder="hashing:64"),
    "remember": Verb(
        lambda memory: memory.remember("A marigold of wool.", key="wool", now=NOW), embedder="none"
    ),
    "archive": Verb(lambda memory: memory.archive(now=NOW), embedder="none"),
    "unarchive": Verb(
        lambda memory: unpack(memory.vault) or memory.sync(vectors=False),
        lambda memory: memory.archive(now=NOW),
        embedder="none",
    ),
    "forget a packed turn": Verb(
        lambda memory: memory.forget(A_TURN, now=NOW),
        lambda memory: memory.archive(now=NOW),
        embedder="none",
    ),
    "forget a session": Verb(lambda memory: memory.forget("today", now=NOW), embedder="none"),
}

Held = dict[str, bytes]
Answer = tuple[str, float, str]


@dataclass(frozen=True)
class Case:
    """A vault before a verb, kept in `kept` and worked on at `root`, and what it holds and answers before
    and after, where it answers."""

    verb: Verb
    kept: Path
    root: Path
    before: Held
    after: Held
    asked: tuple[Answer, ...] = ()
    answered: tuple[Answer, ...] = ()

    def fresh(self) -> None:
        """The vault as it was before."""
        shutil.rmtree(self.root.parent, ignore_errors=True)
        shutil.copytree(self.kept, self.root.parent)

    @contextmanager
    def opened(self) -> Iterator[Vault | Memory]:
        if not self.verb.embedder:
            yield Vault.open(self.root, load(self.root))
            return
        with Memory.open(self.root, embedder=self.verb.embedder, background=False) as memory:
            yield memory

    def is_whole(self, opened: Vault | Memory) -> None:
        """Every file is the old or the new one, and a question finds every turn that stays, once."""
        held, both = bytes_of(files_of(opened)), self.before.keys() & self.after.keys()
        assert all(data in (self.before.get(path), self.after.get(path)) for path, data in held.items())
        assert both <= held.keys() <= self.before.keys() | self.after.keys()
        if self.verb.embedder:
            found = Counter(ref for ref, _, _ in answers(opened))
            asked, answered = ({ref for ref, _, _ in told} for told in (self.asked, self.answered))
            assert asked & answered <= found.keys() <= asked | answered
            assert set(found.values()) == {1}

    def is_done(self, opened: Vault | Memory) -> None:
        """It holds and answers what it would, had nothing happened."""
        vault = files_of(opened)
        self.verb.last(vault)
        vault.rescue()
        assert bytes_of(vault) == self.after
        assert not [path for path in self.root.rglob("*.tmp") if path.parent != vault.state]
        assert answers(opened) == self.answered


def files_of(opened: Vault | Memory) -> Vault:
    return opened if isinstance(opened, Vault) else opened.vault


def answers(opened: Vault | Memory) -> tuple[Answer, ...]:
    """Ref, score and evidence of all that a question finds; nothing where there is no index to ask."""
    if isinstance(opened, Vault):
        return ()
    hits = opened.recall("marigold", namespace="**", now=NOW, limit=60).hits
    return tuple(sorted((str(hit.ref), round(hit.score, 6), hit.evidence) for hit in hits))


def made(root: Path, verb: Verb) -> tuple[Held, tuple[Answer, ...]]:
    """Make the vault to which a verb is done; what it holds and answers."""
    vault = Vault.create(root, tz="UTC")
    source = export(root.with_name("c.json"), "chatgpt", [TALK])
    for name, days in DAYS.items():
        vault.record(said(name, *days), session=name, now=NOW)
    bring(root, source)
    export(source, "chatgpt", IMPORTED)
    if not verb.embedder:
        verb.first(vault)
        return bytes_of(vault), ()
    with Memory.open(root, embedder="hashing:32", background=False) as memory:
        memory.sync()
        verb.first(memory)
        held = bytes_of(vault)
    with Memory.open(shutil.copytree(root, root.with_name("asked")), embedder=verb.embedder) as memory:
        return held, answers(memory)


@pytest.fixture(autouse=True)
def _nothing_is_synced(monkeypatch: pytest.MonkeyPatch) -> None:
    """A process that dies loses nothing of what the system has taken: syncing shows nothing here."""
    monkeypatch.setattr(os, "fsync", lambda descriptor: None)


@pytest.fixture
def case(verb: Verb, tmp_path: Path) -> Case:
    root, kept = tmp_path / "at/vault", tmp_path / "kept"
    before, asked = made(root, verb)
    shutil.copytree(root.parent, kept)
    case = Case(verb, kept, root, before, {}, asked)
    with case.opened() as opened:
        verb.run(opened)
        verb.last(files_of(opened))
        return replace(case, after=bytes_of(files_of(opened)), answered=answers(opened))


def died_at(case: Case, number: int) -> bool:
    """Carry the verb out in a process that dies at its step `number`; whether it had fewer."""

    def dying() -> None:
        with case.opened() as opened:
            die_at(number)
            case.verb.run(opened)

    code = code_of(start(dying))
    assert code in (0, 137)
    return code == 0


def was_said(error: HuimemError | None, root: Path) -> bool:
    """Whether a refusal names a place and a remedy; none at all: it is made up for later."""
    return error is None or bool(error.hint and str(root) in error.message)


def cells(*quick: tuple[str, int], elsewhere: str = "") -> list[Any]:
    """Verbs with the stride of their steps: some in wide steps, all in small ones when there is time.

    `elsewhere`: one whose files another test looks after.
    """
    at_once = [pytest.param(FILES[name], stride, id=f"{name}, some") for name, stride in quick]
    alone = [(verb, 1, f"{name}, files") for name, verb in FILES.items() if name != elsewhere]
    indexed = [(verb, STRIDE, f"{name}, index") for name, verb in INDEXED.items()]
    later = [
        pytest.param(verb, stride, id=label, marks=pytest.mark.slow)
        for verb, stride, label in (*alone, *indexed)
    ]
    return at_once + later


@pytest.mark.timeout(600)
@pytest.mark.parametrize(("verb", "stride"), cells(("import", 17), ("forget a packed turn", 19)))
def test_killed_at_a_step_nothing_is_lost_and_the_next_run_completes(case: Case, stride: int) -> None:
    """D1, D4, D5, D6, D8, I7."""
    for number in range(1, 1000, stride):
        case.fresh()
        finished = died_at(case, number)
        with case.opened() as opened:
            case.is_whole(opened)
            case.verb.run(opened)
            case.is_done(opened)
        if finished:
            break
    assert finished


@pytest.mark.timeout(600)
@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EIO], ids=["no space", "disk error"])
@pytest.mark.parametrize(
    ("verb", "stride"), cells(("record to a packed one", 13), ("unarchive", 13), elsewhere="archive")
)
def test_refused_at_a_step_nothing_is_lost_and_the_next_run_completes(
    case: Case, stride: int, code: int
) -> None:
    """E1, E4, E5, E11: it is said, with a remedy, or what was derived is made later; no temp file stays."""
    for number in range(1, 1000, stride):
        case.fresh()
        with case.opened() as opened:
            finished, error = refused_at(number, code, partial(case.verb.run, opened))
            assert was_said(error, case.root)
            assert not [path for path in case.root.rglob("*") if files.TEMP.fullmatch(path.name)]
            case.is_whole(opened)
            case.verb.run(opened)
            case.is_done(opened)
        if finished:
            break
    assert finished


@pytest.fixture
def twice(tmp_path: Path) -> Vault:
    """A vault where somebody recorded to a packed session, died when it was put back, and recorded again."""
    vault = Vault.create(tmp_path / "vault", tz="UTC")
    vault.record(said("first", "2026-03-02"), session="first", now=NOW)
    place = vault.root / "sessions/2026-W10/first.md"
    data = place.read_bytes()
    packed(vault)
    files.make_folder(place.parent, within=vault.root)
    files.create(place, data)
    vault.record(said("first", "2026-03-01", "2026-09-01"), session="first", now=NOW)
    assert place.read_bytes() != data and vault.scan().archives
    return vault


def days_in(vault: Vault) -> dict[str, list[str]]:
    """The days on which the user said something, by the path of each session, open or packed."""
    scan = vault.scan()
    paths = [path for path in scan.files if path.startswith("sessions/")]
    paths += [str(place) for place, _ in vault.archives.inside(scan.archives)]
    texts = {path: vault.contents(path)[0].decode() for path in paths}
    return {path: sorted(re.findall(r"## User · (\S+)", text)) for path, text in texts.items()}


ALL_DAYS = ["2026-03-01", "2026-03-02", "2026-09-01"]


def test_a_session_that_went_on_takes_the_place_of_its_packed_state(twice: Vault) -> None:
    """D7, K7: one session stays one file, in whichever order its parts were said."""
    pack_all(twice)
    assert days_in(twice) == {f"{MARCH.archive}/sessions/2026-W10/first.md": ALL_DAYS}


def test_a_session_that_went_on_is_no_second_one_until_its_packed_state_is_edited(twice: Vault) -> None:
    """D7, K7: nothing is to be put right by hand while one text holds all of the other."""
    assert checking.problems(twice) == ()
    place = twice.root / "sessions/2026-W10/first.md"
    place.write_bytes(place.read_bytes().replace(b"2026-03-02", b"2026-03-03"))
    (problem,) = checking.problems(twice)
    assert "same id" in problem.message and problem.path == "sessions/2026-W10/first.md"


def test_what_is_put_back_where_a_session_went_on_is_in_it_already(twice: Vault) -> None:
    """D8: nothing is put beside it."""
    unpack(twice)
    assert days_in(twice) == {"sessions/2026-W10/first.md": ALL_DAYS}


def test_forgetting_all_of_a_packed_state_leaves_what_was_said_since(twice: Vault) -> None:
    """I7, O1."""
    take(A_TURN, twice)
    assert days_in(twice) == {"sessions/2026-W10/first.md": ["2026-03-01", "2026-09-01"]}
