"""Files of a month ↔ the bytes of one `.tar.zst` that stock tools unpack and nobody can bend.

An archive is a skippable frame that says where the manifest lies, a frame with the manifest, and frames of
some files each, all with checksums; unpacked one after the other they are a tar file. The manifest says what
the header and the bytes of each member are, so a frame is checked by making it again: no tar is parsed.
Equal members give equal bytes.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields, replace
from functools import lru_cache
from hashlib import sha256
from itertools import groupby
from typing import Any

from huimem.errors import HuimemError
from huimem.vault.sources import digest

FORMAT = 1
BLOCK = 512  # bytes: a tar file is made of blocks
MANIFEST = "huimem-manifest.json"
FRAME = 256 << 10  # bytes of files that share a frame: what is unpacked to read one of them
LEVEL = 6  # 9 takes twice the time for half a per cent
# What an archive may ask of whoever reads it; how much a frame unpacks to is known before.
MOST_MEMBERS, MOST_MANIFEST, MOST_FRAME, WINDOW = 200_000, 128 << 20, 96 << 20, 1 << 27
LAST = 1 << 64  # nanoseconds from 1970, either way: a time that every calendar and disk can hold

_SKIPPABLE, _GUIDE_SIZE = b"\x50\x2a\x4d\x18", 120
_GUIDE = re.compile(rb"huimem archive (\d{1,4}), manifest of (\d{1,10}) bytes, sha256 ([0-9a-f]{64})\n *")
# Hidden files are none; a backslash is a border between folders on some systems, half a surrogate no text.
_SHOWN, _LETTER = "(?![.~#])", r"[^/\\\0\n\ud800-\udfff]"
_NAME = re.compile(rf"sessions/{_SHOWN}{_LETTER}{{1,80}}/{_SHOWN}{_LETTER}{{1,255}}\.(?:md|MD)")
_MONTH = re.compile(r"[0-9]{4}-(?:0[1-9]|1[0-2])")
_SHA256, _DIGEST = re.compile(r"[0-9a-f]{64}"), re.compile(r"[0-9a-f]{32}")
_END = bytes(2 * BLOCK)

Frame = tuple[int, int, str]  # of files: its compressed length, its size, the digest of what is compressed


class BadArchive(HuimemError):
    """An archive does not hold what it says it holds, or says what none of ours would."""


@dataclass(frozen=True, slots=True)
class Member:
    """A file of a month. `name` is its path inside its namespace; what it holds is said for people.

    `sha256` and `digest`, the catalog's, are of its bytes; `mode` are permission bits, `mtime_ns`
    nanoseconds UTC, `created` is an ISO time. `frame` counts frames of files from 0, `at` is where its
    bytes begin in the unpacked frame.
    """

    name: str
    size: int
    sha256: str
    digest: str
    mtime_ns: int
    mode: int
    id: str = ""
    title: str = ""
    created: str = ""
    refs: tuple[str, ...] = ()
    frame: int = 0
    at: int = 0


@dataclass(frozen=True, slots=True)
class Manifest:
    """What an archive holds, members in the order of their names.

    The last of its `frames` ends the tar. `start`: where the first of them begins in the archive.
    """

    month: str
    members: tuple[Member, ...]
    frames: tuple[Frame, ...]
    start: int

    @property
    def total(self) -> int:
        """Bytes of the whole archive."""
        return self.start + sum(length for length, _, _ in self.frames)

    def place(self, frame: int) -> tuple[int, int]:
        """Where a frame of files lies in the archive, half-open."""
        start = self.start + sum(length for length, _, _ in self.frames[:frame])
        return start, start + self.frames[frame][0]


def pack(month: str, contents: Sequence[tuple[Member, bytes]]) -> bytes:
    """The archive of a month; `contents` in any order, no name twice."""
    members: list[Member] = []
    packed: list[bytes] = []
    frames: list[Frame] = []
    for group in (*_grouped(sorted(contents, key=lambda one: one[0].name)), None):
        tar = _END if group is None else b"".join(_entry(member, data) for member, data in group)
        members += _placed(group or (), len(frames))
        packed.append(_compressed(tar))
        frames.append((len(packed[-1]), len(tar), digest(packed[-1])))
    text = _text(month, members, frames)
    head = _compressed(_entry(_own(text), text))
    return b"".join((_guide(head), head, *packed))


def _grouped(contents: Sequence[tuple[Member, bytes]]) -> Iterator[Sequence[tuple[Member, bytes]]]:
    """Runs of members of some `FRAME` bytes each with their headers, at least one in each run."""
    first, size = 0, 0
    for place, (_, data) in enumerate(contents):
        entry = BLOCK + _padded(len(data))
        if place > first and size + entry > FRAME:
            yield contents[first:place]
            first, size = place, 0
        size += entry
    if first < len(contents):
        yield contents[first:]


def _placed(group: Sequence[tuple[Member, bytes]], frame: int) -> Iterator[Member]:
    at = 0
    for member, data in group:
        header = len(_header(member))
        yield replace(member, frame=frame, at=at + header)
        at += header + _padded(len(data))


def _padded(size: int) -> int:
    return -(-size // BLOCK) * BLOCK


def _entry(member: Member, data: bytes) -> bytes:
    """A member as it stands in a tar file."""
    return _header(member) + data + bytes(_padded(len(data)) - len(data))


def _header(member: Member) -> bytes:
    """No owner, no host: whole seconds, a mode, a name."""
    return _header_of(member.name, member.size, member.mode, max(member.mtime_ns, 0) // 10**9)


@lru_cache(8_192)  # what was written is made again to be compared
def _header_of(name: str, size: int, mode: int, mtime: int) -> bytes:
    import tarfile

    info = tarfile.TarInfo(name)
    info.size, info.mode, info.mtime = size, mode, mtime
    return info.tobuf(tarfile.PAX_FORMAT, "utf-8", "strict")


def _own(text: bytes) -> Member:
    return Member(MANIFEST, len(text), "", "", 0, 0o600)


def _compressed(data: bytes) -> bytes:
    import zstandard

    return zstandard.ZstdCompressor(LEVEL, write_checksum=True, write_content_size=True).compress(data)


def packable(name: str) -> bool:
    """Whether a file of that path inside its namespace may be a member."""
    return _NAME.fullmatch(name) is not None


def text_of(manifest: Manifest) -> bytes:
    """A manifest as it stands in its archive."""
    return _text(manifest.month, manifest.members, manifest.frames)


def _text(month: str, members: Sequence[Member], frames: Sequence[Frame]) -> bytes:
    """The manifest as JSON, a member a line."""
    told = ({name: getattr(member, name) for name in _NAMES} for member in members)
    lines = ",\n".join(json.dumps(one, ensure_ascii=False) for one in told)
    head = json.dumps({"huimem": FORMAT, "month": month, "frames": frames})
    return f'{head[:-1]}, "members": [\n{lines}\n]}}\n'.encode()


def _guide(head: bytes) -> bytes:
    said = f"huimem archive {FORMAT}, manifest of {len(head)} bytes, sha256 {sha256(head).hexdigest()}\n"
    payload = said.encode().ljust(_GUIDE_SIZE)
    return _SKIPPABLE + len(payload).to_bytes(4, "little") + payload


BEGINNING = len(_SKIPPABLE) + 4 + _GUIDE_SIZE  # bytes that say how many more hold the manifest


def manifest_end(beginning: bytes) -> int:
    """Where the manifest's frame ends, by the first `BEGINNING` bytes. Raises `BadArchive`."""
    length, _ = _guided(beginning)
    return BEGINNING + length


