"""Conversations and what was skipped, as the expected outcomes in `fixtures/exports` write them."""

from __future__ import annotations

import io
import os
import shutil
import tarfile
import zipfile
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import zstandard

from huimem.importers.documents import documents
from huimem.importers.options import Options, Skipped
from huimem.importers.registry import importers
from huimem.records import Conversation

EXPORTS = Path(__file__).parents[2] / "fixtures" / "exports"
# The date that every input file gets; the n-th of a folder by name that and n-1 days.
DATED = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
ZONE = ZoneInfo("Asia/Shanghai")


def cases(source: str) -> list[str]:
    """Names of the expected outcomes of a source, without their ending."""
    return sorted(path.name.removesuffix(".txt") for path in (EXPORTS / source).glob("*.txt"))


def expected(source: str, case: str) -> list[str]:
    """Lines are split at line feeds alone: texts hold other separators."""
    return (EXPORTS / source / f"{case}.txt").read_bytes().decode("utf-8").rstrip("\n").split("\n")


def placed(source: str, case: str, folder: Path) -> Path:
    """The input of a case in `folder`, dated, its archives packed."""
    name = case.split(".")[0]
    given = EXPORTS / source / name
    if given.is_dir():
        return _folder(given, folder / name)
    (path,) = [path for path in given.parent.glob(f"{name}.*") if path.suffix != ".txt"]
    target = folder / path.name
    target.write_bytes(path.read_bytes())
    _date(target, DATED)
    return target


def _folder(given: Path, target: Path) -> Path:
    for path in sorted(path for path in given.rglob("*") if path.is_file()):
        copy = target / path.relative_to(given)
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_bytes(path.read_bytes())
    for archives in [path for path in target.rglob("archives") if path.is_dir()]:
        for month in [path for path in archives.iterdir() if path.is_dir() and path.name != ".cache"]:
            pack(month, archives / f"{month.name}.tar.zst")
    for number, path in enumerate(sorted(path for path in target.rglob("*") if path.is_file())):
        _date(path, DATED + timedelta(days=number))
    return target


def pack(folder: Path, archive: Path) -> None:
    """Pack the files below a folder, and take it away."""
    held = io.BytesIO()
    with tarfile.open(fileobj=held, mode="w") as tar:
        for path in sorted(path for path in folder.rglob("*") if path.is_file()):
            info = tarfile.TarInfo(path.relative_to(folder).as_posix())
            info.size, info.mtime = path.stat().st_size, int(DATED.timestamp())
            tar.addfile(info, io.BytesIO(path.read_bytes()))
    shutil.rmtree(folder)
    archive.write_bytes(zstandard.compress(held.getvalue(), 3))


def zipped(folder: Path, target: Path) -> Path:
    """A folder's files as a zip, dated by the files."""
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in sorted(path for path in folder.rglob("*") if path.is_file()):
            archive.write(path, path.relative_to(folder).as_posix())
    return target


def _date(path: Path, at: datetime) -> None:
    os.utime(path, (at.timestamp(), at.timestamp()))


def options_of(lines: list[str]) -> Options:
    options = Options(ZONE)
    if lines[0].startswith("options:"):
        given = dict(word.split("=") for word in lines[0].removeprefix("options:").split())
        options = replace(options, **given)
    return options


def told(source: str, path: Path, options: Options) -> Iterator[str]:
    """What an importer makes of a source, in lines."""
    (importer,) = importers(source)
    found: list[Conversation | Skipped] = []
    for document in documents(path, DATED):
        if isinstance(document, Skipped):
            found.append(document)
        elif path.is_file() or importer.claims(document.glance()):
            found += importer.read(document, options)
    yield from lines_of(found)


def lines_of(found: Iterable[Conversation | Skipped]) -> Iterator[str]:
    left_out: Counter[str] = Counter()
    skipped = []
    for each in found:
        if isinstance(each, Skipped):
            left_out.update(each.left_out)
            skipped.append("skipped: " + ": ".join(filter(None, (each.place, each.reason))))
        else:
            left_out.update(each.left_out)
            yield from _conversation(each)
    yield from skipped
    if left_out:
        yield "left out: " + ", ".join(f"{kind} {count}" for kind, count in sorted(left_out.items()))


def _conversation(conversation: Conversation) -> Iterator[str]:
    yield f"conversation: {conversation.id}"
    if conversation.title:
        yield f"title: {conversation.title}"
    if conversation.model:
        yield f"model: {conversation.model}"
    if conversation.inferred:
        yield "times: inferred"
    for message in conversation.messages:
        assert message.at is not None
        at = message.at.astimezone(UTC)
        name = f" ({message.name})" if message.name else ""
        yield f"{at:%Y-%m-%dT%H:%M:%SZ} {message.role}{name}"
        yield from (f"  {line}" for line in message.text.split("\n"))


def agree(lines: list[str], wanted: list[str]) -> bool:
    """Whether lines are those wanted; an id `*` and a reason `*` stand for any."""
    return len(lines) == len(wanted) and all(map(_agrees, lines, wanted))


def _agrees(line: str, wanted: str) -> bool:
    if wanted == "conversation: *" or (wanted.startswith("skipped: ") and wanted.endswith("*")):
        return line.startswith(wanted[:-1])
    return line == wanted


__all__ = ["EXPORTS", "agree", "cases", "expected", "options_of", "placed", "told", "zipped"]
