"""Where a model of the sentence-transformers library is, and how it comes into memory.

In: a hub id or a folder, as a setting names it. Out: the library's own object. What lies on this disk
is loaded without touching the network; a hub id is downloaded once.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from huimem.errors import ConfigError, MissingExtra

INSTALL = 'pip install "huimem[sentence-transformers]"'
_HUB_ID = re.compile(r"[\w.-]+(/[\w.-]+)?")


def require_library() -> None:
    """Raise MissingExtra where the library is not installed; loads nothing."""
    if find_spec("sentence_transformers") is None:
        raise MissingExtra("the package sentence-transformers is not installed", INSTALL)


def folder_of(model: str, example: str) -> Path | None:
    """The folder that `model` names; None for a hub id. Raises ConfigError, with `example`, for neither."""
    path = Path(model).expanduser()
    if model and path.is_dir():
        if not (path / "config.json").is_file() and not (path / "modules.json").is_file():
            raise ConfigError(f"{path} holds no model: it has neither modules.json nor config.json", example)
        return path.resolve()
    if not _HUB_ID.fullmatch(model) or model.startswith("."):
        raise ConfigError(f"no model at {model!r}" if model else "which model?", example)
    return None


def loaded(make: Callable[..., Any], model: str, folder: Path | None, example: str, *, fetch: bool) -> Any:
    """`make` of a model, from what is on the disk first, so that one downloaded once needs no network.

    `make` is a class of the library; `fetch`: a hub id that is not here may be downloaded. Raises
    ConfigError, with `example`, for a model that does not load or cannot be had.
    """
    source = model if folder is None else str(folder)
    try:
        with _without_bars():
            return make(source, local_files_only=True)
    except Exception as absent:  # each format of weights has errors of its own
        if folder is not None or not fetch:
            place = f"in {folder}" if folder is not None else source
            raise ConfigError(f"the model {place} does not load: {absent}", example) from absent
        return _downloaded(make, source, example)


def _downloaded(make: Callable[..., Any], source: str, example: str) -> Any:
    """Ask the hub once before downloading: the library itself would retry for minutes offline."""
    from huggingface_hub import HfApi

    try:
        HfApi().model_info(source, timeout=10)
        return make(source)
    except Exception as fault:  # whatever the HTTP library of the day raises
        raise ConfigError(
            f"the model {source} is not on this disk and cannot be had: {fault}",
            f"Check the name and the network, or name a folder that holds it. {example}",
        ) from fault


@contextmanager
def _without_bars() -> Iterator[None]:
    """Reading weights takes a second and needs no progress bar; what the program had set comes back."""
    from transformers.utils import logging

    shown = logging.is_progress_bar_enabled()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        if shown:
            logging.enable_progress_bar()
