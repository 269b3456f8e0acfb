"""What the system refuses → what to do about it: the remedy of each error number, and `WriteFailed`.

In: an error of the system, or a folder in which a library could not write and did not say why. Out: an
error that names the file, the system's own reason and the remedy.
"""

from __future__ import annotations

import errno
import os
from pathlib import Path

from huimem.errors import WriteFailed

REMEDIES = {
    errno.ENOSPC: "The disk is full: free some space and try again.",
    errno.EDQUOT: "The disk quota is used up: free some space and try again.",
    errno.EFBIG: "The file would pass the size limit of this process or disk.",
    errno.EROFS: "The disk is mounted read-only.",
    errno.EACCES: "No permission: check the owner and mode of the file and its folder.",
    errno.EPERM: "Not permitted: check the owner, mode and attributes of the file and its folder.",
    errno.EMFILE: "Too many open files: raise the limit (ulimit -n) or close some programs.",
    errno.EIO: "The disk reports an error: check it before anything else.",
    errno.ELOOP: "It is a symlink, and symlinks are not followed: put a real file or folder there.",
    errno.ENAMETOOLONG: "The name is too long for this disk: choose a shorter one.",
}
_TRIAL_BYTES = 1 << 20
_FEW_FILES = 8  # a write that failed has let go of those that it had


def refused(path: Path, error: OSError) -> WriteFailed:
    """That `path` cannot be written, in the system's words, with the remedy."""
    return WriteFailed(f"{path} cannot be written: {error.strerror or error}", remedy(path, error))


def remedy(path: Path, error: OSError) -> str:
    """What to do about an error in writing `path`; "" where nobody knows."""
    if error.errno == errno.ENOSPC and _takes_no_files(path.parent):
        return "The disk has no room for another file, however small (df -i): delete some and try again."
    return REMEDIES.get(error.errno or 0, "")


def _takes_no_files(folder: Path) -> bool:
    """Whether the disk of a folder has used up its inodes; False where the system does not count any."""
    try:
        standing = os.statvfs(folder)
    except (OSError, AttributeError):
        return False
    return standing.f_files > 0 and standing.f_ffree < _FEW_FILES


def trial(folder: Path) -> OSError | None:
    """Why nothing can be written in `folder` now; None where a nameless file of 1 MiB can."""
    import tempfile  # no verb needs it until something has failed

    try:
        with tempfile.TemporaryFile(dir=folder, buffering=0) as file:
            left = _TRIAL_BYTES
            while left:
                left -= file.write(bytes(left))
    except OSError as error:
        return error
    return None
