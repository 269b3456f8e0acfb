"""The folders of HuiMemory, huimem's ancestor: its sessions in both forms, and its archives.

An archive comes from anywhere: it is read as a stream, nothing is unpacked to disk, and only the last
part of a member's name counts.
"""

from __future__ import annotations

import re
import tarfile
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from typing import BinaryIO, cast

from huimem.files import LIMIT
from huimem.importers.documents import Document
from huimem.importers.glance import Glance
from huimem.importers.options import Options, Skipped
from huimem.importers.transcript import Transcript
from huimem.records import Conversation, Message, Session
from huimem.vault.facts import tags_of
from huimem.vault.front import split_front
from huimem.vault.headings import escape, unescape
from huimem.vault.moments import read_moment
from huimem.vault.reading import first_title, parse, text_field
from huimem.vault.text import decode, encode

MOST_MEMBERS = 100_000
MOST_BYTES = 4 << 30
MOST_ABOUT_NEXT = 1 << 20  # bytes of a header that says more of the next member
LARGEST_WINDOW = 1 << 27
STEP = 2048

_ABOUT_NEXT = (
    tarfile.XHDTYPE, tarfile.XGLTYPE, tarfile.SOLARIS_XHDTYPE, tarfile.GNUTYPE_LONGNAME,
    tarfile.GNUTYPE_LONGLINK,
)  # fmt: skip
_SESSION = re.compile(r"(?:chat|system|task)_\d[\d_-]*\.md", re.IGNORECASE)
_TAG = re.compile(rb"[ \t]*<tool_(call|result)\b[^\n]*")
_TASK = re.compile(rb"""\btask_id\s*=\s*["']?([^"'\s/>]+)""")
_FAILED = re.compile(rb"""\bstatus\s*=\s*["']?(?:error|failed|failure)\b""", re.IGNORECASE)
_HEADINGS = re.compile(r"(?:#{1,6}[ \t][^\n]*\s*)*")
_COPY = re.compile(r"selected_[\d_-]*\.md", re.IGNORECASE)


class _TooMuch(Exception):
    """An archive goes on and on."""


class _Unpacked:
    """What an archive unpacks to, up to the limit: raises `_TooMuch` beyond it, and EOFError behind its end.

    tarfile would go on asking there for all that a header promised, ten terabytes of nothing perhaps. Read
    in small steps, so that a damage costs little of what lies before it.
    """

    def __init__(self, stream: BinaryIO) -> None:
        self._stream, self._left = stream, MOST_BYTES
        self._error: Exception | None = None

    def read(self, size: int) -> bytes:
        if self._error is not None:
            raise self._error
        parts: list[bytes] = []
        while size > 0 and self._error is None:
            try:
                data = self._stream.read(min(size, STEP))
            except Exception as error:  # zstd's, or the disk's
                self._error = error
                break
            self._error = None if data else EOFError()
            size -= len(data)
            self._left -= len(data)
            parts.append(data)
        if self._left < 0:
            raise _TooMuch
        return b"".join(parts)


def _unpacked(stream: BinaryIO) -> BinaryIO:
    return cast(BinaryIO, _Unpacked(stream))


class _Header(tarfile.TarInfo):
    """A member's header; a damaged one is an error where tarfile takes it for the end.

    Headers that say more of the next member are read into memory: their size is bounded.
    """

    @classmethod
    def frombuf(cls, buf: bytes | bytearray, encoding: str, errors: str) -> _Header:
        try:
            made = super().frombuf(buf, encoding, errors)
        except tarfile.EOFHeaderError:  # type: ignore[attr-defined]
            raise
        except tarfile.HeaderError as error:
            raise tarfile.ReadError("a damaged header") from error
        if made.size < 0 or (made.type in _ABOUT_NEXT and made.size > MOST_ABOUT_NEXT):
            raise tarfile.ReadError("a header of an impossible size")
        return made


