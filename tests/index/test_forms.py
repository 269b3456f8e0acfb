"""Numbers, clocks and dates: each row of a table is one value in the ways people write it."""

from __future__ import annotations

from itertools import pairwise, permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from huimem.index.forms import Form, forms
from huimem.index.tokens import asked, tokenize

# The first of a row is the term that all share. What two ways of writing have in common besides it
# ("pm", "四月") is not asked for here.
SAME = [
    ["15:00", "3pm", "3 pm", "3PM", "3 p.m.", "3:00 pm", "3:00pm", "03:00 PM", "下午三点", "下午3点"],
    [
        "15:00",
        "15点",
        "15點",
        "下午3點",
        "下午３点",
        "下午三点整",
        "下午三点钟",
        "下午15点",
        "下午3:00",
        "3pm",
    ],
    [
        "15:30",
        "3:30pm",
        "3:30 p.m.",
        "下午三点半",
        "下午3点半",
        "下午3点30分",
        "下午3点30",
        "15点30分",
        "十五点半",
    ],
    ["09:00", "9am", "9:00", "9:00 AM", "上午九点", "早上9点", "早上九點"],
    ["00:00", "12am", "0:00", "晚上12点", "凌晨零点", "12 a.m."],
    ["12:00", "12pm", "中午12点", "中午十二点"],
    ["13:00", "1 pm", "中午一点", "13点"],
    ["07:15", "7:15", "7:15am", "早上七点一刻", "早上七点十五"],
    ["20:00", "8pm", "今晚8点", "晚上八点", "20点"],
    ["01:00", "1am", "晚上1点", "凌晨一点"],
    ["1000", "1,000", "1，000", "1k", "1K", "一千", "1千", "1\u00a0000", "1\u202f000"],
    ["1200", "1,200", "$1,200.00", "¥1,200", "1200.00", "一千二", "一千二百", "1千2"],
    ["12000", "1.2万", "1.2萬", "12,000", "12k", "一万二", "一万两千", "1万2千"],
    ["1002", "一千零二", "1,002"],
    ["105", "一百零五"],
    ["360", "三百六", "三百六十"],
    ["200000", "20万", "二十万", "200,000", "200k"],
    ["150000000", "1.5亿", "1.5億", "一亿五千万", "150,000,000"],
    ["2026", "二〇二六年", "二零二六年", "2026年"],
    ["2026-04-08", "2026/4/8", "2026/04/08", "2026.4.8", "April 8, 2026", "Apr. 8, 2026", "8 April 2026"],
    ["2026-04-08", "April 8th, 2026", "8th of April 2026", "APRIL 8 2026", "2026-04-08T10:15:00Z"],
    ["2026-04-08", "2026年4月8日", "2026年4月8号", "二〇二六年四月八日", "2026 年 4 月 8 日"],
    ["2026-12-31", "Dec 31, 2026", "2026年12月31日", "二零二六年十二月三十一号", "2026/12/31"],
    ["--04-08", "April 8", "8 April", "Apr 8", "4月8日", "四月八号", "the 8th of April"],
    [
        "13905712288",
        "139-0571-2288",
        "139 0571 2288",
        "1390571-2288",
        "+86-139-0571-2288",
        "+86 139 0571 2288",
    ],
    ["13905712288", "１３９－０５７１－２２８８", "电话139-0571-2288找赵师傅", "四月 139 0571 2288"],
    ["4155550132", "415-555-0132", "(415) 555-0132", "(415)555-0132", "1-415-555-0132", "+1-415-555-0132"],
    ["057188886666", "0571-88886666", "0571-8888-6666"],
    ["6222021234567890", "6222 0212 3456 7890", "6222-0212-3456-7890"],
    ["9787111213826", "978-7-111-21382-6", "ISBN-978-7-111-21382-6"],
    ["--05-01", "May 1", "1 May", "5月1号", "五月一日"],
]
# Neither finds the other by a value; some are one value to a person who knows what is meant.
DIFFERENT = [
    ("3pm", "3am"),
    ("3pm", "3:30pm"),
    ("15:00", "下午三点半"),
    ("三点", "15:00"),  # three points, or three o'clock of which half
    ("3:00", "15:00"),
    ("15:30:12", "15:30"),  # a log's second is no appointment
    ("1.2k", "1200"),  # as often a version or a measured value
    ("1 000", "1000"),  # two columns, two answers; with an unbreaking blank it is one number
    ("10kg", "10000"),
    ("401 k", "401000"),
    ("万一", "10000"),
    ("千万别忘", "10000000"),
    ("几千", "1000"),
    ("一百多", "100"),
    ("十几", "10"),
    ("十二", "12"),  # below a hundred numerals are ordinary words
    ("第三点", "03:00"),
    ("April 31, 2026", "2026-04-31"),
    ("2026/13/45", "2026-13-45"),
    ("may 8 people", "5月8日"),  # the verb
    ("4/8/2026", "2026-04-08"),  # April or August
    ("12pmx", "12:00"),
    ("25:00", "1:00"),
    ("13pm", "13:00"),
    ("v3.15:00", "15:00"),
    ("2026-04", "202604"),
    ("2021 2022 2023 2024", "2021202220232024"),
    ("20260101-20260131", "2026010120260131"),
    ("139 0571 2288 41", "13905712288"),
    ("10-20", "1020"),
    ("550e8400-1234-56789", "8400123456789"),
]


