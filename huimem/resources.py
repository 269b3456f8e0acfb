"""The files that travel with the package: the default settings and the sample vault.

In an installed wheel they lie under `huimem/data`, in a checkout beside the package.
"""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

from huimem.errors import HuimemError


def default_config() -> str:
    """`default.toml`: every setting with its default and what it does."""
    return _first("data/default.toml", "../configs/default.toml").read_text(encoding="utf-8")


def demo_vault() -> Path:
    """The folder of the sample vault. It may be read-only: copy it before writing into it."""
    return _first("data/vault", "../vault")


def _first(*places: str) -> Path:
    package = Path(str(files("huimem")))
    for place in places:
        path = (package / place).resolve()
        if path.exists():
            return path
    raise HuimemError(f"{places[0]} is missing from the installed package", "Install huimem again.")
