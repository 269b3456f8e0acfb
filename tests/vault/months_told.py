"""A vault of a few sessions, each told on some days; what is asked is asked on 1 September 2026."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

from huimem.months import Archived, archived
from huimem.records import Message
from huimem.vault import pack
from huimem.vault.archive import Done, archive
from huimem.vault.cold import Plan, plan
from huimem.vault.vault import Vault

NOW = datetime(2026, 9, 1, 12, tzinfo=UTC)
MARCH = Archived("", "2026-03")
SAID = ("The marigold is by the door.", "金盏花在门边。")


def tell(vault: Vault, name: str, *days: str, namespace: str = "") -> str:
    """A session with a turn on each of the days; its path."""
    said = []
    for at, day in enumerate(days):
        when = datetime.fromisoformat(f"{day}T10:00:00+00:00")
        said += [
            Message("user", f"{SAID[at % 2]} {name} {day}", when),
            Message("assistant", "好的。", when + timedelta(seconds=5)),
        ]
    vault.record(said, session=name, title=f"About {name}", namespace=namespace, now=NOW)
    return next(path for path in vault.scan().files if path.endswith(f"/{name}.md"))


def bytes_of(vault: Vault) -> dict[str, bytes]:
    """The bytes of every session, open or packed, by the path it has where it is open."""
    found = {}
    scan = vault.scan()
    for path in scan.files:
        found[path] = (vault.root / path).read_bytes()
    for path in scan.archives:
        place = archived(path)
        assert place is not None
        for member, data in pack.contents(vault.archives.whole(place)):
            found[place.owner + member.name] = data
    return found


def packed(vault: Vault, planned: Plan | None = None) -> tuple[Done, ...]:
    months = (planned or plan(vault, NOW)).months
    return tuple(archive(vault, place, cold) for place, cold in months.items())


def told_in(root: Path) -> Vault:
    """A vault with sessions of March and April, some going on later, and one of a team."""
    vault = Vault.create(root, tz="UTC")
    tell(vault, "first", "2026-03-02", "2026-03-03")
    tell(vault, "second", "2026-03-20")
    tell(vault, "spring", "2026-04-07")
    tell(vault, "late", "2026-03-05", "2026-08-30")
    tell(vault, "today", "2026-09-01")
    tell(vault, "work", "2026-03-09", namespace="team")
    return vault


ALL_MARCH = {
    "archive/2026-03.tar.zst": ["first", "second"],
    "archive/2026-04.tar.zst": ["spring"],
    "namespaces/team/archive/2026-03.tar.zst": ["work"],
}