@pytest.mark.parametrize("ways", SAME, ids=[ways[0] for ways in SAME])
def test_all_ways_of_writing_a_value_find_each_other(ways: list[str]) -> None:
    shared = ways[0]
    missing = [
        (question, text)
        for question, text in permutations(ways if not shared.startswith("-") else ways[1:], 2)
        if shared not in asked(question) or shared not in tokenize(text)
    ]
    assert missing == []


@pytest.mark.parametrize(("a", "b"), DIFFERENT)
def test_different_values_stay_apart(a: str, b: str) -> None:
    values = {term for form in forms(b) for term in form.terms} or {b}
    assert not values & set(tokenize(a))
    assert not values & set(asked(a))


@pytest.mark.parametrize(
    ("question", "terms"),
    [
        ("3pm", ["15:00"]),  # every text with "3pm" holds 15:00, so asking for both would only dilute
        ("the 3 p.m. call", ["call", "15:00"]),
        ("下午三点开会", ["开会", "15:00"]),
        ("花了1.2万元", ["花", "万元", "12000"]),
        ("15:30", ["15:30"]),
        ("9:30", ["09:30"]),
        ("$1,200.00", ["1200"]),
        ("139-0571-2288", ["13905712288"]),
        ("call 139 0571 2288", ["call", "13905712288"]),
        ("4k monitor", ["4k", "monitor", "4000"]),
        ("April 8", ["april", "8", "--04-08"]),
        ("2026-04-08", ["2026-04-08", "2026", "04", "08", "--04-08"]),
    ],
)
def test_terms_of_a_question(question: str, terms: list[str]) -> None:
    assert [*asked(question)] == terms


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("call at 3pm, then 5 pm.", [("3pm", "15:00"), ("5 pm", "17:00")]),
        ("from 9-10am", [("10am", "10:00")]),
        ("8 apples, 12 pears and 2026 figs", []),
        ("约在下午三点半，预算一千二", [("下午三点半", "15:30"), ("一千二", "1200")]),
        ("chat_2026-04-08_101502.md", [("2026-04-08", "2026-04-08")]),
        ("", []),
    ],
)
def test_where_forms_stand(text: str, found: list[tuple[str, str]]) -> None:
    assert [(text[form.start : form.end], form.terms[0]) for form in forms(text)] == found


@given(st.text(alphabet="0123456789一二三零百千万亿点月日年半下午 :.-/apmkApril,", max_size=30))
def test_forms_stand_in_order_inside_the_text(text: str) -> None:
    found: list[Form] = forms(text)
    assert all(0 <= form.start < form.end <= len(text) and form.terms for form in found)
    assert all(a.end <= b.start for a, b in pairwise(found))
    assert set(asked(text)) <= set(tokenize(text))
