"""A question's time words → a Resolution, in the zone of `now`. Pure: no clock, no I/O."""

from __future__ import annotations

from collections.abc import Collection
from datetime import UTC, datetime

from huimem.records import Resolution
from huimem.when import iso


def resolve(
    text: str, now: datetime, *, week_start: str = "monday", languages: Collection[str] | None = None
) -> Resolution | None:
    """What stretches of time `text` names, in text order; None where it names none.

    `now` is aware and its zone is the answer's; ranges are half-open and hold whole days, weeks or
    months of that zone. A phrase that is nothing but a date may also be a bare year or have an open
    end (`2026-04-08..`). `week_start` and `languages` choose among readings of worded phrases;
    dates in figures do not depend on them. Raises ValueError for a naive `now`.
    """
    if now.tzinfo is None:
        raise ValueError("now needs a zone")
    zone = now.tzinfo or UTC
    alone = iso.whole(text, now, zone)
    readings = (alone,) if alone else tuple(iso.find(text, now, zone))
    return Resolution(readings) if readings else None
