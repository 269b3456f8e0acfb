"""A vault of a few sessions, packed and indexed with vectors, and ways to spoil it and to put it back."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

from huimem import Memory, checking
from huimem.checking import Checked
from huimem.config import load
from huimem.vault.vault import Vault

Change = Callable[[bytes], bytes | None]
NOW = datetime(2026, 9, 1, 12, tzinfo=UTC)
MARCH, TEAM = "archive/2026-03.tar.zst", "namespaces/team/archive/2026-03.tar.zst"
FLOWERS = ("marigold", "tulip", "金盏花", "aster", "郁金香")


def tell(memory: Memory, name: str, day: str, *, namespace: str = "") -> str:
    """A session of two turns on a day; its ref."""
    at = datetime.fromisoformat(f"{day}T10:00:00+00:00")
    flower = FLOWERS[len(name + day) % len(FLOWERS)]
    said = [
        {"role": role, "content": text, "at": at + timedelta(minutes=minutes)}
        for minutes, role, text in [
            (0, "user", f"Where does the {flower} of {name} stand? {name}的花在哪里？"),
            (1, "assistant", f"By the door, since {day}. " + f"It wants water and some {flower} seed. " * 9),
            (9, "user", "And how often do I water it?"),
            (10, "assistant", "每三天一次，夏天每天。"),
        ]
    ]
    return str(memory.record(said, session=name, title=f"About {name}", namespace=namespace)[0])


def made(root: Path) -> Vault:
    """Sessions of March, April and of a team, packed; one of August and a fact, open; all of it indexed."""
    Memory.create(root, tz="UTC").close()
    with Memory.open(root, embedder="hashing", background=False) as memory:
        for name, day in (("first", "2026-03-02"), ("second", "2026-03-20"), ("spring", "2026-04-07")):
            tell(memory, name, day)
        ref = tell(memory, "team-talk", "2026-03-09", namespace="team")
        tell(memory, "late", "2026-08-30")
        (root / "facts").mkdir()
        (root / "facts/garden.md").write_text(
            "---\nkey: garden\n---\n\n## 2026-04-01 10:00:00 →\n<!-- from=first#20260302T100000 -->\n\n"
            f"Roses.\n\n## 2026-05-01 10:00:00 →\n<!-- from={ref} -->\n\nMarigolds.\n",
            encoding="utf-8",
        )
        memory.sync()
        memory.archive(now=NOW)
        memory.sync()
    return Vault.open(root, load(root))


def check(vault: Vault, *, read_data: bool = True) -> Checked:
    """A check as a new process makes it."""
    return checking.check(Vault.open(vault.root, vault.config), read_data=read_data)


@contextmanager
def holding(path: Path, data: bytes | None, *, keep_time: bool = False) -> Iterator[None]:
    """Meanwhile a file holds `data`, None: is gone; afterwards all is as before, times too."""
    before, stood = (path.stat(), path.read_bytes()) if path.exists() else (None, b"")
    if data is None:
        path.unlink()
    else:
        path.write_bytes(data)
        if keep_time and before:
            os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    try:
        yield
    finally:
        if before is None:
            path.unlink()
        else:
            path.write_bytes(stood)
            os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


def flipped(data: bytes, at: int, bit: int = 3) -> bytes:
    changed = bytearray(data)
    changed[at] ^= 1 << bit
    return bytes(changed)


def told(found: Checked) -> set[tuple[str, bool]]:
    """The paths of what was found, and whether it is damage."""
    assert all(problem.message and problem.remedy for problem in (*found.damaged, *found.problems))
    return {(one.path, True) for one in found.damaged} | {(one.path, False) for one in found.problems}