class HuiMemory:
    """Reads `chat_*.md`, `system_*.md`, `task_*.md` and `*.tar.zst` of them; each session once."""

    name = "huimemory"
    apart = False

    def __init__(self) -> None:
        self._seen: set[str] = set()

    def claims(self, glance: Glance) -> bool:
        file = glance.name.rpartition("/")[2]
        if file.lower().endswith(".tar.zst"):
            return True
        if _COPY.fullmatch(file):
            return True
        front, _ = split_front(glance.text.encode("utf-8", "replace"), file)
        return bool(_SESSION.fullmatch(file)) and "huimem" not in front.fields

    def read(self, document: Document, options: Options) -> Iterator[Conversation | Skipped]:
        with document.open() as stream:
            if document.name.lower().endswith(".tar.zst"):
                yield from self._archive(stream, options)
                return
            data = stream.read(LIMIT + 1)
        name = document.file or document.name.rpartition("/")[2]
        found = self._session(data, name, document.modified, options)
        if isinstance(found, Skipped):
            yield replace(found, place="")
        elif found is not None:
            yield found

    def _archive(self, stream: BinaryIO, options: Options) -> Iterator[Conversation | Skipped]:
        """The sessions of an archive, up to where it is damaged."""
        import zstandard

        unpacking = zstandard.ZstdDecompressor(max_window_size=LARGEST_WINDOW)
        try:
            with (
                unpacking.stream_reader(stream, read_across_frames=True) as reader,
                tarfile.open(fileobj=_unpacked(reader), mode="r|", tarinfo=_Header) as archive,
            ):
                for count, member in enumerate(archive, 1):
                    if count > MOST_MEMBERS:
                        raise _TooMuch
                    found = self._member(archive, member, options)
                    if found is not None:
                        yield found
                    archive.members.clear()  # type: ignore[attr-defined]  # it keeps every header it has read
                while reader.read(1 << 20):  # to the checksum at its end
                    pass
        except _TooMuch:
            yield Skipped("", f"holds more than {MOST_MEMBERS:,} files or {MOST_BYTES >> 30} GiB")
        except (zstandard.ZstdError, tarfile.TarError, EOFError, OSError, ValueError) as error:
            yield Skipped("", f"damaged: what follows cannot be read ({type(error).__name__})")

    def _member(
        self, archive: tarfile.TarFile, member: tarfile.TarInfo, options: Options
    ) -> Conversation | Skipped | None:
        name = member.name.replace("\\", "/").rpartition("/")[2]
        if member.isdir():
            return None
        if not member.isreg():
            return Skipped(name, "a link or device, no file")
        if member.name.startswith(("/", "\\")) or ".." in re.split(r"[/\\]", member.name):
            return Skipped(name, "a path that leaves its folder")
        if member.size > LIMIT:
            return Skipped(name, f"over {LIMIT >> 20} MiB")
        content = archive.extractfile(member)
        data = content.read() if content else b""
        return self._session(data, name, _date(member.mtime), options)

    def _session(
        self, data: bytes, name: str, modified: datetime, options: Options
    ) -> Conversation | Skipped | None:
        """A file's conversation; None for what is none of ours or came already."""
        if _COPY.fullmatch(name):
            return Skipped(name, "a saved copy of a turn")
        stem = name.rpartition(".")[0]
        if not _SESSION.fullmatch(name) or stem in self._seen:
            return None
        if len(data) > LIMIT:
            return Skipped(name, f"over {LIMIT >> 20} MiB")
        text, wrong_byte = decode(data)
        if wrong_byte is not None:
            return Skipped(name, "not UTF-8: convert it first")
        session = parse(encode(escape(text)), f"sessions/{name}", zone=options.zone, modified=modified)
        made = _conversation(session, stem, modified, options)
        if not made.messages:
            return Skipped(name, "no messages", made.left_out)
        self._seen.add(stem)
        return made


def _date(seconds: float) -> datetime:
    try:
        return datetime.fromtimestamp(max(int(seconds), 0), UTC)
    except (ValueError, OverflowError, OSError):
        return datetime(1980, 1, 1, tzinfo=UTC)


def _conversation(session: Session, stem: str, modified: datetime, options: Options) -> Conversation:
    """Its messages; text that looks like one of our headings was escaped before it was read."""
    transcript = Transcript()
    for number, message in enumerate(_messages(session)):
        transcript.begin()
        text, tag = unescape(message.text), _TAG.match(message.raw or b"")
        if tag is None:
            transcript.say(message.role, [text], message.at, "", message.name)
            continue
        task = _TASK.search(tag[0])
        call = task[1].decode("utf-8", "replace") if task else f"{number}"
        if tag[1] == b"call":
            transcript.call(call, message.name or "", text, message.at, f"call {call}")
        else:
            failed = _FAILED.search(tag[0]) is not None
            transcript.answer(call, text, message.at, key=f"result {call}", failed=failed)
    titled = "title" in session.fields or first_title(session.preface)
    return transcript.conversation(
        "huimemory",
        stem,
        options=options,
        title=unescape(session.title) if titled else "",
        created=read_moment(text_field(session.fields, "created"), options.zone),
        modified=modified,
        tags=tags_of(session.fields),
        session=stem,
    )


def _messages(session: Session) -> list[Message]:
    """A session's messages; what somebody wrote between two stands at the end of the one before it."""
    found: list[Message] = []
    for message in session.messages:
        if message.role == "note" and (not found or _HEADINGS.fullmatch(message.text)):
            continue
        if message.role == "note":
            found[-1] = replace(found[-1], text=f"{found[-1].text}\n\n{message.text}".strip())
        else:
            found.append(message)
    return found
