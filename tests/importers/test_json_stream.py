"""JSON as a stream: every value whatever the chunks, and a broken one costs itself alone."""

from __future__ import annotations

import io
import json
import math
import random
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from huimem.importers import json_stream
from huimem.importers.json_stream import Fault, items, lines

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
    max_leaves=12,
)
BLANKS = st.text(st.sampled_from(" \t\r\n"), max_size=5)


def with_blanks(value: object, blank: str) -> str:
    """JSON with blanks wherever there may be some."""
    if isinstance(value, list):
        inner = f"{blank},{blank}".join(with_blanks(each, blank) for each in value)
        return f"[{blank}{inner}{blank}]"
    if isinstance(value, dict):
        pairs = (f"{json.dumps(key)}{blank}:{blank}{with_blanks(each, blank)}" for key, each in value.items())
        return "{" + blank + f"{blank},{blank}".join(pairs) + blank + "}"
    return json.dumps(value, ensure_ascii=random.Random(len(blank)).random() < 0.5)


@given(st.lists(VALUES, max_size=6), BLANKS, st.integers(1, 9), st.booleans())
@settings(max_examples=100)
def test_any_list_of_values_reads_back_in_any_chunks(
    values: list[object], blank: str, chunk: int, wrapped: bool
) -> None:
    text = blank + with_blanks({"about": {"x": [1]}, "all": values} if wrapped else values, blank) + blank
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(json_stream, "CHUNK", chunk)
        found = [*items(io.BytesIO(text.encode("utf-8", "surrogatepass")), ("all",))]
    assert found == json.loads(json.dumps(values).encode("utf-8"), strict=False)


def read(text: str | bytes, chunk: int = 1 << 20, inside: tuple[str, ...] = ()) -> list[object]:
    """The values; a Fault as "fault", the last as "end"."""
    data = text if isinstance(text, bytes) else text.encode()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(json_stream, "CHUNK", chunk)
        found = [*items(io.BytesIO(data), inside)]
    return [("end" if each.last else "fault") if isinstance(each, Fault) else each for each in found]


A, B, C = {"a": 1}, {"b": [1, {"x": "}"}]}, {"c": "ok"}
DEEP = "[" * 100_000 + "]" * 100_000
# What stands between the first and the last of three elements, and what comes of it.
BROKEN = {
    "missing brace": ('{"b": 2', ["fault"]),
    "missing brace inside": ('{"b": {"x": {"y": 1}', ["fault"]),
    "missing bracket": ('{"b": [1, 2}', ["fault"]),
    "brace for bracket": ('{"b": [1, 2}}', ["fault"]),
    "missing quote": ('{"b": "so, {"x": 1}}', ["fault"]),
    "quotes inside": ('{"b": "he said "no" to it"}', ["fault"]),
    "bare word": ("oops", ["fault"]),
    "bare word inside": ('{"b": oops}', ["fault"]),
    "bare key": ("{b: 1}", ["fault"]),
    "missing colon": ('{"b" 1}', ["fault"]),
    "missing comma": ('{"b": 1 "d": 2}', ["fault"]),
    "single quotes": ("{'b': 1}", ["fault"]),
    "wrong escape": ('{"b": "\\x41"}', ["fault"]),
    "a comma too many inside": ('{"b": 1,}', ["fault"]),
    "a number of 5,000 digits": ('{"b": ' + "9" * 5000 + "}", ["fault"]),
    "deep nesting": (f'{{"b": {DEEP}}}', ["fault"]),
    "a comma too many": (",", []),
    "control characters": ('{"b": "\x00\x1b\n"}', [{"b": "\x00\x1b\n"}]),
    "infinity": ('{"b": -Infinity}', [{"b": -math.inf}]),
    "wrong bytes": (b'{"b": "\xff\xfe"}'.decode("latin-1"), [{"b": "ÿþ"}]),
    "null": ("null", [None]),
    "a text": ('"b"', ["b"]),
}


@pytest.mark.parametrize("chunk", [1, 7, 1 << 20])
@pytest.mark.parametrize("case", BROKEN)
def test_a_broken_element_costs_itself_alone(case: str, chunk: int) -> None:
    if "deep" in case or "digits" in case:
        chunk = max(chunk, 4096)
    between, wanted = BROKEN[case]
    text = f"[{json.dumps(A)}, {between}, {json.dumps(B)}, {json.dumps(C)}]"
    assert read(text, chunk) == [A, *wanted, B, C]
    assert read(f'{{"n": 1, "all": {text}}}', chunk, ("all",)) == [A, *wanted, B, C]


def test_not_a_number_is_no_fault() -> None:
    ((value,),) = [[*each.values()] for each in read('[{"b": NaN}]') if isinstance(each, dict)]
    assert isinstance(value, float) and math.isnan(value)


@pytest.mark.parametrize("chunk", [1, 1 << 20])
@pytest.mark.parametrize("wrap", ["%s", '{"users": [1], "all": %s, "more": 1}'], ids=["plain", "wrapped"])
def test_cut_off_anywhere_what_came_before_is_there(wrap: str, chunk: int) -> None:
    text = wrap % json.dumps([A, B, C], ensure_ascii=False)
    ends = [text.index(part) + len(part) for part in map(json.dumps, (A, B, C))]
    for cut in range(len(text)):
        whole = [each for end, each in zip(ends, (A, B, C), strict=True) if end <= cut]
        found = read(text[:cut], chunk, ("all",))
        assert found[: len(whole)] == whole
        assert all(each == "end" for each in found[len(whole) :]) and len(found) <= len(whole) + 1
        assert cut == 0 or not text[:cut].startswith("[") or found[-1:] == ["end"]


HOPELESS = [
    "",
    " \n",
    "[",
    "{",
    '"',
    "{" * 5000,
    "{,[" * 5000,
    '["' * 5000,
    "]" * 5000,
    "[,,,,",
    "\ufeff[1]",
    "{}",
    "7",
]


@pytest.mark.parametrize("text", HOPELESS, ids=lambda text: text[:6])
def test_nonsense_ends(text: str) -> None:
    begun = time.perf_counter()
    found = read(text, 64, ("all",))
    assert len(found) <= 2 and time.perf_counter() - begun < 5


def test_many_losses_of_brackets_are_given_up() -> None:
    assert read("[" + '{"a": [1}, {, ' * 2000 + "]") == ["fault", "end"]


def test_a_value_without_end_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json_stream, "LONGEST", 1000)
    assert read(json.dumps([A, {"b": "x" * 5000}, C]), 64) == [A, "end"]


def test_lines_are_read_one_by_one() -> None:
    data = b'\xef\xbb\xbf{"a": 1}\n\n oops \r\n[1]\n{"a": "\xff"}\n{"b": '
    found = [
        (number, ("end" if value.last else "fault") if isinstance(value, Fault) else value)
        for number, value in lines(io.BytesIO(data))
    ]
    assert found == [(1, {"a": 1}), (3, "fault"), (4, [1]), (5, {"a": "\ufffd"}), (6, "end")]


def test_a_line_without_end_costs_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json_stream, "LONGEST", 100)
    data = b'{"a": 1}\n"' + b"x" * 1000 + b'"\n{"c": "ok"}\n'
    values = [value for _, value in lines(io.BytesIO(data))]
    assert values[0] == A and isinstance(values[1], Fault) and values[2] == C
