"""A ref or a place in a file, as somebody types it → the record there, its file and its Obsidian link."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from os.path import isfile
from pathlib import Path, PurePosixPath

from huimem import files
from huimem.errors import NotFound, UsageError
from huimem.files import Unreadable
from huimem.months import archived
from huimem.records import Record, Ref, Source
from huimem.surfaces.cli.paths import paths_in
from huimem.vault.layout import namespace_of, namespace_text, note_name, split_namespace
from huimem.vault.text import whole
from huimem.vault.vault import Vault

_PLACE = re.compile(r"(?P<path>.+?)(?::(?P<line>\d{1,9}))?")
# What the heading in a link cannot hold; Obsidian itself puts a blank in its place.
_NO_LINK = re.compile(r"[\[\]#^|:\\]|%%")


@dataclass(frozen=True, slots=True)
class Found:
    """A record in its file: `at` is its index among the records there, `link` leads Obsidian to it.

    No link leads into an archive: it is "" for a packed file.
    """

    source: Source
    at: int
    link: str

    @property
    def record(self) -> Record:
        return self.source.records[self.at]

    def beside(self, count: int) -> tuple[tuple[Record, ...], tuple[Record, ...]]:
        """`count` records before it and after it in the file."""
        records = self.source.records
        return records[max(self.at - count, 0) : self.at], records[self.at + 1 : self.at + 1 + count]


def find(vault: Vault, text: str, namespace: str | None = None) -> Found:
    """The record that `text` names: a ref, or `path:line` with any line of it.

    A ref may have its namespace written out or encoded; one without takes `namespace`.
    Raises `NotFound`, and `UsageError` for text that is neither.
    """
    if named := _named(vault, text):
        return _at_line(vault, named[0], named[1] or 1)
    try:
        ref = Ref.parse(whole(text))
    except ValueError as error:
        hint = "Refs and places are printed by huimem recall and huimem list."
        raise UsageError(str(error), hint) from error
    unread: list[Unreadable] = []
    for meant in _meant(ref, namespace):
        for path in _paths(vault, meant, unread):
            if found := _in_file(vault, path, meant, unread):
                return found
    if unread:
        raise NotFound(
            f"no record {ref} in the files that can be read", f"{unread[0].message}. {unread[0].hint}"
        )
    raise NotFound(
        f"no record {ref}",
        "It may have been deleted, or its time was corrected: huimem list shows what is there.",
    )


def located(vault: Vault, text: str, namespace: str | None = None) -> tuple[str, int]:
    """The path that `text` names, and the line: of a ref its record's; of a place the one it names, else 0.

    A place may name a file without a record. Raises as `find`.
    """
    if named := _named(vault, text):
        return named
    found = find(vault, text, namespace)
    return found.source.path, found.record.messages[0].line


def _named(vault: Vault, text: str) -> tuple[str, int] | None:
    """Path and line of a place, 0 where it names no line; None for what is no place. Raises `NotFound`."""
    place = _PLACE.fullmatch(text)
    path = _path(vault, place["path"]) if place else None
    return (path, int(place["line"] or 0)) if place and path else None


def _path(vault: Vault, given: str) -> str | None:
    """The vault's own path of a file that somebody names by where it lies, or lay before it was packed.

    None for what is no such file. Raises `NotFound` for one that is not the vault's.
    """
    if isfile(given) or isfile(vault.root / given):
        path = paths_in(vault, Path(given))[0]
        if not vault.holds(path):
            raise NotFound(f"the vault holds no file {path}", "huimem list shows what is there.")
        return path
    root, named = vault.root.resolve(), note_name(PurePosixPath(given).name) and "\0" not in given
    for above in (Path.cwd(), root) if named else ():
        here = (above / given).resolve()
        path = here.relative_to(root).as_posix() if here.is_relative_to(root) else ""
        if path and (found := path_now(vault, path)):
            return found
        if archived(path):
            raise NotFound(f"there is no {path}", "huimem list shows what is there.")
    return None


def path_now(vault: Vault, path: str) -> str | None:
    """The path now of a file whose path leads into an archive, or that was packed since it had that path.

    None where it is nowhere. Raises `Unreadable` where its archive is damaged.
    """
    if place := archived(path):
        try:
            vault.archives.member(place)
        except Unreadable as error:
            if not error.gone:
                raise
        else:
            return path
    found = vault.elsewhere(path)
    return found if found and (archived(found) or vault.holds(found)) else None


def _meant(ref: Ref, namespace: str | None) -> Iterator[Ref]:
    """What a ref as it was typed may mean: in a namespace, or in a folder with its `/` written out."""
    yield replace(ref, namespace=namespace_text(ref.namespace or namespace or ""))
    if ref.namespace:
        yield replace(ref, namespace="", session=f"{ref.namespace}/{ref.session}")


def _paths(vault: Vault, ref: Ref, unread: list[Unreadable]) -> Iterator[str]:
    """Where a record may stand, likeliest first: where its session lies, the facts, all other files."""
    tried = ""
    if ref.mark == "#":
        with suppress(NotFound):
            tried = vault.find(ref)[0]
            if archived(tried) or vault.holds(tried):
                yield tried
    here = [path for path in sorted(vault.scan().files) if split_namespace(path)[0] == ref.namespace]
    name = f"{PurePosixPath(ref.session).name}.md"
    here.sort(key=lambda path: (not path.endswith(name), "facts/" not in path))
    yield from (path for path in here if path != tried)
    yield from (path for path in _packed(vault, ref, unread) if path != tried)


def _packed(vault: Vault, ref: Ref, unread: list[Unreadable]) -> Iterator[str]:
    """Packed files of the session that a ref names; archives that cannot be read are added to `unread`."""
    archives = [path for path in sorted(vault.scan().archives) if namespace_of(path) == ref.namespace]
    for place, member in vault.archives.inside(archives, unread):
        if member.id == ref.session:
            yield str(place)


def _in_file(vault: Vault, path: str, ref: Ref, unread: list[Unreadable]) -> Found | None:
    """The record of that ref in a file; a file that is there and cannot be read is added to `unread`."""
    try:
        source = vault.read(path, keep=True)
        for at, record in enumerate(source.records):
            if record.ref == ref:
                return _found(vault, source, at)
    except Unreadable as error:
        if not error.gone:
            unread.append(error)
    return None


def _at_line(vault: Vault, path: str, line: int) -> Found:
    """The record that holds a line: the last one that begins there or above."""
    try:
        source = vault.read(path, keep=True)
    except Unreadable as error:
        if not error.gone:
            raise
        raise NotFound(f"the vault holds no file {path}", "huimem list shows what is there.") from error
    if not source.records:
        raise NotFound(f"{path} holds no record", "huimem doctor says what is wrong with it.")
    starts = [record.messages[0].line for record in source.records]
    above = [at for at, start in enumerate(starts) if start <= line]
    return _found(vault, source, max(above, key=starts.__getitem__, default=0))


def _found(vault: Vault, source: Source, at: int) -> Found:
    if archived(source.path):
        return Found(source, at, "")
    return Found(source, at, obsidian_link(source.path, _heading(vault, source.path, source.records[at])))


def _heading(vault: Vault, path: str, record: Record) -> str:
    """The text of the heading that a record begins with; empty where it begins with none."""
    data, _ = files.read(vault.root / path, within=vault.root)
    lines = data.decode("utf-8", "replace").split("\n")
    line = record.messages[0].line
    first = lines[line - 1] if 0 < line <= len(lines) else ""
    return first.lstrip("#").strip() if first.startswith("#") else ""


def obsidian_link(path: str, heading: str) -> str:
    """`[[chat_2026-04-06_091423#User · 2026-04-06 09 14 23]]`; without a heading, the file alone."""
    name = PurePosixPath(path).name.removesuffix(".md")
    part = " ".join(_NO_LINK.sub(" ", heading).split())
    return f"[[{name}#{part}]]" if part else f"[[{name}]]"
