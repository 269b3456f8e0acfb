"""Where and when a command line is said: the vault's folder, the settings, the asker's zone and present."""

from __future__ import annotations

import os
from dataclasses import dataclass
from datetime import datetime, tzinfo
from pathlib import Path

from huimem.config import Config, asking_zone, find_vault, load
from huimem.errors import VaultError
from huimem.surfaces.cli.options import Shared, present


@dataclass(frozen=True, slots=True)
class Setting:
    """`root` is None where no vault is named and none at hand."""

    root: Path | None
    config: Config
    zone: tzinfo
    now: datetime


def root_of(shared: Shared) -> Path:
    """The folder of the vault that `shared` names or that is at hand. Raises `VaultError`, `ConfigError`."""
    return find_vault(shared.vault, os.environ, Path.cwd())


def setting_of(shared: Shared) -> Setting:
    """The setting; without a vault at hand the user's own. A vault that is named must be one."""
    try:
        return setting_at(root_of(shared), shared)
    except VaultError:
        if shared.vault is not None:
            raise
        return setting_at(None, shared)


def setting_at(root: Path | None, shared: Shared) -> Setting:
    config = load(root)
    zone = asking_zone(config, shared.tz)
    return Setting(root, config, zone, present(shared.now, zone))
