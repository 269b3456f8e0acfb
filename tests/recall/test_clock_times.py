"""A clock time in a question: of what was said then, of what speaks of it, or of what it is about."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from huimem import Memory

NOW = datetime(2026, 5, 20, 10, 0, tzinfo=ZoneInfo("Asia/Shanghai"))

# the night before NOW at 20:18: what is said in the vault beside the train → what is found first, warnings
AT_A_CLOCK = [
    ("On 2026-05-19 the kiln gets bricks for the train shed.", "train", 1),
    ("The week of 2026-05-18 belongs to the train shed.", "train", 1),
    ("Bricks for the train shed come on 2026-05-19 at 20:18.", "other", 0),
    ("Bricks for the train shed come on the evening of 2026-05-19.", "other", 0),
]


@pytest.mark.parametrize(("text", "first", "warnings"), AT_A_CLOCK)
@pytest.mark.parametrize("question", ["the 8:18 pm train", "8:18 pm的train"])
def test_who_speaks_of_a_day_speaks_of_no_clock_time_of_it(
    question: str, text: str, first: str, warnings: int, tmp_path: Path
) -> None:
    Memory.create(tmp_path / "v", tz="Asia/Shanghai").close()
    with Memory.open(tmp_path / "v", embedder="none") as made:
        for name, said in (("train", "The night train leaves at 20:18."), ("other", text)):
            made.record([{"role": "user", "content": said, "at": "2026-05-03T09:00:00"}], session=name)
        answer = made.recall(question, now=NOW)
    assert (answer.hits[0].ref.session, len(answer.warnings)) == (first, warnings)
    for warning in answer.warnings:
        assert warning == "nothing was said or is told of at “8:18 pm”; searched without it"
