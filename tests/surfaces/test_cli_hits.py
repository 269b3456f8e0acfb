"""An answer built by hand → what people read and what programs read."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from huimem.records import (
    Fact,
    Factor,
    Freshness,
    Hit,
    Message,
    Query,
    Reading,
    Recall,
    Ref,
    Resolution,
    TimeRange,
    Turn,
)
from huimem.surfaces.cli.hits import Shown, counted, render_hits, render_nothing
from huimem.surfaces.cli.look import Look
from huimem.surfaces.documents import Asked, recall_document

ZONE = ZoneInfo("Asia/Shanghai")
NOW = datetime(2026, 4, 15, 10, 30, tzinfo=ZONE)
DAY = TimeRange(datetime(2026, 4, 8, tzinfo=ZONE), datetime(2026, 4, 9, tzinfo=ZONE), ZONE)
PHRASE = "which index 2026-04-08"
LOOK = Look(ZONE, NOW, root=Path("/home/me/vault"), here=Path("/home/me"))
PATH = "sessions/2026-W15/chat_2026-04-08_230512.md"


def said_at(minute: int, *messages: Message) -> Turn:
    return Turn(Ref("", "chat_2026-04-08_230512", f"20260408T23{minute:02}06"), messages)


TURN = said_at(
    58,
    Message(
        "user",
        "好，就这么定：分段 fp16，IVF 留给冷月份。",
        datetime(2026, 4, 8, 23, 58, 6, tzinfo=ZONE),
        line=41,
    ),
    Message("assistant", "记下了。", datetime(2026, 4, 8, 23, 58, 15, tzinfo=ZONE), line=45),
)
BEFORE = said_at(5, Message("user", "HNSW or IVF?", datetime(2026, 4, 8, 23, 5, 6, tzinfo=ZONE), line=12))
FACTORS = (
    Factor("relevance", 0.5, "words 0.41 (IVF) · meaning 0.49", {"words": 0.41, "meaning": 0.49}),
    Factor("time", 0.9, "speaks of it"),
    Factor("recency", 1.0),
)
HIT = Hit(TURN.ref, TURN, PATH, 43, "向量索引怎么选", ("search",), 0, TURN.messages[0].text, FACTORS)
FACT = Fact(
    Ref("", "diet", "20260410T180211", mark="@"), "diet", "preference", "Eats fish now.",
    TimeRange(datetime(2026, 4, 10, 18, 2, 11, tzinfo=ZONE), None, ZONE), line=12,
)  # fmt: skip
FACT_HIT = Hit(FACT.ref, FACT, "facts/diet.md", 14, "diet", (), 0, FACT.text, FACTORS[:1])
READING = Reading(DAY, "day", (12, 22), False, False, "Wed 8 Apr 2026")
ANSWER = Recall(
    id="5f0c1d2e3a4b",
    query=Query("which index", ("which", "index"), NOW, during=(DAY,), named=(DAY,)),
    resolution=Resolution((READING,)),
    hits=(HIT,),
    freshness=Freshness(True, 0, "words+meaning", 10, 10),
    considered=3,
)


def shown(answer: Recall, *, look: Look = LOOK, quiet: bool = False, **asked: bool) -> str:
    return render_hits(answer, Shown(Asked(PHRASE, ZONE, **asked), look, quiet))


def test_an_answer_names_its_time_each_place_and_reason_and_what_was_searched() -> None:
    assert shown(ANSWER).split("\n") == [
        "time  2026-04-08 = Wed 8 Apr 2026 (Asia/Shanghai)",
        "1  0.45  Wed 8 Apr 23:58 · 向量索引怎么选 · vault/sessions/2026-W15/chat_2026-04-08_230512.md:43",
        "   User: 好，就这么定：分段 fp16，IVF 留给冷月份。",
        "   why   relevance 0.50 (words 0.41 (IVF) · meaning 0.49) × time 0.90 (speaks of it)",
        "1 hit of 3 records in that time · index fresh",
    ]


FRIDAY = TimeRange(datetime(2026, 4, 10, tzinfo=ZONE), datetime(2026, 4, 11, tzinfo=ZONE), ZONE)
MARCH = TimeRange(datetime(2026, 3, 1, tzinfo=ZONE), datetime(2026, 4, 1, tzinfo=ZONE), ZONE)
NIGHT = TimeRange(datetime(2026, 4, 14, 18, tzinfo=ZONE), datetime(2026, 4, 15, 5, tzinfo=ZONE), ZONE)
ASKED = "last Friday, three weeks ago, last night or lately, long ago"
RECEIPTS = [
    (Resolution((replace(READING, span=(0, 11)),)), ["last Friday = Wed 8 Apr 2026 (Asia/Shanghai)"]),
    (
        Resolution(
            (
                Reading(
                    FRIDAY, "day", (0, 11), False, False, "the latest Friday before today: Fri 10 Apr 2026"
                ),
            ),
            alternatives=(Reading(DAY, "day", (0, 11), False, False, "another day"),),
        ),
        [
            "last Friday = Fri 10 Apr 2026 (Asia/Shanghai) · the latest Friday before today · not used",
            "or Wed 8 Apr 2026 · another day",
        ],
    ),
    (
        Resolution((Reading(MARCH, "month", (13, 28), True, False, "that month"),)),
        ["three weeks ago = about Sun 1 Mar 2026 to Tue 31 Mar 2026 (Asia/Shanghai) · that month · not used"],
    ),
    (
        Resolution((Reading(NIGHT, "daypart", (30, 40), False, False, ""),)),
        ["last night = Tue 14 Apr 2026 18:00 to Wed 15 Apr 2026 05:00 (Asia/Shanghai) · not used"],
    ),
    (
        Resolution(vague=True, window=MARCH, vague_spans=((44, 50),)),
        ["lately: perhaps Sun 1 Mar 2026 to Tue 31 Mar 2026; everything was searched"],
    ),
    (
        Resolution(vague=True, vague_spans=((52, 60),)),
        ["long ago: no exact time; everything was searched"],
    ),
]


@pytest.mark.parametrize(("resolution", "lines"), RECEIPTS)
def test_the_receipt_says_how_each_time_was_read(resolution: Resolution, lines: list[str]) -> None:
    answer = replace(ANSWER, resolution=resolution)
    printed = render_hits(answer, Shown(Asked(ASKED, ZONE), LOOK)).split("\n")
    assert [line.removeprefix("time").strip() for line in printed[: len(lines)]] == lines
    assert printed[len(lines)].startswith("1  0.45")


def test_a_list_of_sessions_counts_their_turns_and_what_is_not_shown() -> None:
    listed = replace(HIT, records=2, factors=(Factor("time", 1.0, "said then"),))
    speaking = replace(listed, records=1, factors=(Factor("time", 0.9, "speaks of it"),))
    lines = shown(replace(ANSWER, hits=(listed, speaking), sessions=12)).split("\n")
    assert lines[1].startswith("1  1.00  Wed 8 Apr 23:58 · 向量索引怎么选 · 2 turns · vault/")
    assert lines[3].startswith("2  0.90  Wed 8 Apr 23:58 · 向量索引怎么选 · 1 turn · vault/")
    assert lines[5] == "   why   time 0.90 (speaks of it)"
    assert lines[6] == "2 of 12 sessions in that time: --limit shows more · index fresh"


NEAREST = [
    ((DAY, FRIDAY), "Try another time; the nearest days that hold something are Wed 8 Apr and Fri 10 Apr."),
    ((DAY,), "Try another time; the nearest day that holds something is Wed 8 Apr."),
]


@pytest.mark.parametrize(("days", "hint"), NEAREST)
def test_an_empty_time_is_told_with_the_nearest_days(days: tuple[TimeRange, ...], hint: str) -> None:
    answer = replace(nothing(text=""), considered=0, nearest=days)
    assert render_nothing(answer, Shown(Asked(PHRASE, ZONE), LOOK)).split("\n")[1] == hint
    assert recall_document(answer, Asked(PHRASE, ZONE))["nearest"] == [
        {"start": f"2026-04-{n:02}T00:00:00+08:00", "end": f"2026-04-{n + 1:02}T00:00:00+08:00"}
        for n in (8, 10)[: len(days)]
    ]


def test_quiet_leaves_the_hits() -> None:
    assert shown(ANSWER, quiet=True).split("\n")[0].startswith("1  0.45")
    assert "index fresh" not in shown(ANSWER, quiet=True)


def test_explain_lists_every_factor_its_parts_and_the_product() -> None:
    assert shown(ANSWER, explain=True).split("\n")[3:-1] == [
        "   why   relevance 0.5000",
        "         + words 0.4100 (IVF)",
        "         + meaning 0.4900",
        "         = a sum of 0.9000",
        "   ×     time 0.9000 (speaks of it)",
        "   ×     recency 1.0000",
        "   =     0.4500",
    ]


def test_explain_leaves_out_what_adds_nothing_and_keeps_what_a_reranker_said() -> None:
    note = "reranked, 0.50 before · words 0.41 (IVF 0.30, flat-file (old) 0.11) · around 0.09"
    parts = {"words": 0.41, "meaning": 0.0, "neighbours": 0.0, "around": 0.09}
    relevance = Factor("relevance", 0.93, note, parts)
    answer = replace(ANSWER, hits=(replace(HIT, factors=(relevance,)),))
    assert shown(answer, explain=True).split("\n")[3:-1] == [
        "   why   relevance 0.9300 (reranked, 0.50 before)",
        "         + words 0.4100 (IVF 0.30, flat-file (old) 0.11)",
        "         + around 0.0900",
        "         = a sum of 0.5000",
        "   =     0.9300",
    ]


def test_full_shows_every_message_of_the_record() -> None:
    assert shown(ANSWER, full=True).split("\n")[2:4] == [
        "   User: 好，就这么定：分段 fp16，IVF 留给冷月份。",
        "   Assistant: 记下了。",
    ]


def test_neighbours_stand_around_the_hit_on_a_line_each() -> None:
    answer = replace(ANSWER, hits=(replace(HIT, before=(BEFORE,)),))
    assert shown(answer).split("\n")[2] == "   | User: HNSW or IVF?"


def test_a_fact_shows_its_kind_and_speaks_for_itself() -> None:
    lines = shown(replace(ANSWER, hits=(FACT_HIT,))).split("\n")
    assert lines[1] == "1  0.50  preference · Fri 10 Apr 18:02 · diet · vault/facts/diet.md:14"
    assert lines[2] == "   Eats fish now."


def test_long_evidence_is_cut_to_four_lines() -> None:
    text = "This sentence is one of very many that say the same thing. " * 40
    message = Message("assistant", text, NOW)
    hit = replace(HIT, record=said_at(1, message), evidence=text[:200])
    lines = shown(replace(ANSWER, hits=(hit,))).split("\n")
    assert len(lines) == 8
    assert lines[5].endswith("…")


def test_stored_escapes_never_reach_the_terminal() -> None:
    evil = Message("user", "a\x1b]52;c;aGk=\x07b \u202egpj", NOW)
    hit = replace(HIT, record=said_at(1, evil), evidence=evil.text, title="t\x1b[2J\nx")
    text = shown(replace(ANSWER, hits=(hit,)))
    assert "\x1b" not in text and "\x07" not in text and "\u202e" not in text
    assert r"a\x1b]52;c;aGk=\x07b \u202egpj" in text
    assert r"t\x1b[2J x" in text


def test_colours_wrap_what_is_shown_and_change_no_word() -> None:
    coloured = shown(ANSWER, look=replace(LOOK, colour=True))
    plain = coloured
    for code in ("0", "1", "2", "36"):
        plain = plain.replace(f"\x1b[{code}m", "")
    assert coloured != plain == shown(ANSWER)


STATES = [
    (Freshness(True, 0, "words+meaning", 9, 9), "index fresh"),
    (Freshness(False, 3, "words+meaning", 9, 9), "3 files not in the index yet"),
    (Freshness(True, 0, "words", 0, 0), "index fresh · by words only"),
    (Freshness(True, 0, "words", 5, 1200), "index fresh · by words only · vectors 5 of 1,200: huimem sync"),
]


@pytest.mark.parametrize(("freshness", "words"), STATES)
def test_the_summary_says_what_the_index_lacks(freshness: Freshness, words: str) -> None:
    last = shown(replace(ANSWER, freshness=freshness)).split("\n")[-1]
    assert last == f"1 hit of 3 records in that time · {words}"


def nothing(**query: object) -> Recall:
    changed = replace(ANSWER.query, **query)  # type: ignore[arg-type]
    return replace(ANSWER, hits=(), query=changed)


IN_VAIN = [
    (nothing(), "Nothing matches on Wed 8 Apr (3 records looked at)."),
    (nothing(during=(), named=()), "Nothing matches."),
    (nothing(text="", during=(), named=()), "Nothing was asked."),
    (nothing(text=""), "Nothing was said on Wed 8 Apr (3 records looked at)."),
    (
        nothing(
            during=(),
            named=(),
            kinds=("preference",),
            roles=("user",),
            tags=("a b",),
            namespace="alice/**",
        ),
        "Nothing matches with --kind preference --role user --tag a b --namespace alice/**.",
    ),
]


@pytest.mark.parametrize(("answer", "message"), IN_VAIN)
def test_nothing_found_names_what_was_searched_and_what_to_try(answer: Recall, message: str) -> None:
    said, hint = render_nothing(answer, Shown(Asked(PHRASE, ZONE), LOOK)).split("\n")
    assert said == message
    assert hint.startswith("Try ")
    assert "which index" not in said + hint


def test_a_guessed_time_is_not_shown_as_if_it_were_known() -> None:
    note = Turn(
        Ref("", "reading", "on-balance"),
        (Message("note", "Small repairs.", NOW),),
        kind="note",
        inferred=True,
    )
    dated = replace(
        note, inferred=False, messages=(replace(note.messages[0], at=datetime(2026, 4, 3, tzinfo=ZONE)),)
    )
    for record, when in ((note, "about Wed 15 Apr"), (dated, "Fri 3 Apr")):
        hit = replace(HIT, ref=record.ref, record=record, evidence="Small repairs.")
        assert shown(replace(ANSWER, hits=(hit,))).split("\n")[1].startswith(f"1  0.45  {when} · ")


COUNTS = [
    (0, "hit", "0 hits"),
    (1, "hit", "1 hit"),
    (1200, "record", "1,200 records"),
    (2, "entry", "2 entries"),
]


@pytest.mark.parametrize(("number", "noun", "words"), COUNTS)
def test_counts_agree_with_their_noun(number: int, noun: str, words: str) -> None:
    assert counted(number, noun) == words


READ = {
    "ranges": [
        {
            "phrase": "2026-04-08",
            "start": "2026-04-08T00:00:00+08:00",
            "end": "2026-04-09T00:00:00+08:00",
            "grain": "day",
            "span": [12, 22],
            "reading": "Wed 8 Apr 2026",
            "fuzzy": False,
            "future": False,
        }
    ],
    "vague": False,
    "window": None,
    "alternatives": [],
}


def test_the_document_of_an_answer_has_the_promised_shape() -> None:
    document = recall_document(replace(ANSWER, hits=(replace(HIT, before=(BEFORE,)),)), Asked(PHRASE, ZONE))
    assert json.loads(json.dumps(document)) == {
        "recall_id": "5f0c1d2e3a4b",
        "time": READ,
        "hits": [
            {
                "ref": "chat_2026-04-08_230512#20260408T235806",
                "path": PATH,
                "line": 43,
                "title": "向量索引怎么选",
                "role": "user",
                "name": None,
                "when": "2026-04-08T23:58:06+08:00",
                "inferred": False,
                "namespace": "",
                "kind": "turn",
                "tags": ["search"],
                "text": "好，就这么定：分段 fp16，IVF 留给冷月份。",
                "truncated": True,
                "score": 0.45,
                "factors": [
                    {"name": "relevance", "value": 0.5, "note": "words 0.41 (IVF) · meaning 0.49"},
                    {"name": "time", "value": 0.9, "note": "speaks of it"},
                    {"name": "recency", "value": 1.0, "note": ""},
                ],
                "before": ["HNSW or IVF?"],
                "after": [],
            }
        ],
        "passages": [],
        "scanned": [],
        "exhausted": False,
        "cursor": None,
        "best": 0.0,
        "floor": 0.0,
        "sessions": 0,
        "nearest": [],
        "index": {
            "fresh": True,
            "pending": 0,
            "engine": "words+meaning",
            "vectors": {"done": 10, "total": 10},
        },
        "warnings": [],
    }


def test_a_question_without_time_words_has_no_time_in_its_document() -> None:
    assert recall_document(replace(ANSWER, resolution=None), Asked("which index", ZONE))["time"] is None


def test_text_in_a_document_is_at_most_800_characters_unless_full() -> None:
    message = Message("assistant", "A short sentence. " * 200 + "The proof is here. " + "More. " * 50, NOW)
    answer = replace(ANSWER, hits=(replace(HIT, record=said_at(1, message), evidence="The proof is here."),))
    hit = recall_document(answer, Asked(PHRASE, ZONE))["hits"][0]  # type: ignore[index]
    whole = recall_document(answer, Asked(PHRASE, ZONE, full=True))["hits"][0]  # type: ignore[index]
    assert len(hit["text"]) <= 800 and "The proof is here." in hit["text"] and hit["truncated"]
    assert whole["text"] == message.text and not whole["truncated"]
