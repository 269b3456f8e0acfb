"""Every sample file reads as the listing beside it says, and renders to its own bytes.

A case is two files in fixtures/markdown: NAME.md and NAME.txt. The listing has a line for the file
(sort, id, title, zone), one for each record (kind, ref, `inferred`) with its messages below (heading
line/text line, role and name, time, first line of the text, number of further lines), and one for each
problem. The vault is in Shanghai; every file was last changed at 2026-05-01 00:00 UTC.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from huimem.records import Message, Session, Turn
from huimem.vault.markdown import parse, render, sort_of
from huimem.vault.notes import parse_note, records

SAMPLES = sorted((Path(__file__).parents[2] / "fixtures" / "markdown").glob("*.md"))
ZONE = ZoneInfo("Asia/Shanghai")
CHANGED = datetime(2026, 5, 1, tzinfo=UTC).astimezone(ZONE)


def listing(data: bytes, path: str) -> Iterator[str]:
    sort = sort_of(data, path)
    if sort == "facts":
        yield "facts"
        return
    session = read(data, path)
    people = " | people" if session.people else ""
    yield f"{sort} {session.id} | {visible(session.title)} | {session.zone}{people}"
    for record in records(session):
        yield from record_lines(record)
    for problem in session.problems:
        yield f"! {problem.line} {problem.message}"


def read(data: bytes, path: str) -> Session:
    reader = parse if sort_of(data, path) == "session" else parse_note
    return reader(data, path, zone=ZONE, modified=CHANGED)


def record_lines(record: Turn) -> Iterator[str]:
    yield f"{record.kind} {record.ref}{' inferred' if record.inferred else ''}"
    for message in record.messages:
        yield f"  {message_line(message)}".rstrip()


def message_line(message: Message) -> str:
    first, *more = message.text.split("\n")
    name = f" ({message.name})" if message.name else ""
    at = message.at.isoformat() if message.at else "-"
    rest = f" (+{len(more)})" if more else ""
    return f"{message.line}/{message.text_line} {message.role}{name} {at} | {visible(first)}{rest}"


def visible(text: str) -> str:
    return "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text)


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda path: path.stem)
def test_sample_reads_as_listed(sample: Path) -> None:
    expected = sample.with_suffix(".txt").read_text(encoding="utf-8")
    assert "\n".join(listing(sample.read_bytes(), sample.name)) + "\n" == expected


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda path: path.stem)
def test_sample_renders_to_its_own_bytes(sample: Path) -> None:
    data = sample.read_bytes()
    for reader in (parse, parse_note):
        assert render(reader(data, sample.name, zone=ZONE)) == data


def test_every_listing_has_its_sample() -> None:
    listings = {path.stem for path in SAMPLES[0].parent.glob("*.txt")}
    assert listings == {path.stem for path in SAMPLES}
