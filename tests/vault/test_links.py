"""Which wikilinks lead nowhere once a file is packed."""

from __future__ import annotations

from pathlib import Path

import pytest

from huimem.vault.links import breaking
from huimem.vault.vault import Vault

GOING = ("sessions/2026-W10/chat_a.md", "sessions/2026-W10/金盏花.md", "sessions/2026-W11/Twice.md")
# A line of a note, and the file that its link leads to if that goes; "" where nothing breaks.
LINES = [
    ("see [[chat_a]] there", "sessions/2026-W10/chat_a.md"),
    ("见[[金盏花]]。", "sessions/2026-W10/金盏花.md"),
    ("![[chat_a#User · 2026-03-02 10 00 00|那天]]", "sessions/2026-W10/chat_a.md"),
    ("[[chat_a.md^block]] [[ Chat_A ]]", "sessions/2026-W10/chat_a.md"),
    ("| [[chat_a\\|a]] |", "sessions/2026-W10/chat_a.md"),
    ("[[2026-W10/chat_a]]", "sessions/2026-W10/chat_a.md"),
    ("[[/sessions/2026-W10/chat_a#x]]", "sessions/2026-W10/chat_a.md"),
    ("[[other/chat_a]]", ""),
    ("[[Twice]]", ""),  # another one of that name stays
    ("[[2026-W11/Twice]]", "sessions/2026-W11/Twice.md"),
    ("[[nowhere]] [chat_a] [[1, 2], [3]] [[chat_a", ""),
]


@pytest.mark.parametrize(("line", "lost"), LINES)
def test_a_link_is_named_with_its_line_where_it_would_lead_nowhere(
    line: str, lost: str, tmp_path: Path
) -> None:
    vault = Vault.create(tmp_path / "vault", tz="UTC")
    for path in (*GOING, "notes/Twice.md"):
        (vault.root / path).parent.mkdir(parents=True, exist_ok=True)
        (vault.root / path).write_text("[[chat_a]]\n", encoding="utf-8")
    (vault.root / "notes/Twice.md").write_text(f"# Twice\r\n\r\n{line}\r\n", encoding="utf-8")
    found = breaking(vault, GOING)
    assert {(link.path, link.line, link.leads_to) for link in found} == (
        {("notes/Twice.md", 3, lost)} if lost else set()
    )
    assert all(link.text in line for link in found)


def test_a_file_that_cannot_be_read_is_left_out(tmp_path: Path) -> None:
    vault = Vault.create(tmp_path / "vault", tz="UTC")
    (vault.root / "note.md").write_bytes(b"\xff[[chat_a]]\xff\n" * 3)
    assert [link.line for link in breaking(vault, GOING)] == [1, 2, 3]
    (vault.root / "note.md").unlink()
    assert breaking(vault, GOING) == ()
