"""Renames that plain `rename` cannot do: exchange two names, or take only a free one.

In: two names in one opened folder. Out: whether the system and the disk could do it; then it is done,
in one step that no other process can look into.
"""

from __future__ import annotations

import ctypes
import errno
import os
import sys
from collections.abc import Callable
from functools import cache

# Flags of renameat2 (linux/fs.h).
NOREPLACE, EXCHANGE = 1, 2


@cache
def _renameat2() -> Callable[[int, bytes, int, bytes, int], int] | None:
    """The C library's renameat2, where it has one."""
    if not sys.platform.startswith("linux"):
        return None
    function = getattr(ctypes.CDLL(None, use_errno=True), "renameat2", None)
    if function is not None:
        function.argtypes = [ctypes.c_int, ctypes.c_char_p] * 2 + [ctypes.c_uint]
    return function


def renamed(folder: int | None, source: str, target: str, flag: int) -> bool:
    """Rename with a flag, inside one folder; False where the system or the disk cannot do that."""
    rename = _renameat2()
    if rename is None or folder is None:
        return False
    if rename(folder, os.fsencode(source), folder, os.fsencode(target), flag) == 0:
        return True
    code = ctypes.get_errno()
    if code in (errno.EINVAL, errno.ENOSYS, errno.EOPNOTSUPP):
        return False
    raise OSError(code, os.strerror(code), target)
