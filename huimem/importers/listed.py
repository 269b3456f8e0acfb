"""An array of conversations, each a tree of messages: what is the same whoever wrote it.

In: a document, and how one of its items becomes branches and conversations. Out: the conversations in
order, and what is none, with its place.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial

from huimem.importers.branches import Branch
from huimem.importers.documents import Document
from huimem.importers.json_stream import Fault, items
from huimem.importers.options import Options, Skipped, guarded
from huimem.importers.values import Item
from huimem.records import Conversation

Found = Iterator[Conversation | Skipped]

WRAPPERS = ("conversations",)  # keys under which an object holds the array


def keys(name: str) -> tuple[str, ...]:
    """Where the key `name` of a conversation stands in a document."""
    return (name, *(f"{wrapper}[].{name}" for wrapper in WRAPPERS))


def listed(document: Document, is_one: Callable[[Item], bool], read: Callable[[Item, str], Found]) -> Found:
    """What `read` makes of each item and its place; what `is_one` denies is skipped."""
    with document.open() as stream:
        for number, item in enumerate(items(stream, WRAPPERS), 1):
            place = f"item {number}"
            if isinstance(item, Fault):
                yield Skipped(place, item.reason)
            elif isinstance(item, dict) and is_one(item):
                yield from guarded(place, partial(read, item, place))
            else:
                yield Skipped(place, "no conversation")


def each_branch(
    found: Sequence[Branch], options: Options, place: str, make: Callable[[Branch, int], Conversation]
) -> Found:
    """The conversation of each branch that is asked for, from 1; without messages, the first is skipped."""
    for number, branch in enumerate(found if options.branch == "all" else found[:1], 1):
        made = make(branch, number)
        if made.messages:
            repeats = branch.asked is not None and made.keys[0].endswith(f" for {branch.begin}")
            yield replace(made, copied=options.branch == "all", repeats=int(repeats))
        elif number == 1:
            yield Skipped(place, "no messages", made.left_out)


def elsewhere(found: Sequence[Branch]) -> set[str]:
    """The nodes that the first branch does not hold."""
    return {node for branch in found[1:] for node in branch.nodes} - {*found[0].nodes}
