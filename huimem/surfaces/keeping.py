"""What became of old months, and what a check found → the JSON documents that programs may rely on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from huimem.errors import Problem
from huimem.surfaces.documents import Document, problem_documents
from huimem.vault.archive import told
from huimem.vault.layout import namespace_of

if TYPE_CHECKING:
    from huimem.checking import Checked
    from huimem.months import Archived
    from huimem.vault.archive import Done
    from huimem.vault.cold import Plan
    from huimem.vault.links import Link
    from huimem.vault.pack import Member


def archived_document(done: Sequence[Done], kept: Sequence[Problem]) -> Document:
    """What was packed by archive, and the files that stay, each with the reason."""
    archives = [{**_archive(one.place), "files": one.files, "bytes": one.size} for one in done]
    return {"dry_run": False, "archives": archives, "kept": problem_documents(kept)}


def planned_document(planned: Plan, links: Sequence[Link]) -> Document:
    """What would be packed, and the links that would lead nowhere."""
    archives = [
        {**_archive(place), "files": len(files), "members": [_member(place, one.member) for one in files]}
        for place, files in planned.months.items()
    ]
    broken = [
        {"path": link.path, "line": link.line, "link": link.text, "leads_to": link.leads_to} for link in links
    ]
    kept = problem_documents(planned.kept)
    return {"dry_run": True, "archives": archives, "kept": kept, "links": broken}


def unarchived_document(done: Done) -> Document:
    return {**_archive(done.place), "files": done.files}


def place_document(path: str, line: int, packed: str) -> Document:
    """A line of an open file, null for none, and the archive that it was just taken out of, else null."""
    return {"path": path, "line": line or None, "put_back_from": packed or None}


def edited_document(place: Document, records: Mapping[str, int], *, changed: bool) -> Document:
    """What an edit made of a file, and how many of its records changed, came and went."""
    return {**place, "changed": changed, "records": dict(records)}


def _archive(place: Archived) -> Document:
    return {"path": place.archive, "month": place.month, "namespace": namespace_of(place.archive)}


def _member(place: Archived, member: Member) -> Document:
    day, title, ref = told(member)
    return {"path": place.owner + member.name, "date": day, "title": title, "ref": ref, "bytes": member.size}


def checked_document(found: Checked, *, read_data: bool) -> Document:
    """What a check found; `index` is null where there is none that can be used."""
    index = None if found.indexed is None else {"files": found.indexed, "pending": found.pending}
    return {
        "read_data": read_data,
        "files": found.files,
        "archives": found.archives,
        "packed": found.packed,
        "index": index,
        "damaged": problem_documents(found.damaged),
        "problems": problem_documents(found.problems),
    }
