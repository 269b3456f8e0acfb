"""Group D of the faults: the power fails after any write, name or sync, and takes what was not synced.

In: what a verb does to files, recorded. Out: every tree that a disk may hold after each of these operations;
in each a file is wholly the old or the new one, what was acknowledged is there, what was forgotten is not,
and the same words said again complete it.
"""

from __future__ import annotations

import os
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

import pytest

from huimem import Memory, files
from huimem.config import load
from huimem.vault.sources import session_of
from huimem.vault.vault import Vault
from tests.cutting import cut_at
from tests.faults.scenes import DAYS, IMPORTED, NOW, TALK, hold, import_all, pack_all, said, take, unpack
from tests.importers.exporting import bring, export
from tests.power import Log, Tree, left_by_cut, put_down, recorded
from tests.vault.months_told import bytes_of, packed

pytestmark = pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="no paths of descriptors here")


Act = Callable[[Vault], object]
Said = frozenset[tuple[str, str]]  # session and text of messages


@dataclass(frozen=True)
class Scenario:
    """Acts, each acknowledged when it returns, after `first` was done; `last` comes before a look."""

    acts: tuple[Act, ...]
    first: Act = lambda vault: None
    last: Act = lambda vault: None


def more(session: str, day: str, vault: Vault) -> None:
    vault.record(said(session, day), session=session, namespace="team" * (session == "work"), now=NOW)


NEW_AND_GROWN = (partial(more, "work", "2026-08-31"), partial(more, "work", "2026-09-01"))
SCENARIOS = {
    "record": Scenario((*NEW_AND_GROWN, partial(more, "today", "2026-09-02"))),
    "record to a packed one": Scenario((partial(more, "first", "2026-09-02"),), packed, pack_all),
    "remember": Scenario(
        (partial(hold, "wool", "A marigold of wool."), partial(hold, None, "A marigold stands."))
    ),
    "remember more": Scenario(
        (partial(hold, "silk", "A marigold of wool."), partial(hold, None, "A marigold stands.")),
        lambda vault: (hold("silk", "A marigold of silk.", vault), hold(None, "A marigold fell.", vault)),
    ),
    "import": Scenario((import_all,)),
    "archive": Scenario((packed,)),
    "archive once more": Scenario((pack_all,), packed),
    "unarchive": Scenario((unpack,), packed),
    "forget a packed turn": Scenario((partial(take, "first#20260302T100000"),), packed),
    "forget a session": Scenario((partial(take, "today"),)),
}


@dataclass
class Told:
    """A scenario as it went: its log, and how many operations there were when what was said was there."""

    scenario: Scenario
    log: Log
    acknowledged: list[tuple[int, Said]] = field(default_factory=list)
    after: dict[str, bytes] = field(default_factory=dict)
    died: bool = False  # a run before it: what that was writing is still in a temp file

    @property
    def versions(self) -> dict[str, set[bytes]]:
        """Every content that each name ever led to."""
        found: dict[str, set[bytes]] = {}
        for cut in range(len(self.log.operations) + 1):
            for path, data in next(left_by_cut(self.log, cut, random.Random(0))).items():
                if data is not None:
                    found.setdefault(path, set()).add(data)
        return found

    @property
    def forgotten(self) -> Said:
        """What was there and is meant to be gone at the end."""
        return self.acknowledged[0][1] - self.acknowledged[-1][1]

    def owed(self, cut: int) -> Said:
        """What must be there after a cut."""
        words = (words for number, words in self.acknowledged if number <= cut)
        return frozenset().union(*words) - self.forgotten


def opened(root: Path) -> Vault:
    return Vault.open(root, load(root))


def held(vault: Vault) -> Said:
    """Every message there is, open or packed."""
    return frozenset(
        (session.id, message.text)
        for path, data in bytes_of(vault).items()
        if "feedback" not in path and ".tar.zst" not in path
        for session in [session_of(data, path, zone=vault.zone)]
        for message in session.messages
    )


def made(root: Path, scenario: Scenario) -> None:
    vault = Vault.create(root, tz="UTC")
    source = export(root.with_name("c.json"), "chatgpt", [TALK])
    for name, days in DAYS.items():
        vault.record(said(name, *days), session=name, now=NOW)
    bring(root, source)
    export(source, "chatgpt", IMPORTED)
    scenario.first(vault)


def told(root: Path, scenario: Scenario, *, lies: str = "", dies_at: int = 0) -> Told:
    """Carry a scenario out, on a disk that may lie about what is synced, or after a run that died before it
    synced a folder for the n-th time."""
    made(root, scenario)
    with recorded(root, lies=lies) as log:
        going = Told(scenario, log)
        going.acknowledged.append((0, held(opened(root))))
        if dies_at:
            run = partial(scenario.acts[0], opened(root))
            going.died = not cut_at(dies_at, run, "before folder sync")
        for act in scenario.acts:
            act(opened(root))
            going.acknowledged.append((len(log.operations), held(opened(root))))
    scenario.last(opened(root))
    going.after = bytes_of(opened(root))
    return going


