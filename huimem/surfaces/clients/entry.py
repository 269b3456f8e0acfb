"""The entry of one server: what stands there → what must change, and how that is shown.

What the user added to an entry stays, unless it contradicts a server that is started by a command.
A diff shows the values that huimem sets; any other value may be a secret and is never shown.
"""

from __future__ import annotations

import difflib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from huimem.surfaces.clients.table import Client

Values = Mapping[str, object]
Quoted = Callable[[object], str]

# What an entry of a server at an address holds: beside a command it would be refused or win.
REMOTE = (
    *("url", "serverUrl", "httpUrl", "headers", "headersHelper", "oauth", "auth"),
    *("http_headers", "env_http_headers", "bearer_token", "bearer_token_env_var"),
)
TIMEOUTS = ("startup_timeout_sec", "startup_timeout_ms")
TIMEOUT = 30  # seconds; a first start on a slow disk can take longer than the 10 that Codex gives
HIDDEN = "…"


@dataclass(frozen=True, slots=True)
class Change:
    """Keys to set, in order, and keys to take out."""

    put: Values
    drop: tuple[str, ...] = ()

    def applied(self, old: Values) -> dict[str, object]:
        """The entry after the change."""
        return {key: value for key, value in {**old, **self.put}.items() if key not in self.drop}


def fresh(client: Client, argv: Sequence[str]) -> dict[str, object]:
    """The entry that starts `argv`, where there is none yet."""
    entry: dict[str, object] = {"type": "stdio"} if client.typed else {}
    entry |= {"command": argv[0], "args": list(argv[1:])}
    return entry | ({"startup_timeout_sec": TIMEOUT} if client.toml else {})


def change(client: Client, argv: Sequence[str], old: Values) -> Change:
    """What makes `old` start `argv`; nothing where it does already."""
    wanted = fresh(client, argv)
    if "type" in old:
        wanted["type"] = "stdio"
    if any(key in old for key in TIMEOUTS):
        wanted.pop("startup_timeout_sec", None)
    put = {key: value for key, value in wanted.items() if key not in old or not same(old[key], value)}
    return Change(put, tuple(key for key in REMOTE if key in old))


def same(one: object, other: object) -> bool:
    """Equal and of one type all the way down: `true` is not 1."""
    return one == other and json.dumps(one, sort_keys=True, default=str) == json.dumps(
        other, sort_keys=True, default=str
    )


def ours(entry: Values) -> bool:
    """Whether an entry starts this server already, with whatever vault and from whatever place."""
    args = entry.get("args")
    words = list(args) if isinstance(args, list) else []
    return any(words[at : at + 2] == ["mcp", "serve"] for at in range(len(words)))


def switched_off(entry: Values) -> bool:
    return entry.get("disabled") is True or entry.get("enabled") is False


def shown(entry: Values, quoted: Quoted) -> dict[str, str]:
    """The values of an entry as text, those that may be secret hidden."""
    known: dict[str, object] = {}
    for key, kind in (("type", str), ("command", str), ("startup_timeout_sec", int)):
        if isinstance(entry.get(key), kind):
            known[key] = entry[key]
    if ours(entry):
        known["args"] = entry["args"]
    return {key: quoted(known[key]) if key in known else HIDDEN for key in entry}


def diff(before: Sequence[str], after: Sequence[str], headings: tuple[str, str, str]) -> str:
    """A unified diff of the lines of one entry under old name, new name and section."""
    old, new, section = headings
    lines = [*difflib.unified_diff(before, after, lineterm="", n=max(len(before), len(after)))][3:]
    return "\n".join((f"--- {old}", f"+++ {new}", f"@@ {section} @@", *lines)) if lines else ""
