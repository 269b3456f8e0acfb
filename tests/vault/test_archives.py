"""Archives on the disk: what is read of them is right or refused by name, and nothing is written for it."""

from __future__ import annotations

import os
import random
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from huimem import files
from huimem.files import Unreadable
from huimem.months import Archived
from huimem.vault import pack
from huimem.vault.archives import KEPT, Archives
from huimem.vault.unpacked import Unpacked
from tests.vault import forging
from tests.vault.forging import FILES, FRAMES, LIES, TARS, TEXTS, WEEK, flipped

PLACE = Archived("", "2025-12")
ARCHIVE = forging.packed()
NAMES = sorted(FILES)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A vault with an archive and a file of somebody's."""
    root = tmp_path / "vault"
    (root / "archive").mkdir(parents=True)
    (root / "sessions").mkdir()
    (root / "sessions/mine.md").write_text("mine\n", encoding="utf-8")
    (root / PLACE.archive).write_bytes(ARCHIVE)
    return root


def archives(root: Path, hours: float = 72) -> Archives:
    return Archives(root, Unpacked(root / ".huimem", hours))


def file(name: str) -> Archived:
    return Archived(PLACE.owner, PLACE.month, name)


def disk(root: Path) -> dict[str, bytes | None]:
    """Everything below a folder's parent, the state folder with it."""
    return {str(path): path.read_bytes() if path.is_file() else None for path in root.parent.rglob("*")}


# What is right.


@pytest.mark.parametrize("keep", [False, True])
@pytest.mark.parametrize("hours", [0, 72])
def test_every_file_is_read(root: Path, keep: bool, hours: float) -> None:
    """K5: without a cache, with a cold one and with a warm one."""
    for _ in range(2):
        one = archives(root, hours)
        for name in NAMES:
            data, member = one.read(file(name), keep=keep)
            assert data == FILES[name] and member == one.member(file(name)) and member.name == name
    assert (root / ".huimem").exists() is bool(keep and hours)


def test_a_second_look_unpacks_nothing(root: Path) -> None:
    for name in NAMES:
        archives(root).read(file(name), keep=True)
    (root / PLACE.archive).write_bytes(forging.framed(ARCHIVE, lambda frames: frames.reverse()))
    assert [archives(root).read(file(name), keep=True)[0] for name in NAMES] == list(map(FILES.get, NAMES))
    with pytest.raises(Unreadable):
        archives(root).read(file(NAMES[-1]))


def test_the_index_sees_paths_and_digests(root: Path) -> None:
    one = archives(root)
    packed = one.packed(PLACE)
    assert packed.path == "archive/2025-12.tar.zst"
    assert packed.files == {
        f"archive/2025-12.tar.zst/{name}": forging.digest(data) for name, data in FILES.items()
    }
    (root / PLACE.archive).write_bytes(forging.packed({**FILES, NAMES[0]: b"another\n"}))
    assert one.packed(PLACE) != packed, "another state of the disk is seen"


def test_a_file_of_a_namespace(root: Path) -> None:
    (root / "namespaces/team/archive").mkdir(parents=True)
    (root / "namespaces/team/archive/2025-12.tar.zst").write_bytes(
        forging.packed({f"{WEEK}/team.md": b"ours"})
    )
    place = Archived("namespaces/team/", "2025-12", f"{WEEK}/team.md")
    assert archives(root).read(place)[0] == b"ours"


def test_more_archives_than_are_remembered(root: Path) -> None:
    one = archives(root)
    for turn in range(2):
        for number in range(KEPT + 5):
            place = Archived("", f"{1980 + number}-12", f"{WEEK}/a.md")
            if not turn:
                (root / place.archive).write_bytes(
                    forging.packed({place.name: b"%d" % number}, month=place.month)
                )
            assert one.read(place)[0] == b"%d" % number
    assert len(one._known) <= KEPT


