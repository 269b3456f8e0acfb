"""Fact files: `fixtures/facts/NAME.md` with what is read from it in `NAME.txt`, and the two laws."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from huimem.records import FactVersion
from huimem.vault.facts import (
    FactFile,
    file_id,
    fold,
    new_file,
    parse_facts,
    render,
    tags_of,
    timeline,
)
from huimem.vault.text import normal

SHANGHAI = ZoneInfo("Asia/Shanghai")
FIXTURES = sorted((Path(__file__).parents[2] / "fixtures/facts").glob("*.md"))


def listing(file: FactFile) -> str:
    lines = [
        f"id {file.id} · key {file.key} · kind {file.kind} · title {file.title} · tags {' '.join(file.tags)}"
    ]
    for fact in timeline(file.versions, namespace=file.namespace, file=file.id):
        start, end = fact.valid.local()
        until = end.astimezone(SHANGHAI).isoformat() if end else "…"
        lines.append(
            f"{fact.ref} | {start.isoformat() if start else '…'} → {until} | {fact.kind} {fact.importance} "
            f"| lines {fact.line} {fact.text_line} | {fact.text}"
        )
        lines += [f"    source {fact.source}"] if fact.source else []
        lines += [f"    from {source}" for source in fact.sources]
    lines += [f"problem {problem.line}: {problem.message}" for problem in file.problems]
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize("path", FIXTURES, ids=lambda path: path.stem)
def test_fixture(path: Path) -> None:
    data = path.read_bytes()
    file = parse_facts(data, f"facts/{path.name}", zone=SHANGHAI)
    assert listing(file) == path.with_suffix(".txt").read_text(encoding="utf-8")
    assert render(file) == data


LINES = st.sampled_from(
    [b"---", b"key: a", b"kind: x", b"## 2026-04-06", b"## 2026-04-06 09:14:23 \xe2\x86\x92",
     b"## 2026-04-06 to", b"## note \xc2\xb7 2026-04-06", b"\\## 2026-04-06", b"<!-- a=b -->",
     b"\\<!-- a=b -->", b"## 2026-13-01", b"```", b"", b"text", b"\xef\xbb\xbf", b"\r", b"\x00\xff",
     b"# title", b"\xe2\x80\xa8", b"## 2026-04-06 \r"]
)  # fmt: skip


@given(st.lists(LINES).map(b"\n".join) | st.binary())
def test_render_undoes_parse_for_any_bytes(data: bytes) -> None:
    assert render(parse_facts(data, "facts/x.md", zone=SHANGHAI)) == data


ODD = [
    "## 2026-04-06", "\\## 2026-04-06 → 2026-05-01", "## note · 2026-04-06", "<!-- a=b -->",
    "\\\\<!-- a=b -->", "```", "~~~", "---", "# x", "\r", "a\rb", "\u0085", "\u2028x", "\f", "\0", "\ufeff",
    "你好", " ## 2026-04-06", "## 2026-13-45 →", "<!-- not closed", "", "  ",
]  # fmt: skip
TEXTS = st.lists(st.sampled_from(ODD) | st.text(max_size=20), max_size=6).map("\n".join).map(normal)
KINDS = st.sampled_from(["fact", "preference", "tool_result", "想法", "x-y"])
STARTS = st.integers(0, 10**9).map(lambda s: datetime(2001, 1, 1, tzinfo=SHANGHAI) + timedelta(seconds=s))
NAMES = st.from_regex(r"\A[A-Za-z_][A-Za-z0-9_-]{0,8}\Z").filter(lambda name: name != "importance")
VALUES = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
VERSIONS = st.builds(
    FactVersion,
    key=st.just("diet"),
    kind=KINDS,
    text=TEXTS,
    start=STARTS,
    importance=st.none() | st.floats(0, 100),
    attributes=st.dictionaries(NAMES, VALUES, max_size=3),
)


@settings(max_examples=40)
@given(st.lists(VERSIONS, max_size=4), st.booleans(), st.integers(0, 3))
def test_parse_undoes_render_for_any_versions(versions: list[FactVersion], keyed: bool, end: int) -> None:
    name, key = ("diet", "Diet") if keyed else ("notes_2026-W15", None)
    file = new_file(id=name, key=key, kind="fact", zone=SHANGHAI, tags=["food"])
    whole = tuple(replace(v, key=key, end=v.start + timedelta(days=end) if end else None) for v in versions)
    file = replace(file, versions=whole)
    again = parse_facts(render(file), f"facts/{name}.md", zone=SHANGHAI)
    assert again == file


@settings(max_examples=40)
@given(st.lists(VERSIONS, min_size=1, max_size=3), VERSIONS)
def test_a_version_is_added_without_touching_a_byte(versions: list[FactVersion], new: FactVersion) -> None:
    data = render(
        replace(new_file(id="diet", key="diet", kind="fact", zone=SHANGHAI), versions=tuple(versions))
    )
    for before in (data, data.rstrip(b"\n"), data.replace(b"\n", b"\r\n")):
        file = parse_facts(before, "facts/diet.md", zone=SHANGHAI)
        after = render(replace(file, versions=(*file.versions, new)))
        assert after.startswith(before)
        again = parse_facts(after, "facts/diet.md", zone=SHANGHAI)
        assert again.versions == (*file.versions, new)


@given(
    st.lists(st.tuples(st.integers(0, 9), st.none() | st.integers(1, 9), st.sampled_from(["a", "A", "b"])))
)
def test_of_a_key_at_most_one_version_holds(rows: list[tuple[int, int | None, str]]) -> None:
    day = datetime(2026, 1, 1, tzinfo=UTC)
    versions = [
        FactVersion(
            key,
            "fact",
            str(index),
            day + timedelta(days=start),
            day + timedelta(days=start + length) if length else None,
        )
        for index, (start, length, key) in enumerate(rows)
    ]
    facts = timeline(versions)
    for hour in range(0, 24 * 20, 12):
        now = day + timedelta(hours=hour)
        for key in "ab":
            held = [f for f in facts if f.key and fold(f.key) == key and f.valid.contains(now)]
            assert len(held) <= 1
            started = [v for v in versions if v.key and fold(v.key) == key and v.start <= now]
            latest = max(started, key=lambda v: (v.start, int(v.text)), default=None)
            expected = latest is not None and (latest.end is None or now < latest.end)
            assert [f.text for f in held] == ([latest.text] if latest and expected else [])


def test_equal_times_of_a_key_in_another_zone_are_equal() -> None:
    one = datetime(2026, 4, 6, 9, tzinfo=SHANGHAI)
    versions = [
        FactVersion("a", "fact", "first", one),
        FactVersion("a", "fact", "second", one.astimezone(UTC)),
    ]
    assert [fact.text for fact in timeline(versions)] == ["second"]


TAGS: list[tuple[str | tuple[str, ...], tuple[str, ...]]] = [
    (("food", "#health"), ("food", "health")),
    ("food, health", ("food", "health")),
    ("#food #health food", ("food", "health")),
    ("", ()),
    (("", "#"), ()),
    (("two words",), ("two words",)),
]


@pytest.mark.parametrize(("value", "tags"), TAGS)
def test_tags(value: str | tuple[str, ...], tags: tuple[str, ...]) -> None:
    assert tags_of({"tags": value}) == tags


IDS = [
    ("facts/diet.md", "diet"),
    ("namespaces/alice/facts/diet.md", "diet"),
    ("sessions/2026-W15/summary_2026-04-06_091423.md", "summary_2026-04-06_091423"),
    ("Projects/rules.md", "Projects/rules"),
]


@pytest.mark.parametrize(("path", "name"), IDS)
def test_ids(path: str, name: str) -> None:
    assert file_id(path) == name


@pytest.mark.parametrize(
    "line", ["## note " + " " * 200_000 + "x", "<!-- " + "a=b " * 60_000, "## " + "a-" * 200_000]
)
def test_a_huge_line_is_read_in_linear_time(line: str) -> None:
    data = f"---\nkey: a\n---\n## 2026-04-06\n{line}\n".encode()
    file = parse_facts(data, "facts/a.md", zone=SHANGHAI)
    assert render(file) == data and file.versions[0].text == normal(line)
