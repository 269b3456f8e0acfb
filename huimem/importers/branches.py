"""A tree of messages → its branches: what the person saw last, and the endings beside it.

In: nodes in the order of the file, each with its parent. Out: paths of nodes from the root on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from huimem.importers.values import one_line


@dataclass(frozen=True, slots=True)
class Branch:
    """A way through the tree that ends in `leaf`; `nodes` are those that no branch before it holds.

    Before them, in all but the first branch, stands the node that the first of them answers, if any.
    """

    leaf: str
    nodes: tuple[str, ...]


def path_to(node: str, parents: Mapping[str, str | None]) -> list[str]:
    """The nodes from the root to `node`; a loop of parents ends where it closes."""
    found: dict[str, None] = {}
    at: str | None = node
    while at is not None and at in parents and at not in found:
        found[at] = None
        at = parents[at]
    return [*reversed(found)]


def leaves(parents: Mapping[str, str | None]) -> list[str]:
    """Nodes without children, in order."""
    inner = {parent for node, parent in parents.items() if parent != node}
    return [node for node in parents if node not in inner]


def branches(parents: Mapping[str, str | None], active: str, asks: Callable[[str], bool]) -> Iterator[Branch]:
    """The active branch, then one for each further leaf. `asks`: whether a node is a person's message."""
    path = path_to(active, parents)
    yield Branch(active, tuple(path))
    held = set(path)
    for leaf in leaves(parents):
        path = path_to(leaf, parents)
        own = [node for node in path if node not in held]
        if not own:
            continue
        held.update(own)
        before = path[: path.index(own[0])]
        asked = _last(before, asks) if not asks(own[0]) else None
        yield Branch(leaf, (asked, *own) if asked else tuple(own))


def _last(nodes: Sequence[str], wanted: Callable[[str], bool]) -> str | None:
    return next((node for node in reversed(nodes) if wanted(node)), None)


def branch_id(conversation: str, leaf: str, number: int) -> str:
    """The id of a conversation's branch: its own for the first one."""
    return conversation if number == 1 or not conversation else f"{conversation}/{leaf}"


def branch_title(title: object, number: int) -> str:
    """The title of a branch, "" where the conversation has none."""
    known = one_line(title)
    return f"{known} (branch {number})" if known and number > 1 else known
