"""Vector segments: FAISS files of half-precision vectors in time order, each written once.

In: vectors and what is known of their rows. Out: segment files, and FAISS indexes of them, mapped and
checked.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from huimem import files
from huimem.errors import ConfigError
from huimem.index import sketch
from huimem.index.seal import VECTORS, Damaged

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

# What a segment says of each of its rows, in the catalog: little-endian records of this shape, by time.
# `at` is UNDATED where no exact range may hold the row; `hash` is the start of that of its text.
ROW = [
    ("row", "<i8"),
    ("at", "<i8"),
    ("record", "<i8"),
    ("source", "<i8"),
    ("namespace", "<i4"),
    ("kind", "<i4"),
    ("role", "<i4"),
    ("script", "<i4"),
    ("hash", "<u8"),
]
MOST_ROWS = 16_384  # in one segment: a change rewrites 12 MB at 384 dimensions


@dataclass(frozen=True, slots=True)
class SegmentRow:
    """A segment as the catalog names it; `rows` are `count` records of shape `ROW`.

    `sketches` are those of its vectors, b"" for none: then each of them is looked at.
    """

    id: int
    file: str
    bucket: str
    embedder: str
    dim: int
    size: int
    sha256: str
    count: int
    first_ms: int
    last_ms: int
    rows: bytes
    sketches: bytes = b""


def attributes(segment: SegmentRow) -> NDArray[Any]:
    """What a segment says of its rows. Raises `Damaged` where the catalog's lengths do not fit."""
    import numpy as np

    shape = np.dtype(ROW)
    if len(segment.rows) != segment.count * shape.itemsize:
        raise Damaged(f"{VECTORS}/{segment.file} is not what the catalog names")
    return np.frombuffer(segment.rows, shape)


def to_codes(vectors: NDArray[np.float32], dim: int) -> list[bytes]:
    """Unit vectors, float32 [n, dim], as half-precision bytes; ConfigError for another shape or NaN."""
    import numpy as np

    if vectors.ndim != 2 or vectors.shape[1] != dim:
        raise ConfigError(
            f"the embedder gave vectors of shape {tuple(vectors.shape)}, expected dimension {dim}",
            "Two embedders must not share a name; give the changed one a new name.",
        )
    if not np.isfinite(vectors).all():
        raise ConfigError("the embedder gave a vector that is no number", "Check the embedder or its model.")
    return [row.tobytes() for row in vectors.astype("<f2")]


def filled(codes: NDArray[np.uint8], dim: int) -> Any:
    """A FAISS index in memory of half-precision vectors, `codes` [n, 2 · dim] their bytes."""
    with guarded("a new segment") as faiss:
        index = faiss.IndexScalarQuantizer(dim, faiss.ScalarQuantizer.QT_fp16, faiss.METRIC_INNER_PRODUCT)
        index.add_sa_codes(codes)
        return index


def encode(codes: bytes, dim: int) -> bytes:
    """A segment file that holds half-precision vectors, `codes` their bytes in order."""
    import numpy as np

    index = filled(np.frombuffer(codes, np.uint8).reshape(-1, 2 * dim), dim)
    with guarded("a new segment") as faiss:
        return bytes(faiss.serialize_index(index).tobytes())


def sketches(codes: NDArray[np.uint8], rows: NDArray[Any]) -> bytes:
    """The sketches of half-precision vectors, uint8 [n, 2 · dim], whose rows these are."""
    return sketch.sketched(codes.view("<f2").astype("f4"), rows["script"])


def stored(index: Any) -> NDArray[np.uint8]:
    """The half-precision vectors of an opened segment as they lie there: uint8 [n, 2 · dim].

    Nothing is copied, so the index must be kept.
    """
    with guarded("a segment") as faiss:
        codes: NDArray[np.uint8] = faiss.rev_swig_ptr(index.codes.data(), index.codes.size())
        return codes.reshape(index.ntotal, -1)


def open_segment(folder: Path, segment: SegmentRow, *, verify: bool) -> Any:
    """The FAISS index of a segment, mapped and not read. Raises `Damaged` unless it is what was written.

    Its size must fit; with `verify` its SHA-256 too, as one flipped bit in three loads without a word.
    """
    path = folder / VECTORS / segment.file
    check(path, segment, verify=verify)
    with guarded(segment.file) as faiss:
        index = faiss.read_index(str(path), faiss.IO_FLAG_MMAP_IFC)
    if (index.d, index.ntotal) != (segment.dim, segment.count):
        raise Damaged(
            f"{VECTORS}/{segment.file} holds {index.ntotal} vectors of {index.d} dimensions, "
            f"not {segment.count} of {segment.dim}"
        )
    return index


def check(path: Path, segment: SegmentRow, *, verify: bool) -> None:
    """Raise `Damaged` unless a segment's file is as the catalog names it."""
    try:
        status = files.stamp(path)
        if status is None or status.size != segment.size:
            raise Damaged(f"{VECTORS}/{segment.file} is missing or cut short")
        if verify and sha256(path.read_bytes()) != segment.sha256:
            raise Damaged(f"{VECTORS}/{segment.file} was changed")
    except (OSError, files.Unreadable) as error:
        raise Damaged(f"{VECTORS}/{segment.file} cannot be read: {error}") from error


def sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


@contextmanager
def guarded(what: str) -> Iterator[Any]:
    """FAISS, loaded; whatever it says of a broken file becomes `Damaged`."""
    import faiss

    faiss.omp_set_num_threads(1)  # one core fills the memory bus; more threads only wait for each other
    try:
        yield faiss
    except (RuntimeError, AssertionError, MemoryError, OSError, ValueError) as error:
        raise Damaged(f"{VECTORS}: {what}: {error or type(error).__name__}") from error
