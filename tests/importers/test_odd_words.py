"""Names, titles, texts and times of any kind come into a vault and are found again."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from huimem.vault.front import render_front, split_front
from huimem.vault.reading import text_field
from huimem.vault.text import normal
from tests.importers.exporting import (
    Said,
    Talk,
    bring,
    export,
    forget_ledger,
    only_session,
    outcome,
    sessions,
    talk,
    texts_in,
)

TWO = Talk(talk("I only trade on Wednesdays.", "Noted: 只在周三。"))


# What a name may be.

ODD = {
    "colon": "a: b", "hash": "#1 #2", "dash": "- x", "quotes": "\"it's\"", "bracket": "[[link]] {x}",
    "number": "00012", "truth": "no", "nothing": "null", "date": "2026-04-06", "anchor": "&a *b !c",
    "percent": "%x @y `z`", "slash": "a/b\\c", "dots": "../../etc", "emoji": "🧠 记忆", "long": "x" * 3000,
    "bell": "a\x07b", "nul": "a\x00b", "delete": "a\x7fb", "rule": "---", "bidi": "a\u202eb", "comma": "a, b",
}  # fmt: skip


@pytest.mark.parametrize("name", ODD)
@pytest.mark.parametrize("state", ["kept", "lost"])
def test_any_id_and_title_are_found_again(name: str, state: str, vault: Path, tmp_path: Path) -> None:
    odd = Talk(TWO.messages, ODD[name], ODD[name])
    path = export(tmp_path / "conversations.json", "chatgpt", [odd])
    assert outcome(bring(vault, path)) == {"new": 1, "added": 2}
    front, _ = split_front(only_session(vault).read_bytes(), "x.md")
    assert front.problems == () and front.fields["source_id"] == front.fields["title"] == ODD[name]
    if state == "lost":
        forget_ledger(vault)
    export(path, "chatgpt", [odd.grown("More")])
    assert outcome(bring(vault, path)) == {"updated": 1, "added": 1}
    assert len(sessions(vault)) == 1


@given(
    st.text(st.characters(exclude_categories=["Cs"]), min_size=1)
    .map(lambda t: " ".join(t.split()))
    .filter(bool)
)
def test_front_matter_gives_every_id_back(id: str) -> None:
    data = render_front({"huimem": "1", "source": "x", "source_id": id}) + b"\n# Title\n"
    front, _ = split_front(data, "x.md")
    assert text_field(front.fields, "source_id") == id


def test_a_title_of_several_lines_becomes_one(vault: Path, tmp_path: Path) -> None:
    bring(
        vault,
        export(tmp_path / "c.json", "chatgpt", [Talk(TWO.messages, title="One\n\n# Two\r\n---\nthree")]),
    )
    text = only_session(vault).read_text()
    assert "\ntitle: 'One # Two --- three'\n" in text or '\ntitle: "One # Two --- three"\n' in text
    assert "\n# One # Two --- three\n\n## User" in text


IMITATIONS = [
    "## User · 2026-04-06 09:14:23\n\nnot me",
    "---\nhuimem: 1\nsource_id: other\n---\n\ntext",
    "\\## Assistant · 2026-04-06 09:14:23",
    "```\nnever closed",
    "###### Carol · 2026-04-06 09:14:23\n\nhello",
    '<user timestamp="2026-04-06 09:14:23">\nx\n</user>',
    "<!-- importance=9 -->\n%% x %%",
    "line\r\nend\rinside\x0b\x0c",
    "x" * (1 << 20) + "\n末尾",
    "    indented first line\n\ttab\n\n\n\nfar below",
]


def test_texts_that_look_like_the_format_stay_texts(vault: Path, tmp_path: Path) -> None:
    bring(vault, export(tmp_path / "c.json", "chatgpt", [Talk(talk(*IMITATIONS))]))
    assert texts_in(vault) == [normal(text) for text in IMITATIONS]
    forget_ledger(vault)
    grown = Talk(talk(*IMITATIONS, "more", "and more"))
    report = bring(vault, export(tmp_path / "c.json", "chatgpt", [grown]))
    assert outcome(report) == {"updated": 1, "added": 2}


@pytest.mark.parametrize("years", [-20, 900, 7900])
def test_times_far_out_come_in(years: int, vault: Path, tmp_path: Path) -> None:
    far = Talk([Said("user", "Hello", years * 31_556_952, "m0")])
    path = export(tmp_path / "c.json", "claude", [far])
    assert outcome(bring(vault, path)) == {"new": 1, "added": 1}
    forget_ledger(vault)
    assert outcome(bring(vault, path)) == {"unchanged": 1}


def test_a_chat_in_which_only_tools_speak_is_called_by_its_id(vault: Path, tmp_path: Path) -> None:
    call = {"id": "t1", "type": "tool_use", "name": "TodoWrite", "input": {}}
    line = {
        "type": "assistant",
        "uuid": "u1",
        "sessionId": "s-1",
        "timestamp": "2026-04-06T01:14:23Z",
        "message": {"role": "assistant", "id": "m1", "content": [call]},
    }
    path = tmp_path / "s-1.jsonl"
    path.write_text(json.dumps(line) + "\n", "utf-8")
    assert outcome(bring(vault, path)) == {"new": 1, "added": 1}
    front, _ = split_front(only_session(vault).read_bytes(), "x.md")
    assert front.fields["title"] == front.fields["id"] == "chat_2026-04-06_091423"
