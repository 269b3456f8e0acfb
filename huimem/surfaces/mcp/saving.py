"""`save_conversation`: messages → turns in the file of their session; what it holds already stays."""

from __future__ import annotations

import threading
from contextlib import suppress
from pathlib import PurePosixPath

from huimem.errors import UsageError
from huimem.files import Unreadable
from huimem.index import browse
from huimem.index.filters import Filter
from huimem.index.index import Snapshot
from huimem.records import Ref, Session
from huimem.surfaces.cli.hits import counted
from huimem.surfaces.mcp.answers import Answer, Document, named
from huimem.surfaces.mcp.desk import Arguments, Desk
from huimem.vault.layout import file_name, names_many, namespace_text, split_namespace
from huimem.vault.vault import Vault

Turns = frozenset[tuple[Ref, int, int]]

# What was there before is counted, so one call must not count what another is writing.
_one_at_a_time = threading.Lock()


def save_conversation(desk: Desk, arguments: Arguments) -> Answer:
    """Append what is new. Raises `UsageError` for messages that cannot be read, `WriteFailed`."""
    memory, session = desk.memory, arguments["session_id"].strip()
    space = desk.space(arguments) or ""
    if not session:
        raise UsageError("`session_id` is empty", "Give the same id each time for one conversation.")
    if names_many(space):
        raise UsageError(f"`namespace` {space} names many namespaces", "Name the one to save to.")
    with _one_at_a_time, memory.index.snapshot() as known:
        before = _turns_before(memory.vault, space, session)
        refs = memory.record(
            arguments["messages"], session=session, title=arguments["title"], namespace=space, now=desk.now
        )
        path, held, _ = memory.vault.find(refs[0])
        if path in before:
            added = len(_turns(held) - before[path])
        else:  # new, or of another name
            added = len(held.turns) - _turns_known(known, path)
    skipped = max(len(refs) - added, 0)
    document: Document = {
        "session_id": held.id,
        "path": path,
        "turns_added": added,
        "turns_skipped": skipped,
        "refs": [str(ref) for ref in refs],
    }
    lines = [f"{counted(added, 'turn')} added or continued, {skipped:,} known already · {named(path, 200)}"]
    warnings = memory.vault.warnings
    if warnings:
        document["warnings"] = list(warnings)
        lines += [f"warning: {named(warning, 300)}" for warning in warnings]
    return Answer("\n".join([*lines, *map(str, refs)]), document)


def _turns_before(vault: Vault, namespace: str, session: str) -> dict[str, Turns]:
    """The turns of each file of that name, which may be the session's."""
    label, name = namespace_text(namespace), f"{file_name(session)}.md"
    found = {}
    for path in vault.scan().files:
        if split_namespace(path)[0] == label and PurePosixPath(path).name == name:
            with suppress(Unreadable):
                found[path] = _turns(vault.session(path))
    return found


def _turns(session: Session) -> Turns:
    """Every turn with the number of its messages and characters: one that has grown is another."""
    return frozenset((turn.ref, len(turn.messages), len(turn.text)) for turn in session.turns)


def _turns_known(known: Snapshot, path: str) -> int:
    """How many turns a file of another name held, as far as the index knew; 0 where it is new."""
    openings = browse.openings(known.db, Filter(namespaces=None, kinds=("turn",)))
    return next((one.records for one in openings if one.path == path), 0)
