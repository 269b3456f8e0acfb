"""Archives from anywhere: nothing is written outside the vault, and what is good comes in."""

from __future__ import annotations

import io
import os
import tarfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import zstandard

from huimem.importers import huimemory
from huimem.importers.bringing import Report
from tests.importers.exporting import bring, made_vault, outcome, texts_in
from tests.trees import tree

END = bytes(1024)


def session(number: int) -> bytes:
    return f'<user timestamp="2025-12-0{number} 09:00:00">\nHello {number}\n</user>\n'.encode()


def name(number: int) -> str:
    return f"2025-W49/chat_2025120{number}_090000.md"


def member(
    path: str,
    data: bytes = b"",
    kind: bytes = tarfile.REGTYPE,
    link: str = "",
    form: int = tarfile.GNU_FORMAT,
) -> bytes:
    """A member's header and content as they stand in a tar."""
    info = tarfile.TarInfo(path)
    info.size, info.type, info.linkname, info.mtime = len(data), kind, link, 1_764_800_000
    return info.tobuf(form, "utf-8", "surrogateescape") + data + bytes(-len(data) % 512)


def good(number: int) -> bytes:
    return member(name(number), session(number))


def lying(path: str, size: int, kind: bytes = tarfile.REGTYPE) -> bytes:
    """A header that promises what does not come."""
    info = tarfile.TarInfo(path)
    info.size, info.type = size, kind
    return info.tobuf(tarfile.GNU_FORMAT, "utf-8", "surrogateescape")


def sparse(path: str, size: int) -> bytes:
    """A member of `size` bytes of which none is there (old GNU form)."""
    info = tarfile.TarInfo(path)
    info.type = tarfile.GNUTYPE_SPARSE
    header = bytearray(info.tobuf(tarfile.GNU_FORMAT, "utf-8", "surrogateescape"))
    header[483:495] = f"{size:011o}\0".encode()
    header[148:156] = b"        "
    header[148:156] = f"{sum(header):06o}\0 ".encode()
    return bytes(header)


def packed(tar: bytes, **settings: bool) -> bytes:
    return zstandard.ZstdCompressor(level=3, write_checksum=settings.get("checksum", True)).compress(tar)


@pytest.fixture
def strange(tmp_path: Path) -> Iterator[Callable[[bytes], Report]]:
    """Brings an archive of these bytes into a vault; nothing beside the vault may have changed."""
    above = tmp_path / "home"
    root, archive = made_vault(above / "deep/er/vault"), above / "2025-12.tar.zst"
    (above / "deep/outside.md").write_text("mine")

    def carry_out(data: bytes) -> Report:
        archive.write_bytes(data)
        before = {path: each for path, each in tree(above).items() if not path.startswith("deep/er/vault")}
        report = bring(root, archive)
        after = {path: each for path, each in tree(above).items() if not path.startswith("deep/er/vault")}
        assert after == before
        assert all(path.is_file() and not path.is_symlink() for path in (root / "sessions").rglob("*.md"))
        return report

    yield carry_out


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path / "home/deep/er/vault"


LINK, HARD, FIFO, DEVICE = tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.FIFOTYPE, tarfile.BLKTYPE
CHAT = "chat_20251205_090000.md"
# A member between two good ones, and why it does not come in; "" for what is none of ours.
STRANGE = {
    "upward": (member(f"../{CHAT}", session(5)), "a path that leaves its folder"),
    "upward inside": (member(f"a/../../../{CHAT}", session(5)), "a path that leaves its folder"),
    "upward, backslashes": (member(f"..\\..\\{CHAT}", session(5)), "a path that leaves its folder"),
    "absolute": (member(f"/etc/{CHAT}", session(5)), "a path that leaves its folder"),
    "absolute in PAX": (
        member(f"/{'x' * 150}/{CHAT}", session(5), form=tarfile.PAX_FORMAT),
        "a path that leaves its folder",
    ),
    "symlink": (member(CHAT, kind=LINK, link="/etc/passwd"), "a link or device, no file"),
    "symlink to a good one": (member(CHAT, kind=LINK, link=name(1)), "a link or device, no file"),
    "hard link": (member(CHAT, kind=HARD, link=name(1)), "a link or device, no file"),
    "pipe": (member(CHAT, kind=FIFO), "a link or device, no file"),
    "device": (member(CHAT, kind=DEVICE), "a link or device, no file"),
    "character device": (member(CHAT, kind=tarfile.CHRTYPE), "a link or device, no file"),
    "folder of that name": (member(CHAT, kind=tarfile.DIRTYPE), ""),
    "other file": (member("notes.txt", b"x"), ""),
    "a name with a newline": (member("chat_2025\n1205.md", session(5)), ""),
    "empty": (member(CHAT), "no messages"),
    "not UTF-8": (member(CHAT, session(5) + b"\xff"), "not UTF-8: convert it first"),
    "saved turn": (member("selected_20251205_090000.md", session(5)), "a saved copy of a turn"),
    "too large, holes": (sparse(CHAT, 65 << 20), "over 64 MiB"),
    "8 GB of holes": (sparse(CHAT, (8 << 30) - 512), "over 64 MiB"),
}


@pytest.mark.parametrize("case", STRANGE)
def test_a_strange_member_stays_out_and_its_neighbours_come_in(
    case: str, strange: Callable[[bytes], Report], root: Path
) -> None:
    between, reason = STRANGE[case]
    report = strange(packed(good(1) + between + good(2) + END))
    assert sorted(texts_in(root)) == ["Hello 1", "Hello 2"]
    assert [skip.reason for _, skip in report.skipped] == [reason] * bool(reason)
    assert [document for document, _ in report.skipped] == ["2025-12.tar.zst"] * bool(reason)


