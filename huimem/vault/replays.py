"""What was forgotten and is sent again: programs that keep a conversation send all of it each time.

In: a recording and the session it goes to. Out: the recording without the turns whose refs the feedback says
are forgotten, and a line about them. Words alone tell nothing: none are kept of what was forgotten, so a
message without a time of its own is a new one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import tzinfo
from pathlib import Path

from huimem.errors import UsageError
from huimem.records import Ref
from huimem.vault.forgotten import forgotten
from huimem.vault.recording import Recording, begin

_HINT = "Record to another session, or add `- TIME restored REF` to the feedback file that says `forgot`."


def without_forgotten(
    recording: Recording, session: str, zone: tzinfo, root: Path, folders: Sequence[str]
) -> tuple[Recording, str]:
    """The recording to a session of that id and zone without what was forgotten there; a line on that, or "".

    `folders`: those of the namespace and of all above it. Raises `UsageError` where nothing is left.
    """
    gone, _ = forgotten(root, folders)
    beginning = str(Ref(recording.namespace, session, "0")).removesuffix("0")
    if not any(ref.startswith(beginning) for ref in gone):
        return recording, ""
    whole, _ = begin(replace(recording, zone=zone), session)
    refs = [str(turn.ref) for turn in whole.turns for _ in turn.messages]
    kept = tuple(message for message, ref in zip(recording.messages, refs, strict=True) if ref not in gone)
    out = len(recording.messages) - len(kept)
    if not out:
        return recording, ""
    what = "1 message was" if out == 1 else f"{out:,} messages were"
    line = f"{what} forgotten in session {session} and {'stays' if out == 1 else 'stay'} out"
    if not kept:
        raise UsageError(line, _HINT)
    return replace(recording, messages=kept), line
