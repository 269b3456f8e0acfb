"""git in a vault: branches, stashes and rebases change many files at once, and the index follows.

A watcher runs, and nobody asks a question: what is told here, the watcher did.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.live.desk import Desk
from tests.live.editors import LINE, NEW, NOTE, OLD
from tests.live.indexed import Seen, embedded, equals_scratch, has_its_vectors, seen
from tests.live.places import carried_out

pytestmark = pytest.mark.slow

Git = Callable[..., str]


@pytest.fixture
def repository(desk: Desk) -> tuple[str, Git]:
    """A folder of the vault with two branches: `other` changes the note and lacks 40 others."""
    folder = desk.folder()

    def git(*words: str, check: bool = True) -> str:
        named = ("-c", "user.name=Ann", "-c", "user.email=ann@example.org", "-c", "gc.auto=0")
        return carried_out(desk.root, "git", *named, "-C", folder, *words, check=check)

    git("init", "-q", "-b", "main")
    desk.lay(f"{folder}n.md")
    for number in range(40):
        (desk.root / folder / f"{number}.md").write_text(f"A walnut{number}.\n", encoding="utf-8")
    git("add", ".")
    git("commit", "-q", "-m", "main")
    git("checkout", "-q", "-b", "other")
    git("rm", "-q", *[f"{number}.md" for number in range(40)])
    (desk.root / folder / "n.md").write_text(NOTE.replace(OLD, NEW), encoding="utf-8")
    git("commit", "-q", "-a", "-m", "other")
    git("checkout", "-q", "main")
    desk.knows("walnut39", (f"{folder}39.md", 1), below=folder)
    desk.knows(OLD, (f"{folder}n.md", LINE), below=folder)
    has_its_vectors(desk.root)
    return folder, git


def test_another_branch_and_back_embeds_nothing(desk: Desk, repository: tuple[str, Git]) -> None:
    folder, git = repository
    before = seen(desk.root, folder, OLD, "zucchini", "walnut7")
    git("checkout", "-q", "other")
    there = [ref for ref in before.refs if ref[0] == f"{folder}n.md"]
    desk.sees(folder, Seen({OLD: [], "zucchini": [(f"{folder}n.md", LINE)], "walnut7": []}, there))
    count = embedded(desk.root)
    git("checkout", "-q", "main")
    desk.sees(folder, before)
    assert embedded(desk.root) == count


def test_a_stash_and_its_return(desk: Desk, repository: tuple[str, Git]) -> None:
    folder, git = repository
    before = seen(desk.root, folder, OLD)
    (desk.root / folder / "n.md").write_text(NOTE.replace(OLD, NEW), encoding="utf-8")
    desk.knows("zucchini", (f"{folder}n.md", LINE), below=folder)
    git("stash", "-q")
    desk.sees(folder, before)
    git("stash", "pop", "-q")
    desk.knows("zucchini", (f"{folder}n.md", LINE), below=folder)
    desk.knows(OLD, below=folder)


def test_a_rebase_that_stops_at_a_conflict_shows_both_sides(desk: Desk, repository: tuple[str, Git]) -> None:
    folder, git = repository
    note = desk.root / folder / "n.md"
    note.write_text(NOTE.replace(OLD, "hazelnut"), encoding="utf-8")
    git("commit", "-q", "-a", "-m", "mine")
    git("rebase", "other", check=False)
    conflict = note.read_bytes()
    assert b"<<<<<<<" in conflict and b">>>>>>>" in conflict
    for word in ("hazelnut", "zucchini"):
        desk.knows(word, (f"{folder}n.md", LINE), below=folder)
    assert note.read_bytes() == conflict
    git("rebase", "--abort")
    desk.knows("zucchini", below=folder)
    desk.knows("hazelnut", (f"{folder}n.md", LINE), below=folder)


def test_in_the_end_the_index_equals_one_from_scratch(desk: Desk) -> None:
    equals_scratch(desk.root)
