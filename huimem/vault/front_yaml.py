"""Front matter through YAML: any flat block → strings, with the place of each value.

In: the text between the `---` lines. Out: its fields, never typed, or the problem that forbids it.
Anchors, aliases and tags are refused; YAML is loaded only when a block needs it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from huimem.errors import Problem

if TYPE_CHECKING:
    from yaml.nodes import MappingNode, Node

Value = str | tuple[str, ...]

_SYNTAX = "quote the value, or put it right in any editor; huimem does not rewrite this block until then"


def no_mapping(path: str) -> Problem:
    remedy = "write `key: value` lines there, or `***` for a rule"
    return Problem(path, 1, "text between `---` lines that is no front matter: read as text", remedy)


def repeated_key(path: str, line: int, key: str) -> Problem:
    return Problem(path, line, f"front matter has {key!r} twice: the first counts", "delete one of them")


def yaml_fields(block: str, path: str) -> tuple[dict[str, Value] | None, tuple[Problem, ...]]:
    """Fields of any flat YAML block; None, and why, where it is broken, refused or no mapping."""
    import yaml

    try:
        trick = _first_trick(block)
        node = compose(block) if trick is None else None
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        mark = getattr(error, "problem_mark", None)
        line = mark.line + 2 if mark else 1
        return None, (Problem(path, line, "front matter that is no valid YAML", _SYNTAX),)
    if trick is not None:
        return None, (
            Problem(path, trick, "front matter with a YAML anchor, alias or tag: not read", _SYNTAX),
        )
    if node is None:
        return {}, ()
    if not isinstance(node, yaml.MappingNode):
        return None, (no_mapping(path),)
    return _flat(node, block, path)


def compose(block: str) -> Node | None:
    """The node tree of `block`, through python-frontmatter's handler with a loader that types nothing."""
    import yaml
    from frontmatter.default_handlers import YAMLHandler

    class Nodes(getattr(yaml, "CBaseLoader", yaml.BaseLoader)):  # type: ignore[misc]
        """Hands out the tree itself: where each value stands, and keys that come twice."""

        def construct_document(self, node: Node) -> Node:
            return node

    loaded: Any = YAMLHandler().load(block, Loader=Nodes)
    return loaded if isinstance(loaded, yaml.Node) else None


def _first_trick(block: str) -> int | None:
    """The line of the first anchor, alias or tag: a flat block of strings needs none of them."""
    import yaml

    for event in yaml.parse(block, Loader=getattr(yaml, "CBaseLoader", yaml.BaseLoader)):
        if getattr(event, "anchor", None) or getattr(event, "tag", None):
            return event.start_mark.line + 2 if event.start_mark else 1
    return None


def _flat(node: MappingNode, block: str, path: str) -> tuple[dict[str, Value], tuple[Problem, ...]]:
    """Strings and tuples of strings; what is nested deeper stays the text it is written as."""
    import yaml

    fields: dict[str, Value] = {}
    problems = []
    for key, value in node.value:
        name = key.value if isinstance(key, yaml.ScalarNode) else _source(key, block)
        if name in fields:
            problems.append(repeated_key(path, key.start_mark.line + 2, name))
        elif isinstance(value, yaml.ScalarNode):
            fields[name] = value.value
        elif isinstance(value, yaml.SequenceNode) and all(
            isinstance(v, yaml.ScalarNode) for v in value.value
        ):
            fields[name] = tuple(item.value for item in value.value)
        else:
            fields[name] = _source(value, block)
    return fields, tuple(problems)


def _source(node: Node, block: str) -> str:
    return block[node.start_mark.index : node.end_mark.index].strip()
