"""Settings files before and after: byte for byte, for every client; and any JSON there could be."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from huimem.errors import ConfigError, MissingExtra
from huimem.surfaces.clients.jsonc import Fault, parse, plain
from huimem.surfaces.clients.plan import plan
from huimem.surfaces.clients.table import CLIENTS

FIXTURES = Path(__file__).parents[3] / "fixtures" / "clients"
ARGV = ("/opt/huimem bin/huimem", "mcp", "serve", "--vault", "/home/ana/笔记 AI")
CASES = sorted(FIXTURES.glob("*/*.before.*"))
JSON_CLIENTS = [id for id, client in CLIENTS.items() if not client.toml]


def name(path: Path) -> str:
    return f"{path.parent.name}/{path.name.partition('.')[0]}"


def after(path: Path) -> bytes:
    return path.with_name(path.name.replace(".before.", ".after.")).read_bytes()


def test_every_client_has_its_cases() -> None:
    counts = {id: sum(case.parent.name == id for case in CASES) for id in CLIENTS}
    assert min(counts.values()) >= 15, counts
    assert sum(counts.values()) == len(CASES)


@pytest.mark.parametrize("case", CASES, ids=name)
def test_a_file_is_changed_as_written_down(case: Path) -> None:
    done = plan(CLIENTS[case.parent.name], "huimem", ARGV, "settings", case.read_bytes())
    assert done.after == after(case)
    assert done.changes == (case.read_bytes() != after(case))


@pytest.mark.parametrize("case", CASES, ids=name)
def test_a_second_time_changes_nothing(case: Path) -> None:
    done = plan(CLIENTS[case.parent.name], "huimem", ARGV, "settings", after(case))
    assert (done.after, done.changes, done.diff) == (after(case), False, "")


@pytest.mark.parametrize("client", CLIENTS)
def test_a_missing_file_becomes_what_an_empty_one_does(client: str) -> None:
    ending = "toml" if CLIENTS[client].toml else "json"
    done = plan(CLIENTS[client], "huimem", ARGV, "settings", None)
    assert done.after == (FIXTURES / client / f"empty.after.{ending}").read_bytes()
    assert done.changes


UNREADABLE = [
    ("cut off", b'{\n  "mcpServers": {\n    "a": "s3cret"', "settings:3:18"),
    ("a comma is missing", b'{"a": 1 "b": 2}', "settings:1:9"),
    ("a comma too many", b'{"a": 1,, "b": 2}', "settings:1:9"),
    ("only a comma", b"{,}", "settings:1:2"),
    ("a key without quotes", b"{\n\ta: 1}", "settings:2:2"),
    ("single quotes", b"{'a': 1}", "settings:1:2"),
    ("no colon", b'{"a" 1}', "settings:1:6"),
    ("no value", b'{"a": }', "settings:1:7"),
    ("an open string", b'{"a": "s3cret\n"}', "settings:1:7"),
    ("a bad escape", b'{"a": "\\x41"}', "settings:1:7"),
    ("a number that is none", b'{"mcpServers": {"a": 01}}', "settings:1:22"),
    ("a word that is none", b'{"a": nulls}', "settings:1:11"),
    ("NaN", b'{"a": NaN}', "settings:1:7"),
    ("an open comment", b'{"a": 1 /* s3cret }', "settings:1:9"),
    ("two values", b"{} {}", "settings:1:4"),
    ("brackets that do not match", b'{"a": [1}', "settings:1:9"),
    ("UTF-16", '{"a": 1}'.encode("utf-16"), "settings:1:1"),
    ("Latin-1", b'{\n"a": "\xe9"}', "settings:2:1"),
    ("a list", b"[]", "settings:1:1"),
    ("null", b"null", "settings:1:1"),
    ("a section that is a list", b'{\n"mcpServers": []}', "settings:2:1"),
    ("a section that is a word", b'{"mcpServers": "s3cret"}', "settings:1:1"),
    ("a deep nest", b'{"mcpServers": ' + b"[" * 50_000, "nested too deeply"),
    ("a deep nest elsewhere", b'{"a": ' + b"[" * 50_000, "nested too deeply"),
]
UNREADABLE_TOML = [
    ("cut off", b'a = 1\nb = "s3cret\n', "settings:2"),
    ("twice", b"[a]\n[a]\n", "settings:2"),
    ("JSON", b'{"a": 1}', "settings:1"),
    ("not UTF-8", b'a = 1\nb = "\xe9"\n', "settings:2"),
    ("no table", b"x = 1\nmcp_servers = 3\n", "settings:2"),
    ("a list", b"[[mcp_servers]]\na = 1\n", "settings:1"),
]


@pytest.mark.parametrize(
    ("client", "case", "data", "place"),
    [("cursor", *row) for row in UNREADABLE] + [("codex", *row) for row in UNREADABLE_TOML],
    ids=[f"json: {row[0]}" for row in UNREADABLE] + [f"toml: {row[0]}" for row in UNREADABLE_TOML],
)
def test_a_file_that_cannot_be_read_is_refused_by_its_place(
    client: str, case: str, data: bytes, place: str
) -> None:
    with pytest.raises(ConfigError) as refused:
        plan(CLIENTS[client], "huimem", ARGV, "settings", data)
    assert place in refused.value.message
    assert "nothing was written" in refused.value.message
    assert f"huimem mcp config --client {client}" in refused.value.hint
    assert "s3cret" not in str(refused.value)


def test_a_name_that_must_be_quoted_in_no_format_goes_in_plainly() -> None:
    done = plan(CLIENTS["codex"], "my-memory_2", ARGV, "settings", b"")
    assert done.after.startswith(b"[mcp_servers.my-memory_2]\n")


def test_a_table_that_cannot_be_changed_alone_is_refused() -> None:
    """Tables of a list stand on both sides of ours: writing ours anew would move them together."""
    text = b'[[a]]\nb = 1\n[mcp_servers.huimem]\ncommand = "x"\n[[a]]\nb = 2\n'
    with pytest.raises(ConfigError, match=r'settings:3:1: "mcp_servers.huimem" cannot be changed'):
        plan(CLIENTS["codex"], "huimem", ARGV, "settings", text)


def test_without_tomlkit_a_new_table_goes_in_and_an_old_one_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "tomlkit", None)
    assert plan(CLIENTS["codex"], "huimem", ARGV, "settings", b"a = 1\n").changes
    with pytest.raises(MissingExtra, match="needs tomlkit"):
        plan(CLIENTS["codex"], "huimem", ARGV, "settings", b'[mcp_servers.huimem]\ncommand = "x"\n')


# Any JSON, laid out in any way.

KEYS = st.text(max_size=4) | st.sampled_from(["mcpServers", "huimem", "command", "env", "笔记", 'a"b'])
FLOATS = st.floats(allow_nan=False, allow_infinity=False)
SCALARS = st.none() | st.booleans() | st.integers() | FLOATS | st.text(max_size=6)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3),
    max_leaves=8,
)
ENTRIES = st.none() | st.dictionaries(
    st.sampled_from(["command", "args", "type", "env", "url", "headers", "disabled", "x"]), VALUES, max_size=5
)
SERVERS = st.none() | st.dictionaries(KEYS, ENTRIES, max_size=3) | st.builds(
    lambda others, ours: {**others, "huimem": ours}, st.dictionaries(KEYS, ENTRIES, max_size=2), ENTRIES
)  # fmt: skip
FILES = st.dictionaries(KEYS, VALUES, max_size=4) | st.builds(
    lambda others, servers: {**others, "mcpServers": servers},
    st.dictionaries(KEYS, VALUES, max_size=3),
    SERVERS,
)
BLANKS = st.sampled_from(
    ["", "", " ", "\n", "\n\t", "\r\n  ", " /* c, */ ", " // c {\n", "\n// \u4e2d }\n    "]
)


@st.composite
def laid_out(draw: st.DrawFn, value: object) -> str:
    """A value as JSON with blanks, comments and commas wherever they may stand."""

    def write(item: object) -> str:
        gap = draw(BLANKS)
        if isinstance(item, dict):
            parts = [
                draw(BLANKS) + quoted(key) + draw(BLANKS) + ":" + write(inner) for key, inner in item.items()
            ]
            return gap + "{" + joined(parts) + "}" + draw(BLANKS)
        if isinstance(item, list):
            return gap + "[" + joined([write(inner) for inner in item]) + "]" + draw(BLANKS)
        return gap + json.dumps(item, ensure_ascii=False) + draw(BLANKS)

    def quoted(key: str) -> str:
        return json.dumps(key, ensure_ascii=draw(st.booleans()))

    def joined(parts: list[str]) -> str:
        trailing = "," + draw(BLANKS) if parts and draw(st.booleans()) else ""
        return ",".join(parts) + (trailing or draw(BLANKS))

    return write(value)


def pretty(value: object) -> st.SearchStrategy[str]:
    """A value as programs write it."""
    indents = st.sampled_from([None, 0, 2, 4, "\t"])
    return indents.map(lambda indent: json.dumps(value, indent=indent, ensure_ascii=False))


def expected(client: str, old: dict[str, object]) -> dict[str, object]:
    """The old settings with our entry, by the rules: three keys set, what means an address gone."""
    servers = old.get("mcpServers") or {}
    assert isinstance(servers, dict)
    entry = servers.get("huimem")
    entry = dict(entry) if isinstance(entry, dict) else {}
    entry.pop("url", None)
    entry.pop("headers", None)
    if client == "cursor" or "type" in entry:
        entry["type"] = "stdio"
    entry |= {"command": ARGV[0], "args": list(ARGV[1:])}
    return {**old, "mcpServers": {**servers, "huimem": entry}}


@given(data=st.data(), client=st.sampled_from(["cursor", "claude-desktop"]), old=FILES)
def test_any_settings_keep_all_but_our_entry(
    data: st.DataObject, client: str, old: dict[str, object]
) -> None:
    assume(old.get("mcpServers") is None or isinstance(old["mcpServers"], dict))
    text = data.draw(st.one_of(laid_out(old), pretty(old)))
    done = plan(CLIENTS[client], "huimem", ARGV, "settings", text.encode())
    new = done.after.decode()
    document = parse(new)
    assert document.root is not None
    assert plain(new, document.root) == expected(client, old)
    outside_the_entry_is_the_same(text, new)
    assert not plan(CLIENTS[client], "huimem", ARGV, "settings", done.after).changes


def outside_the_entry_is_the_same(old: str, new: str) -> None:
    """What stood there stands: around an entry that was there, or around the one stretch put in.

    A member behind another one needs a comma, which may stand apart from it, before a comment.
    """
    was, now = entry_at(old), entry_at(new)
    assert now is not None
    if was is not None:
        assert (new[: now[0]], new[now[1] :]) == (old[: was[0]], old[was[1] :])
        return
    start = alike(old, new)
    end = min(alike(old[::-1], new[::-1]), len(old) - start)
    left = old[start : len(old) - end]
    assert left in ("", "null") or new[start:].startswith("," + left)


def alike(one: str, other: str) -> int:
    """How many characters both begin with."""
    return next(
        (at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other))
    )


def entry_at(text: str) -> tuple[int, int] | None:
    """Where the value of our entry begins and ends; None where there is none."""
    root = parse(text).root
    servers = root.last("mcpServers") if root else None
    entry = servers.value.last("huimem") if servers else None
    return (entry.value.start, entry.value.end) if entry else None


def test_parts_may_be_asked_of_some_keys_alone() -> None:
    text = '{"a": {"b": [1, {}]}, "c": {"d": 1}}'
    root = parse(text, ("c",)).root
    assert root is not None
    assert [member.value.kind for member in root.members] == ["whole", "object"]
    assert plain(text, root) == {"a": {"b": [1, {}]}, "c": {"d": 1}}


def test_a_fault_in_a_value_read_whole_is_told_by_its_own_place() -> None:
    with pytest.raises(Fault) as fault:
        parse('{\n "a": {\n  "b": x}, "c": 1}', ("c",))
    assert (fault.value.line, fault.value.column) == (3, 8)
