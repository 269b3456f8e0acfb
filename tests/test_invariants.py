"""What always holds, on real vaults: the laws that the whole of huimem is built around."""

from __future__ import annotations

import shutil
import socket
import subprocess
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from huimem import ConfigError, Memory, Recall, checking
from huimem.records import TimeRange

ZONE = ZoneInfo("Asia/Shanghai")
NOW = datetime(2026, 4, 15, 10, 30, tzinfo=ZONE)
MONDAY = datetime(2026, 4, 6, 9, 0, tzinfo=ZONE)
QUESTIONS = (
    "which index did we choose",
    "股票 龙虎榜",
    "租房合同",
    "svc-mail restart",
    "dinner recipe",
    "2026-04-07",
    "what happened on 2026-05-01",
    "noodles 2026-05-01",
)

TEXTS = (
    "We settle on fp16 segments for the index; IVF stays for cold months.",
    "获取今日龙虎榜和三连板前五只股票数据。",
    "租房合同里写了押一付三，下个月一号搬家。",
    "After the upgrade I had to restart svc-mail twice; error E1042 went away.",
    "A quick dinner recipe for 2026-05-01: noodles, egg, tomato, ten minutes.",
    "Long answer. "
    + "Background sentence about vector search and its costs. " * 40
    + "The conclusion: choose HNSW.",
)


def say(text: str, at: datetime, reply: str = "Noted.") -> list[dict[str, object]]:
    return [
        {"role": "user", "content": text, "at": at},
        {"role": "assistant", "content": reply, "at": at + timedelta(seconds=5)},
    ]


def fill(memory: Memory) -> None:
    for day, text in enumerate(TEXTS):
        memory.record(say(text, MONDAY + timedelta(days=day)), title=f"talk {day}", session=f"talk-{day}")


@pytest.fixture
def vault(tmp_path: Path) -> Iterator[Memory]:
    with Memory.create(tmp_path / "vault", tz="Asia/Shanghai") as made:
        made.record(say("placeholder for the first file", MONDAY - timedelta(days=30)), session="first")
    with Memory.open(tmp_path / "vault", embedder="hashing") as memory:
        fill(memory)
        memory.sync()
        yield memory


def reopen(memory: Memory) -> Memory:
    return Memory.open(memory.vault.root, embedder="hashing")


def answers(
    memory: Memory, questions: tuple[str, ...] = QUESTIONS
) -> list[list[tuple[str, str, int, float]]]:
    """Hits of each question as values that must be equal: ref, path, line, score."""
    found = [memory.recall(question, limit=10, now=NOW) for question in questions]
    return [
        [(str(hit.ref), hit.path, hit.line, pytest.approx(hit.score, abs=1e-6)) for hit in recall.hits]
        for recall in found
    ]


def test_deleting_the_index_changes_no_answer(vault: Memory) -> None:
    before = answers(vault)
    assert any(before)
    vault.close()
    shutil.rmtree(vault.vault.state)
    with reopen(vault) as again:
        again.sync()
        assert answers(again) == before


EDITS = st.lists(
    st.tuples(
        st.sampled_from(["change", "append", "delete", "rename", "new", "undo"]),
        st.integers(0, 5),
        st.sampled_from(TEXTS),
    ),
    max_size=6,
)


