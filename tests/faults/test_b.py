"""Group B of the faults, a watcher's: what its events say is never believed, the disk is looked at."""

from __future__ import annotations

from pathlib import Path

import pytest
from watchdog.events import (
    DirDeletedEvent,
    FileCreatedEvent,
    FileDeletedEvent,
    FileModifiedEvent,
    FileMovedEvent,
    FileSystemEvent,
    FileSystemEventHandler,
)

from huimem import upkeep
from huimem.vault import coverage
from huimem.watching import Pace
from tests.test_watching import watching, write
from tests.vault.watching_parts import Deaf, Made

# Nothing but an event makes it look.
STILL = Pace(quiet=0.02, burst=0.1, look=60.0, beat=0.02, probe=60.0, answer=60.0, settle=60.0, lease=0.05)


class Told(Deaf):
    """An observer that tells what a test has it tell."""

    def __init__(self) -> None:
        super().__init__()
        self.told: list[FileSystemEventHandler] = []

    def schedule(
        self, event_handler: FileSystemEventHandler, path: str, *, recursive: bool = False
    ) -> object:
        self.told.append(event_handler)
        return object()

    def tell(self, events: list[FileSystemEvent]) -> None:
        for event in events:
            self.told[0].dispatch(event)


def happened(notes: Path) -> list[FileSystemEvent]:
    """All that was said while `new` was written, `gone` deleted and `kept` saved by a rename."""
    new, gone, kept, temp = (str(notes / name) for name in ("new.md", "gone.md", "kept.md", "temp"))
    return [
        FileCreatedEvent(new),
        FileModifiedEvent(new),
        FileModifiedEvent(gone),
        FileDeletedEvent(gone),
        FileDeletedEvent(kept),
        FileMovedEvent(temp, kept),
    ]


# In which order it is told of, and what is told besides that is not so.
ORDERS = {
    "as it happened": (1, []),
    "backwards": (-1, []),
    "a deletion of what is there, at the end": (1, ["kept.md", "new.md"]),
    "a folder that is still there": (1, [""]),
}


@pytest.mark.parametrize("order", ORDERS)
def test_any_order_of_events_gives_what_is_on_the_disk(
    order: str, outside_temp: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """B13: deletions that come late, or are not so, take nothing away."""
    monkeypatch.setattr(coverage, "watched", lambda: None)
    root, observer = outside_temp / "vault", Told()
    (root / "notes").mkdir(parents=True)
    (root / "huimem.toml").write_text('timezone = "UTC"\n', encoding="utf-8")
    write(root / "notes/gone.md", "walnut")
    write(root / "notes/kept.md", "almond")
    step, deleted = ORDERS[order]
    with watching(root, STILL, observer=Made(lambda: observer)) as one:
        assert one.counts() == (2, 0, 0)
        write(root / "notes/new.md", "hazelnut")
        (root / "notes/gone.md").unlink()
        write(root / "notes/temp", "chestnut")
        (root / "notes/temp").replace(root / "notes/kept.md")
        false: list[FileSystemEvent] = [
            FileDeletedEvent(str(root / "notes" / name)) if name else DirDeletedEvent(str(root / "notes"))
            for name in deleted
        ]
        observer.tell([*happened(root / "notes")[::step], *false])
        assert one.counts() == (1, 1, 1)
        assert [bool(one.found(word)) for word in ("hazelnut", "chestnut", "walnut", "almond")] == [
            True, True, False, False,
        ]  # fmt: skip


def test_what_happens_while_it_looks_is_looked_at_afterwards(
    outside_temp: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """B15: a look forgets the events before it, and none of those that come meanwhile."""
    monkeypatch.setattr(coverage, "watched", lambda: None)
    root, observer, sync = outside_temp / "vault", Told(), upkeep.sync
    (root / "notes").mkdir(parents=True)
    (root / "huimem.toml").write_text('timezone = "UTC"\n', encoding="utf-8")
    late = root / "notes/late.md"

    def looked(*given: object, **named: object) -> upkeep.Synced:
        did = sync(*given, **named)  # type: ignore[arg-type]
        if not late.exists():
            write(late, "hazelnut")
            observer.tell([FileCreatedEvent(str(late))])
        return did

    monkeypatch.setattr(upkeep, "sync", looked)
    with watching(root, STILL, observer=Made(lambda: observer)) as one:
        assert one.counts() == (1, 0, 0) and one.found("hazelnut")
