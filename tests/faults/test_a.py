"""Group A of the faults: what editors, git and sync programs leave in the place of a file."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from huimem import Memory
from huimem.providers.hashing import HashingEmbedder
from huimem.vault.sources import source_of
from huimem.vault.vault import Vault

Huimem = Callable[..., tuple[int, str, str]]


def test_a_file_that_is_only_in_the_cloud_is_not_deleted(tmp_path: Path) -> None:
    """A14: iCloud takes `garden.md` away and leaves `.garden.md.icloud`."""
    root = tmp_path / "vault"
    Memory.create(root, tz="UTC").close()
    place = root / "garden.md"
    place.write_text("The larkspur stands by the gate.\n", encoding="utf-8")
    with Memory.open(root, embedder="none", background=False) as memory:
        memory.sync()
        place.rename(root / ".garden.md.icloud")
        synced = memory.sync()
        assert synced.report.removed == 0
        assert any("garden.md: is kept in iCloud" in line for line in synced.unread)
        assert memory.index.counts().sources == 1
        (root / ".garden.md.icloud").rename(place)
        assert [hit.path for hit in memory.recall("larkspur").hits] == ["garden.md"]
        place.unlink()
        memory.sync()
        assert memory.index.counts().sources == 0


OURS, THEIRS = "The larkspur stands by the gate.\n", "The larkspur stands by the pond.\n"
CONFLICT = f"<<<<<<< HEAD\n{OURS}=======\n{THEIRS}>>>>>>> other\n"
THREE_WAYS = f"<<<<<<< HEAD\n{OURS}||||||| 4f2a1c0\nThe rose.\n=======\n{THEIRS}>>>>>>> other\n"
TURN = "## User · 2026-04-06 09:14:23\n\nWhere does it stand?\n\n"
FACTS = "---\nkey: larkspur\n---\n\n## 2026-04-06 09:14:23 →\n\n"
# Where the marks stand: the file's text, and the line of the first of them.
UNFINISHED = {
    "session": (f"{TURN}{CONFLICT}", 5),
    "session, three ways": (f"{TURN}{THREE_WAYS}", 5),
    "session with Windows line ends": (f"{TURN}{CONFLICT}".replace("\n", "\r\n"), 5),
    "a turn that both sides added": (
        f"{TURN}<<<<<<< HEAD\n{TURN.replace('23', '24')}=======\n{TURN.replace('23', '25')}>>>>>>> other\n",
        5,
    ),
    "front matter": (f"---\nhuimem: 1\n{CONFLICT}---\n\n{TURN}", 3),
    "fact": (f"{FACTS}{CONFLICT}", 7),
    "note": (f"# Garden\n\n{CONFLICT}", 3),
    "at the very beginning": (CONFLICT, 1),
    "below a fence": (f"{TURN}```\n{CONFLICT}```\n\n{CONFLICT}", 13),
}
# What has some of the marks, or has them as text.
FINISHED = {
    "in a fence": f"{TURN}```\n{CONFLICT}```\n",
    "indented": f"{TURN}{CONFLICT}".replace("\n<", "\n    <").replace("\n>", "\n    >"),
    "no second mark": f"{TURN}{CONFLICT}".replace("=======\n", ""),
    "no last mark": f"{TURN}{CONFLICT}".replace(">>>>>>>", ">"),
    "another order": f"{TURN}>>>>>>> a\n=======\n<<<<<<< b\n",
    "headings underlined, quotes": f"{TURN}Title\n=======\n\n>>>>>>> thus quoted\n",
    "within a line": f"{TURN}git writes <<<<<<< HEAD\n=======\nand >>>>>>> other\n",
}


@pytest.mark.parametrize("sort", UNFINISHED)
def test_a_merge_that_is_not_finished_is_named_and_stays_as_it_is(
    sort: str, marigold_vault: Path, huimem: Huimem
) -> None:
    """A13: doctor names line and remedy; both sides are found, and no byte of the file changes."""
    text, line = UNFINISHED[sort]
    place = marigold_vault / "facts/merged.md" if sort == "fact" else marigold_vault / "merged.md"
    place.parent.mkdir(exist_ok=True)
    place.write_bytes(text.encode())
    shown = place.relative_to(marigold_vault)
    assert huimem("sync")[0] == 0
    code, out, _ = huimem("doctor")
    assert code == 1 and out.count("merge that is not finished") == 1
    assert f"fail  {shown}:{line}  two versions between the marks of a merge that is not finished: " in out
    assert "→ keep what is right of both and delete the marks; in a code fence they are text" in out
    assert "\nproblems" in huimem("status")[1] and " doctor names them" in huimem("status")[1]
    if "added" not in sort and sort != "front matter":
        for word in ("gate", "pond"):
            assert f"{shown}:" in huimem("recall", word)[1]
    assert place.read_bytes() == text.encode()


@pytest.mark.parametrize("sort", FINISHED)
def test_what_only_looks_like_a_merge_is_text(sort: str, marigold_vault: Path) -> None:
    """A13: a talk about git is none."""
    vault = Vault.open(marigold_vault, Memory.open(marigold_vault).config)
    assert source_of(FINISHED[sort].encode(), "merged.md", zone=vault.zone).problems == ()


def test_many_marks_in_a_file_are_one_problem(marigold_vault: Path, huimem: Huimem) -> None:
    """A13: with how many there are."""
    (marigold_vault / "merged.md").write_text(TURN + CONFLICT * 1_200, encoding="utf-8")
    code, out, _ = huimem("doctor")
    assert code == 1 and out.count("merge that is not finished, and 1,199 more: read as text") == 1


SAID = {
    "091423": "Which flower stands by the gate?",
    "101500": "The larkspur, since the autumn.",
    "111742": "And which one by the pond? 池塘边种的是什么？",
    "121809": "An iris, and the mint beside it.",
}


def written(turns: Sequence[tuple[str, str]], heading: str = "## User · 2026-04-06 {}") -> str:
    """A session of these turns, each a clock and a text."""
    clocks = [f"{clock[:2]}:{clock[2:4]}:{clock[4:]}" for clock, _ in turns]
    return "".join(f"{heading.format(at)}\n\n{text}\n\n" for at, (_, text) in zip(clocks, turns, strict=True))


TURNS = list(SAID.items())
# What somebody does to the file, and how many texts that no vector was ever made for are in it then.
EDITS = {
    "turns in another order": (written(TURNS[::-1]), 0),
    "a turn doubled": (written([*TURNS, TURNS[1]]), 0),
    "all doubled, with other times": (written(TURNS) + written([("133000", text) for _, text in TURNS]), 0),
    "another day in every heading": (written(TURNS).replace("04-06", "04-07"), 0),
    "another speaker": (written(TURNS, "## Assistant · 2026-04-06 {}"), 0),
    "a short heading": (written(TURNS).replace("## User · 2026-04-06 11:17:42", "## User 11:17"), 0),
    "another id": ("---\nid: other\n---\n\n" + written(TURNS), 0),
    "text before the first turn": ("Seeds for the garden: order poppies.\n\n" + written(TURNS), 1),
    "one turn edited": (written(TURNS).replace("An iris", "A lily"), 1),
    "two turns made one": (written(TURNS).replace("## User · 2026-04-06 10:15:00\n", "And:\n"), 1),
}


@pytest.mark.slow
@pytest.mark.parametrize("edit", EDITS)
def test_only_new_texts_get_vectors(edit: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A20: whatever is moved, doubled or headed anew has its vector; and the answer is as from scratch."""
    asked: list[str] = []
    embed = HashingEmbedder.embed

    def counted(self: HashingEmbedder, texts: Sequence[str], *, as_query: bool = False) -> object:
        asked.extend(() if as_query else texts)
        return embed(self, texts, as_query=as_query)

    monkeypatch.setattr(HashingEmbedder, "embed", counted)
    text, new = EDITS[edit]
    Memory.create(tmp_path / "vault", tz="UTC").close()
    place = tmp_path / "vault/garden.md"
    place.write_text(written(TURNS), encoding="utf-8")
    answers = []
    with Memory.open(tmp_path / "vault", embedder="hashing:32", background=False) as memory:
        memory.sync()
        assert {text for _, text in TURNS} < set(asked)  # the others measure the embedder
        asked.clear()
        place.write_text(text, encoding="utf-8")
        memory.sync()
        assert len(asked) == new, asked
        assert place.read_text(encoding="utf-8") == text
        answers.append([(hit.ref, hit.score) for hit in memory.recall("pond iris mint").hits])
    with Memory.open(
        tmp_path / "vault", embedder="hashing:32", background=False, state_dir=tmp_path
    ) as fresh:
        fresh.sync()
        answers.append([(hit.ref, hit.score) for hit in fresh.recall("pond iris mint").hits])
    assert answers[0] == answers[1] != []
