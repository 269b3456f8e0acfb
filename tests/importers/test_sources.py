"""Where exports come from: files, folders, zips, pipes, and what of them cannot be read."""

from __future__ import annotations

import io
import json
import os
import sys
import zipfile
from collections.abc import Iterator
from datetime import UTC, datetime
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

from huimem.config import load
from huimem.errors import ConfigError, UsageError
from huimem.importers import registry
from huimem.importers.documents import Document, documents
from huimem.importers.glance import Glance
from huimem.importers.options import Options, Skipped
from huimem.importers.registry import importer_names, importers
from huimem.records import Conversation, Message
from tests.importers.exporting import (
    BEGIN,
    NOW,
    Talk,
    bring,
    export,
    outcome,
    sessions,
    talk,
    texts_in,
)
from tests.processes import obeying_modes
from tests.trees import tree

ONE = Talk(talk("Hello", "Hi"))
JSON = json.dumps([ONE.written("chatgpt")])


def found(source: Path) -> list[tuple[str, str]]:
    """Names of a source's documents, in order, and why one cannot be read ("" where it can)."""
    return [
        (each.place, each.reason) if isinstance(each, Skipped) else (each.name, "")
        for each in documents(source, NOW)
    ]


def test_a_folder_is_read_oldest_first_archives_last_without_links_pipes_and_hidden_files(
    tmp_path: Path,
) -> None:
    folder = tmp_path / "in"
    (folder / "b/.git").mkdir(parents=True)
    dates = {"b/z.json": 1, "a.jsonl": 2, "b/chat.md": 3, "c.NDJSON": 4, "old.tar.zst": 0}
    for name, date in dates.items():
        (folder / name).write_text("x")
        os.utime(folder / name, (date, date))
    for name in (".hidden.json", "b/.git/x.json", "photo.png", "readme.txt"):
        (folder / name).write_text("x")
    (folder / "link.json").symlink_to(folder / "a.jsonl")
    (folder / "loop").symlink_to(folder)
    os.mkfifo(folder / "pipe.json")
    with zipfile.ZipFile(folder / "x.zip", "w") as archive:
        for name in ("z/2.json", "1.json", "photo.png", "__MACOSX/._1.json", ".hidden/1.json"):
            archive.writestr(name, "x")
    names = [
        "b/z.json",
        "a.jsonl",
        "b/chat.md",
        "c.NDJSON",
        "old.tar.zst",
        "x.zip: 1.json",
        "x.zip: z/2.json",
    ]
    assert found(folder) == [(name, "") for name in names]


def test_a_link_that_is_named_is_followed(vault: Path, tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "real/c.json").write_text(JSON)
    (tmp_path / "folder").symlink_to(tmp_path / "real")
    (tmp_path / "file.json").symlink_to(tmp_path / "real/c.json")
    assert outcome(bring(vault, tmp_path / "folder")) == {"new": 1, "added": 2}
    assert outcome(bring(vault, tmp_path / "file.json")) == {"unchanged": 1}


@pytest.mark.parametrize("what", ["missing", "pipe", "closed input", "dangling link"])
def test_a_source_that_is_none_is_an_error_of_usage(what: str, vault: Path, tmp_path: Path) -> None:
    path = tmp_path / "source"
    if what == "pipe":
        os.mkfifo(path)
    if what == "dangling link":
        path.symlink_to(tmp_path / "nowhere")
    with pytest.raises(UsageError) as error:
        bring(vault, Path("-") if what == "closed input" else path)
    assert error.value.hint


