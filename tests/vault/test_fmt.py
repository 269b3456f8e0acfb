"""`fmt`: pairs of files in `fixtures/fmt`, NAME.md and what becomes of it, NAME.out.md.

A name that ends in `.upgrade` is rewritten from an older or foreign form; one without an `.out.md`
stays as it is.
"""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from huimem.errors import NewerFormat, UsageError, VaultError
from huimem.vault.fmt import normalise
from huimem.vault.markdown import parse, sort_of
from huimem.vault.vault import Vault

SHANGHAI = ZoneInfo("Asia/Shanghai")
MODIFIED = datetime(2026, 4, 10, 4, 0, tzinfo=UTC)
PAIRS = sorted(
    path
    for path in (Path(__file__).parents[2] / "fixtures/fmt").glob("*.md")
    if not path.stem.endswith(".out")
)


def formatted(data: bytes, *, upgrade: bool = False) -> bytes:
    return normalise(data, "sessions/x.md", SHANGHAI, upgrade=upgrade, modified=MODIFIED)


@pytest.mark.parametrize("path", PAIRS, ids=lambda path: path.stem)
def test_pair(path: Path) -> None:
    before, after = path.read_bytes(), path.with_suffix(".out.md")
    expected = after.read_bytes() if after.exists() else before
    upgrade = path.stem.endswith(".upgrade")
    assert formatted(before, upgrade=upgrade) == expected
    assert formatted(expected, upgrade=upgrade) == expected, "a second time changes nothing"


@pytest.mark.parametrize("path", PAIRS, ids=lambda path: path.stem)
def test_what_was_said_stays(path: Path) -> None:
    before = path.read_bytes()
    after = formatted(before, upgrade=path.stem.endswith(".upgrade"))
    if sort_of(before, "sessions/x.md") != "session":
        return
    old, new = (parse(data, "sessions/x.md", zone=SHANGHAI, modified=MODIFIED) for data in (before, after))
    said = [m for m in old.messages if m.role != "note"]
    assert [(m.role, m.name, m.text) for m in new.messages] == [(m.role, m.name, m.text) for m in said]
    notes = [m.text for m in old.messages if m.role == "note"]
    assert all(text in after.decode("utf-8", "replace") for text in notes)
    assert len({turn.ref for turn in new.turns}) == len(new.turns)
    assert not [p for p in new.problems if "second turn" in p.message]


TIME = "2026-04-06 09:14:23"
LINES = st.sampled_from(
    [f"## User · {TIME}", "## User · 09:14", "## Assistant — 9:15", f"###### Mel · {TIME}", "## User",
     "**Human:**", "```", "text", "", "---", "title: x", f'<user timestamp="{TIME}">', "</user>",
     f"\\## User · {TIME}", f"## User · {TIME} +09:00", "# H", "[id:abc123]"]
)  # fmt: skip


@settings(max_examples=50)
@given(st.lists(LINES, max_size=12).map("\n".join), st.booleans())
def test_any_file_is_rewritten_whole_or_refused(text: str, upgrade: bool) -> None:
    data = text.encode()
    try:
        after = formatted(data, upgrade=upgrade)
    except (UsageError, VaultError):
        return
    old, new = (parse(d, "sessions/x.md", zone=SHANGHAI, modified=MODIFIED) for d in (data, after))
    said = [(m.role, m.text) for m in old.messages if m.role != "note"]
    assert [(m.role, m.text) for m in new.messages if m.role != "note"] == said
    assert formatted(after, upgrade=upgrade) == after


def test_a_newer_file_is_refused() -> None:
    with pytest.raises(NewerFormat):
        formatted(b"---\nhuimem: 2\n---\n\n## User \xc2\xb7 2026-04-06 09:14\n\nhi\n")


def test_front_matter_that_cannot_be_parsed_is_never_rewritten() -> None:
    data = b"---\ntitle: [unclosed\n---\n\n## User\n\nhi\n\n## Assistant\n\nhey\n"
    with pytest.raises(UsageError, match="front matter"):
        formatted(data, upgrade=True)


def test_a_chat_that_nothing_dates_says_what_it_needs() -> None:
    with pytest.raises(UsageError, match="created"):
        normalise(b"## User\n\nhi\n\n## Assistant\n\nhey\n", "x.md", SHANGHAI, upgrade=True)


def test_the_vault_checks_keeps_a_backup_and_replaces(vault: Vault) -> None:
    root = vault.root
    before = "## User · 2026-04-06 9:14\n\nhi\n".encode()
    (root / "chat.md").write_bytes(before)
    assert vault.fmt("chat.md", check=True)
    assert (root / "chat.md").read_bytes() == before and not vault.state.exists()
    assert vault.fmt("chat.md")
    assert (root / "chat.md").read_bytes() == "## User · 2026-04-06 09:14:00\n\nhi\n".encode()
    assert [path.read_bytes() for path in (vault.state / "backups").iterdir()] == [before]
    assert not vault.fmt("chat.md") and not vault.fmt("chat.md", check=True)
