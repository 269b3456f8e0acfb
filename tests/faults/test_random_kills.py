"""Processes that work on one vault and are killed at any moment, two hundred times, while another one asks.

In: a seed. Out: a vault in which every turn that was acknowledged and not forgotten is found once, what was
forgotten is not, no file is torn, and the index answers as one made anew. Each worker writes down what it
begins to forget, and whatever it was told is done, to a file that outlives it.
"""

from __future__ import annotations

import os
import random
import shutil
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from huimem import Memory, checking, files
from huimem.errors import HuimemError, NotFound
from huimem.months import archived
from huimem.vault import pack
from tests.importers.exporting import Talk, bring, export, talk
from tests.processes import code_of, start

pytestmark = [pytest.mark.slow, pytest.mark.timeout(400)]

NOW = datetime(2026, 9, 1, 12, tzinfo=UTC)
KILLS, LOOK = 200, 40  # kills, and after how many the vault is looked at
MEAN, LONGEST = 0.12, 0.8  # seconds that a worker lives
SESSIONS = 9
# No floor: whether a word is enough for an answer is another matter.
SETTINGS: dict[str, object] = {
    "embedder": "hashing:32", "background": False, "ranking.floor": 0.0, "ranking.words_floor": 0.0,
}  # fmt: skip
ACTS = ("record",) * 6 + (
    "remember",
    "remember",
    "sync",
    "archive",
    "archive",
    "unarchive",
    "forget",
    "import",
)


@dataclass
class Notes:
    """What workers wrote down: refs of words that are there, and words that are, or may be, forgotten."""

    place: Path
    said: dict[str, str] = field(default_factory=dict)
    doomed: set[str] = field(default_factory=set)
    gone: set[str] = field(default_factory=set)

    def read(self) -> Notes:
        """As they are now."""
        found = Notes(self.place)
        for line in self.place.read_text(encoding="utf-8").splitlines():
            what, word, ref = line.split(" ")
            if what == "said":
                found.said[word] = ref
            else:
                (found.doomed if what == "forgets" else found.gone).add(word)
        return found

    def write(self, what: str, word: str, ref: str = "-") -> None:
        """One line in one write, which a kill does not cut: it is short, and goes to the system at once."""
        descriptor = os.open(self.place, os.O_WRONLY | os.O_APPEND)
        os.write(descriptor, f"{what} {word} {ref}\n".encode())
        os.close(descriptor)

    @property
    def owed(self) -> dict[str, str]:
        return {word: ref for word, ref in self.said.items() if word not in self.doomed}


# Workers


def record(memory: Memory, notes: Notes, word: str, chance: random.Random) -> None:
    number = chance.randrange(SESSIONS)
    at = datetime(2026, 3 + number % 6, 2 + number, 8, tzinfo=UTC) + timedelta(seconds=len(notes.said) * 30)
    messages = [{"role": "user", "content": f"The marigold {word} stands.", "at": at}]
    owner = "team" * (number % 4 == 3)
    refs = memory.record(messages, session=f"s{number}", title=f"Talk {number}", namespace=owner, now=NOW)
    notes.write("said", word, str(refs[-1]))


def remember(memory: Memory, notes: Notes, word: str, chance: random.Random) -> None:
    at = NOW - timedelta(days=chance.randrange(1, 60))  # of one second: the later ones begin after it
    ref = memory.remember(f"The marigold {word} stands.", at=at, now=NOW)
    notes.write("said", word, str(ref))


def forget(memory: Memory, notes: Notes, chance: random.Random) -> None:
    if owed := sorted(notes.owed.items()):
        _, ref = chance.choice(owed)
        alike = [each for each, other in owed if other == ref]  # of one turn
        for each in alike:
            notes.write("forgets", each, ref)
        memory.forget(ref, now=NOW)
        for each in alike:
            notes.write("forgot", each)


def forget_begun(memory: Memory, notes: Notes) -> None:
    """Finish what workers began to forget."""
    for word in sorted(notes.doomed - notes.gone):
        memory.forget(notes.said[word], now=NOW)
        notes.write("forgot", word)


def import_one(memory: Memory, notes: Notes, chance: random.Random) -> None:
    source = chance.choice(sorted(notes.place.parent.glob("export*.json")))
    report = bring(memory.vault.root, source)
    if report.outcomes.get("new"):
        word = f"in{source.stem.removeprefix('export')}x"
        with suppress(IndexError):
            hit = memory.recall(word, namespace="**", now=NOW).hits[0]
            notes.write("said", word, str(hit.ref))


def work(root: Path, notes: Notes, name: str, begun: int) -> None:
    """Do one thing after another, until killed."""
    chance = random.Random(name)
    with Memory.open(root, **SETTINGS) as memory:
        os.write(begun, b"!")
        for number in range(1000):
            now = notes.read()
            match chance.choice(ACTS):
                case "record":
                    record(memory, now, f"w{name}x{number}x", chance)
                case "remember":
                    remember(memory, now, f"r{name}x{number}x", chance)
                case "sync":
                    memory.sync()
                case "archive":
                    memory.archive(now=NOW, keep=chance.randrange(4))
                case "unarchive":
                    with suppress(NotFound):
                        memory.unarchive(f"2026-0{chance.randrange(3, 9)}")
                case "forget":
                    forget(memory, now, chance)
                case "import":
                    import_one(memory, now, chance)