def test_an_empty_folder_and_files_of_other_kinds_bring_nothing(vault: Path, tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    assert outcome(bring(vault, tmp_path / "in")) == {}
    for name, data in {
        "a.json": b"",
        "b.json": b"\x00\xff" * 999,
        "c.jsonl": b"words",
        "d.md": b"# x",
    }.items():
        (tmp_path / "in" / name).write_bytes(data)
    report = bring(vault, tmp_path / "in")
    assert (outcome(report), report.documents) == ({}, 4) and sessions(vault) == []


def test_what_cannot_be_opened_is_told_and_stops_nothing(vault: Path, tmp_path: Path) -> None:
    folder = tmp_path / "in"
    (folder / "closed").mkdir(parents=True)
    (folder / "good.json").write_text(JSON)
    (folder / "secret.json").write_text(JSON)
    (folder / "secret.json").chmod(0)
    (folder / "closed").chmod(0)
    with obeying_modes():
        report = bring(vault, folder)
    (folder / "closed").chmod(0o700)
    assert outcome(report) == {"new": 1, "added": 2, "skipped": 2}
    assert sorted((name, skip.reason) for name, skip in report.skipped) == [
        ("closed/", "a folder that cannot be read (Permission denied)"),
        ("secret.json", "cannot be read further (Permission denied)"),
    ]


# Zips.


def zip_of(path: Path, members: dict[str, str], kind: int = zipfile.ZIP_DEFLATED) -> Path:
    with zipfile.ZipFile(path, "w", kind) as archive:
        for name, text in members.items():
            archive.writestr(name, text)
    return path


@pytest.mark.slow
def test_a_zip_of_many_members_is_read_member_by_member(vault: Path, tmp_path: Path) -> None:
    many = {
        f"part {n}/conversations-{n:03}.json": json.dumps(
            [Talk(talk(f"Hello {n}", first=n * 60), f"c-{n}").written("chatgpt")]
        )
        for n in range(120)
    }
    report = bring(vault, zip_of(tmp_path / "export.zip", {**many, "chat.html": "x", "inner.zip": "x"}))
    assert (outcome(report), report.documents) == ({"new": 120, "added": 120}, 120)


@pytest.mark.parametrize("kind", [zipfile.ZIP_STORED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_a_zip_packed_in_another_way_is_read(kind: int, vault: Path, tmp_path: Path) -> None:
    assert outcome(bring(vault, zip_of(tmp_path / "x.zip", {"c.json": JSON}, kind))) == {"new": 1, "added": 2}


def _encrypted(data: bytearray) -> None:
    """Say in both headers of the first member that it is encrypted."""
    data[6] |= 1
    data[data.index(b"PK\x01\x02") + 8] |= 1


def _unknown_packing(data: bytearray) -> None:
    for place in (8, data.index(b"PK\x01\x02") + 10):
        data[place : place + 2] = b"\x63\x00"


def _flipped(data: bytearray) -> None:
    data[60] ^= 0xFF


def _cut(data: bytearray) -> None:
    del data[len(data) // 2 :]


FAULTY = {
    "encrypted": (_encrypted, ("x.zip: a.json", "encrypted: unpack it first")),
    "unknown packing": (_unknown_packing, ("x.zip: a.json", "cannot be read further (packed in a way")),
    "flipped": (_flipped, ("x.zip: a.json", "cannot be read further (")),
    "cut": (_cut, ("x.zip", "a zip that cannot be read (BadZipFile)")),
}


@pytest.mark.parametrize("case", FAULTY)
@pytest.mark.parametrize("name", ["auto", "chatgpt"])
def test_a_faulty_zip_is_told_and_what_is_whole_comes_in(
    case: str, name: str, vault: Path, tmp_path: Path
) -> None:
    damage, (document, reason) = FAULTY[case]
    path = zip_of(tmp_path / "x.zip", {"a.json": JSON, "b.json": JSON.replace("c-1", "c-2")})
    data = bytearray(path.read_bytes())
    damage(data)
    path.write_bytes(data)
    report = bring(vault, path, name=name)
    ((told, skip),) = report.skipped
    assert told == document and skip.reason.startswith(reason)
    assert report.outcomes.get("new", 0) == (0 if case == "cut" else 1)


# Standard input.


class Pipe(io.RawIOBase):
    """A pipe that gives a little at a time."""

    def __init__(self, data: bytes) -> None:
        self._data = io.BytesIO(data)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: bytearray | memoryview) -> int:  # type: ignore[override]
        piece = self._data.read(min(len(buffer), 1000))
        buffer[: len(piece)] = piece
        return len(piece)


@pytest.mark.parametrize("name", ["auto", "chatgpt"])
def test_a_pipe_is_read_once_and_to_its_end(name: str, vault: Path) -> None:
    long = Talk(talk(*(f"{n} " * 2000 for n in range(200))))
    data = json.dumps([long.written("chatgpt")]).encode()
    assert len(data) > 300_000
    report = bring(vault, Path("-"), stdin=io.BufferedReader(Pipe(data)), name=name)
    assert outcome(report) == {"new": 1, "added": 200}


def test_a_zip_on_standard_input_is_refused_with_a_way_out(vault: Path, tmp_path: Path) -> None:
    data = zip_of(tmp_path / "x.zip", {"c.json": JSON}).read_bytes()
    with pytest.raises(UsageError) as error:
        bring(vault, Path("-"), stdin=io.BytesIO(data))
    assert "huimem import FILE" in error.value.hint


def test_empty_input_brings_nothing(vault: Path) -> None:
    assert outcome(bring(vault, Path("-"), stdin=io.BytesIO(b""))) == {}


# Importers of others.

PLUGIN = """
from huimem.records import Conversation, Message
from datetime import datetime, UTC

class Diary:
    name = "diary"
    apart = False

    def claims(self, glance):
        return glance.text.startswith("DIARY")

    def read(self, document, options):
        with document.open() as stream:
            for number, line in enumerate(stream.read().decode().split("\\n")[1:]):
                if line == "boom":
                    raise KeyError(line)
                said = Message("user", line, datetime(2026, 4, 6, 1, number, tzinfo=UTC))
                yield Conversation("diary", f"{document.stem}-{number}", "", (said,), ("1",))
"""


@pytest.fixture
def plugged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A package with an importer, installed in a folder of its own."""
    folder = tmp_path / "site"
    info = folder / "diary-1.0.dist-info"
    info.mkdir(parents=True)
    (folder / "diary_importer.py").write_text(PLUGIN)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: diary\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[huimem.importers]\ndiary = diary_importer:Diary\n")
    monkeypatch.syspath_prepend(str(folder))
    registry._registered.cache_clear()
    yield folder
    registry._registered.cache_clear()
    sys.modules.pop("diary_importer", None)


@pytest.mark.parametrize("name", ["auto", "diary"])
def test_an_importer_of_another_package_is_found(
    name: str, plugged: Path, vault: Path, tmp_path: Path
) -> None:
    assert importer_names()[-1] == "diary"
    (tmp_path / "d.json").write_text("DIARY\nHello\nAgain")
    assert outcome(bring(vault, tmp_path / "d.json", name=name)) == {"new": 2, "added": 2}
    assert sorted(texts_in(vault)) == ["Again", "Hello"]


def test_one_that_fails_costs_its_document_and_keeps_what_it_gave(
    plugged: Path, vault: Path, tmp_path: Path
) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in/a.json").write_text("DIARY\nbefore\nboom\nafter")
    (tmp_path / "in/b.json").write_text(JSON)
    report = bring(vault, tmp_path / "in")
    assert outcome(report) == {"new": 2, "added": 3, "skipped": 1}
    ((document, skip),) = report.skipped
    assert document == "a.json" and skip.reason.startswith("unexpected KeyError at diary_importer.py:")
    assert "boom" not in skip.reason
    assert sorted(texts_in(vault)) == ["Hello", "Hi", "before"]


@pytest.mark.parametrize("broken", ["import nothing_of_that_name", "x = 1", "Diary = 1", "1/0", "def ("])
def test_one_that_does_not_load_is_named_with_what_to_do(broken: str, plugged: Path) -> None:
    (plugged / "diary_importer.py").write_text(broken)
    for name in ("diary", "auto"):
        with pytest.raises(ConfigError) as error:
            importers(name)
        assert "importer 'diary' (diary_importer:Diary) does not load" in error.value.message
        assert "uninstall" in error.value.hint
    assert [each.name for each in importers("chatgpt")] == ["chatgpt"]


def test_a_conversation_that_no_importer_may_make_costs_itself(
    vault: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Odd:
        name = "odd"

        def claims(self, glance: Glance) -> bool:
            return True

        def read(self, document: Document, options: Options) -> Iterator[Conversation | Skipped]:
            said = Message("user", "Hello", BEGIN)
            yield Conversation("odd", "1", "", (), ())
            yield Conversation("odd", "2", "", (said,), ())
            yield Conversation("odd", "3", "", (Message("user", "No time", None),), ("1",))
            yield Conversation("odd", "4", "", (said,), ("1",))

    monkeypatch.setattr(EntryPoint, "load", lambda self: Odd)
    monkeypatch.setattr(registry, "_registered", lambda: (EntryPoint("odd", "x:y", registry.GROUP),))
    (tmp_path / "x.json").write_text("x")
    options = Options(UTC, since=datetime(2000, 1, 1, tzinfo=UTC))
    report = bring(vault, tmp_path / "x.json", name="odd", options=options)
    assert report.outcomes["new"] == 1 and texts_in(vault) == ["Hello"]
    assert {skip.place for _, skip in report.skipped} == {"1", "2", "3"}


def test_nothing_but_the_vault_is_written(vault: Path, tmp_path: Path) -> None:
    path = export(tmp_path / "in/conversations.json", "chatgpt", [ONE])
    before = tree(tmp_path / "in")
    bring(vault, path.parent)
    assert tree(tmp_path / "in") == before and load(vault)
