"""One bit for each dimension of a vector: enough to tell which are worth a look at all of them.

In: the vectors of a segment. Out: their sketches, and how far those of a whole view lie from a question's.
Reading 48 bytes of a passage instead of 768 is what makes a large vault quick, above all where its vectors
are on the disk and not in memory.

A sketch says on which side of the middle of its segment's passages in the same script a vector lies. All
are compared by that alone, the nearest once more by how far out the question itself lies: where it hardly
leaves the middle, the side says little. Of the ten vectors nearest to a question, .996 (5,885 passages of
one-line chats) and .998 (27,820 of long answers) are among those that are then looked at, a thirty-second
of all, measured with the default embedder.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.floating]
    Words = NDArray[np.uint64]
    Mask = NDArray[np.bool_]
    Ints = NDArray[np.int64]

# Fewer rows are all looked at: that takes some 6 ms.
FROM = 65_536
SHARE, CLOSE = 8, 32  # one row in so many is compared once more, one in so many looked at whole
_BITS = 64
_FAR = 0.98  # the share of a question's dimensions that are no farther out than the highest step


def sketched(vectors: Floats, scripts: NDArray[np.int32]) -> bytes:
    """The sketches of a segment's vectors, float [n, dim], with the numbers of their scripts, [n].

    uint64, little-endian, [words, n] for as many words as hold the dimensions.
    """
    import numpy as np

    sides = np.zeros(vectors.shape, bool)
    for script in np.unique(scripts).tolist():
        mine = scripts == script
        sides[mine] = vectors[mine] > vectors[mine].mean(axis=0)
    return np.ascontiguousarray(_packed(sides).T).astype("<u8").tobytes()


def opened(data: bytes, count: int, dim: int) -> Words | None:
    """Sketches as they were written: uint64 [words, count]; None where the lengths do not fit."""
    import numpy as np

    words = -(-dim // _BITS)
    if len(data) != 8 * words * count:
        return None
    return np.frombuffer(data, "<u8").reshape(words, count)


def distances(sketches: Words, towards: Floats) -> NDArray[np.uint16]:
    """In how many dimensions each sketch, [words, n], lies on the other side than `towards`, [dim]: [n]."""
    import numpy as np

    apart = np.zeros(sketches.shape[1], np.uint16)
    for word, asked in zip(sketches, _packed(towards[None] > 0)[0], strict=True):
        apart += np.bitwise_count(word ^ asked)
    return apart


def weighed_distances(sketches: Words, towards: Floats) -> NDArray[np.uint16]:
    """As `distances`, where a dimension counts 0 to 3, by how far out `towards` lies in it: [n]."""
    import numpy as np

    sides = _packed(towards[None] > 0)[0]
    out = np.abs(towards)
    steps = np.clip(np.rint(3 * out / (np.quantile(out, _FAR) or 1.0)), 0, 3).astype(np.uint8)
    differs = sketches ^ sides[:, None]
    ones, twos = (_packed((steps & bit)[None] > 0)[0][:, None] for bit in (1, 2))
    apart: NDArray[np.uint16] = np.bitwise_count(differs & ones).sum(axis=0, dtype=np.uint16)
    apart += 2 * np.bitwise_count(differs & twos).sum(axis=0, dtype=np.uint16)
    return apart


def nearest(apart: NDArray[np.uint16], mask: Mask, count: int) -> Mask:
    """Of the rows under `mask` at least the `count` whose sketches are nearest, all that are equally near."""
    import numpy as np

    held = np.compress(mask, apart)  # four times as quick as `apart[mask]`
    if len(held) <= count:
        return mask
    upto = np.cumsum(np.bincount(held))
    found: Mask = mask & (apart <= np.searchsorted(upto, count))
    return found


def close(sketches: Words, towards: Floats, apart: NDArray[np.uint16], mask: Mask, count: int) -> Ints:
    """Where the rows are, of those under `mask`, that are worth a look at all of their vectors, ascending.

    `apart` are the distances of `sketches`; at least `count` rows, where so many pass.
    """
    import numpy as np

    passing = int(np.count_nonzero(mask))
    places = np.flatnonzero(nearest(apart, mask, max(count, passing // SHARE)))
    again = weighed_distances(np.take(sketches, places, axis=1), towards)
    found: Ints = places[nearest(again, np.ones(len(places), bool), max(count, passing // CLOSE))]
    return found


def _packed(sides: NDArray[np.bool_]) -> Words:
    """Bits [n, dim] as uint64 [n, words], filled up with zeros."""
    import numpy as np

    if lacking := -sides.shape[1] % _BITS:
        sides = np.pad(sides, ((0, 0), (0, lacking)))
    words: Words = np.ascontiguousarray(np.packbits(sides, axis=1)).view("<u8")
    return words
