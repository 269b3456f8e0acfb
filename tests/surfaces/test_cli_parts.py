"""The small parts of verbs: messages out of an input, bars, progress, paths, links, shared options."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from huimem.config import load
from huimem.errors import ConfigError, UsageError
from huimem.recall.listing import Week
from huimem.records import TimeRange
from huimem.surfaces.cli.finding import obsidian_link
from huimem.surfaces.cli.look import Look
from huimem.surfaces.cli.options import Shared, moment, present
from huimem.surfaces.cli.paths import paths_in
from huimem.surfaces.cli.progress import tenths
from huimem.surfaces.cli.record import messages_of
from huimem.surfaces.cli.status import size
from huimem.surfaces.cli.weeks import BAR, bar, render_weeks
from huimem.vault.vault import Vault

ZONE = ZoneInfo("Asia/Shanghai")
HI = {"role": "user", "content": "hi"}

INPUTS = [
    ("a list", '[{"role": "user", "content": "hi"}]', None, [HI]),
    ("one object", '{"role": "user", "content": "hi"}', None, [HI]),
    ("an object a line", '{"role": "user", "content": "hi"}\n\n{"role": "x"}', None, [HI, {"role": "x"}]),
    ("a chat request", '{"model": "m", "messages": [{"role": "user", "content": "hi"}]}', None, [HI]),
    ("plain text", "hi", "user", [HI]),
    ("plain text that looks like JSON", "[1]", "user", [{"role": "user", "content": "[1]"}]),
    ("an empty list", "[]", None, []),
]  # fmt: skip


@pytest.mark.parametrize(("case", "text", "role", "messages"), INPUTS, ids=[row[0] for row in INPUTS])
def test_messages_are_read_from_any_usual_shape(
    case: str, text: str, role: str | None, messages: list[object]
) -> None:
    assert messages_of(text, role) == messages


REFUSED = [
    ("", "holds no messages"),
    (" \n ", "holds no messages"),
    ("secret words", "line 1, column 1"),
    ('[{"role": "user", "content": "secret"', "line 1, column 38"),
    ('{"role": "user", "content": "one"}\n{"role": secret}', "line 2, column 10"),
    ('["secret"]', "message 1 is no JSON object"),
    ('[{"role": "user"}, 7]', "message 2 is no JSON object"),
    ("7", "message 1 is no JSON object"),
    ("[" * 100_000, "nested too deeply"),
]


@pytest.mark.parametrize(("text", "fault"), REFUSED)
def test_an_input_that_is_none_is_refused_by_its_place(text: str, fault: str) -> None:
    with pytest.raises(UsageError) as refused:
        messages_of(text, None)
    assert fault in refused.value.message
    assert refused.value.hint
    assert "secret" not in str(refused.value)


BARS = [(0, 10, ""), (10, 10, "█" * BAR), (5, 10, "█" * (BAR // 2)), (1, 100_000, "▏"), (0, 0, "")]


@pytest.mark.parametrize(("value", "most", "shown"), BARS)
def test_a_bar_is_as_long_as_its_share_and_never_empty_for_something(
    value: int, most: int, shown: str
) -> None:
    assert bar(value, most) == shown


def test_weeks_stand_under_one_another_with_their_numbers() -> None:
    spans = [TimeRange.week_of(datetime(2026, 4, day, tzinfo=ZONE), ZONE) for day in (1, 8, 15)]
    weeks = [Week(f"2026-W{14 + i}", spans[i], turns, turns // 2) for i, turns in enumerate((4, 0, 2))]
    assert render_weeks(weeks, Look(ZONE, datetime(2026, 4, 15, tzinfo=ZONE))).split("\n") == [
        f"2026-W14  30 Mar  {'█' * 40}  4 turns in 2 sessions",
        f"2026-W15  06 Apr  {' ' * 40}  –",
        f"2026-W16  13 Apr  {'█' * 20}{' ' * 20}  2 turns in 1 session",
    ]


SIZES = [
    (0, "0 bytes"),
    (1023, "1023 bytes"),
    (1536, "1.5 KiB"),
    (12_900_000, "12.3 MiB"),
    (5 << 40, "5.0 TiB"),
]


@pytest.mark.parametrize(("count", "words"), SIZES)
def test_sizes_are_for_people(count: int, words: str) -> None:
    assert size(count) == words


def test_progress_off_a_terminal_is_a_line_a_tenth_for_long_work_only() -> None:
    said: list[str] = []
    show = tenths(said.append)
    for done in range(0, 1001, 50):
        show("words", done, 1000)
    for done in range(8):
        show("vectors", done, 7)
    show("nothing", 0, 0)
    assert len(said) == 10
    assert said[0] == "words 10 %: 100 of 1,000"
    assert said[-1] == "words 100 %: 1,000 of 1,000"


@pytest.fixture
def vault(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Vault:
    root = tmp_path / "vault"
    for name in ("a.md", "sessions/b.md", "sessions/c.md"):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text("text")
    monkeypatch.chdir(tmp_path)
    return Vault.open(root, load(root, environ={"HUIMEM_CONFIG": ""}))


PATHS = [
    ("vault/a.md", ["a.md"]),
    ("a.md", ["a.md"]),
    ("sessions", ["sessions/b.md", "sessions/c.md"]),
    ("vault", ["a.md", "sessions/b.md", "sessions/c.md"]),
    ("sessions/gone.md", ["sessions/gone.md"]),
    ("sessions/../a.md", ["a.md"]),
]


@pytest.mark.parametrize(("given", "paths"), PATHS)
def test_a_path_may_start_from_the_working_folder_or_from_the_vault(
    vault: Vault, given: str, paths: list[str]
) -> None:
    assert list(paths_in(vault, Path(given))) == paths


@pytest.mark.parametrize("given", ["..", "/etc/hosts", "../vault2/a.md", "sessions/../../x.md"])
def test_a_path_outside_the_vault_is_refused(vault: Vault, given: str) -> None:
    with pytest.raises(UsageError, match="outside the vault"):
        paths_in(vault, Path(given))


LINKS = [
    ("sessions/2026-W15/chat.md", "User · 2026-04-06 09:14:23", "[[chat#User · 2026-04-06 09 14 23]]"),
    ("notes/a.md", "On [balance] | ^x #tag", "[[a#On balance x tag]]"),
    ("a b.md", "", "[[a b]]"),
]


@pytest.mark.parametrize(("path", "heading", "link"), LINKS)
def test_an_obsidian_link_leads_to_the_heading(path: str, heading: str, link: str) -> None:
    assert obsidian_link(path, heading) == link


def test_options_after_the_verb_win_over_those_before_it() -> None:
    outer = Shared(namespace="work", tz="Asia/Tokyo", json=True)
    assert Shared(tz="Europe/Paris", quiet=True).over(outer) == Shared(
        namespace="work", tz="Europe/Paris", json=True, quiet=True
    )


TIMES = [
    ("2026-04-15", "2026-04-15T00:00:00+08:00"),
    ("2026-04-15T10:30", "2026-04-15T10:30:00+08:00"),
    ("2026-04-15T10:30:00Z", "2026-04-15T18:30:00+08:00"),
    ("2026-04-15 10:30+02:00", "2026-04-15T16:30:00+08:00"),
]


@pytest.mark.parametrize(("text", "at"), TIMES)
def test_a_naive_present_is_in_the_askers_zone(text: str, at: str) -> None:
    assert present(text, ZONE).isoformat() == at


@pytest.mark.parametrize("text", ["", "soon", "2026-02-30", "10:30"])
def test_a_time_that_is_none_is_refused_by_its_option(text: str) -> None:
    with pytest.raises(UsageError, match="--at"):
        moment(text, ZONE, "--at")


def test_the_present_is_the_clocks_where_none_is_given() -> None:
    now = present(None, ZONE)
    assert now.tzinfo is ZONE and abs((datetime.now(ZONE) - now).total_seconds()) < 60


def test_an_unknown_zone_is_refused() -> None:
    with pytest.raises(ConfigError, match="Mars"):
        load(None, {"timezone": "Mars/Olympus"})
