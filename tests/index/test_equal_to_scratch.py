"""After any sequence of edits the index holds and answers what one built from scratch does."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

import hypothesis.strategies as st
from hypothesis import settings
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from huimem.index.filters import Filter
from huimem.index.rows import milliseconds
from huimem.records import Source
from tests.index.made import ALL, Files, answers, at, content, day, fact, opened, source, statistics, turn

NAMES = ("a.md", "b.md", "x/c.md", "x/d.md")
WORDS = ("apple", "pear", "索引", "shared")
FILTERS = (
    ALL,
    Filter(),
    Filter(during=((milliseconds(at("2026-04-01")), milliseconds(at("2026-05-01"))),)),
    Filter(namespaces=frozenset({"x"}), roles=("user",)),
    Filter(tags=("t",), current_at=milliseconds(at("2026-04-15"))),
)
SAID = st.lists(
    st.sampled_from(("apple tart", "pear 索引", "shared words on 2026-04-21", "2026-05-03 讨论 apple")),
    min_size=1,
    max_size=3,
)
DAYS = st.sampled_from(("2026-04-02", "2026-04-30", "2026-05-11", None))
TURNS = st.builds(
    lambda day_of, said, line, speaks: turn(
        day_of, *said, line=line, mentions=[day("2026-04-20")] if speaks and day_of else ()
    ),
    DAYS,
    SAID,
    st.sampled_from((1, 20, 40)),
    st.booleans(),
)
FACTS = st.sampled_from(
    (fact("k", "2026-04-01", "2026-04-10", "apple"), fact("k", "2026-04-10", None, "pear"))
)
SOURCES = st.builds(
    lambda path, records, tags: source(
        path, *records, namespace="x" if path.startswith("x/") else "", tags=tags
    ),
    st.sampled_from(NAMES),
    st.lists(TURNS | FACTS, max_size=4),
    st.sampled_from(((), ("t",))),
)


class Edits(RuleBasedStateMachine):
    """Writes, deletes, moves and touches files; syncs and embeds now and then."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp())
        self.files = Files()
        self.index = opened(self.folder / "state")

    def teardown(self) -> None:
        self.index.close()
        shutil.rmtree(self.folder)

    @rule(made=SOURCES)
    def write(self, made: Source) -> None:
        self.files.put(made)

    @precondition(lambda self: self.files.sources)
    @rule(data=st.data())
    def delete(self, data: st.DataObject) -> None:
        self.files.remove(data.draw(st.sampled_from(sorted(self.files.sources))))

    @precondition(lambda self: {"a.md", "b.md"} & self.files.sources.keys())
    @rule()
    def move(self) -> None:
        old, new = ("a.md", "b.md") if "a.md" in self.files.sources else ("b.md", "a.md")
        records = self.files.sources[old].records
        self.files.remove(old)
        self.files.put(source(new, *records))

    @precondition(lambda self: self.files.sources)
    @rule(data=st.data())
    def touch(self, data: st.DataObject) -> None:
        self.files.touch(data.draw(st.sampled_from(sorted(self.files.sources))))

    @rule(only=st.sampled_from((["x"], ["a.md", "b.md"])))
    def sync_some(self, only: list[str]) -> None:
        self.files.sync(self.index, only=only)

    @rule()
    def sync(self) -> None:
        self.files.sync(self.index)

    @rule()
    def embed(self) -> None:
        assert self.index.embed().pending == 0

    @rule()
    def reopen(self) -> None:
        self.index.close()
        self.index = opened(self.folder / "state")

    @invariant()
    def sums_agree_with_what_is_there(self) -> None:
        with self.index.snapshot() as snapshot:
            chunks, tokens = snapshot.totals(None)
            found = snapshot.passages(snapshot.rows(ALL))
            assert (chunks, tokens) == (len(found.rows), len(found.tokens))

    @rule()
    def compare(self) -> None:
        """What is in the state folder equals a build from nothing but the files."""
        self.files.sync(self.index)
        assert self.index.embed().pending == 0
        again = Files(dict(self.files.sources), dict(self.files.stamps))
        scratch = opened(Path(tempfile.mkdtemp(dir=self.folder)))
        assert again.sync(scratch).added == len(again.sources)
        scratch.embed()
        with self.index.snapshot() as mine, scratch.snapshot() as theirs:
            assert content(mine) == content(theirs)
            assert statistics(mine) == statistics(theirs)
            assert answers(mine, WORDS, FILTERS) == answers(theirs, WORDS, FILTERS)
        assert not self.files.sync(self.index)
        scratch.close()


TestEdits = Edits.TestCase
TestEdits.settings = settings(max_examples=10, stateful_step_count=16, deadline=None)
