"""Archives made by other means than the program's, and such as lie.

In: names and bytes. Out: bytes of archives. Whatever is forged has all its lengths and sums right, so that
nothing but the lie itself is there to be found.
"""

from __future__ import annotations

import json
import tarfile
from collections.abc import Callable, Mapping
from hashlib import blake2b, sha256
from typing import Any

import pytest
import zstandard

from huimem.vault import pack
from huimem.vault.pack import Member

MONTH = "2025-12"
WEEK = "sessions/2025-W49"
# Three frames of files, the first with two of them.
FILES = {
    f"{WEEK}/chat_2025-12-01_080000.md": b"The heron stands by the pond.\n" * 30,
    f"{WEEK}/chat_2025-12-02_080000.md": b"",
    f"{WEEK}/获取今日龙虎榜.md": "今天的龙虎榜出来了。\n".encode() * 3,
    f"{WEEK}/雨.md": "明天会下雨吗？\n".encode() * 60,
}
FRAME = 2200

Told = dict[str, Any]


def member(name: str, data: bytes, /, **told: Any) -> Member:
    """A member as whoever packs a file describes it."""
    hashes = sha256(data).hexdigest(), digest(data)
    return Member(name, len(data), *hashes, **({"mtime_ns": 1_764_576_000_123_456_789, "mode": 0o600} | told))


