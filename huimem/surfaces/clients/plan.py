"""The bytes of a settings file, a client and a command line → the bytes to write, and what that changes.

Pure. Whatever comes out has been read again and means exactly the old settings with the one entry
changed; a file for which that does not hold is refused, with line and remedy, and stays as it is.
"""

from __future__ import annotations

import codecs
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from huimem.errors import ConfigError
from huimem.surfaces.clients import json_edit, toml_edit
from huimem.surfaces.clients.entry import REMOTE, Values, change, diff, fresh, ours, same, shown, switched_off
from huimem.surfaces.clients.jsonc import Document, Fault, parse, plain
from huimem.surfaces.clients.table import Client

_NO_FILE = "/dev/null"


@dataclass(frozen=True, slots=True)
class Plan:
    """What would be written. `before` is None where there is no file. `entry` is the whole new entry."""

    before: bytes | None
    after: bytes
    entry: Values
    diff: str
    notes: tuple[str, ...] = ()

    @property
    def changes(self) -> bool:
        return self.after != self.before


def plan(client: Client, name: str, argv: Sequence[str], path: str, before: bytes | None) -> Plan:
    """How a settings file comes to start `argv` under `name`. `path` is for words only.

    Raises `ConfigError` for a file that cannot be read as settings, and `MissingExtra`.
    """
    editing = toml_edit if client.toml else json_edit
    try:
        mark, text = _decoded(before or b"")
        old = editing.entry_in(text, client.section, name)
        new = editing.edited(text, client.section, name, lambda entry: change(client, argv, entry))
        if not client.toml:  # the edit of TOML checks itself
            _check(client, name, argv, text, new)
    except Fault as fault:
        raise _refusal(client, path, fault) from None
    entry = editing.entry_in(new, client.section, name) or {}
    headings = (path if before is not None else _NO_FILE, path, client.section)
    lines = (_lines(client, name, old), _lines(client, name, entry))
    return Plan(
        before,
        mark + new.encode(),
        entry,
        diff(*lines, headings) if new != text else "",
        (*([] if client.toml else _file_notes(client, name, text)), *_entry_notes(name, old, entry)),
    )


def snippet(client: Client, name: str, argv: Sequence[str]) -> str:
    """The settings that start `argv`, as they would stand in a file of their own."""
    entry = fresh(client, argv)
    if client.toml:
        return toml_edit.render(client.section, name, entry)
    return json_edit.render({client.section: {name: entry}}, json_edit.Look())


def _decoded(data: bytes) -> tuple[bytes, str]:
    """The byte order mark and the text behind it. Raises `Fault`."""
    mark = codecs.BOM_UTF8 if data.startswith(codecs.BOM_UTF8) else b""
    try:
        return mark, data[len(mark) :].decode()
    except UnicodeDecodeError as error:
        raise Fault("it is not UTF-8", data.count(b"\n", 0, error.start) + 1) from None


def _refusal(client: Client, path: str, fault: Fault) -> ConfigError:
    return ConfigError(
        f"{path}:{fault.line}:{fault.column}: {fault.message}; nothing was written",
        f"Correct the file, or put in what `huimem mcp config --client {client.id}` prints.",
    )


def _check(client: Client, name: str, argv: Sequence[str], text: str, new: str) -> None:
    """Raise `Fault` unless `new` means the settings of `text` with the one entry changed."""
    before, after = (_values(parse(written, (client.section,))) for written in (text, new))
    servers = before.get(client.section) or {}
    assert isinstance(servers, Mapping)
    old = servers.get(name)
    entry = old if isinstance(old, Mapping) else {}
    wanted = change(client, argv, entry).applied(entry)
    if not same(after, {**before, client.section: {**servers, name: wanted}}):
        raise Fault("it cannot be changed without changing more", 1)


def _values(document: Document) -> dict[str, object]:
    value = plain(document.text, document.root) if document.root else {}
    assert isinstance(value, dict)
    return value


def _file_notes(client: Client, name: str, text: str) -> list[str]:
    document = parse(text, (client.section,))
    root = document.root
    if root is None:
        return []
    found = []
    servers = root.last(client.section)
    for key, node in ((client.section, root), (name, servers.value if servers else None)):
        lines = [
            document.line(member.start) for member in (node.members if node else ()) if member.key == key
        ]
        if len(lines) > 1:
            found.append(
                f'"{key}" stands more than once; the last, in line {lines[-1]}, is the one that counts'
            )
    if document.relaxed is not None and not client.relaxed:
        line = document.line(document.relaxed)
        found.append(f"line {line} holds a comment or a trailing comma: {client.title} may refuse the file")
    return found


def _entry_notes(name: str, old: Values | None, new: Values) -> list[str]:
    found = []
    if old and not ours(old) and old.keys() & {"command", *REMOTE}:
        found.append(f'"{name}" was another server before; the backup holds it')
    if switched_off(new):
        found.append(f'"{name}" is switched off in these settings')
    return found


def _lines(client: Client, name: str, entry: Values | None) -> list[str]:
    """An entry as lines to show, without values that may be secret; none for no entry."""
    if entry is None:
        return []
    quoted: Callable[[object], str] = toml_edit.quoted if client.toml else _json
    values = shown(entry, quoted)
    if client.toml:
        return [f"[{client.section}.{name}]", *(f"{key} = {value}" for key, value in values.items())]
    rows = [f"  {_json(key)}: {value}" for key, value in values.items()]
    return [f"{_json(name)}: {{", *(row + "," for row in rows[:-1]), *rows[-1:], "}"]


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)
