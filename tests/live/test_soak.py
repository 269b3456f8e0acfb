"""Random edits under a watcher that is killed now and then: in the end the index is the vault.

The seed is fixed; the steps are printed where it fails.
"""

from __future__ import annotations

import os
import random
import shutil
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.live.indexed import equals_scratch, has_its_vectors
from tests.live.places import huimem
from tests.live.watched import Watched

SEED = 20260406
SECONDS = 6.0
FOLDERS = ("", "a/", "a/b/", "c/", "sessions/2026-W15/", "namespaces/ann/", "facts/")
WORDS = ("apple", "pear", "索引", "walnut", "讨论", "marigold", "tangerine")


class Gardener:
    """Edits a vault at random and remembers what it did."""

    def __init__(self, root: Path, seed: int) -> None:
        self.root = root
        self.chance = random.Random(seed)
        self.steps: list[str] = []
        self.edits: tuple[Callable[[], str], ...] = (
            self.write, self.write, self.append, self.append, self.rewrite_in_place, self.replace,
            self.truncate, self.half_a_save, self.move, self.move, self.delete, self.move_folder,
            self.delete_folder, self.recreate, self.touch, self.swap,
        )  # fmt: skip

    def step(self) -> None:
        edit = self.chance.choice(self.edits)
        self.steps.append(f"{edit.__name__} {edit()}")

    def words(self) -> str:
        return " ".join(self.chance.choices(WORDS, k=3)) + f" number{self.chance.randrange(1000)}"

    def text(self) -> str:
        turns = [
            f"## {role} · 2026-04-{day:02} 09:{minute:02}:00\n\n{self.words()}\n"
            for role in ("User", "Assistant")
            for day in (6, 7)
            if (minute := self.chance.randrange(60)) % 4
        ]
        return "\n".join(turns) or f"{self.words()}\n"

    def new_path(self) -> Path:
        return self.root / self.chance.choice(FOLDERS) / f"n{self.chance.randrange(40)}.md"

    def old_path(self) -> Path:
        """A note that is there; one is made where there is none."""
        found = sorted(path for path in self.root.rglob("*.md") if ".huimem" not in path.parts)
        return self.chance.choice(found) if found else self.put(self.new_path(), self.text())

    def put(self, path: Path, text: str) -> Path:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path

    def named(self, *paths: Path) -> str:
        return " → ".join(path.relative_to(self.root).as_posix() for path in paths)

    def write(self) -> str:
        return self.named(self.put(self.new_path(), self.text()))

    def append(self) -> str:
        path = self.old_path()
        with open(path, "a", encoding="utf-8") as file:
            file.write(f"\n{self.words()}\n")
        return self.named(path)

    def rewrite_in_place(self) -> str:
        """The same size and, half of the time, the same times as before."""
        path = self.old_path()
        before, text = path.stat(), path.read_bytes()
        old, new = (b"pear", b"plum") if b"pear" in text else (b"plum", b"pear")
        with open(path, "r+b") as file:
            file.write(text.replace(old, new))
        if self.chance.random() < 0.5:
            os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
        return self.named(path)

    def replace(self) -> str:
        path = self.old_path()
        self.put(path.with_name("temp"), self.text()).replace(path)
        return self.named(path)

    def truncate(self) -> str:
        path = self.old_path()
        path.write_bytes(path.read_bytes()[: self.chance.randrange(60)])
        return self.named(path)

    def half_a_save(self) -> str:
        path, text = self.old_path(), self.text()
        path.write_text("", encoding="utf-8")
        time.sleep(self.chance.uniform(0, 0.6))
        path.write_text(text, encoding="utf-8")
        return self.named(path)

    def move(self) -> str:
        old, new = self.old_path(), self.new_path()
        new.parent.mkdir(parents=True, exist_ok=True)
        old.replace(new)
        return self.named(old, new)

    def delete(self) -> str:
        path = self.old_path()
        path.unlink()
        return self.named(path)

    def recreate(self) -> str:
        path = self.old_path()
        text = path.read_bytes()
        path.unlink()
        time.sleep(self.chance.choice((0, 0, 0.5)))
        path.write_bytes(text)
        return self.named(path)

    def touch(self) -> str:
        path = self.old_path()
        path.touch()
        return self.named(path)

    def swap(self) -> str:
        one, other = self.old_path(), self.old_path()
        if one != other:
            one.rename(self.root / "aside")
            other.rename(one)
            (self.root / "aside").rename(other)
        return self.named(one, other)

    def move_folder(self) -> str:
        old = self.root / self.chance.choice(FOLDERS[1:])
        new = self.root / self.chance.choice(("d", "e", "f"))
        if not old.is_dir() or new.exists():
            return "nothing"
        old.rename(new)
        return self.named(old, new)

    def delete_folder(self) -> str:
        folder = self.root / self.chance.choice((*FOLDERS[1:], "d", "e", "f"))
        if self.chance.random() < 0.7 or not folder.is_dir():
            return "nothing"
        shutil.rmtree(folder)
        return self.named(folder)

    def record(self) -> str:
        """It may be refused: its file may have become a fact's by now."""
        session = f"s{self.chance.randrange(3)}"
        done = huimem(self.root, "record", "--session", session, "--role", "user", given=self.words())
        assert done.returncode in (0, 2), done.stderr
        return f"{session} ({done.returncode})"


def work(gardener: Gardener, seconds: float) -> None:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        gardener.step()
        time.sleep(gardener.chance.uniform(0, 0.2))
    gardener.steps.append(f"record {gardener.record()}")


@pytest.mark.slow
@pytest.mark.timeout(150)
def test_after_many_edits_the_index_equals_one_from_scratch(root: Path) -> None:
    """Four watchers follow one another; all but the last are killed in the midst of it."""
    gardener = Gardener(root, SEED)
    try:
        for last in (False, False, False, True):
            with Watched(root) as watched:
                work(gardener, SECONDS)
                equals_scratch(root)
                has_its_vectors(root)
                assert "Traceback" not in watched.text
                if not last:
                    work(gardener, 1.0)
                    gardener.steps.append("the watcher is killed")
                    watched.kill()
    except BaseException:
        print(f"seed {SEED}", *gardener.steps, sep="\n")
        raise
