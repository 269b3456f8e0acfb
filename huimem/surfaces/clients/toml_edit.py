"""A TOML text and the change of one server's table → the text with that table and nothing else changed.

A new table goes to the end, so that every byte before it stays. One that is there already, or that
must go into a table on one line, is edited by tomlkit, which keeps comments and order.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Callable
from typing import Any

from huimem.errors import MissingExtra
from huimem.surfaces.clients.entry import Change, Values, same
from huimem.surfaces.clients.jsonc import Fault

_PLACE = re.compile(r"at line (\d+), column (\d+)")


def edited(text: str, section: str, name: str, change: Callable[[Values], Change]) -> str:
    """`text` with the table `section.name` changed, added where there is none.

    Raises `Fault` for a text that is no TOML, that holds something else where the section should be,
    or that is written in a way in which it cannot be changed without changing more.
    """
    tables = parsed(text)
    servers = tables.get(section, {})
    if not isinstance(servers, dict):
        raise Fault(f'"{section}" is no table', _line_of(text, section))
    known = isinstance(servers.get(name), dict)
    old: Values = servers[name] if known else {}
    todo = change(old)
    if known and not (todo.put or todo.drop):
        return text
    wanted = {**tables, section: {**servers, name: todo.applied(old)}}
    if name not in servers and _holds(longer := _appended(text, section, name, todo.put), wanted):
        return longer
    done = _rewritten(text, section, name, todo)
    if not _holds(done, wanted):
        raise Fault(f'"{section}.{name}" cannot be changed without changing more', _line_of(text, name))
    return done


def entry_in(text: str, section: str, name: str) -> Values | None:
    """The table as it stands; None where there is none. Raises `Fault`."""
    servers = parsed(text).get(section)
    entry = servers.get(name) if isinstance(servers, dict) else None
    return entry if isinstance(entry, dict) else None


def parsed(text: str) -> dict[str, Any]:
    """The tables of a text. Raises `Fault`."""
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        place = _PLACE.search(str(error))
        line, column = (int(place[1]), int(place[2])) if place else (text.count("\n") + 1, 1)
        raise Fault("it is not valid TOML", line, column) from None
    except RecursionError:
        raise Fault("it is nested too deeply", 1) from None


def render(section: str, name: str, entry: Values) -> str:
    """A server's table as text."""
    return "\n".join((f"[{section}.{name}]", *(f"{key} = {quoted(value)}" for key, value in entry.items())))


def quoted(value: object) -> str:
    """A string, a number or a list of them as TOML: JSON's form, but for one character."""
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def _appended(text: str, section: str, name: str, entry: Values) -> str:
    newline = _newline(text)
    before = text if text.endswith("\n") or not text else text + newline
    gap = newline if before.strip() and not before.endswith(newline * 2) else ""
    return before + gap + render(section, name, entry).replace("\n", newline) + newline


def _newline(text: str) -> str:
    """What ends the lines: CR LF only where it ends them all."""
    return "\r\n" if "\n" in text and text.count("\n") == text.count("\r\n") else "\n"


def _holds(text: str, wanted: Values) -> bool:
    """Whether a text means exactly `wanted`."""
    try:
        return same(parsed(text), wanted)
    except Fault:
        return False


def _rewritten(text: str, section: str, name: str, change: Change) -> str:
    """The text with the change in it, by tomlkit; the text as it was where that does not get it right."""
    try:
        import tomlkit
        from tomlkit.exceptions import TOMLKitError
    except ImportError:
        raise MissingExtra(
            "changing a table that stands in a TOML file needs tomlkit", "pip install 'huimem[mcp]'"
        ) from None
    try:
        document: Any = tomlkit.parse(text)
        if tomlkit.dumps(document) != text:
            return text
        servers = document[section]
        known = name in servers and hasattr(servers[name], "keys")
        if not known:
            pairs = ", ".join(f"{key} = {quoted(value)}" for key, value in change.put.items())
            entry = tomlkit.value(f"{{{pairs}}}")
            servers.append(name, entry) if name not in servers else servers.update({name: entry})
        for key, value in change.put.items() if known else ():
            servers[name][key] = value
        for key in change.drop:
            del servers[name][key]
        done = str(tomlkit.dumps(document))
    except (TOMLKitError, LookupError, TypeError, ValueError, AttributeError):
        return text
    return re.sub(r"(?<!\r)\n", "\r\n", done) if _newline(text) == "\r\n" else done


def _line_of(text: str, word: str) -> int:
    """The first line that begins with a word, as a key or in a header; 1 where none does."""
    found = re.search(rf"^[ \t]*\[*[ \t]*[\w.\"']*{re.escape(word)}\b", text, re.MULTILINE)
    return text.count("\n", 0, found.start()) + 1 if found else 1
