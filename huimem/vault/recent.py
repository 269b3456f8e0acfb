"""Files read lately, kept while they are unchanged: one answer shows several records of the same file.

In: paths. Out: sources as the files hold them at this moment.
"""

from __future__ import annotations

import time

from huimem.files import Stamp, Unreadable
from huimem.records import Source
from huimem.vault.vault import Vault

MOST = 64
# An editor that saves takes its file away for less than this many seconds.
BLINK = 0.1


class Recent:
    """The sources of one vault, the last `MOST` of them at hand; usable from several threads."""

    def __init__(self, vault: Vault) -> None:
        self._vault = vault
        self._kept: dict[str, tuple[Stamp, Source]] = {}

    def source(self, path: str) -> Source:
        """A file's records as they stand now. Raises `Unreadable` with a message that names no folder."""
        stamp = self._vault.stamp(path)
        if stamp is None:  # what stands in its place has a stamp of its own
            return self._read(path)
        kept = self._kept.get(path)
        if kept and kept[0] == stamp:
            return kept[1]
        source = self._read(path)
        if len(self._kept) >= MOST:
            self._kept.clear()
        self._kept[path] = (stamp, source)
        return source

    def _read(self, path: str) -> Source:
        try:
            return self._vault.read(path, keep=True)
        except Unreadable as error:
            if error.gone:
                time.sleep(BLINK)
        try:
            return self._vault.read(self._vault.elsewhere(path) or path, keep=True)
        except Unreadable as error:
            fault = self._vault.fault(path, error)
            raise Unreadable(fault.message, fault.remedy, gone=error.gone) from error