LONG = f"{'deep/' * 60}chat_20251205_090000.md"


@pytest.mark.parametrize("form", [tarfile.GNU_FORMAT, tarfile.PAX_FORMAT])
def test_long_names_are_read(form: int, strange: Callable[[bytes], Report], root: Path) -> None:
    report = strange(packed(good(1) + member(LONG, session(5), form=form) + good(2) + END))
    assert (outcome(report), sorted(texts_in(root))) == (
        {"new": 3, "added": 3},
        ["Hello 1", "Hello 2", "Hello 5"],
    )


def test_one_name_twice_comes_once(strange: Callable[[bytes], Report], root: Path) -> None:
    strange(packed(good(1) + member(f"other/{name(1)}", session(3)) + good(2) + END))
    assert sorted(texts_in(root)) == ["Hello 1", "Hello 2"]


def test_two_frames_are_one_archive(strange: Callable[[bytes], Report], root: Path) -> None:
    assert outcome(strange(packed(good(1)) + packed(good(2) + END))) == {"new": 2, "added": 2}


def huge(path: str) -> bytes:
    return member(path, bytes(65 << 20))


def test_a_member_over_the_limit_is_passed_over(strange: Callable[[bytes], Report], root: Path) -> None:
    report = strange(packed(good(1) + huge(CHAT) + good(2) + END))
    assert [skip.reason for _, skip in report.skipped] == ["over 64 MiB"]
    assert sorted(texts_in(root)) == ["Hello 1", "Hello 2"]


WHOLE = good(1) + good(2) + END
PAX_GIANT = lying("x", 2 << 20, tarfile.XHDTYPE) + bytes(2 << 20)


def flipped(data: bytes, place: int) -> bytes:
    return data[:place] + bytes([data[place] ^ 1]) + data[place + 1 :]


# Damaged archives, and which sessions lie before the damage.
DAMAGED = {
    "empty": (b"", []),
    "no archive": (b"PK\x03\x04 something else", []),
    "a plain tar": (WHOLE, []),
    "cut behind the first": (packed(good(1)), ["Hello 1"]),
    "cut inside the second": (packed(good(1) + good(2)[:530]), ["Hello 1"]),
    "cut inside a header": (packed(good(1) + good(2)[:100]), ["Hello 1"]),
    "a damaged header": (packed(good(1) + flipped(good(2), 3) + END), ["Hello 1"]),
    "a damaged first header": (packed(flipped(good(1), 3) + good(2) + END), []),
    "a giant that says more": (packed(good(1) + PAX_GIANT + good(2) + END), ["Hello 1"]),
    "a giant long name": (packed(good(1) + lying("x", 2 << 20, tarfile.GNUTYPE_LONGNAME)), ["Hello 1"]),
    "garbage behind": (packed(WHOLE) + b"garbage that is no frame", ["Hello 1", "Hello 2"]),
    "zeros only": (packed(b"\1" * 512), []),
}


@pytest.mark.parametrize("case", DAMAGED)
def test_a_damaged_archive_gives_what_lies_before_the_damage(
    case: str, strange: Callable[[bytes], Report], root: Path
) -> None:
    data, wanted = DAMAGED[case]
    report = strange(data)
    assert sorted(texts_in(root)) == wanted
    ((document, skip),) = report.skipped
    assert document == "2025-12.tar.zst" and skip.reason.startswith("damaged: what follows cannot be read (")


def test_ten_terabytes_that_never_come_are_not_waited_for(
    strange: Callable[[bytes], Report], root: Path
) -> None:
    report = strange(packed(good(1) + lying(CHAT, 10 << 40) + good(2) + END))
    assert texts_in(root) == ["Hello 1"]
    reasons = [skip.reason for _, skip in report.skipped]
    assert reasons[0] == "over 64 MiB" and reasons[1].startswith("damaged") and len(reasons) == 2


def test_a_flipped_byte_never_goes_unsaid(strange: Callable[[bytes], Report]) -> None:
    data = packed(WHOLE)
    for place in range(0, len(data), 3):
        report = strange(flipped(data, place))
        assert report.skipped, place


def test_cut_anywhere_it_is_said(strange: Callable[[bytes], Report]) -> None:
    noise = os.urandom(3000)  # so that there is something to cut
    data = packed(good(1) + member("noise", noise) + good(2) + END)
    for length in [*range(0, len(data) - 1200, 97), *range(len(data) - 60, len(data) - 4)]:
        assert strange(data[:length]).skipped, length


def test_a_window_too_large_is_refused(
    strange: Callable[[bytes], Report], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(huimemory, "LARGEST_WINDOW", 1 << 20)
    settings = zstandard.ZstdCompressionParameters(window_log=24)
    held = io.BytesIO()
    with zstandard.ZstdCompressor(compression_params=settings).stream_writer(held, closefd=False) as writer:
        writer.write(WHOLE + os.urandom(1 << 10))
    assert strange(held.getvalue()).skipped[0][1].reason.startswith("damaged")


@pytest.mark.parametrize(("limit", "value"), [("MOST_MEMBERS", 1), ("MOST_BYTES", 1500)])
def test_an_archive_without_end_is_left(
    limit: str, value: int, strange: Callable[[bytes], Report], root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(huimemory, limit, value)
    monkeypatch.setattr(tarfile, "RECORDSIZE", 512)
    report = strange(packed(good(1) + good(2) + bytes(1 << 20) + END))
    assert report.skipped[-1][1].reason.startswith("holds more than ")
    assert set(texts_in(root)) <= {"Hello 1"}
