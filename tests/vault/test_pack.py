"""Bytes of archives: what goes in comes out, stock tools read them, and whatever is bent is refused."""

from __future__ import annotations

import io
import os
import random
import shutil
import subprocess
import tarfile
import tracemalloc
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from huimem.vault import pack
from huimem.vault.pack import BadArchive, Member
from tests.vault import forging
from tests.vault.forging import FILES, FRAMES, LIES, MORE, TARS, TEXTS, WEEK, Told, flipped

ARCHIVE = forging.packed()
FLIPS = 400


def held(archive: bytes) -> dict[str, bytes]:
    return {member.name: data for member, data in pack.contents(archive)}


# There and back.

_LETTERS = st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters="/\\\0\n"), min_size=1, max_size=80
)
_STEMS = st.one_of(
    _LETTERS, st.sampled_from(["x" * 255, "雨" * 200, "e\u0301", "获取今日龙虎榜", "🙂 ok", "a.b"])
)
_NAMES = st.builds("sessions/{}/{}.md".format, st.sampled_from(["2025-W49", "十二月"]), _STEMS)
_DATA = st.one_of(st.binary(max_size=400), st.integers(0, 90_000).map(lambda size: b"rain \n" * (size // 6)))
_TOLD = st.fixed_dictionaries(
    {
        "mtime_ns": st.integers(-(1 << 64), 1 << 64),
        "mode": st.integers(0, 0o777),
        "title": st.text(st.characters(exclude_categories=["Cs"])),
        "refs": st.lists(_LETTERS, max_size=3).map(tuple),
    }
)


@settings(max_examples=60)
@given(st.dictionaries(_NAMES.filter(pack.packable), st.tuples(_DATA, _TOLD), max_size=12))
def test_any_files_come_back(files: dict[str, tuple[bytes, dict[str, object]]]) -> None:
    """K10: names, bytes, modes, times and what is told of them, however many frames they take."""
    given = {name: (forging.member(name, data, **told), data) for name, (data, told) in files.items()}
    archive = pack.pack("2025-12", list(given.values()))
    found = {member.name: (replace(member, frame=0, at=0), data) for member, data in pack.contents(archive)}
    assert found == given
    manifest = pack.manifest_of(archive[: pack.manifest_end(archive[: pack.BEGINNING])])
    assert (manifest.month, manifest.total) == ("2025-12", len(archive))
    assert manifest.members == tuple(member for member, _ in pack.contents(archive))


def test_one_file_is_read_without_the_rest() -> None:
    manifest = pack.manifest_of(ARCHIVE[: pack.manifest_end(ARCHIVE[: pack.BEGINNING])])
    assert len(manifest.frames) == 4
    for member in manifest.members:
        start, end = manifest.place(member.frame)
        tar = pack.tar_of(manifest, member.frame, ARCHIVE[start:end])
        assert pack.member_in(tar, member) == FILES[member.name] and len(tar) <= 3072


@pytest.mark.parametrize("seed", range(5))
def test_equal_files_give_equal_bytes(seed: int) -> None:
    """K8: whatever the order in which they come."""
    names = list(FILES)
    random.Random(seed).shuffle(names)
    assert forging.packed({name: FILES[name] for name in names}) == ARCHIVE


def test_very_many_small_files_take_many_frames() -> None:
    """A frame counts the headers too: to read one of 700 empty files is not to unpack them all."""
    files = {f"{WEEK}/{number:03}.md": b"" for number in range(700)}
    archive = forging.packed(files, frame=pack.FRAME)
    assert held(archive) == files
    told, _ = forging.opened(archive)
    assert max(size for _, size, _ in told["frames"]) <= pack.FRAME


def test_an_archive_of_nothing() -> None:
    """K8"""
    assert held(pack.pack("2025-12", [])) == {}


# What stock tools see.


def test_a_tar_entry_is_made_of_these_bytes() -> None:
    """I6, K8: no owner, no host; the same with every Python, for it is made again whenever it is checked."""
    data = b"The heron stands by the pond.\n"
    head = b"sessions/2025-W49/a.md".ljust(100, b"\0")
    head += b"\0".join((b"0000640", b"0000000", b"0000000", b"00000000036", b"15113253000", b""))
    after = b" 0" + bytes(100) + b"ustar\x0000" + bytes(32 + 32 + 8 + 8 + 155 + 12)
    total = sum(head) + 8 * ord(" ") + sum(after[1:])
    expected = head + b"%06o\0" % total + after + data + bytes(512 - len(data))
    one = forging.member(f"{WEEK}/a.md", data, mode=0o640, mtime_ns=1_764_578_816_999_999_999)
    _, frames = forging.opened(pack.pack("2025-12", [(one, data)]))
    assert forging.unsqueezed(frames[0]) == expected


def test_the_tar_in_it_holds_plain_files_of_nobody() -> None:
    """I6"""
    _, frames = forging.opened(ARCHIVE)
    with tarfile.open(fileobj=io.BytesIO(b"".join(map(forging.unsqueezed, frames)))) as tar:
        seen = tar.getmembers()
    assert [one.name for one in seen] == sorted(FILES)
    for one in seen:
        assert one.isreg() and (one.uid, one.gid, one.uname, one.gname, one.mode) == (0, 0, "", "", 0o600)
        assert one.mtime == 1_764_576_000 and one.pax_headers.keys() <= {"path"}


@pytest.mark.slow
def test_stock_tools_unpack_it(tmp_path: Path) -> None:
    """K9, I6: `zstd | tar` give all files back without huimem, and the manifest with them."""
    if not shutil.which("zstd") or not shutil.which("tar"):
        pytest.skip("zstd or tar is not installed")
    files = FILES | {f"{WEEK}/{'long' * 50}.md": b"x" * 70_000, f"{WEEK}/{'雨' * 70}.md": b"\0\r\n"}
    (tmp_path / "2025-12.tar.zst").write_bytes(forging.packed(files))
    (tmp_path / "out").mkdir()

    def run(command: str) -> str:
        environment = os.environ | {"LC_ALL": "C.UTF-8"}
        command = f"set -o pipefail; {command}"
        return subprocess.run(
            ["bash", "-c", command], cwd=tmp_path, env=environment, capture_output=True, text=True, check=True
        ).stdout

    run("zstd -t 2025-12.tar.zst")
    names = run("zstd -dc 2025-12.tar.zst | tar --quoting-style=literal -tf -").splitlines()
    assert names == [pack.MANIFEST, *sorted(files)]
    listing = run("zstd -dc 2025-12.tar.zst | tar --numeric-owner -tvf -").splitlines()
    assert {tuple(line.split()[:2]) for line in listing} == {("-rw-------", "0/0")}
    run("zstd -dc 2025-12.tar.zst | tar -C out -xf -")
    out = {str(path.relative_to(tmp_path / "out")): path for path in (tmp_path / "out").rglob("*.*")}
    assert {name: path.read_bytes() for name, path in out.items() if name != pack.MANIFEST} == files
    assert out[pack.MANIFEST].read_bytes() == pack.text_of(pack.manifest_of(_head(files)))


def _head(files: dict[str, bytes]) -> bytes:
    archive = forging.packed(files)
    return archive[: pack.manifest_end(archive[: pack.BEGINNING])]


# What has been damaged.


def _refused(archive: bytes) -> bool:
    try:
        held(archive)
    except BadArchive:
        return True
    return False


def test_every_flipped_bit_is_seen() -> None:
    """F1: 400 of 400, all over the archive."""
    bits = random.Random(20251201).sample(range(len(ARCHIVE) * 8), FLIPS)
    assert sum(_refused(flipped(ARCHIVE, bit)) for bit in bits) == FLIPS


def test_every_flipped_bit_of_the_first_frame_is_seen() -> None:
    """F1: what says where the manifest lies has no checksum of zstd's."""
    assert [bit for bit in range(128 * 8) if not _refused(flipped(ARCHIVE, bit))] == []


_START = len(ARCHIVE) - sum(len(frame) for frame in forging.opened(ARCHIVE)[1])
_BORDERS = [128, _START]
for _frame in forging.opened(ARCHIVE)[1][:-1]:
    _BORDERS.append(_BORDERS[-1] + len(_frame))
_CUTS = {border + near for border in _BORDERS for near in (-1, 0, 1)}
_CUTS |= {0, 1, 4, 8, 127, len(ARCHIVE) // 10, len(ARCHIVE) // 2, len(ARCHIVE) * 999 // 1000}
_CUTS |= {len(ARCHIVE) - less for less in range(1, 30)}


@pytest.mark.parametrize("length", sorted(_CUTS))
def test_a_cut_is_seen(length: int) -> None:
    """F2: also at the border of a frame, where nothing but the manifest tells."""
    assert _refused(ARCHIVE[:length])


ADDED = {
    "a byte": b"\0",
    "rubbish": b"The heron stands by the pond.",
    "a frame": forging.squeezed(forging.entry(f"{WEEK}/z.md", b"more")),
    "an empty frame": forging.squeezed(b""),
    "a skippable frame": b"\x50\x2a\x4d\x18\4\0\0\0abcd",
    "the archive again": ARCHIVE,
}


@pytest.mark.parametrize("what", ADDED)
def test_what_is_added_is_seen(what: str) -> None:
    """F6"""
    with pytest.raises(BadArchive, match="something was added to it"):
        held(ARCHIVE + ADDED[what])
    assert _refused(ADDED[what] + ARCHIVE) and _refused(ARCHIVE[:_START] + ADDED[what] + ARCHIVE[_START:])


# What is right in all its sums, and a lie.


@pytest.mark.parametrize("what", TARS)
def test_another_tar_is_refused(what: str) -> None:
    """F3, F4, F5, F6, G12: with checksums and lengths that are right."""
    change, why = TARS[what]
    with pytest.raises(BadArchive, match=why):
        held(forging.tarred(ARCHIVE, change))


@pytest.mark.parametrize("what", LIES)
def test_a_lie_of_the_manifest_is_refused(what: str) -> None:
    """G12, F5, F7"""
    change, why = LIES[what]
    with pytest.raises(BadArchive, match=why):
        held(forging.forged(ARCHIVE, change))


UNSAID: dict[str, Callable[[Told], object]] = {
    "the first of a part": lambda told: told["members"].pop(0),
    "the last of a part": lambda told: told["members"].pop(1),
}


@pytest.mark.parametrize("what", UNSAID)
def test_a_file_that_the_manifest_hides_is_refused(what: str) -> None:
    """F3, G12"""
    with pytest.raises(BadArchive, match=MORE):
        held(forging.forged(ARCHIVE, UNSAID[what]))


@pytest.mark.parametrize("what", TEXTS)
def test_a_manifest_that_is_none_is_refused(what: str) -> None:
    """F7, G12"""
    with pytest.raises(BadArchive, match=r"its manifest (cannot be read|is not in the form of ours)"):
        held(forging.sealed(TEXTS[what], *forging.opened(ARCHIVE)[1]))


@pytest.mark.parametrize("what", FRAMES)
def test_another_frame_is_refused(what: str) -> None:
    """G10, G11, F1, F6"""
    change, why = FRAMES[what]
    with pytest.raises(BadArchive, match=why):
        held(forging.framed(ARCHIVE, change))


_TEXT = pack.text_of(pack.manifest_of(_head(FILES)))
HEADS = {
    "a newer format": (forging.headed(b"", version=2), "written by a newer huimem"),
    "no format": (forging.headed(b"", version=0), "does not begin as an archive"),
    "another program's": (forging.squeezed(b"x" * 500), "does not begin as an archive"),
    "nothing": (b"", "does not begin as an archive"),
    "a manifest that is too large": (forging.headed(b"", length=10**9), "larger than any of ours"),
    "a manifest that is longer": (forging.headed(b"abc", length=4), "its manifest is damaged"),
    "a manifest that is no frame": (forging.headed(b"abc"), "its bytes are damaged"),
    "no checksum": (
        forging.headed(
            forging.squeezed(forging.entry(pack.MANIFEST, _TEXT, mtime=0), checksum=False),
        ),
        "would unpack to more",
    ),
    "a manifest of another name": (
        forging.headed(forging.squeezed(forging.entry("x.json", _TEXT, mtime=0))),
        "not in the form of ours",
    ),
    "a manifest and a file": (
        forging.headed(
            forging.squeezed(forging.entry(pack.MANIFEST, _TEXT, mtime=0) + forging.entry("x", b"x")),
        ),
        "not in the form of ours",
    ),
}


@pytest.mark.parametrize("what", HEADS)
def test_another_beginning_is_refused(what: str) -> None:
    """F7, G12"""
    archive, why = HEADS[what]
    with pytest.raises(BadArchive, match=why) as refused:
        held(archive + b"".join(forging.opened(ARCHIVE)[1]))
    assert refused.value.hint == ("Upgrade huimem to read it." if "newer" in why else "")


BOMBS = {
    "says so": (forging.squeezed(bytes(64 << 20)), 512),
    "says less, in a stream": (forging.frame_by_hand(1 << 20, 512), 1 << 20),
    "says less": (forging.frame_by_hand(1 << 10, 512), 1 << 10),
}


@pytest.mark.parametrize("what", BOMBS)
def test_a_bomb_takes_no_more_memory_than_it_says(what: str) -> None:
    """G10: 2 KB that unpack to 64 MiB, in a frame of files."""
    frame, size = BOMBS[what]
    archive = forging.forged(forging.framed(ARCHIVE, forging.swap(0, frame)), _first_size(size))
    tracemalloc.start()
    try:
        with pytest.raises(BadArchive):
            held(archive)
        assert tracemalloc.get_traced_memory()[1] < 8 << 20
    finally:
        tracemalloc.stop()


def _first_size(size: int) -> Callable[[Told], object]:
    return lambda told: told["frames"][0].__setitem__(1, size)


# Names.

GOOD_NAMES = [
    "sessions/2025-W49/a.md",
    "sessions/2025-W49/A B.MD",
    "sessions/十二月/获取今日龙虎榜.md",
    "sessions/x/a..md",
]


@pytest.mark.parametrize(
    ("name", "good"), [(n, True) for n in GOOD_NAMES] + [(n, False) for n in forging.BAD_NAMES]
)
def test_names_that_can_be_packed(name: str, good: bool) -> None:
    """G12: and a file whose name is no text stays where it is."""
    assert pack.packable(name) is good


def test_a_member_of_many_bytes_has_a_frame_of_its_own() -> None:
    large = {f"{WEEK}/{letter}.md": letter.encode() * (300 << 10) for letter in "abc"}
    archive = forging.packed(large, frame=pack.FRAME)
    assert held(archive) == large
    members: tuple[Member, ...] = tuple(member for member, _ in pack.contents(archive))
    assert [(member.frame, member.at) for member in members] == [(0, 512), (1, 512), (2, 512)]
