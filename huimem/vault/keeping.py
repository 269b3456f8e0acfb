"""Facts to be remembered → their files, made or added to.

In: a vault, a `Remembering`, a namespace. Out: the ref of the version that says so, durable. The file of a
key is found by what its front matter says, wherever it lies and whatever it is called; which key a file has
is remembered for as long as its stamp stays.
"""

from __future__ import annotations

import os
from collections.abc import Collection
from contextlib import suppress
from itertools import count

from huimem import files
from huimem.errors import Conflict, NewerFormat, VaultError, place
from huimem.records import Ref
from huimem.vault.facts import FactFile, fold, new_file, parse_facts, render
from huimem.vault.forgotten import forgotten
from huimem.vault.front import BOM, set_field, split_front
from huimem.vault.layout import folded, namespace_of, namespace_text, slug, week_folder
from huimem.vault.listing import Scan
from huimem.vault.reading import newer, text_field
from huimem.vault.remembering import KEYED, UNKEYED, Remembering, remembered
from huimem.vault.vault import TRIES, Vault

FOLDER = "facts"
_SHORTER = "Say it shorter."


class Keeping:
    """Adds facts to the files of one vault. Threads may share it."""

    def __init__(self, vault: Vault) -> None:
        self._vault = vault
        self._keys: dict[str, tuple[files.Stamp, str]] = {}

    def remember(self, given: Remembering, namespace: str = "") -> Ref:
        """Write a fact; the ref of the version that says it, durable on return.

        What holds already changes no byte. Raises `VaultError` for a file whose front matter cannot be
        parsed, `NewerFormat`, `UsageError`, `Locked`, `Conflict`, `WriteFailed`, `Unreadable`.
        """
        label = namespace_text(namespace)
        self._vault.keep_labels(namespace)
        name = slug(given.key) if given.key else f"notes_{week_folder(given.start, self._vault.zone)}"
        with files.lock(self._vault.session_lock_path(label, f"{FOLDER}/{name}")):
            for _ in range(TRIES):
                with suppress(Conflict):
                    return self._add(given, label, name)
        raise Conflict(f"{FOLDER}/{name}.md is being changed by another program", "Try again in a moment.")

    def _add(self, given: Remembering, label: str, name: str) -> Ref:
        scan = self._vault.scan()
        held = self._of_key(scan, label, given.key) if given.key else []
        path, data = held[0] if held else self._named(label, name, keyed=given.key is not None)
        if not scan.rule.lists(path):
            raise VaultError(f"{path} is no part of the vault", "Take it out of .huimemignore.")
        if data is None:
            return self._begin(given, label, path)
        _refuse(data, path)
        file, *others = [self._parsed(*each) for each in held or [(path, data)]]
        try:
            grown, ref = remembered(file, given, others, self._gone(label, file.key or file.id))
        except ValueError as error:
            raise VaultError(f"{path}:1: the tags cannot be added", "Add them by hand, as a list.") from error
        after = render(grown)
        if after != data:
            files.replace(
                self._vault.root / path, files.sized(after, path, _SHORTER), data, within=self._vault.root
            )
        else:  # what stands there may be of a run that died before it was durable
            for each, _ in held or [(path, data)]:
                files.settle(self._vault.root / each, within=self._vault.root)
        return ref

    def _begin(self, given: Remembering, label: str, path: str) -> Ref:
        """A new file of the key, or of the week."""
        name = path.rpartition("/")[2].removesuffix(".md")
        kind = given.kind or KEYED if given.key else UNKEYED
        made = new_file(
            id=name, key=given.key, kind=kind, zone=self._vault.zone, namespace=label, tags=given.tags
        )
        grown, ref = remembered(made, given, gone=self._gone(label, made.key or name))
        place, root = self._vault.root / path, self._vault.root
        files.make_folder(place.parent, within=root)
        files.create(place, files.sized(render(grown), path, _SHORTER), within=root)
        return ref

    def _parsed(self, path: str, data: bytes) -> FactFile:
        return parse_facts(data, path, zone=self._vault.zone, namespace=namespace_of(path))

    def _of_key(self, scan: Scan, label: str, key: str) -> list[tuple[str, bytes]]:
        """The files of a key with their bytes now, by path. Raises `Conflict` where one has just gone."""
        wanted, found = fold(key), []
        for path, stamp in sorted(scan.files.items()):
            if namespace_of(path) != label or fold(self._key_at(path, stamp)) != wanted:
                continue
            try:
                data, _ = files.read(self._vault.root / path, within=self._vault.root)
            except files.Unreadable as error:
                if error.gone:
                    raise Conflict(error.message, "Try again in a moment.") from error
                raise
            if fold(_key_in(data, path)) == wanted:
                found.append((path, data))
        return found

    def _key_at(self, path: str, stamp: files.Stamp) -> str:
        """The key of the file that has this stamp; "" for none, or where it cannot be read."""
        known = self._keys.get(path)
        if known is None or known[0] != stamp:
            key = ""
            with suppress(files.Unreadable):
                key = _key_in(files.read(self._vault.root / path, within=self._vault.root)[0], path)
            self._keys[path] = known = (stamp, key)
        return known[1]

    def _named(self, label: str, name: str, *, keyed: bool) -> tuple[str, bytes | None]:
        """Where a fact goes that no listed file is for: to a free name, or to the notes of that name.

        Some disks do not tell Diet.md from diet.md.
        """
        folder = f"{self._vault.namespace_folder(label)}{FOLDER}"
        there: set[str] = set()
        with suppress(OSError):
            there = {folded(each) for each in os.listdir(self._vault.root / folder)}
        for number in count(1):
            file = f"{name}-{number}.md" if number > 1 else f"{name}.md"
            path = f"{folder}/{file}"
            if folded(file) not in there:
                break
            try:
                data, _ = files.read(self._vault.root / path, within=self._vault.root)
            except files.Unreadable as error:
                if not error.gone:
                    raise
                continue
            if not _key_in(data, path):
                _refuse(data, path)  # it may have one that cannot be read
                if not keyed:
                    return path, data
        return path, None

    def _gone(self, label: str, name: str) -> Collection[str]:
        """The times of versions that were forgotten, of a key or of a file without one."""
        labels = label.split("/") if label else []
        above = ("/".join(labels[:depth]) for depth in range(len(labels) + 1))
        gone, _ = forgotten(self._vault.root, [self._vault.namespace_folder(each) for each in above])
        found = set()
        for text in gone:
            with suppress(ValueError):
                ref = Ref.parse(text)
                if (ref.mark, ref.namespace, fold(ref.session)) == ("@", label, fold(name)):
                    found.add(ref.at)
        return found


def _key_in(data: bytes, path: str) -> str:
    """The key in a file's front matter; "" for none."""
    if b"key" not in data:
        return ""
    return text_field(split_front(data, path)[0].fields, "key")


def _refuse(data: bytes, path: str) -> None:
    """Raise for a file that is read and not written: of a newer form, or with front matter at fault."""
    front, _ = split_front(data, path)
    if newer(front.fields):
        raise NewerFormat(f"{path} was written by a newer huimem", "Upgrade huimem: pip install -U huimem")
    if front.problems and not _is_sound(front.raw):
        fault = front.problems[0]
        raise VaultError(
            f"{place(path, fault.line)}: {fault.message}; nothing is written to it", fault.remedy
        )


def _is_sound(front: bytes) -> bool:
    """Whether front matter with a problem can be parsed all the same, and has no second key."""
    try:
        return front not in (b"", BOM) and bool(set_field(front, "key", "any"))
    except ValueError:
        return False
