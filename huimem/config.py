"""Settings: where each comes from, which may come from a vault, and where a vault and its state lie.

In: flags, environment, the vault's `huimem.toml`, the user's own file. Out: one frozen `Config`.
Precedence: flags, `HUIMEM_…` variables, vault, user, defaults. A vault is data from elsewhere: it
may set only what is safe to receive with somebody else's files.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import tzinfo
from difflib import get_close_matches
from hashlib import blake2b
from pathlib import Path
from types import MappingProxyType
from zoneinfo import ZoneInfo

from huimem import files
from huimem.errors import ConfigError, VaultError
from huimem.folders import refuse_path, refuse_state_path, stranger
from huimem.settings import (
    Archive,
    Config,
    Ranking,
    Rerank,
    checked,
    default_of,
    flat,
    known_keys,
    refuse_foreign,
    types,
    value_of,
    zone_named,
)

__all__ = [
    "Archive", "Config", "Ranking", "Rerank", "asking_zone", "find_vault", "known_keys", "load",
    "state_folder", "system_zone", "user_file", "value_of", "zone_named", "zone_of",
]  # fmt: skip

VAULT_FILE = "huimem.toml"
STATE = ".huimem"
LARGEST = 1 << 20  # bytes of a vault's huimem.toml


@dataclass(frozen=True, slots=True)
class _Layer:
    """Settings of one place: its name for messages, its values by dotted key, base of relative paths."""

    name: str
    values: Mapping[str, object]
    folder: Path = Path()
    foreign: bool = False


def load(
    vault: Path | None,
    overrides: Mapping[str, object] | None = None,
    environ: Mapping[str, str] | None = None,
) -> Config:
    """The settings that hold for `vault` (None: no vault). `overrides`: flags by dotted key, None = unset.

    Raises `ConfigError` that names place, key and remedy for an unknown key, a wrong type or value,
    a file that cannot be read, and a key that a vault may not set.
    """
    environ = os.environ if environ is None else environ
    layers = [_Layer("default", {key: default_of(key) for key in known_keys()}), _user_layer(environ)]
    if vault is not None and (table := _toml(vault / VAULT_FILE, foreign=True)) is not None:
        layers.append(_Layer(str(vault / VAULT_FILE), dict(flat(table)), vault, foreign=True))
    layers.append(_environment_layer(environ))
    flags = {key: value for key, value in (overrides or {}).items() if value is not None}
    layers.append(_Layer("flag", flags, Path.cwd()))
    return _merge(layers)


def _merge(layers: list[_Layer]) -> Config:
    values: dict[str, object] = {}
    origin: dict[str, str] = {}
    own_timezone: object = None
    for layer in layers:
        for key, raw in layer.values.items():
            if layer.foreign:
                refuse_foreign(layer.name, key, raw)
            values[key] = raw if layer.name == "default" else checked(layer.name, layer.folder, key, raw)
            origin[key] = layer.name
            if key == "timezone" and not layer.foreign:
                own_timezone = values[key]
    config = Config(own_timezone=own_timezone, origin=MappingProxyType(origin))  # type: ignore[arg-type]
    for key, value in values.items():
        config = _with(config, key, value)
    return config


def _with(config: Config, key: str, value: object) -> Config:
    section, _, name = key.rpartition(".")
    if not section:
        return replace(config, **{name: value})  # type: ignore[arg-type]
    return replace(config, **{section: replace(getattr(config, section), **{name: value})})


# Where settings are kept.


def _toml(path: Path, *, foreign: bool = False) -> Mapping[str, object] | None:
    """The tables of a file; None where there is none. A foreign one must be small, regular, no symlink."""
    try:
        data = files.read(path, limit=LARGEST)[0] if foreign else path.read_bytes()
        return tomllib.loads(data.decode("utf-8-sig"))
    except FileNotFoundError:
        return None
    except files.Unreadable as error:
        if error.gone:
            return None
        raise ConfigError(error.message, error.hint) from error
    except OSError as error:
        hint = "Check its owner and mode, and those of its folder."
        raise ConfigError(f"{path} cannot be read: {error.strerror or error}", hint) from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path} is not valid TOML: {error}", "Correct it, or move it away.") from error


def user_file(environ: Mapping[str, str] | None = None) -> Path:
    """The user's own config file: `$HUIMEM_CONFIG`, else `huimem/config.toml` in the config folder."""
    named = (os.environ if environ is None else environ).get("HUIMEM_CONFIG")
    if named:
        return Path(named).expanduser()
    import platformdirs

    return platformdirs.user_config_path("huimem", appauthor=False) / "config.toml"


def _user_layer(environ: Mapping[str, str]) -> _Layer:
    path = user_file(environ)
    table = _toml(path)
    if table is None and environ.get("HUIMEM_CONFIG"):
        raise ConfigError(f"{path} does not exist", "Correct or unset HUIMEM_CONFIG.")
    return _Layer(str(path), dict(flat(table or {})), path.parent)


def _environment_layer(environ: Mapping[str, str]) -> _Layer:
    """`HUIMEM_WEEK_START=sunday`, `HUIMEM_RANKING_K1=1.5`; `HUIMEM_STATE` is short for the state folder."""
    names = {f"HUIMEM_{key.upper().replace('.', '_')}": key for key in known_keys()}
    names["HUIMEM_STATE"] = "state_dir"
    values: dict[str, object] = {}
    for name in sorted(n for n in environ if n.startswith("HUIMEM_") and environ[n] != ""):
        if name in names:
            values[names[name]] = _typed(names[name], environ[name])
        elif name != "HUIMEM_CONFIG" and (near := get_close_matches(name, names, n=1, cutoff=0.8)):
            raise ConfigError(f"environment: unknown variable {name}", f"Did you mean {near[0]}?")
    return _Layer("environment", values)