def faults(going: Told, cut: int, tree: Tree, state: Tree, versions: dict[str, set[bytes]]) -> Iterator[str]:
    """What is wrong with a tree that a power cut left, and with what comes of it."""
    root, scenario = going.log.root, going.scenario
    ours = {path: data for path, data in tree.items() if not files.TEMP.fullmatch(Path(path).name)}
    torn = [path for path, data in ours.items() if data is not None and data not in versions[path]]
    put_down(root, tree, state)
    vault = opened(root)
    yield from (f"{path} is torn" for path in torn)
    if torn:
        return
    yield from (f"{text} is lost" for _, text in sorted(going.owed(cut) - held(vault)))
    if cut == len(going.log.operations):
        words = [text.encode() for _, text in going.forgotten]
        looked = {path: data or b"" for path, data in (ours if going.died else tree).items()}
        yield from (f"{path} says it still" for path in looked if any(map(looked[path].__contains__, words)))
    for act in (*scenario.acts, scenario.last):
        act(opened(root))
    opened(root).rescue()
    if bytes_of(opened(root)) != going.after:
        yield "the next run does not complete it"


def all_faults(going: Told, first: int = 0) -> Iterator[str]:
    """Of every tree after each cut from the `first` on, with the state folder of that moment, or an older
    one, or none. What was looked at once is not again."""
    chance, versions, log = random.Random(20260901), going.versions, going.log
    last, nothing = len(log.operations), Tree()
    seen: set[object] = set()
    for cut in range(first, last + 1):
        for number, tree in enumerate(left_by_cut(log, cut, chance)):
            others = [log.states[0], nothing] if not number and cut % 4 == 0 else []
            for state in [log.states[cut], *others]:
                look = (frozenset(tree.items()), going.owed(cut), id(state), cut == last)
                if look not in seen:
                    seen.add(look)
                    for fault in faults(going, cut, tree, state, versions):
                        yield f"after {cut} of {last} operations, tree {number}: {fault}"


@pytest.fixture(autouse=True)
def _nothing_is_synced(monkeypatch: pytest.MonkeyPatch) -> None:
    """What syncing brings about is modelled here."""
    monkeypatch.setattr(os, "fsync", lambda descriptor: None)


@pytest.mark.slow
@pytest.mark.timeout(300)
@pytest.mark.parametrize("name", SCENARIOS)
def test_a_power_cut_leaves_old_or_new_and_all_that_was_acknowledged(name: str, tmp_path: Path) -> None:
    """D14, D1, D4, D6, D7, D8."""
    going = told(tmp_path / "vault", SCENARIOS[name])
    assert len(going.log.operations) > 10
    assert not [*all_faults(going)]


LIES = {
    "files": "is torn",
    "folders": "is lost",
}


@pytest.mark.parametrize("lies", LIES)
def test_a_disk_that_does_not_sync_is_found_out(lies: str, tmp_path: Path) -> None:
    """D14: what is looked for here is found where a sync is missing."""
    going = told(tmp_path / "vault", Scenario(NEW_AND_GROWN[:1]), lies=lies)
    assert any(LIES[lies] in fault for fault in all_faults(going, len(going.log.operations)))


AGAIN = [
    pytest.param(SCENARIOS[name], stride, id=name)
    for name, stride in (("import", 1), ("archive", 4), ("unarchive", 2), ("forget a packed turn", 7))
]
AGAIN += [
    pytest.param(Scenario(NEW_AND_GROWN[:1]), 1, id="record a new one"),
    pytest.param(Scenario((partial(more, "today", "2026-09-02"),)), 1, id="record"),
    pytest.param(Scenario((partial(hold, "wool", "A marigold of wool."),)), 1, id="remember a new key"),
    pytest.param(
        replace(SCENARIOS["remember more"], acts=SCENARIOS["remember more"].acts[:1]), 1, id="remember"
    ),
    pytest.param(SCENARIOS["forget a session"], 5, id="forget a session"),
]


@pytest.mark.slow
@pytest.mark.timeout(300)
@pytest.mark.parametrize(("scenario", "stride"), AGAIN)
def test_what_a_run_that_died_left_unsynced_is_synced_before_it_is_relied_on(
    scenario: Scenario, stride: int, tmp_path: Path
) -> None:
    """D4, D6, D8, D14, I7: the next run finds it done, says so, and then the power fails."""
    for number in range(1, 200, stride):
        going = told(tmp_path / f"{number}/vault", scenario, dies_at=number)
        assert not [*all_faults(going, len(going.log.operations))], number
        if not going.died:
            break
    assert not going.died and number > 1


VERBS: dict[str, Callable[[Memory], object]] = {
    "archive": lambda memory: memory.archive(now=NOW),
    "forget": lambda memory: memory.forget("first#20260302T100000", now=NOW),
}


def answers(memory: Memory) -> list[tuple[str, float, str]]:
    hits = memory.recall("marigold", namespace="**", now=NOW, limit=60).hits
    return sorted((str(hit.ref), round(hit.score, 6), hit.evidence) for hit in hits)


def memory_at(root: Path) -> Memory:
    return Memory.open(root, embedder="hashing:32", background=False)


@pytest.mark.slow
@pytest.mark.parametrize("verb", VERBS)
def test_whichever_index_a_power_cut_leaves_it_answers_as_one_made_anew(verb: str, tmp_path: Path) -> None:
    """D5, O3: that of before, that of after, that of the moment, beside files of any moment."""
    root, chance = tmp_path / "vault", random.Random(20260901)
    made(root, Scenario(()))
    with memory_at(root) as memory:
        memory.sync()
    with recorded(root) as log, memory_at(root) as memory:
        VERBS[verb](memory)
    last = len(log.operations)
    for cut in range(0, last + 1, last // 6):
        trees = [*left_by_cut(log, cut, chance)]
        tree = chance.choice(trees)
        put_down(root, tree, {})
        with memory_at(root) as memory:
            anew = answers(memory)
        for state in (log.states[0], log.states[cut], log.states[-1]):
            put_down(root, tree, state)
            with memory_at(root) as memory:
                assert answers(memory) == anew, f"after {cut} of {last} operations"
