"""Texts of passages, packed: zstd frames that carry a checksum, so a damaged one is never shown."""

from __future__ import annotations

from threading import local
from typing import TYPE_CHECKING

from huimem.index.seal import Damaged

if TYPE_CHECKING:
    import zstandard

_LEVEL = 3
_LARGEST = 64 << 20  # bytes of one passage when unpacked; a frame that claims more is no frame of ours


class _Tools(local):
    """A compressor and a decompressor for each thread: they are not made to be shared."""

    packer: zstandard.ZstdCompressor | None = None
    unpacker: zstandard.ZstdDecompressor | None = None


_tools = _Tools()


def pack(text: str) -> bytes:
    if _tools.packer is None:
        import zstandard

        _tools.packer = zstandard.ZstdCompressor(level=_LEVEL, write_checksum=True)
    return _tools.packer.compress(text.encode("utf-8", "replace"))


def unpack(frame: bytes) -> str:
    """The text of a frame. Raises `Damaged` where it is not what `pack` made."""
    import zstandard

    if _tools.unpacker is None:
        _tools.unpacker = zstandard.ZstdDecompressor()
    try:
        if zstandard.frame_content_size(frame) > _LARGEST:
            raise Damaged("a passage claims an impossible size")
        return _tools.unpacker.decompress(frame).decode("utf-8")
    except (zstandard.ZstdError, UnicodeDecodeError) as error:
        raise Damaged(f"a passage cannot be unpacked: {error}") from error