def _guided(beginning: bytes) -> tuple[int, str]:
    size = _GUIDE_SIZE.to_bytes(4, "little")
    found = _GUIDE.fullmatch(beginning[8:BEGINNING]) if beginning[:8] == _SKIPPABLE + size else None
    if found is None or not int(found[1]):
        raise BadArchive("it does not begin as an archive of huimem does")
    if int(found[1]) > FORMAT:
        raise BadArchive("it was written by a newer huimem", "Upgrade huimem to read it.")
    if int(found[2]) > MOST_MANIFEST:
        raise BadArchive("its manifest is larger than any of ours")
    return int(found[2]), found[3].decode()


def manifest_of(head: bytes) -> Manifest:
    """The manifest in the first bytes of an archive, up to `manifest_end`. Raises `BadArchive`."""
    length, told = _guided(head[:BEGINNING])
    frame = head[BEGINNING : BEGINNING + length]
    if len(frame) != length or sha256(frame).hexdigest() != told:
        raise BadArchive("its manifest is damaged")
    tar = unpacked(frame, MOST_MANIFEST)
    text = _text_in(tar)
    return _read(text, BEGINNING + length)


def _text_in(tar: bytes) -> bytes:
    """The manifest in its tar entry, which is made again to be compared."""
    start = tar.find(b"{")
    end = tar.rfind(b"}\n") + 2
    text = tar[start:end] if 0 < start < end else b""
    if _entry(_own(text), text) != tar:
        raise BadArchive("its manifest is not in the form of ours")
    return text


def _read(text: bytes, start: int) -> Manifest:
    try:
        told = json.loads(text)
        if told.keys() != {"huimem", "month", "frames", "members"} or told["huimem"] != FORMAT:
            raise ValueError("not what a manifest says")
        frames = tuple((length, size, mark) for length, size, mark in told["frames"])
        manifest = Manifest(told["month"], tuple(map(_member, told["members"])), frames, start)
        _lawful(manifest)
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise BadArchive("its manifest cannot be read") from error
    return manifest