@settings(max_examples=6, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(edits=EDITS)
def test_incremental_equals_from_scratch(
    tmp_path_factory: pytest.TempPathFactory, edits: list[tuple[str, int, str]]
) -> None:
    root = tmp_path_factory.mktemp("edits")
    with Memory.create(root, tz="Asia/Shanghai"), Memory.open(root, embedder="hashing") as memory:
        fill(memory)
        memory.sync()
        for number, edit in enumerate(edits):
            edit_a_file(root, number, *edit)
            memory.sync()
        grown = answers(memory)
    shutil.rmtree(root / ".huimem")
    with Memory.open(root, embedder="hashing") as fresh:
        fresh.sync()
        assert answers(fresh) == grown


def edit_a_file(root: Path, number: int, kind: str, which: int, text: str) -> None:
    files = sorted(root.glob("sessions/**/*.md"))
    path = files[which % len(files)] if files else root / "sessions" / "2026-W15" / "talk-0.md"
    heading = f"\n## User · 2026-04-{12 + number:02} 11:00:00\n\n{text}\n"
    if kind == "new" or not files:
        (root / f"added-{number}.md").write_text(f"# added {number}\n{heading}", encoding="utf-8")
    elif kind == "change":
        old = path.read_text(encoding="utf-8")
        path.write_text(old.replace("Noted.", text), encoding="utf-8")
    elif kind == "append":
        with path.open("a", encoding="utf-8") as file:
            file.write(heading)
    elif kind == "delete":
        path.unlink()
    elif kind == "rename":
        path.rename(root / f"moved-{number}.md")
    else:
        path.write_text(path.read_text(encoding="utf-8").replace(text, "Noted."), encoding="utf-8")


def test_a_score_is_the_product_of_named_factors(vault: Memory) -> None:
    hits = [hit for question in QUESTIONS for hit in vault.recall(question, now=NOW).hits]
    assert hits
    for hit in hits:
        product = 1.0
        for factor in hit.factors:
            product *= factor.value
            assert factor.name in hit.explain()
        assert hit.score == pytest.approx(product)
        relevance = [factor for factor in hit.factors if factor.name == "relevance"]
        assert all(0 < factor.value <= 1 for factor in relevance)
        assert all(0.05 <= factor.value <= 3 for factor in hit.factors if factor.name != "relevance")


def test_a_namespace_is_an_island(vault: Memory) -> None:
    before = answers(vault)
    for label in ("alice", "alice-b", "alice/work", "项目 A"):
        vault.record(
            say(f"In {label} we choose HNSW as the index and restart svc-mail.", MONDAY), namespace=label
        )
    # Words and vectors of others, so many that they would move every mean and every weight.
    for number in range(30):
        crowd = f"Number {number}: noodles for dinner, then svc-mail again. 第{number}份租房合同和股票。"
        vault.record(
            say(crowd, MONDAY + timedelta(hours=number), "好的。"), session="crowd", namespace="alice"
        )
    vault.sync()
    assert vault.recall(QUESTIONS[0], now=NOW).freshness.engine == "words+meaning"
    assert answers(vault) == before

    def owners(namespace: str | None) -> set[str]:
        return {
            hit.ref.namespace
            for hit in vault.recall("which index do we choose", namespace=namespace, limit=20).hits
        }

    assert owners(None) == {""}
    assert owners("alice") == {"alice"}
    assert owners("alice/**") == {"alice", "alice/work"}
    assert len(owners("**")) == 5
    assert owners("nobody") == set()


def test_syncing_twice_does_nothing(vault: Memory) -> None:
    again = vault.sync()
    assert not again.report
    assert again.embedded is not None and again.embedded.embedded == 0


def test_renaming_a_file_embeds_nothing(vault: Memory) -> None:
    path = next(vault.vault.root.glob("sessions/**/talk-2.md"))
    path.rename(vault.vault.root / "contract.md")
    synced = vault.sync()
    assert synced.embedded is not None and synced.embedded.embedded == 0
    (hit, *_) = vault.recall("租房合同", now=NOW).hits
    assert hit.path == "contract.md"


def test_another_git_branch_and_back_embeds_nothing(vault: Memory) -> None:
    root = vault.vault.root

    def git(*words: str) -> None:
        identity = ("-c", "user.name=n", "-c", "user.email=e@example.org", "-c", "commit.gpgsign=false")
        subprocess.run(("git", "-C", str(root), *identity, *words), check=True, capture_output=True)

    git("init", "-q", "-b", "main")
    git("add", ".")
    git("commit", "-qm", "all")
    before = answers(vault)
    git("checkout", "-qb", "other")
    next(root.glob("sessions/**/talk-1.md")).unlink()
    git("commit", "-qam", "less")
    vault.sync()
    assert not any(hit.path.endswith("talk-1.md") for hit in vault.recall("股票 龙虎榜", now=NOW).hits)
    git("checkout", "-q", "main")
    synced = vault.sync()
    assert synced.embedded is not None and synced.embedded.embedded == 0
    assert answers(vault) == before


def test_the_default_opens_no_socket(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("a socket was opened")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    with Memory.create(tmp_path / "vault") as memory:
        memory.record(say(TEXTS[0], MONDAY))
        memory.sync()
        assert memory.recall("which index did we choose").hits


def test_a_broken_file_hides_no_other(vault: Memory) -> None:
    root = vault.vault.root
    (root / "broken.md").write_bytes(
        b"---\ntitle: [\n---\n\n## User \xc2\xb7 2026-04-09 25:99:00\n\nhalf \xff a word\n"
    )
    vault.recall("word")
    vault.linger(10)
    before = answers(vault)
    vault.sync()
    assert answers(vault) == before
    assert any(problem.path == "broken.md" and problem.line for problem in checking.problems(vault.vault))


def test_an_unreadable_file_is_not_a_deleted_one(vault: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    from huimem import files

    def fail(path: Path, **_: object) -> tuple[bytes, files.Stamp]:
        raise files.Unreadable(str(path), "input/output error")

    path = next(vault.vault.root.glob("sessions/**/talk-2.md"))
    path.write_text(path.read_text(encoding="utf-8") + "\n", encoding="utf-8")
    with monkeypatch.context() as patched:
        patched.setattr(files, "read", fail)
        report = vault.sync().report
    assert report.removed == 0 and any("talk-2" in problem.path for problem in report.problems)
    assert vault.recall("租房合同", now=NOW).hits


@pytest.mark.parametrize(
    "line",
    [
        'embedder = "openai:text-embedding-3-small"',
        'embedder = "sentence-transformers:/tmp/model"',
        'state_dir = "/tmp/elsewhere"',
        'vault = "/home"',
        'endpoint = "https://example.org"',
        'api_key = "secret"',
    ],
)
def test_a_vault_cannot_choose_what_reaches_out_of_it(tmp_path: Path, line: str) -> None:
    (tmp_path / "huimem.toml").write_text(line + "\n", encoding="utf-8")
    with pytest.raises(ConfigError, match=line.split()[0]):
        Memory.open(tmp_path)


def test_times_filter_exactly(vault: Memory) -> None:
    day = TimeRange.days_from(MONDAY + timedelta(days=1), 1, ZONE)
    recall: Recall = vault.recall("index 股票 dinner", during=(day,), limit=20, now=NOW)
    assert recall.hits and all(hit.at and day.contains(hit.at) for hit in recall.hits)