def _typed(key: str, text: str) -> object:
    """A variable's text as the value that TOML would have given; the text itself where it is none."""
    hint = types()[key]
    if hint == tuple[str, ...]:
        return [part.strip() for part in text.split(",") if part.strip()]
    if hint is bool and text.lower() in ("true", "false", "1", "0"):
        return text.lower() in ("true", "1")
    if hint in (int, float):
        try:
            return hint(text)
        except ValueError:
            return text
    return text


# Where a vault, its state and its clock are.


def find_vault(explicit: Path | None, environ: Mapping[str, str], cwd: Path) -> Path:
    """The vault meant: `explicit`, `$HUIMEM_VAULT`, the nearest parent with `huimem.toml`, the user config.

    A folder that is named is a vault when it holds `huimem.toml` or any Markdown file. Raises `VaultError`.
    """
    named = explicit or (Path(environ["HUIMEM_VAULT"]) if environ.get("HUIMEM_VAULT") else None)
    if named is not None:
        return _vault_at(_plain(cwd / named.expanduser()), "--vault" if explicit else "HUIMEM_VAULT")
    for folder in (cwd, *cwd.parents):
        if (folder / VAULT_FILE).is_file():
            return folder
    user = load(None, environ={k: v for k, v in environ.items() if k == "HUIMEM_CONFIG"}).vault
    if user is not None:
        return _vault_at(user, str(user_file(environ)))
    raise VaultError(
        f"no vault here: neither {cwd} nor a folder above it holds {VAULT_FILE}",
        "Make one with `huimem init`, or name one with --vault DIR or HUIMEM_VAULT.",
    )


def _plain(path: Path) -> Path:
    """`path` without `..`, by its names where that leads to the same place, else with symlinks followed."""
    named = Path(os.path.abspath(path))
    with suppress(OSError):
        if path.exists() and not (named.exists() and named.samefile(path)):
            return path.resolve()
    return named


def _vault_at(folder: Path, place: str) -> Path:
    refuse_path(folder)
    if not folder.is_dir():
        raise VaultError(
            f"{folder} is not a folder (named by {place})", "Check the path, or make it: `huimem init DIR`."
        )
    if (folder / VAULT_FILE).is_file() or _holds_markdown(folder):
        return folder
    raise VaultError(
        f"{folder} holds neither {VAULT_FILE} nor a Markdown file (named by {place})",
        f"Is its disk mounted? To start a vault there: huimem init {folder}",
    )


def _holds_markdown(folder: Path) -> bool:
    for _, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if not name.startswith(".")]
        if any(name.lower().endswith(".md") for name in names):
            return True
    return False


def state_folder(vault: Path, config: Config) -> Path:
    """Where derived data of `vault` goes: `.huimem` in it, or a folder of its own elsewhere.

    Elsewhere: below `state_dir` where that is set, below the user's cache folder where the vault
    cannot be written to. Raises `VaultError` where `.huimem` is no real folder, and where the folder
    was made by another user: who writes the index says what the answers are. Makes nothing.
    """
    folder = _state_folder(vault, config)
    refuse_state_path(folder)
    if (owner := stranger(folder, vault)) is not None:
        raise VaultError(
            f"{folder} belongs to another user (uid {owner}) and is not used",
            "Delete it, all in it is derived; or set `state_dir` in your own config.",
        )
    return folder


def _state_folder(vault: Path, config: Config) -> Path:
    if config.state_dir is not None:
        return config.state_dir / _vault_name(vault)
    inside = vault / STATE
    if inside.is_symlink():
        raise VaultError(
            f"{inside} is a symlink", "Remove it; to keep state elsewhere set `state_dir` in your own config."
        )
    if inside.exists() and not inside.is_dir():
        raise VaultError(f"{inside} is a file, not a folder", "Move it away: derived data is kept there.")
    if _writable(inside if inside.is_dir() else vault):
        return inside
    import platformdirs

    return platformdirs.user_cache_path("huimem", appauthor=False) / _vault_name(vault)


def _writable(folder: Path) -> bool:
    return os.access(folder, os.W_OK | os.X_OK, effective_ids=os.access in os.supports_effective_ids)


def _vault_name(vault: Path) -> str:
    """A readable name for this vault that no other folder of the machine has."""
    place = vault.resolve()
    digest = blake2b(os.fsencode(place), digest_size=6).hexdigest()
    readable = "".join(c for c in place.name if c.isascii() and (c.isalnum() or c in "-_"))[:40]
    return f"{readable or 'vault'}-{digest}"


def zone_of(config: Config) -> tzinfo:
    """The vault's zone: what times without an offset in its files mean, and what week a session is in."""
    return zone_named(config.timezone, "timezone") if config.timezone else system_zone()


def asking_zone(config: Config, name: str | None = None) -> tzinfo:
    """The zone of a question: `name` (a flag), else the user's own, else the vault's, else the system's."""
    chosen = name or config.own_timezone or config.timezone
    return zone_named(chosen, "--tz" if name else "timezone") if chosen else system_zone()


def system_zone() -> tzinfo:
    """The machine's zone; UTC where it has none that can be read."""
    import tzlocal

    try:
        return tzlocal.get_localzone()
    except (LookupError, OSError, ValueError):
        return ZoneInfo("UTC")
