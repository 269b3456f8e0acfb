"""Other processes that use a vault: speakers, searchers, writers that are killed.

In: a root and what to do. Out: child processes whose first printed line says that they have begun.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.live.places import ROOT, environment

# Records turns into one session, and asks for some of them at once: what was acknowledged must be there.
SPEAK = """
import sys
from huimem import Memory
root, session, who, count = sys.argv[1:5]
print("begun", flush=True)
sys.stdin.readline()
with Memory.open(root) as memory:
    for number in range(int(count)):
        word = f"{who}x{number:03}"
        (ref,) = memory.record([{"role": "user", "content": f"{word} was said."}], session=session)
        if number % 8 == 0:
            answer = memory.recall(word)
            assert [str(hit.ref) for hit in answer.hits if word in hit.evidence] == [str(ref)], (word, answer)
"""

# Asks until its standard input ends. The marigold is never touched by anyone; it must always be found.
SEARCH = """
import sys, threading
from huimem import Memory
ended = threading.Event()
threading.Thread(target=lambda: (sys.stdin.read(), ended.set()), daemon=True).start()
count = 0
with Memory.open(sys.argv[1]) as memory:
    print("begun", flush=True)
    while not ended.is_set():
        answer = memory.recall("marigold")
        assert [hit.path for hit in answer.hits][:1] == ["marigold.md"], (answer.hits, answer.warnings)
        count += 1
print(count)
"""

# Forks a writer for each number of turns that it is given, and kills it after the time so many take here.
KILL = """
import os, signal, sys, time
from huimem import Memory
import huimem.index.lexical, huimem.index.segments, faiss, numpy, tantivy
root = sys.argv[1]
def write(run, count):
    with Memory.open(root) as memory, open(f"{root}/../acknowledged", "ab", buffering=0) as kept:
        for number in range(count):
            word = f"run{run}x{number:03}"
            memory.record([{"role": "user", "content": word}], session="killed")
            kept.write(f"{word}\\n".encode())
            memory.sync(full=number % 5 == 4)
    os._exit(0)
def begun(run, count):
    child = os.fork()
    if child == 0:
        write(run, count)
    return child
start = time.monotonic()
os.waitpid(begun("whole", 5), 0)
one = (time.monotonic() - start) / 5
print("begun", flush=True)
for line in sys.stdin:
    run, turns = line.split()
    child = begun(run, 1000)
    time.sleep(float(turns) * one)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    print(run, flush=True)
"""

# Writes a note of two turns that say one number, and brings it in, again and again.
PUBLISH = """
import os, sys
from pathlib import Path
from huimem import Memory
root, count = Path(sys.argv[1]), int(sys.argv[2])
turn = "## User · 2026-04-06 09:00:0{}\\n\\nShared number{:03}.\\n"
print("begun", flush=True)
with Memory.open(root) as memory:
    for number in range(count):
        (root / "temp").write_text("\\n".join(turn.format(at, number) for at in (1, 2)))
        os.replace(root / "temp", root / "pair.md")
        memory.sync()
"""

# Holds a lock until it is killed.
HOLD = """
import sys, time
from pathlib import Path
from huimem import files
with files.lock(Path(sys.argv[1])):
    print("begun", flush=True)
    time.sleep(600)
"""


@contextmanager
def child(script: str, root: Path, *words: str, **more: str) -> Iterator[subprocess.Popen[str]]:
    """A script that runs in the vault's environment and has begun; it is killed when the block ends."""
    with subprocess.Popen(
        [sys.executable, "-c", script, *words], cwd=ROOT, env=environment(root, **more), text=True,
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    ) as process:  # fmt: skip
        try:
            assert process.stdout
            assert process.stdout.readline() == "begun\n", process.communicate()[1]
            yield process
        finally:
            process.kill()


def ended_well(process: subprocess.Popen[str], given: str = "", seconds: float = 180.0) -> str:
    """Give a child its last input and wait for its end; what it printed. Its errors are the failure."""
    said, errors = process.communicate(given, timeout=seconds)
    assert process.returncode == 0, errors
    return said
