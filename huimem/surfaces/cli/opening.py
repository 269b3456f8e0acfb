"""The vault that a command line means, for verbs that need no index; one namespace, for those that write."""

from __future__ import annotations

from huimem.errors import UsageError
from huimem.surfaces.cli.options import Shared
from huimem.surfaces.cli.setting import Setting, root_of, setting_at
from huimem.vault.layout import names_many
from huimem.vault.vault import Vault


def vault_of(shared: Shared) -> tuple[Vault, Setting]:
    """The vault that `shared` names or that is at hand. Raises `VaultError`, `ConfigError`."""
    root = root_of(shared)
    setting = setting_at(root, shared)
    return Vault.open(root, setting.config), setting


def refuse_many(shared: Shared, hint: str) -> None:
    """Raise `UsageError` for `alice/**`, all that lies below, where a verb changes one namespace."""
    if shared.namespace and names_many(shared.namespace):
        raise UsageError(f"--namespace {shared.namespace} names many namespaces", hint)
