"""Conversations in which people speak by name grow as all others do, and keep their sort."""

from __future__ import annotations

import json
from pathlib import Path

from tests.importers.exporting import (
    bring,
    forget_ledger,
    made_vault,
    only_session,
    outcome,
    said_in,
)

DATE = 1_775_600_000


def test_a_conversation_between_people_grows_by_a_new_speaker(vault: Path, tmp_path: Path) -> None:
    given = [
        {"role": "user", "name": "Ada", "content": "Tea?", "created_at": DATE},
        {"role": "user", "name": "Bo", "content": "喝茶。", "created_at": DATE + 5},
    ]
    path = tmp_path / "messages.json"
    path.write_text(json.dumps({"id": "p", "messages": given}))
    bring(vault, path)
    more = {"role": "user", "name": "Cy", "content": "Coffee.", "created_at": DATE + 9}
    path.write_text(json.dumps({"id": "p", "messages": [*given, more]}))
    assert outcome(bring(vault, path)) == {"updated": 1, "added": 1}
    text = only_session(vault).read_text()
    assert "participants:\n  - Ada\n  - Bo\n  - Cy\n" in text
    assert text.endswith("###### Cy · 2026-04-08 06:13:29\n\nCoffee.\n")
    other = made_vault(tmp_path / "alone")
    bring(other, path)
    assert only_session(other).read_text() == text


def test_a_person_who_joins_a_talk_with_an_assistant_leaves_its_sort(vault: Path, tmp_path: Path) -> None:
    given = [{"role": "user", "content": "Tea?", "created_at": DATE}]
    path = tmp_path / "messages.json"
    path.write_text(json.dumps({"id": "p", "messages": given}))
    bring(vault, path)
    more = {"role": "Carol", "content": "Coffee.", "created_at": DATE + 9}
    path.write_text(json.dumps({"id": "p", "messages": [*given, more]}))
    assert outcome(bring(vault, path)) == {"updated": 1, "added": 1}
    assert said_in(vault, only_session(vault)) == [("user", "Tea?"), ("user", "Coffee.")]
    forget_ledger(vault)
    assert outcome(bring(vault, path)) == {"unchanged": 1}
