"""Does a derived file hold what it held when it was written? Each has something that tells.

In: the catalog's reader, or the state folder. Out: what is wrong, in words, or names of files; nothing where
all is as it was. Nothing is changed.
"""

from __future__ import annotations

import json
import sqlite3
from array import array
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator
from contextlib import closing
from pathlib import Path
from urllib.parse import quote
from zlib import crc32

from huimem.index import dense, raw, segments
from huimem.index.cut import digest_of
from huimem.index.dense import SegmentRow
from huimem.index.digests import footer
from huimem.index.disk import broken
from huimem.index.rows import UNDATED
from huimem.index.seal import EMBEDDINGS, WORDS, Damaged
from huimem.index.texts import unpack
from huimem.index.vectors import sound

_PARTS = ("fast", "fieldnorm", "idx", "pos", "store", "term")  # the files of each of its segments
_ROWS = (
    "SELECT c.row, CASE WHEN c.inferred OR c.at_ms IS NULL THEN ? ELSE c.at_ms END, c.record, r.source, "
    "c.namespace, c.kind, c.role, c.script, substr(c.hash, 1, 8) FROM json_each(?) wanted "
    "CROSS JOIN chunk c ON c.row = wanted.value JOIN record r ON r.id = c.record"
)
_PASSAGES = "SELECT c.hash, p.said, p.lead, p.text FROM chunk c LEFT JOIN passage p ON p.row = c.row"


def catalog_faults(db: sqlite3.Connection) -> Iterator[str]:
    """What is wrong in the catalog: its structure, or the texts of passages, or the counts of words."""
    (found,) = db.execute("PRAGMA integrity_check(1)").fetchone()
    if found != "ok":
        yield str(found)
        return
    if bad := sum(not _sound_passage(*row) for row in db.execute(_PASSAGES)):
        yield f"{bad:,} passages are not what they were"
    if not _counts_fit(db):
        yield "its counts of words do not fit its passages"
    gone = {row for (row,) in db.execute("SELECT row FROM gone_vectors")}
    if not all(_rows_fit(db, segment, gone) for segment in segments.listed(db)):
        yield "what it says of vectors does not fit its passages"


def _sound_passage(hash: bytes, said: bytes | None, lead: int | None, text: bytes | None) -> bool:
    """Whether a passage's texts unpack, to what its hash was made of."""
    try:
        whole = unpack(said or b"")
        shown = whole if text is None else unpack(text)
    except Damaged:
        return False
    placed = (0 <= lead <= len(whole)) if lead is not None else text is not None
    return placed and bool(shown) and digest_of(whole) == hash.hex()


def _counts_fit(db: sqlite3.Connection) -> bool:
    """Whether document frequencies and totals are those of the words of all passages."""
    frequencies: dict[int, Counter[int]] = defaultdict(Counter)
    totals: dict[int, tuple[int, int]] = {}
    for namespace, tokens in db.execute("SELECT namespace, tokens FROM chunk"):
        words = array("I", tokens)
        frequencies[namespace].update(set(words))
        chunks, count = totals.get(namespace, (0, 0))
        totals[namespace] = chunks + 1, count + len(words)
    made = {(namespace, term): n for namespace, all in frequencies.items() for term, n in all.items()}
    kept = {(namespace, term): n for namespace, term, n in db.execute("SELECT namespace, term, n FROM df")}
    said = {one: (chunks, words) for one, chunks, words in db.execute("SELECT * FROM totals WHERE chunks")}
    return made == kept and totals == said


def _rows_fit(db: sqlite3.Connection, segment: SegmentRow, gone: Collection[int]) -> bool:
    """Whether a segment says of its rows what their passages say; those that are `gone` have none."""
    rows: list[tuple[int, ...]] = dense.attributes(segment).tolist()
    wanted = json.dumps([row[0] for row in rows])
    found = {one[0]: one for one in db.execute(_ROWS, (UNDATED, wanted))}
    for row, *said, hash in rows:
        if row not in found:
            if row not in gone:
                return False
        elif found[row][1:] != (*said, hash.to_bytes(8, "big")):
            return False
    return True


def words_held(folder: Path) -> int | None:
    """How many passages the word index holds by its own list, None where that or a file it names is gone.

    Nothing is opened as an index: that maps files, and a process dies of one that is cut short meanwhile.
    """
    place = folder / WORDS
    try:
        count = 0
        for one in json.loads((place / "meta.json").read_bytes())["segments"]:
            name, deletes = str(one["segment_id"]).replace("-", ""), one["deletes"] or {}
            parts = [*_PARTS, *([f"{deletes['opstamp']}.del"] if deletes else ())]
            if not all((place / f"{name}.{part}").is_file() for part in parts):
                return None
            count += int(one["max_doc"]) - int(deletes.get("num_deleted_docs", 0))
    except (OSError, ValueError, TypeError, KeyError, AttributeError):
        return None
    return count


def damaged_words(folder: Path) -> Iterator[str]:
    """Names of files of the word index that do not hold what was written."""
    versions: dict[str, dict[bytes, list[str]]] = defaultdict(lambda: defaultdict(list))
    for path in sorted((folder / WORDS).glob("[!.]*")):
        try:
            data = path.read_bytes()
        except OSError:
            yield path.name
            continue
        version = _json(data) if path.suffix == ".json" else _version(data)
        if version is None:
            yield path.name
        else:
            versions[path.stem][version].append(path.name)
    # All files of a segment are written by one program: where one names another version, that is damage.
    for found in versions.values():
        *few, _ = sorted(found.values(), key=len)
        yield from (name for names in few for name in names)


def _json(data: bytes) -> bytes | None:
    try:
        json.loads(data)
    except ValueError:
        return None
    return b""


def _version(data: bytes) -> bytes | None:
    """The version that a file's footer names, None where its checksum does not fit."""
    found = footer(data)
    return found[1] if found and crc32(data[: found.start()]) == int(found[2]) else None


def cache_fault(folder: Path) -> str:
    """What is wrong in the cache of embedded texts; "" for nothing, or where there is none."""
    path = folder / EMBEDDINGS
    if not path.is_file():
        return ""
    try:
        return _cache_fault(path, "mode=ro")
    except sqlite3.Error as error:
        if broken(error):
            return str(error)
    try:  # the disk refuses the file by which readers and writers agree: then nobody writes
        return _cache_fault(path, "mode=ro&immutable=1")
    except sqlite3.Error as error:
        return str(error)


def _cache_fault(path: Path, how: str) -> str:
    address = f"file:{quote(str(path.absolute()))}?{how}"
    with raw.in_use(path), closing(sqlite3.connect(address, uri=True, isolation_level=None)) as db:
        (found,) = db.execute("PRAGMA integrity_check(1)").fetchone()
        if found != "ok":
            return str(found)
        bad = sum(not sound(*row) for row in db.execute("SELECT key, value FROM vector"))
    return f"{bad:,} vectors are not what they were" if bad else ""
