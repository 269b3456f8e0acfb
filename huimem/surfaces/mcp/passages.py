"""Passages of an answer → the same as data and as quoted lines, for a model that named a budget."""

from __future__ import annotations

from collections.abc import Iterator

from huimem.records import Passage, Recall
from huimem.surfaces.documents import passage_document
from huimem.surfaces.mcp.answers import Document, joined, named, quoted, without_empty

# What a hit says elsewhere where its text stands in a passage.
_TOLD = ("text", "truncated", "before", "after")


def passage_documents(found: Recall) -> list[Document]:
    """The passages, without what is false or empty; `hits` are places in the answer's own `hits`."""
    return [without_empty(passage_document(one), "hits", "text") for one in found.passages]


def textless(hit: Document) -> Document:
    """A hit without its words."""
    return {name: value for name, value in hit.items() if name not in _TOLD}


def passage_lines(number: int, passage: Passage, hits: list[Document]) -> Iterator[str]:
    """One passage: its refs and its place, then in quotation its title and words, then why it was found."""
    start, end = passage.lines
    place = f"{named(passage.path, 200)}:{start}" + (f"-{end}" if end > start else "")
    also = f"also {', '.join(map(str, passage.also))}" if passage.also else ""
    yield f"{number}. [{', '.join(map(str, passage.refs))}] {joined([place, also])}"
    yield quoted(f"# {passage.title}")
    yield quoted(passage.text)
    yield from (f"why: {hits[hit]['why']}" for hit in passage.hits)