def killed(root: Path, notes: Notes, name: str, after: float) -> None:
    """A worker that is killed so many seconds after it began."""
    begins, begun = os.pipe()
    child = start(lambda: work(root, notes, name, begun))
    os.close(begun)
    assert os.read(begins, 1) == b"!", f"worker {name} did not begin"
    os.close(begins)
    time.sleep(after)  # the moment itself is what is tried
    os.kill(child, signal.SIGKILL)
    assert code_of(child) == -signal.SIGKILL, f"worker {name} ended by itself"


# Who looks


def times_found(memory: Memory, word: str) -> int | None:
    """None where the answer itself says that some files are not in yet, and the word may be there."""
    found = memory.recall(word, namespace="**", now=NOW, limit=30)
    times = sum(f" {word} " in f" {hit.evidence} " for hit in found.hits)
    return times or (0 if found.freshness.fresh else None)


def wrong(memory: Memory, notes: Notes, words: int, chance: random.Random) -> Iterator[str]:
    """Some words that are not found once, or are though they were forgotten, meanwhile or now."""
    before = notes.read()
    asked = chance.sample(sorted(before.said), min(words, len(before.said)))
    found = {word: times_found(memory, word) for word in asked}
    after = notes.read()
    for word, times in found.items():
        if times is not None and times != 1 and not (times == 0 and word in after.doomed):
            yield f"{word} ({before.said[word]}) is found {times} times"
        if times and word in before.gone:
            yield f"{word} was forgotten and is found"


@contextmanager
def asking(root: Path, notes: Notes) -> Iterator[None]:
    """Somebody asks while the block runs, and every answer is right."""
    end = notes.place.with_name("end")
    child = start(lambda: ask(root, notes, end))
    try:
        yield
    except BaseException:
        os.kill(child, signal.SIGKILL)
        code_of(child)
        raise
    end.touch()
    assert code_of(child) == 0
    assert end.read_text(encoding="utf-8") == ""


def ask(root: Path, notes: Notes, end: Path) -> None:
    """Ask until told to end, and write down what is wrong."""
    chance, faults = random.Random(7), list[str]()
    with Memory.open(root, **SETTINGS) as memory:
        while not end.exists():
            try:
                faults += wrong(memory, notes, 1, chance)
            except (HuimemError, OSError) as error:
                faults.append(repr(error))
            time.sleep(0.05)  # the workers are to get somewhere
    end.write_text("\n".join(faults), encoding="utf-8")


def everything(memory: Memory) -> bytes:
    """All bytes of all files, and of all that are packed: for a while a session may be both."""
    vault, scan = memory.vault, memory.vault.scan()
    found = [(vault.root / path).read_bytes() for path in scan.files]
    for place in filter(None, map(archived, scan.archives)):
        found += [data for _, data in pack.contents(vault.archives.whole(place))]
    return b"\n".join(found)


def look(root: Path, notes: Notes, chance: random.Random) -> None:
    """The next run: it finds every word, takes in what is new, and there is nothing to be put right."""
    with Memory.open(root, **SETTINGS) as memory:
        assert [*wrong(memory, notes, 12, chance)] == []
        forget_begun(memory, notes.read())
        memory.vault.rescue()
        memory.sync()
        now, held = notes.read(), everything(memory)
        assert now.doomed == now.gone
        assert not [word for word in now.owed if f" {word} ".encode() not in held], "lost"
        assert not [word for word in now.gone if f" {word} ".encode() in held], "forgotten, and there"
        assert memory.recall("marigold", now=NOW).freshness.fresh
        checked = checking.check(memory.vault, read_data=True)
        assert not checked.damaged and not checked.pending


def answers(memory: Memory) -> list[list[tuple[str, float, str]]]:
    questions = ("marigold", "stands", "what was said in March", "silk")
    found = [memory.recall(text, namespace="**", now=NOW, limit=50).hits for text in questions]
    return [sorted((str(hit.ref), round(hit.score, 6), hit.evidence) for hit in hits) for hits in found]


def made(folder: Path) -> Path:
    """A vault with an index, in this process, which thereby has loaded what workers need."""
    root = folder / "vault"
    Memory.create(root, tz="UTC").close()
    for number in range(8):
        said = Talk(talk(f"A marigold in{number}x of silk?", "Of silk.", first=number * 9000), f"c-{number}")
        export(folder / f"export{number}.json", "chatgpt", [said])
    with Memory.open(root, **SETTINGS) as memory:
        memory.record([{"role": "user", "content": "A tulip.", "at": NOW}], session="tulip", now=NOW)
        memory.sync()
        memory.recall("tulip", now=NOW)
    return root


def test_killed_at_any_moment_no_turn_is_lost_and_the_next_run_completes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """C1, C3, D1, D3, D4, D5, D6, D8, I7: and the one who asks meanwhile finds every turn once."""
    monkeypatch.setattr(os, "fsync", lambda descriptor: None)  # a kill loses nothing that the system has
    root, notes = made(tmp_path), Notes(tmp_path / "notes")
    notes.place.touch()
    chance = random.Random(20260901)
    with asking(root, notes):
        for number in range(KILLS):
            killed(root, notes, str(number), min(chance.expovariate(1 / MEAN), LONGEST))
            if number % LOOK == LOOK - 1:
                look(root, notes, chance)
    assert len(notes.read().said) > KILLS // 2 and notes.read().gone
    with Memory.open(root, **SETTINGS) as memory:
        assert not checking.problems(memory.vault)
        assert not [path for path in root.rglob("*.md") if files.TEMP.fullmatch(path.name)]
        before = answers(memory)
    shutil.rmtree(root / ".huimem")
    with Memory.open(root, **SETTINGS) as memory:
        memory.sync()
        assert answers(memory) == before
