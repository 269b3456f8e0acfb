"""A folder → what tells it from another one at its place, as a disk that is unmounted leaves one behind."""

from __future__ import annotations

import os
from pathlib import Path


def identity(folder: Path) -> tuple[int, int] | None:
    """Device and inode of a folder, symlinks followed; None where none can be reached."""
    try:
        status = os.stat(folder)
    except OSError:
        return None
    return status.st_dev, status.st_ino