def packed(contents: Mapping[str, bytes] = FILES, month: str = MONTH, *, frame: int = FRAME) -> bytes:
    """The program's own archive, of frames of about `frame` bytes."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pack, "FRAME", frame)
        return pack.pack(month, [(member(name, data), data) for name, data in contents.items()])


def digest(data: bytes) -> str:
    return blake2b(data, digest_size=16).hexdigest()


def squeezed(data: bytes, *, checksum: bool = True, size: bool = True) -> bytes:
    """A frame; what it says of itself can be left out."""
    return zstandard.ZstdCompressor(3, write_checksum=checksum, write_content_size=size).compress(data)


def unsqueezed(frame: bytes) -> bytes:
    return zstandard.ZstdDecompressor().decompress(frame)


def entry(name: str, data: bytes, /, **told: Any) -> bytes:
    """A tar entry; `told` are fields of its header."""
    info = tarfile.TarInfo(name)
    info.size, info.mode, info.mtime = len(data), 0o600, 1_764_576_000
    for field, value in told.items():
        setattr(info, field, value)
    return info.tobuf(tarfile.PAX_FORMAT) + data + bytes(-len(data) % 512)


def headed(head: bytes, *frames: bytes, version: int = 1, length: int | None = None) -> bytes:
    """An archive with `head` as the frame of its manifest."""
    length = len(head) if length is None else length
    said = f"huimem archive {version}, manifest of {length} bytes, sha256 {sha256(head).hexdigest()}\n"
    guide = b"\x50\x2a\x4d\x18" + (120).to_bytes(4, "little") + said.encode().ljust(120)
    return b"".join((guide, head, *frames))


def sealed(text: bytes, *frames: bytes) -> bytes:
    """An archive whose manifest is `text`."""
    return headed(squeezed(entry("huimem-manifest.json", text, mtime=0)), *frames)


def opened(archive: bytes) -> tuple[Told, list[bytes]]:
    """What the manifest of a good archive says, and its frames of files as they are."""
    length = int(archive[8:].split(b"manifest of ")[1].split()[0])
    tar = unsqueezed(archive[128 : 128 + length])
    told = json.loads(tar[512:].rstrip(b"\0"))
    frames, start = [], 128 + length
    for each, _, _ in told["frames"]:
        frames.append(archive[start : start + each])
        start += each
    return told, frames


def forged(archive: bytes, change: Callable[[Told], object]) -> bytes:
    """The same archive with another manifest."""
    told, frames = opened(archive)
    change(told)
    return sealed(json.dumps(told).encode() + b"\n", *frames)


def framed(archive: bytes, change: Callable[[list[bytes]], object]) -> bytes:
    """The same archive with other bytes in its frames: `change` gets them compressed."""
    told, frames = opened(archive)
    change(frames)
    for said, frame in zip(told["frames"], frames, strict=True):
        said[::2] = len(frame), digest(frame)
    return sealed(json.dumps(told).encode() + b"\n", *frames)


def tarred(archive: bytes, change: Callable[[list[bytes]], object]) -> bytes:
    """The same archive with another tar file in it: `change` gets its parts."""
    told, frames = opened(archive)
    tars = [unsqueezed(frame) for frame in frames]
    change(tars)
    frames = [squeezed(tar) for tar in tars]
    told["frames"] = [[len(frame), len(tar), digest(frame)] for frame, tar in zip(frames, tars, strict=True)]
    return sealed(json.dumps(told).encode() + b"\n", *frames)


def frame_by_hand(says: int, blocks: int, window: int = 17) -> bytes:
    """A frame that says how much it unpacks to, and then unpacks to `blocks` blocks of 128 KiB of zeros.

    Its checksum is wrong, which is found out after everything has been unpacked.
    """
    head = b"\x28\xb5\x2f\xfd\x84" + bytes([window - 10 << 3]) + says.to_bytes(4, "little")
    many, last = ((end | 1 << 1 | 128 << 10 + 3).to_bytes(3, "little") + b"\0" for end in (0, 1))
    return head + many * (blocks - 1) + last + b"\1\2\3\4"


def flipped(archive: bytes, bit: int) -> bytes:
    place, mask = bit // 8, 1 << bit % 8
    return archive[:place] + bytes([archive[place] ^ mask]) + archive[place + 1 :]


def first(**values: object) -> Callable[[Told], object]:
    """The manifest says this of its first file."""
    return lambda told: told["members"][0].update(values)


def says(**values: object) -> Callable[[Told], object]:
    return lambda told: told.update(values)


def length_of(frame: int, more: int) -> Callable[[Told], object]:
    """The manifest says that a frame is so many bytes longer."""
    return lambda told: told["frames"][frame].__setitem__(0, told["frames"][frame][0] + more)


def size_of(frame: int, more: int) -> Callable[[Told], object]:
    return lambda told: told["frames"][frame].__setitem__(1, told["frames"][frame][1] + more)


def both(*changes: Callable[[Told], object]) -> Callable[[Told], object]:
    return lambda told: [change(told) for change in changes]


# Names that no file of an archive may have.
BAD_NAMES = [
    "",
    "x.md",
    "../x.md",
    "/etc/x.md",
    "sessions/x.md",
    "sessions/../x.md",
    "sessions/2025-W49/../../x.md",
    "sessions/2025-W49/deeper/x.md",
    "sessions//x.md",
    "facts/2025-W49/x.md",
    "namespaces/a/sessions/2025-W49/x.md",
    "sessions/.git/x.md",
    "sessions/2025-W49/.x.md",
    "sessions/2025-W49/~x.md",
    "sessions/2025-W49/#x.md",
    "sessions/2025-W49/.md",
    "sessions/2025-W49/x",
    "sessions/2025-W49/x.txt",
    "sessions/2025-W49/x\0.md",
    "sessions/2025-W49/x\n.md",
    "sessions/2025-W49/x.md\n",
    "sessions/2025-W49/..\\..\\x.md",
    "sessions/2025-W49/a\\..\\..\\..\\x.md",
    "sessions\\2025-W49\\x.md",
    "sessions/2025-W49/\udce9.md",
    "sessions/2025-W49/" + "x" * 300 + ".md",
    "sessions/" + "w" * 100 + "/x.md",
]

UNREAD, SIZES, MODES = "its manifest cannot be read", "gives sizes that no", "gives modes or times that no"
NAMES, HASHES, PARTS = (
    "whose name is none of ours",
    "gives hashes that are none",
    "not in the parts that it has",
)
ORDER, CUT, OTHERWISE = (
    "not in order, or one is there twice",
    "it is cut off, or some",
    "not what its manifest",
)
MUCH, DAMAGED, NO_MONTH = "would unpack to more than it says", "its bytes are damaged", "names no month"
MORE = "it holds more than its manifest names"

# What a manifest may say that is not so or none of ours, and how that is refused.
LIES: dict[str, tuple[Callable[[Told], object], str]] = {
    **{f"a file named {name[:40]!a}": (first(name=name), NAMES) for name in BAD_NAMES},
    "a name that is a number": (first(name=5), UNREAD),
    "a name that is a list": (first(name=["x"]), UNREAD),
    "no name": (lambda told: told["members"][0].pop("name"), UNREAD),
    "a file twice": (lambda told: told["members"].insert(0, told["members"][0]), ORDER),
    "files in no order": (lambda told: told["members"].reverse(), ORDER),
    "a size less": (first(size=899), OTHERWISE),
    "a size more": (first(size=901), OTHERWISE),
    "a negative size": (first(size=-1), SIZES),
    "10 TB": (first(size=10**13), SIZES),
    "a size of too many digits": (first(size=10**400), SIZES),
    "a size that is text": (first(size="900"), UNREAD),
    "a size with a point": (first(size=900.0), UNREAD),
    "a size without end": (first(size=float("inf")), UNREAD),
    "a size that is no number": (first(size=float("nan")), UNREAD),
    "a size that is true": (first(size=True), UNREAD),
    "bytes elsewhere": (first(at=0), OTHERWISE),
    "bytes beyond": (first(at=1 << 20), OTHERWISE),
    "bytes before": (first(at=-512), SIZES),
    "other bytes": (first(sha256="0" * 64), OTHERWISE),
    "other bytes for the index": (first(digest="0" * 32), OTHERWISE),
    "a path for a hash": (first(sha256="../../sessions/mine.md"), HASHES),
    "a path for the index's hash": (first(digest="../../mine"), HASHES),
    "no hash": (first(sha256=""), HASHES),
    "setuid": (first(mode=0o4755), MODES),
    "a negative mode": (first(mode=-1), MODES),
    "a mode that is text": (first(mode="0600"), UNREAD),
    "a time beyond all calendars": (first(mtime_ns=1 << 70), MODES),
    "a time before all": (first(mtime_ns=-(1 << 70)), MODES),
    "a time that is text": (first(mtime_ns="now"), UNREAD),
    "a time without end": (first(mtime_ns=float("inf")), UNREAD),
    "refs that are text": (first(refs="abc"), UNREAD),
    "refs that are numbers": (first(refs=[1]), UNREAD),
    "no refs": (first(refs=None), UNREAD),
    "a title that is none": (first(title=None), UNREAD),
    "an id that is a number": (first(id=5), UNREAD),
    "a date that is a list": (first(created=[]), UNREAD),
    "one thing more of a file": (first(owner="root"), UNREAD),
    "one thing less of a file": (lambda told: told["members"][0].pop("frame"), UNREAD),
    "a file that is a list": (lambda told: told["members"].append([]), UNREAD),
    "a file in a frame that is not there": (lambda told: told["members"][-1].update(frame=9), PARTS),
    "a file in the frame that ends the tar": (lambda told: told["members"][-1].update(frame=3), PARTS),
    "a file in a frame before all": (first(frame=-1), PARTS),
    "a file in another frame": (first(frame=1), PARTS),
    "a frame without files": (lambda told: told["frames"].append([0, 0, "0" * 32]), PARTS),
    "another frame": (lambda told: told["frames"][0].__setitem__(2, "0" * 32), DAMAGED),
    "a frame whose hash is none": (lambda told: told["frames"][0].__setitem__(2, "../x"), HASHES),
    "a frame whose hash is a number": (lambda told: told["frames"][0].__setitem__(2, 5), UNREAD),
    "no frames": (says(frames=[]), SIZES),
    "a frame that begins later": (both(length_of(0, 1), length_of(1, -1)), DAMAGED),
    "a frame that ends later": (both(length_of(0, 1), length_of(3, -1)), DAMAGED),
    "frames beyond the file": (length_of(3, 1), CUT),
    "frames that end before the file does": (length_of(3, -1), CUT),
    "a frame far beyond": (says(frames=[[1 << 60, 5, "0" * 32]]), SIZES),
    "a frame of negative length": (length_of(0, -(1 << 20)), SIZES),
    "a frame that unpacks to less": (size_of(0, -1), MUCH),
    "a frame that unpacks to more": (size_of(0, 1), "another size than its manifest says"),
    "a frame of two numbers": (says(frames=[[1, 2]]), UNREAD),
    "frames that are text": (says(frames=["123"]), SIZES),
    "frames without end": (says(frames=[[float("inf"), 5, "0" * 32]]), SIZES),
    "a thirteenth month": (says(month="2025-13"), NO_MONTH),
    "a path for a month": (says(month="../../2025-12"), NO_MONTH),
    "a month in wide digits": (says(month="２０２５-12"), NO_MONTH),
    "a month that is a number": (says(month=202512), UNREAD),
    "a newer format": (says(huimem=2), UNREAD),
    "no format": (lambda told: told.pop("huimem"), UNREAD),
    "one thing more": (says(extract_to="/"), UNREAD),
    "files that are none": (says(members="abc"), UNREAD),
}

# Manifests that are none.
TEXTS = {
    "nothing": b"",
    "no JSON": b"{surely not}\n",
    "a list": b'[{"huimem": 1}]\n',
    "an empty one": b"{}\n",
    "cut off": b'{"huimem": 1, "month": "2025-12", "fra',
    "nested too deep": b'{"huimem": ' + b"[" * 200_000 + b"]" * 200_000 + b"}\n",
    "a number that takes long": b'{"huimem": 1' + b"0" * 100_000 + b"}\n",
    "no UTF-8": b'{"huimem": "\xff"}\n',
}


def swap(frame: int, other: bytes) -> Callable[[list[bytes]], object]:
    return lambda frames: frames.__setitem__(frame, other)


_FIRST = unsqueezed(opened(packed())[1][0])
_LESS = _FIRST[:512]

# What may lie where a frame of files should.
FRAMES: dict[str, tuple[Callable[[list[bytes]], object], str]] = {
    "no checksum": (swap(0, squeezed(_FIRST, checksum=False)), MUCH),
    "no size": (swap(0, squeezed(_FIRST, size=False)), MUCH),
    "a bomb that says so": (swap(0, squeezed(bytes(8 << 20))), MUCH),
    "a window too large": (swap(0, frame_by_hand(len(_FIRST), 1, window=28)), MUCH),
    "less than said": (swap(0, squeezed(_LESS)), "another size than its manifest says"),
    "two frames": (swap(0, squeezed(_LESS) + squeezed(_FIRST[512:])), DAMAGED),
    "a byte behind": (swap(0, squeezed(_FIRST) + b"\0"), DAMAGED),
    "a skippable frame": (swap(0, b"\x50\x2a\x4d\x18\4\0\0\0abcd"), MUCH),
    "nothing": (swap(0, b""), DAMAGED),
    "no frame": (swap(0, b"The heron stands by the pond."), DAMAGED),
    "another frame": (lambda frames: swap(0, frames[1])(frames), "."),
}


def _in(part: int, old: bytes, new: bytes) -> Callable[[list[bytes]], object]:
    """A change of the tar: in one of its parts, where `old` stands first, `new` stands."""

    def change(tars: list[bytes]) -> None:
        assert old in tars[part]
        tars[part] = tars[part].replace(old, new, 1)

    return change


def _headed(**told: object) -> Callable[[list[bytes]], object]:
    """The first file has another header."""
    name, data = next(iter(FILES.items()))
    return _in(0, entry(name, data), entry(name, data, **told))


# What the tar may hold in its place, with checksums and lengths that are right.
TARS: dict[str, tuple[Callable[[list[bytes]], object], str]] = {
    "F5: a letter of a file": (_in(0, b"heron", b"Heron"), OTHERWISE),
    "F4: a letter of a name": (_in(0, b"chat_", b"chit_"), MORE),
    "F4: a sum of a header": (_in(0, b"ustar", b"Ustar"), MORE),
    "F3: cut after a file": (lambda tars: swap(0, tars[0][:1536])(tars), MORE),
    "F3: cut inside a file": (lambda tars: swap(0, tars[0][:1024])(tars), OTHERWISE),
    "F3: nothing after the first part": (lambda tars: swap(1, tars[3])(tars), OTHERWISE),
    "F3: the end before the last part": (lambda tars: swap(1, tars[1] + tars[3])(tars), MORE),
    "F6: no end": (lambda tars: swap(3, bytes(512))(tars), MORE),
    "F6: an end and more": (lambda tars: swap(3, tars[3] + b"more")(tars), MORE),
    "G12: a file more": (_in(2, b"", entry(f"{WEEK}/z.md", b"more")), OTHERWISE),
    "G12: a file more behind": (lambda tars: swap(0, tars[0] + tars[2])(tars), MORE),
    "G12: a file after the end": (lambda tars: swap(3, tars[3] + tars[0])(tars), MORE),
    "G12: a file in place of the end": (lambda tars: swap(3, tars[0])(tars), MORE),
    "G12: words behind a file": (_in(0, b"\n" + bytes(124), b"\n" + b"hidden".ljust(124)), MORE),
    "G12: a symlink": (_headed(type=tarfile.SYMTYPE, linkname="/etc"), MORE),
    "G12: a hard link": (_headed(type=tarfile.LNKTYPE, linkname="../../x"), MORE),
    "G12: a FIFO": (_headed(type=tarfile.FIFOTYPE), MORE),
    "G12: a device": (_headed(type=tarfile.CHRTYPE), MORE),
    "G12: a way out": (_headed(name="../../../x.md"), MORE),
    "G12: setuid": (_headed(mode=0o4755), MORE),
    "G12: a size for everybody else": (_headed(size=10**13), OTHERWISE),
    "G12: another name in PAX": (_headed(pax_headers={"path": "/etc/x"}), OTHERWISE),
    "I6: an owner": (_headed(uid=1000, uname="somebody"), MORE),
}
