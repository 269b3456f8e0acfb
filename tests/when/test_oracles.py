"""Labelled phrases of other projects, where they lie beside the checkout: scored, printed, with a floor."""

from __future__ import annotations

import json
import os
from collections import Counter
from datetime import datetime
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from huimem.records import TimeRange
from huimem.when import resolve

ORACLES = Path(os.environ.get("HUIMEM_BENCH_DATA", Path(__file__).parents[3] / "shared")) / "oracles"
# The share of rows that must be exactly right: ranges in each language, phrases that are no time.
FLOORS = {
    "time_dev.jsonl": {"en": 0.97, "zh": 0.97, "none": 0.98, "vague": 1.0},
    "time_recall_examples.jsonl": {"en": 1.0, "zh": 1.0, "none": 1.0, "vague": 1.0},
}


def _wall(span: TimeRange) -> tuple[str | None, str | None]:
    start, end = (at and at.replace(tzinfo=None).isoformat() for at in span.local())
    return start, end


def _right(row: dict[str, Any]) -> bool:
    """Nothing for no time, no range for vague words, else exactly one right range first."""
    zone = ZoneInfo(row.get("tz", "UTC"))
    found = resolve(row["text"], datetime.fromisoformat(row["reference"]).replace(tzinfo=zone))
    if row["kind"] == "none":
        return found is None
    if row["kind"] == "vague":
        return found is not None and found.vague and not found.readings
    wanted = tuple(at and at[:19] for at in (row["start"], row["end"]))
    return bool(found and found.readings and _wall(found.readings[0].range) == wanted)


@pytest.mark.parametrize("name", FLOORS)
def test_labelled_phrases(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    path = ORACLES / name
    if not path.exists():
        pytest.skip(f"{name} does not lie beside the checkout")
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    right: Counter[str] = Counter()
    whole: Counter[str] = Counter()
    missed = []
    for row in rows:
        kind = row["kind"] if row["kind"] in ("none", "vague") else row["lang"]
        whole[kind] += 1
        right[kind] += _right(row)
        missed += [] if _right(row) else [row["id"]]
    shares = {kind: right[kind] / whole[kind] for kind in whole}
    with capsys.disabled():
        print(f"\n{name}: " + ", ".join(f"{k} {right[k]}/{whole[k]} = {shares[k]:.3f}" for k in whole))
    assert {kind: share for kind, share in shares.items() if share < FLOORS[name][kind]} == {}, missed
