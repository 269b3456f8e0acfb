"""The vault that a command line means, for verbs that read files and need no index."""

from __future__ import annotations

from huimem.surfaces.cli.options import Shared
from huimem.surfaces.cli.setting import Setting, root_of, setting_at
from huimem.vault.vault import Vault


def vault_of(shared: Shared) -> tuple[Vault, Setting]:
    """The vault that `shared` names or that is at hand. Raises `VaultError`, `ConfigError`."""
    root = root_of(shared)
    setting = setting_at(root, shared)
    return Vault.open(root, setting.config), setting
