"""A fork waits for who is in the middle of something, whatever else is asked before it."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")

LOGS_MEANWHILE = """
import os, threading, time
from huimem import forking
import logging
inside = threading.Event()
def work():
    with forking.undivided():
        inside.set()
        time.sleep(0.2)
        logging.getLogger("asked for in the middle of something")
threading.Thread(target=work).start()
inside.wait()
begun = time.monotonic()
child = os.fork()
if child == 0:
    os._exit(0)
os.waitpid(child, 0)
print(time.monotonic() - begun < forking.LONGEST_WAIT / 2)
"""


def test_a_fork_waits_for_who_logs_in_the_middle_of_something() -> None:
    """The lock of `logging` is taken before a fork as well: after ours, or both would wait."""
    done = subprocess.run([sys.executable, "-c", LOGS_MEANWHILE], capture_output=True, text=True, timeout=50)
    assert (done.stdout, done.stderr) == ("True\n", "")
