"""A tree of messages → its branches: what the person saw last, and the endings beside it.

In: nodes in the order of the file, each with its parent. Out: paths of nodes from the root on.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass

from huimem.importers.values import one_line


@dataclass(frozen=True, slots=True)
class Branch:
    """A way through the tree; `nodes` are those that no branch before it holds.

    `asked` is the node that the first of them answers, where another branch holds it.
    """

    nodes: tuple[str, ...]
    asked: str | None = None

    @property
    def begin(self) -> str:
        """Its first own node: what it is known by, however it goes on."""
        return self.nodes[0] if self.nodes else ""

    def marked(self) -> Iterator[tuple[str, str]]:
        """All its nodes in order, with what is to be added to the key of one that is repeated."""
        if self.asked:
            yield self.asked, f" for {self.begin}"
        yield from ((node, "") for node in self.nodes)


def parents_of(named: Mapping[str, object]) -> dict[str, str | None]:
    """The parent of each node: what it names, where that is another node; else it is a root."""
    return {
        node: parent if isinstance(parent, str) and parent in named and parent != node else None
        for node, parent in named.items()
    }


def leaves(parents: Mapping[str, str | None]) -> list[str]:
    """Nodes without children, in order."""
    inner = {parent for node, parent in parents.items() if parent != node}
    return [node for node in parents if node not in inner]


def branches(parents: Mapping[str, str | None], active: str, asks: Callable[[str], bool]) -> Iterator[Branch]:
    """The active branch, then one for each further leaf. `asks`: whether a node is a person's message."""
    path, _ = climb(active, parents, ())
    yield Branch(tuple(path))
    held = set(path)
    asked_above: dict[str, str | None] = {}
    for leaf in leaves(parents):
        own, above = climb(leaf, parents, held)
        if not own:
            continue
        held.update(own)
        asked = None if asks(own[0]) else _asked(above, parents, asks, asked_above)
        yield Branch(tuple(own), asked)


def climb(
    node: str, parents: Mapping[str, str | None], held: Collection[str]
) -> tuple[list[str], str | None]:
    """The nodes down to `node` that no branch holds yet, and the one above them, None where there is none.

    A loop of parents ends where it closes.
    """
    own: dict[str, None] = {}
    at: str | None = node
    while at is not None and at in parents and at not in own and at not in held:
        own[at] = None
        at = parents[at]
    above = at if at is not None and at in parents and at not in own else None
    return [*reversed(own)], above


def _asked(
    node: str | None,
    parents: Mapping[str, str | None],
    asks: Callable[[str], bool],
    known: dict[str, str | None],
) -> str | None:
    """The nearest message of a person from `node` upward."""
    path: dict[str, None] = {}
    found = None
    while node is not None and node in parents and node not in path:
        if node in known or asks(node):
            found = known.get(node, node)
            break
        path[node] = None
        node = parents[node]
    known.update(dict.fromkeys(path, found))
    return found


def branch_id(conversation: str, begin: str, number: int) -> str:
    """The id of a conversation's branch: its own for the first one."""
    return conversation if number == 1 else f"{conversation}/{begin}"


def branch_title(title: object, number: int) -> str:
    """The title of a branch, "" where the conversation has none."""
    known = one_line(title)
    return f"{known} (branch {number})" if known and number > 1 else known
