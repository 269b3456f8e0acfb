"""Whole command lines with all that they print: `fixtures/cli/*.txt`, each played in its own copy of a vault.

A line of a transcript is `$ ` and a command (text for its standard input between `<<END` and `END`),
`2> ` and a line of standard error, `[n]` the exit code where it is not 0, `-- ` a remark, or a line
of standard output. `$ cat FILE`, `$ write FILE <<END` and `$ rm FILE` look at the vault and change it.
`NAME=VALUE` before a command is a variable of its environment.
What tuning and clocks change (scores, seconds, bytes, ranking constants) counts as equal. The present is
Wednesday 15 April 2026, 10:30 in Shanghai. `python -m tests.surfaces.test_cli_transcripts` writes what
is printed now into the files, to be read before it is kept.
"""

from __future__ import annotations

import io
import os
import re
import shlex
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from unittest.mock import patch

import pytest

from huimem.surfaces.cli.main import run

FIXTURES = Path(__file__).parents[2] / "fixtures"
TRANSCRIPTS = sorted((FIXTURES / "cli").glob("*.txt"))
NOW = "2026-04-15T10:30+08:00"
_VARIABLE = re.compile(r"[A-Z_]+=")
WRITTEN = 1_775_000_000  # Wed 1 Apr 2026, the time of every file
HOME = "/home/me"
EDITORS = ("VISUAL", "EDITOR")

_CHANGING = [
    (re.compile(r"\b\d+\.\d{2,}\b"), "0.00"),
    (re.compile(r"\b\d+\.\d s\b"), "0.0 s"),
    (re.compile(r"\b\d+(\.\d)? (bytes|KiB|MiB)\b"), "0 bytes"),
    (re.compile(r'"(seconds|bytes|score|value|best|floor)": [\d.]+'), r'"\1": 0'),
    (re.compile(r"^ranking\..*\n", re.MULTILINE), ""),
    (re.compile(r" {2,}#"), " #"),
    (re.compile(r"A vault may set: .*"), "A vault may set: …"),
    (re.compile(r"(first 5 in common) +\d+%"), r"\1"),
    (re.compile(r"(passages a second|ms a question) .*"), r"\1"),
    (re.compile(r'"recall_id": "[0-9a-f]+"'), '"recall_id": ""'),
]


@dataclass(frozen=True)
class Step:
    """A command line, what it gets on standard input, and what it printed when it was written down."""

    line: str
    given: str
    printed: str


class Stream(io.BufferedIOBase):
    """One end of a process: what is written to it lands in the common log, line by line, with its mark."""

    def __init__(self, log: list[tuple[str, bytes]], mark: str) -> None:
        self._log, self._mark = log, mark

    def writable(self) -> bool:
        return True

    def write(self, data: bytes) -> int:  # type: ignore[override]
        self._log.append((self._mark, bytes(data)))
        return len(data)


def steps_of(text: str) -> Iterator[str | Step]:
    """The remarks and steps of a transcript, in order."""
    lines = text.rstrip("\n").split("\n")
    at = 0
    while at < len(lines):
        line = lines[at]
        at += 1
        if not line.startswith("$ "):
            yield line
            continue
        given: list[str] = []
        if line.endswith(" <<END"):
            end = lines.index("END", at)
            given, at = lines[at:end], end + 1
        start = at
        while at < len(lines) and not lines[at].startswith(("$ ", "-- ")):
            at += 1
        yield Step(line, "".join(f"{part}\n" for part in given), "\n".join(lines[start:at]).rstrip("\n"))


def play(step: Step, home: Path) -> str:
    """Carry out one step below `home`; all it prints, the way a transcript has it."""
    variables, (program, *words) = _words(step.line)
    log: list[tuple[str, bytes]] = []
    code = 0
    if program == "huimem":
        with patch.dict(os.environ, variables):
            code = _huimem(words, step.given, log)
    elif program == "cat":
        log.append(("", Path(words[0]).read_bytes()))
    elif program == "write":
        Path(words[0]).parent.mkdir(parents=True, exist_ok=True)
        Path(words[0]).write_text(step.given, encoding="utf-8")
        os.utime(Path(words[0]), (WRITTEN, WRITTEN))
    elif program == "rm":
        Path(words[0]).unlink()
    else:
        raise ValueError(f"a transcript knows no {program}")
    lines = [mark + line for mark, data in log for line in data.decode().rstrip("\n").split("\n")]
    printed = "\n".join([*lines, *([f"[{code}]"] if code else [])])
    return printed.replace(str(home), HOME)


