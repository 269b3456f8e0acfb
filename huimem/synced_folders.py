"""Does a folder lie where a program copies it between machines?

In: a folder. Out: the name of the program that syncs it, told by names of folders on the way to it or by what
such a program leaves in them.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from itertools import chain
from pathlib import Path

# Names of folders, in lower case; what ends in * is how a name begins.
_NAMES = {
    "Dropbox": ("dropbox", "dropbox (*", "dropbox-*"),
    "OneDrive": ("onedrive", "onedrive - *", "onedrive-*"),
    "iCloud Drive": ("icloud drive", "iclouddrive", "mobile documents", "com~apple~clouddocs"),
    "Google Drive": ("google drive", "googledrive", "googledrive-*", "google drive (*"),
    "Nextcloud": ("nextcloud",),
    "ownCloud": ("owncloud",),
}
# Files or folders that a program leaves at the top of what it syncs. The one of Dropbox is a file: a folder
# of that name lies in every home that has Dropbox.
_MARKS = {
    "Syncthing": (".stfolder",),
    "Nextcloud": (".nextcloudsync.log",),
    "ownCloud": (".owncloudsync.log",),
    "Dropbox": (".dropbox.cache",),
    "OneDrive": (".849c9593-d756-4e56-8d6e-42412f2a707b",),
    "Google Drive": (".tmp.drivedownload", ".tmp.driveupload"),
}
_DROPBOX = ".dropbox"


def synced_by(folder: Path, home: Path | None = None) -> str | None:
    """The program that syncs a folder, None where nothing tells of any; symlinks are followed.

    `home`, else that of whoever asks: its own name and what lies above it tell nothing.
    """
    here, top = folder.resolve(), (home or Path.home()).resolve()
    for place in (here, *here.parents):
        if place == top:
            return next(_marked(place), None)
        if found := next(chain(_named(place.name), _marked(place)), None):
            return found
    return None


def _named(name: str) -> Iterator[str]:
    plain = name.casefold()
    for program, names in _NAMES.items():
        if any(plain == one or (one[-1] == "*" and plain.startswith(one[:-1])) for one in names):
            yield program


def _marked(place: Path) -> Iterator[str]:
    for program, marks in _MARKS.items():
        if any(os.path.exists(place / mark) for mark in marks):
            yield program
    if os.path.isfile(place / _DROPBOX):
        yield "Dropbox"
