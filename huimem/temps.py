"""Names of temp files: each tells which process writes it, so that what a dead one left is known.

In: the file that is to be written. Out: a name beside it; whether a name is that of a writer who is gone.
"""

from __future__ import annotations

import os
import re
import secrets
from pathlib import Path

TEMP = re.compile(r"\.huimem-(\d+)-[0-9a-f]+\.tmp")


def temp_beside(path: Path | str) -> str:
    """A name that nobody has, in the folder of `path`."""
    return os.path.join(os.path.dirname(path), f".huimem-{os.getpid()}-{secrets.token_hex(6)}.tmp")


def leftover(name: str) -> bool:
    """Whether a name in a folder is the temp file of a writer that is no longer alive."""
    if match := TEMP.fullmatch(name):
        try:
            os.kill(int(match[1]), 0)
        except (ProcessLookupError, OverflowError):
            return True
        except OSError:
            return False
    return False