def test_a_manifest_is_read_once(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    one = archives(root)
    one.manifest(PLACE)
    monkeypatch.setattr(pack, "manifest_of", lambda head: pytest.fail("once more"))
    assert [one.read(file(name))[0] for name in NAMES] == [FILES[name] for name in NAMES]


# What is gone, elsewhere or another's.


def test_what_is_gone_is_said_to_be_gone(root: Path) -> None:
    """F7"""
    one = archives(root)
    with pytest.raises(Unreadable, match=f"{PLACE.archive}/sessions/2025-W49/no.md is gone") as missing:
        one.read(file(f"{WEEK}/no.md"))
    assert missing.value.gone and missing.value.hint
    one.read(file(NAMES[0]))
    (root / PLACE.archive).unlink()
    (root / PLACE.manifest).write_bytes(b"{}")
    for look in (one.manifest, one.packed, one.whole):
        with pytest.raises(Unreadable, match=f"{PLACE.archive} is gone") as gone:
            look(PLACE)
        assert gone.value.gone and gone.value.hint


def test_the_archive_of_another_month_is_refused(root: Path) -> None:
    """F7"""
    (root / "archive/2026-01.tar.zst").write_bytes(ARCHIVE)
    with pytest.raises(Unreadable, match=r"2026-01\.tar\.zst cannot .*: it is the archive of 2025-12"):
        archives(root).manifest(Archived("", "2026-01"))


def _linked_file(root: Path) -> None:
    (root / PLACE.archive).rename(root.parent / "elsewhere")
    (root / PLACE.archive).symlink_to(root.parent / "elsewhere")


def _linked_folder(root: Path) -> None:
    (root / "archive").rename(root.parent / "elsewhere")
    (root / "archive").symlink_to(root.parent / "elsewhere")


def _fifo(root: Path) -> None:
    (root / PLACE.archive).unlink()
    os.mkfifo(root / PLACE.archive)


def _folder(root: Path) -> None:
    (root / PLACE.archive).unlink()
    (root / PLACE.archive).mkdir()


@pytest.mark.parametrize("bend", [_linked_file, _linked_folder, _fifo, _folder])
def test_what_is_no_file_is_never_read(root: Path, bend: Callable[[Path], None]) -> None:
    """G13: no archive outside of the vault, and nothing that hangs."""
    bend(root)
    for look in (archives(root).manifest, archives(root).whole):
        with pytest.raises(Unreadable, match=r"archive/2025-12\.tar\.zst is\b") as refused:
            look(PLACE)
        assert refused.value.hint and not refused.value.gone


def test_a_newer_format_says_what_to_do(root: Path) -> None:
    """F7"""
    (root / PLACE.archive).write_bytes(forging.headed(b"", version=2))
    with pytest.raises(Unreadable, match="written by a newer huimem") as refused:
        archives(root).manifest(PLACE)
    assert refused.value.hint == "Upgrade huimem to read it."


# What is damaged, or a lie.


def refusals(root: Path) -> list[Unreadable]:
    """What is said when everything in an archive is asked for by everybody."""
    one, said = archives(root), []

    def ask(look: Callable[[], object]) -> None:
        try:
            look()
        except Unreadable as error:
            said.append(error)

    ask(lambda: one.manifest(PLACE))
    ask(lambda: one.packed(PLACE))
    names = set(NAMES)
    with suppress(Unreadable):
        names |= {member.name for member in one.manifest(PLACE).members}
    for name in sorted(names):
        ask(lambda name=name: one.read(file(name), keep=True))  # type: ignore[misc]
    return said


def _bent() -> Iterator[tuple[str, bytes]]:
    for what, (change, _) in LIES.items():
        yield f"manifest: {what}", forging.forged(ARCHIVE, change)
    for what, text in TEXTS.items():
        yield f"no manifest: {what}", forging.sealed(text, *forging.opened(ARCHIVE)[1])
    for what, (swap, _) in FRAMES.items():
        yield f"frame: {what}", forging.framed(ARCHIVE, swap)
    for what in ("F5: a letter of a file", "F3: cut inside a file", "G12: a file more"):
        yield f"tar: {what}", forging.tarred(ARCHIVE, TARS[what][0])
    for length in (0, 4, 127, 128, 500, len(ARCHIVE) // 2, len(ARCHIVE) * 999 // 1000, len(ARCHIVE) - 1):
        yield f"cut: {length}", ARCHIVE[:length]
    yield "added", ARCHIVE + b"\0"
    yield "doubled", ARCHIVE * 2


BENT = dict(_bent())


@pytest.mark.parametrize("what", BENT)
def test_a_bent_archive_is_refused_by_name_and_writes_nothing(root: Path, what: str) -> None:
    """F1–F7, G10, G12: no path that it gives is read, written or deleted; good files in it may be read."""
    (root / PLACE.archive).write_bytes(BENT[what])
    before = disk(root)
    said = refusals(root)
    assert said, "nobody noticed"
    for error in said:
        assert error.message.startswith(f"{root / PLACE.archive}") and error.hint, error
        assert "cannot be read: " in error.message or error.gone, error
    cache = f"{root / '.huimem'}"
    assert {path: data for path, data in disk(root).items() if not path.startswith(cache)} == before
    kept = {path.read_bytes() for path in (root / ".huimem/unpacked").glob("*")}
    assert kept <= set(FILES.values())


def test_a_flipped_bit_never_gives_other_bytes(root: Path) -> None:
    """F1: 400 of them: each file is read as it was, or refused."""
    for bit in random.Random(49).sample(range(len(ARCHIVE) * 8), 400):
        (root / PLACE.archive).write_bytes(flipped(ARCHIVE, bit))
        one = archives(root)
        for name in NAMES:
            try:
                assert one.read(file(name))[0] == FILES[name]
            except Unreadable as error:
                assert PLACE.archive in error.message and not error.gone


def test_a_damaged_frame_costs_only_its_own_files(root: Path) -> None:
    """F1: and the error names what cannot be had."""
    (root / PLACE.archive).write_bytes(forging.framed(ARCHIVE, forging.swap(0, b"nothing")))
    one = archives(root)
    for name in NAMES[:2]:
        with pytest.raises(Unreadable, match=f"{PLACE.archive}/{name} cannot be read"):
            one.read(file(name))
    assert [one.read(file(name))[0] for name in NAMES[2:]] == [FILES[name] for name in NAMES[2:]]


# The cache on the way.


def test_an_edited_copy_in_the_cache_is_not_read(root: Path) -> None:
    """F22, K6: what somebody wrote into it is not what the archive holds."""
    one = archives(root)
    member = one.read(file(NAMES[0]), keep=True)[1]
    kept = root / ".huimem/unpacked" / member.sha256
    assert kept.stat().st_mode & 0o777 == 0o400
    kept.chmod(0o600)
    kept.write_bytes(b"edited")
    assert one.read(file(NAMES[0]), keep=True)[0] == FILES[NAMES[0]]
    assert kept.read_bytes() == FILES[NAMES[0]]


def test_a_full_disk_costs_only_the_second_look(root: Path) -> None:
    """E6"""
    (root / ".huimem").write_bytes(b"no folder can be made here")
    one = archives(root)
    for _ in range(2):
        assert [one.read(file(name), keep=True)[0] for name in NAMES] == [FILES[name] for name in NAMES]


# While others read and write.


def _busily(*actions: Callable[[], None], turns: int) -> list[BaseException]:
    """Each in a thread of its own, so often; what went wrong."""
    wrong: list[BaseException] = []

    def act(action: Callable[[], None]) -> None:
        try:
            for _ in range(turns):
                action()
        except BaseException as error:
            wrong.append(error)

    threads = [threading.Thread(target=act, args=[action]) for action in actions]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return wrong


def test_an_archive_is_read_while_it_is_replaced(root: Path) -> None:
    """D10, K7: no reader takes the old half with the new one, or calls a good archive damaged."""
    many = {f"{WEEK}/{letter}.md": letter.encode() * 3000 for letter in "abcdef"}
    states = [forging.packed(FILES | many), ARCHIVE]
    one = archives(root)

    def replace() -> None:
        states.reverse()
        files.jot(root / PLACE.archive, states[0])

    def read() -> None:
        for name in NAMES:
            assert one.read(file(name))[0] == FILES[name]
        with suppress(Unreadable):
            assert one.read(file(f"{WEEK}/f.md"))[0] == b"f" * 3000

    def look() -> None:
        assert archives(root).packed(PLACE).files.keys() >= {f"{PLACE.archive}/{name}" for name in NAMES}

    assert _busily(replace, replace, read, read, look, turns=40) == []


def test_an_archive_that_was_replaced_after_its_manifest_was_read(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """D10: the manifest at hand has frames that the archive there has no more."""
    one = archives(root)
    last = {NAMES[-1]: FILES[NAMES[-1]]}
    unpacked_frame = Archives._unpacked_frame

    def late(*given: object) -> bytes:
        monkeypatch.setattr(Archives, "_unpacked_frame", unpacked_frame)
        files.jot(root / PLACE.archive, forging.packed(last))
        return unpacked_frame(*given)  # type: ignore[arg-type]

    monkeypatch.setattr(Archives, "_unpacked_frame", late)
    assert one.read(file(NAMES[-1]))[0] == FILES[NAMES[-1]]


def test_threads_read_and_keep_and_clean_at_once(root: Path) -> None:
    """D10: one `Archives` for all of them, with a cache too small for what they read."""
    one = Archives(root, Unpacked(root / ".huimem", 1, most=1500))

    def read() -> None:
        for name in NAMES:
            assert one.read(file(name), keep=True)[0] == FILES[name]

    assert _busily(read, read, read, one.unpacked.clean, turns=40) == []