_NAMES = tuple(field.name for field in fields(Member))
_KINDS = [list if name == "refs" else type(getattr(Member("", 0, "", "", 0, 0), name)) for name in _NAMES]
_REFS = _NAMES.index("refs")


def _member(told: dict[str, Any]) -> Member:
    """A member as a manifest tells of it. Raises TypeError where that is of another kind than ours."""
    values = [told[name] for name in _NAMES]
    if len(told) != len(_NAMES) or [*map(type, values)] != _KINDS:
        raise TypeError("not what a manifest says of a member")
    refs = values[_REFS] = tuple(values[_REFS])
    if not all(type(ref) is str for ref in refs):
        raise TypeError("a value of another kind")
    return Member(*values)


def _lawful(manifest: Manifest) -> None:
    """Raise `BadArchive` for what no archive of ours would say."""
    members = manifest.members
    names = [member.name for member in members]
    numbers = [number for one in members for number in (one.size, one.at)]
    sizes = [number for length, size, _ in manifest.frames for number in (length, size)]
    digests = [*(one.digest for one in members), *(mark for _, _, mark in manifest.frames)]
    if not _MONTH.fullmatch(manifest.month) or len(names) > MOST_MEMBERS:
        raise BadArchive("its manifest names no month, or too many files")
    if not all(type(n) is int and 0 <= n <= MOST_FRAME for n in (*numbers, *sizes)) or not sizes:
        raise BadArchive("its manifest gives sizes that no file of ours has")
    if not all(0 <= one.mode <= 0o777 and abs(one.mtime_ns) <= LAST for one in members):
        raise BadArchive("its manifest gives modes or times that no file of ours has")
    if not all(map(_DIGEST.fullmatch, digests)) or not all(_SHA256.fullmatch(one.sha256) for one in members):
        raise BadArchive("its manifest gives hashes that are none")
    if not all(map(packable, names)):
        raise BadArchive("it holds a file whose name is none of ours")
    if names != sorted(set(names)):
        raise BadArchive("its files are not in order, or one is there twice")
    if [number for number, _ in groupby(one.frame for one in members)] != [*range(len(manifest.frames) - 1)]:
        raise BadArchive("its files are not in the parts that it has")


def unpacked(frame: bytes, most: int) -> bytes:
    """The bytes in a frame, at most `most`, its checksum held. Raises `BadArchive`."""
    import zstandard

    try:
        told = zstandard.get_frame_parameters(frame)
        if not 0 < told.content_size <= most or told.window_size > WINDOW or not told.has_checksum:
            raise BadArchive("it would unpack to more than it says")
        # In one go: a stream would give out more than the frame says before it is found to lie.
        return zstandard.ZstdDecompressor(max_window_size=WINDOW).decompress(frame, allow_extra_data=False)
    except zstandard.ZstdError as error:
        raise BadArchive("its bytes are damaged") from error


def tar_of(manifest: Manifest, frame: int, compressed: bytes) -> bytes:
    """A frame of files unpacked, as large as the manifest says. Raises `BadArchive`."""
    _, size, mark = manifest.frames[frame]
    if digest(compressed) != mark:  # zstd does not mind some bits, and its checksum is of what is unpacked
        raise BadArchive("its bytes are damaged")
    tar = unpacked(compressed, size)
    if len(tar) != size:
        raise BadArchive("a part of it has another size than its manifest says")
    return tar


def member_in(tar: bytes, member: Member) -> bytes:
    """The bytes of one member of an unpacked frame. Raises `BadArchive`."""
    data = tar[member.at : member.at + member.size]
    if (len(data), sha256(data).hexdigest(), digest(data)) != (member.size, member.sha256, member.digest):
        raise BadArchive(f"{member.name} in it is not what its manifest says")
    return data


def contents(archive: bytes) -> Iterator[tuple[Member, bytes]]:
    """Every member of a whole archive with its bytes, checked to the last byte. Raises `BadArchive`."""
    manifest = manifest_of(archive[: manifest_end(archive[:BEGINNING])])
    if len(archive) != manifest.total:
        raise BadArchive("it is cut off, or something was added to it")
    here = {frame: [*members] for frame, members in groupby(manifest.members, key=lambda one: one.frame)}
    start = manifest.start
    for number, (length, _, _) in enumerate(manifest.frames):
        tar = tar_of(manifest, number, archive[start : start + length])
        held = [(member, member_in(tar, member)) for member in here.get(number, ())]
        if tar != (b"".join(_entry(member, data) for member, data in held) or _END):
            raise BadArchive("it holds more than its manifest names")
        yield from held
        start += length
