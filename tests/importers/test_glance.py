"""Whose a document is, by its first bytes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from huimem.importers.documents import Document, documents
from huimem.importers.glance import HEAD, glance
from huimem.importers.registry import IMPORTERS, importers
from tests.importers.told import DATED, EXPORTS, placed

SOURCES = tuple(IMPORTERS)
CASES = [
    (source, path.name.removesuffix(".txt"))
    for source in SOURCES
    for path in sorted((EXPORTS / source).glob("*.txt"))
    if path.name.count(".") == 1
]


def owners(name: str, head: bytes) -> list[str]:
    """All that claim a document; the first in their order gets it."""
    return [importer.name for importer in importers() if importer.claims(glance(name, head))]


@pytest.mark.parametrize(("source", "case"), CASES, ids=[f"{source}-{case}" for source, case in CASES])
def test_a_fixture_is_claimed_by_its_own_source_alone(source: str, case: str, tmp_path: Path) -> None:
    """One that holds nothing of anybody's is claimed by nobody."""
    for document in documents(placed(source, case, tmp_path), DATED):
        assert isinstance(document, Document)
        with document.open() as stream:
            assert owners(document.file, stream.read(HEAD)) in ([source], [])


MESSAGE = {"role": "user", "content": "Hello"}
HEADS = [
    # name, value or text, who claims it
    ("c.json", [{"title": "x", "mapping": {}}], ["chatgpt"]),
    (
        "c.json",
        {"conversations": [{"mapping": {"a": {"message": {"role": "user", "content": 1}}}}]},
        ["chatgpt"],
    ),
    ("renamed.json", [{"uuid": "u", "chat_messages": []}], ["claude"]),
    ("s.jsonl", {"type": "user", "sessionId": "s", "message": MESSAGE}, ["claude-code"]),
    ("s.jsonl", {"type": "summary", "summary": "x", "leafUuid": "u"}, ["claude-code"]),
    ("m.json", [MESSAGE], ["openai"]),
    ("m.json", {"messages": [MESSAGE]}, ["openai"]),
    ("m.json", {"data": [{"messages": [MESSAGE]}]}, ["openai"]),
    ("m.jsonl", MESSAGE, ["openai"]),
    ("m.json", MESSAGE, []),
    ("m.json", {"role": "admin"}, []),
    ("package.json", {"name": "x", "type": "module", "messages": "no"}, []),
    ("users.json", [{"uuid": "u", "full_name": "x"}], []),
    ("shared.json", [{"id": "x", "conversation_id": "y", "title": "z"}], []),
    ("list.json", [1, 2, 3], []),
    ("empty.json", "", []),
    ("page.html", "<html>mapping</html>", []),
    ("words.json", '"mapping": 1', []),
    ("talk.json", [{"said": '{"mapping": {}, "chat_messages": []}'}], []),
    ("chat_20260406_091423.md", '<user timestamp="2026-04-06 09:14:23">\nx\n</user>\n', ["huimemory"]),
    ("CHAT_20260406_091423.MD", "x", ["huimemory"]),
    ("chat_2026-04-06_091423.md", "---\nhuimem: 1\n---\n\n## User · 2026-04-06 09:14:23\n", []),
    ("selected_20260406_091423.md", "x", ["huimemory"]),
    ("notes.md", "# x", []),
    ("2025-12.tar.zst", "x", ["huimemory"]),
]


@pytest.mark.parametrize(("name", "head", "wanted"), HEADS, ids=range(len(HEADS)))
def test_a_head_tells_whose_it_is(name: str, head: object, wanted: list[str]) -> None:
    text = head if isinstance(head, str) else json.dumps(head)
    pretty = head if isinstance(head, str) else json.dumps(head, indent=2)
    assert owners(name, text.encode()) == wanted
    assert owners(name, b"\xef\xbb\xbf" + text.encode()) == wanted
    if name.endswith(".json"):
        assert owners(name, pretty.encode()) == wanted


def test_a_key_behind_a_long_first_message_is_seen() -> None:
    text = json.dumps([{"title": "x" * 100_000, "mapping": {"a": {"message": None}}}])
    assert owners("c.json", text.encode()[:HEAD]) == ["chatgpt"]
