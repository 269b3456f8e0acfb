"""Large exports: time grows with their size and no faster, memory not at all."""

from __future__ import annotations

import json
import subprocess
import sys
import time
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from tests.importers.exporting import (
    Said,
    Source,
    Talk,
    bring,
    export,
    forget_ledger,
    outcome,
    sessions,
    talk,
    texts_in,
)

MOST = 10.0  # seconds for what takes one or two; squares of these numbers would take minutes
COUNT = 10_000


def quickly(step: Callable[[], object]) -> None:
    begun = time.perf_counter()
    step()
    assert time.perf_counter() - begun < MOST


LONG = Talk(talk(*(f"message {n}" for n in range(COUNT))))
SAME = Talk([replace(said, text="ok", after=0) for said in LONG.messages])


@pytest.mark.slow
@pytest.mark.parametrize("source", ["chatgpt", "claude", "claude-code", "openai", "undated"])
@pytest.mark.parametrize("given", [LONG, SAME], ids=["long", "all the same"])
def test_a_conversation_of_ten_thousand_messages(
    source: Source, given: Talk, vault: Path, tmp_path: Path
) -> None:
    path = tmp_path / ("in" if source == "claude-code" else "c.json")
    quickly(lambda: bring(vault, export(path, source, [given])))
    (file,) = sessions(vault)
    file.write_text(file.read_text().replace("message 5000\n", "message five thousand\n"))
    for lose in (False, True):
        if lose:
            forget_ledger(vault)
        given = given.grown("and more", first=10**6 + lose)
        export(path, source, [given])
        quickly(lambda: bring(vault, path))
    assert len(texts_in(vault)) == COUNT + 2


def wide(leaves: int) -> dict[str, object]:
    """One question with that many answers."""
    nodes: dict[str, object] = {"u": {"parent": None, "message": _message("u", "user")}}
    nodes |= {f"a{n}": {"parent": "u", "message": _message(f"a{n}", "assistant")} for n in range(leaves)}
    return {"conversation_id": "wide", "mapping": nodes, "current_node": "a0"}


def deep(leaves: int) -> dict[str, object]:
    """A long way with a leaf at each of its steps."""
    nodes: dict[str, object] = {"n0": {"parent": None, "message": _message("n0", "assistant")}}
    for n in range(1, leaves):
        nodes[f"n{n}"] = {"parent": f"n{n - 1}", "message": _message(f"n{n}", "assistant")}
        nodes[f"b{n}"] = {"parent": f"n{n - 1}", "message": _message(f"b{n}", "assistant")}
    return {"conversation_id": "deep", "mapping": nodes, "current_node": f"n{leaves - 1}"}


def _message(name: str, role: str) -> dict[str, object]:
    content = {"content_type": "text", "parts": [name]}
    return {"id": name, "author": {"role": role}, "create_time": 1_775_442_600, "content": content}


@pytest.mark.slow
@pytest.mark.parametrize("shape", [wide, deep])
def test_ten_thousand_branches(
    shape: Callable[[int], dict[str, object]], vault: Path, tmp_path: Path
) -> None:
    path = tmp_path / "c.json"
    path.write_text(json.dumps([shape(COUNT)]))
    quickly(lambda: bring(vault, path))
    assert len(sessions(vault)) == 1


@pytest.mark.slow
def test_five_thousand_rewinds(vault: Path, tmp_path: Path) -> None:
    lines: list[object] = []
    parent = None
    for n in range(COUNT // 2):
        for name in (f"given-up-{n}", f"kept-{n}"):
            message = {"role": "user", "content": name}
            line = {"type": "user", "uuid": name, "parentUuid": parent, "sessionId": "s", "message": message}
            lines.append({**line, "timestamp": "2026-04-06T01:00:00Z"})
        parent = f"kept-{n}"
    path = tmp_path / "s.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    # The first message of all follows none, so that nobody can know that another one took its place.
    quickly(lambda: bring(vault, path))
    assert texts_in(vault) == ["given-up-0", *(f"kept-{n}" for n in range(COUNT // 2))]


@pytest.mark.slow
def test_many_conversations_of_one_second(vault: Path, tmp_path: Path) -> None:
    talks = [Talk([Said("user", f"Hello {n}", 0, "m")], f"c-{n}", f"Talk {n}") for n in range(1500)]
    path = export(tmp_path / "c.json", "chatgpt", talks)
    quickly(lambda: bring(vault, path))
    quickly(lambda: bring(vault, path))
    assert len(sessions(vault)) == 1500


# What a process itself held at most: `ru_maxrss` would begin with what its parent held.
MEASURE = """
import re, sys
from pathlib import Path
sys.path.insert(0, sys.argv[3])
from tests.importers.exporting import bring
report = bring(Path(sys.argv[1]), Path(sys.argv[2]))
most = re.search(r"VmHWM:\\s*(\\d+) kB", Path("/proc/self/status").read_text())
print(report.found, int(most[1]) // 1024)
"""


def measured(vault: Path, source: Path) -> tuple[int, int]:
    """How many conversations came in, and the most memory that took, MiB."""
    words = [sys.executable, "-c", MEASURE, str(vault), str(source), str(Path(__file__).parents[2])]
    found, most = subprocess.run(words, stdout=subprocess.PIPE, check=True).stdout.split()
    return int(found), int(most)


def pieces(count: int, size: int) -> Iterator[str]:
    yield "["
    for n in range(count):
        each = Talk(talk(*("word " * (size // 50) for _ in range(10)), first=n * 60), f"c-{n}", f"Talk {n}")
        yield ("," if n else "") + json.dumps(each.written("chatgpt"))
    yield "]"


@pytest.mark.slow
def test_memory_is_bounded_whatever_the_export(vault: Path, tmp_path: Path) -> None:
    path = tmp_path / "c.json"
    with path.open("w") as file:
        file.writelines(pieces(600, 100_000))
    assert path.stat().st_size > 60_000_000
    found, most = measured(vault, path)
    assert found == 600 and most < 300


@pytest.mark.slow
@pytest.mark.parametrize(
    "filling", [" " * 1000, "1," * 500, '{"a":1},' * 100], ids=["blanks", "numbers", "objects"]
)
def test_a_zip_that_unpacks_to_very_much_is_read_as_a_stream(
    filling: str, vault: Path, tmp_path: Path
) -> None:
    path = tmp_path / "bomb.zip"
    first = json.dumps(Talk(talk("Hello", "Hi")).written("chatgpt"))
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive, archive.open("c.json", "w") as member:
        member.write(f"[{first},".encode())
        for _ in range(200 if filling.strip() else 300_000):
            member.write(filling.encode())
        member.write(b"null]")
    found, most = measured(vault, path)
    assert found == 1 and most < 300


@pytest.mark.slow
def test_a_large_export_that_came_in_is_passed_over_without_reading_it_anew(
    vault: Path, tmp_path: Path
) -> None:
    talks = [Talk(talk(*"abcd", first=n * 60), f"c-{n}", f"Talk {n}") for n in range(2000)]
    path = export(tmp_path / "c.json", "chatgpt", talks)
    begun = time.perf_counter()
    assert outcome(bring(vault, path)) == {"new": 2000, "added": 8000}
    first, begun = time.perf_counter() - begun, time.perf_counter()
    assert outcome(bring(vault, path)) == {"unchanged": 2000}
    assert (time.perf_counter() - begun) * 5 < first
