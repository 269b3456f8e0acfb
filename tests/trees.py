"""A folder → everything in it that is the user's, to be compared before and after."""

from __future__ import annotations

import os
from hashlib import sha256
from pathlib import Path


def tree(root: Path) -> dict[str, str]:
    """Path → hash of the bytes or target of the link; folders and the state folder are left out."""
    return {
        str(path.relative_to(root)): _content(path)
        for path in sorted(root.rglob("*"))
        if ".huimem" not in path.relative_to(root).parts and (path.is_symlink() or not path.is_dir())
    }


def _content(path: Path) -> str:
    if path.is_symlink():
        return f"link to {os.readlink(path)}"
    if path.is_file():
        return sha256(path.read_bytes()).hexdigest()
    return "special"
