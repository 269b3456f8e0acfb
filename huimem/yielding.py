"""A thread → one that runs only when nothing else wants to."""

from __future__ import annotations

import os
import threading
from contextlib import suppress

NICE = 10


def give_way() -> None:
    """Let this thread run only when nothing else wants to, where the system can do that to a thread."""
    if hasattr(os, "setpriority"):
        with suppress(OSError, AttributeError):
            os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), NICE)