def _words(line: str) -> tuple[dict[str, str], list[str]]:
    """The variables that stand before a command, and its words."""
    words = shlex.split(line.removeprefix("$ ").removesuffix(" <<END"))
    count = next(at for at, word in enumerate(words) if not _VARIABLE.match(word))
    return dict(word.split("=", 1) for word in words[:count]), words[count:]


def _huimem(words: list[str], given: str, log: list[tuple[str, bytes]]) -> int:
    streams = {
        "stdin": io.TextIOWrapper(io.BytesIO(given.encode()), encoding="utf-8"),
        "stdout": io.TextIOWrapper(Stream(log, ""), encoding="utf-8", write_through=True),
        "stderr": io.TextIOWrapper(Stream(log, "2> "), encoding="utf-8", write_through=True),
    }
    with patch.multiple(sys, **streams):
        return run(words if "--now" in words else ["--now", NOW, *words])


@contextmanager
def at_home() -> Iterator[Path]:
    """A home of its own for one transcript: no settings, no meaning, the sample vault `small` as `notes`."""
    before = Path.cwd()
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder).resolve()
        shutil.copytree(FIXTURES / "vaults" / "small", home / "notes")
        for path in (home / "notes").rglob("*"):
            os.utime(path, (WRITTEN, WRITTEN))
        kept = {name: os.environ[name] for name in os.environ if not name.startswith(("HUIMEM_", *EDITORS))}
        ours = {"HOME": str(home), "XDG_CONFIG_HOME": str(home), "HUIMEM_EMBEDDER": "none", "TZ": "Etc/UTC"}
        os.chdir(home / "notes")
        try:
            with patch.dict(os.environ, kept | ours, clear=True):
                yield home
        finally:
            os.chdir(before)


def played(text: str) -> Iterator[tuple[str | Step, str]]:
    """Each part of a transcript with what it prints now; a remark prints itself."""
    with at_home() as home:
        for part in steps_of(text):
            yield part, play(part, home) if isinstance(part, Step) else part


def steady(printed: str) -> str:
    for pattern, stand_in in _CHANGING:
        printed = pattern.sub(stand_in, printed)
    return printed


@pytest.mark.parametrize("path", TRANSCRIPTS, ids=[path.stem for path in TRANSCRIPTS])
def test_every_command_line_prints_what_its_transcript_says(path: Path) -> None:
    for part, printed in played(path.read_text(encoding="utf-8")):
        if isinstance(part, Step):
            assert f"{part.line}\n{steady(printed)}" == f"{part.line}\n{steady(part.printed)}"


def test_there_is_a_transcript_for_every_verb() -> None:
    from huimem.surfaces.cli.main import VERBS

    lines = [p.line for path in TRANSCRIPTS for p in steps_of(path.read_text("utf-8")) if isinstance(p, Step)]
    shown = {word for line in lines for word in _words(line)[1] if "huimem" in line.split()}
    assert set(VERBS) - shown == set()


def write_down(path: Path) -> None:
    """Put what is printed now into a transcript."""
    parts = []
    for part, printed in played(path.read_text(encoding="utf-8")):
        if isinstance(part, Step):
            given = f"{part.given}END\n" if part.line.endswith("<<END") else ""
            parts.append(f"{part.line}\n{given}{printed}".rstrip("\n") + "\n")
        else:
            parts.append(printed)
    path.write_text("\n".join(parts).rstrip("\n") + "\n", encoding="utf-8")


if __name__ == "__main__":
    for transcript in TRANSCRIPTS:
        write_down(transcript)
