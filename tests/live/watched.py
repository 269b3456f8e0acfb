"""The real `huimem watch` as a child process: started, listened to, stopped, and ended cleanly.

In: the root of a vault. Out: the documents that it prints, one a line, and how it ended.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Self

from tests.live.places import HUIMEM, ROOT, environment

STARTED, STOPPED = 20.0, 10.0


class Watched:
    """A watcher of `root` that runs while the block does; its first round is over when the block begins.

    At the end it is interrupted and must say nothing but goodbye, unless the test has ended it.
    `before` are words put before its command, `more` variables of its environment.
    """

    def __init__(self, root: Path, *options: str, before: Sequence[str] = (), **more: str) -> None:
        self.root = root
        self.documents: list[dict[str, Any]] = []
        self.said: list[str] = []
        command = [*before, *HUIMEM, "watch", "--vault", str(root), "--json", *options]
        self.process = subprocess.Popen(
            command, cwd=ROOT, env=environment(root, **more), text=True, encoding="utf-8",
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )  # fmt: skip
        assert self.process.stdout and self.process.stderr
        self._readers = [
            threading.Thread(target=self._listen, args=(self.process.stdout, self._document), daemon=True),
            threading.Thread(target=self._listen, args=(self.process.stderr, self.said.append), daemon=True),
        ]
        for reader in self._readers:
            reader.start()

    @property
    def pid(self) -> int:
        return self.process.pid

    @property
    def text(self) -> str:
        """Everything that it said so far."""
        return "\n".join([*map(json.dumps, self.documents), *self.said])

    @property
    def warnings(self) -> list[str]:
        """What it warned of so far."""
        return [warning for document in self.documents for warning in document["warnings"]]

    def __enter__(self) -> Self:
        end = time.monotonic() + STARTED
        while not self.documents and self.process.poll() is None and time.monotonic() < end:
            time.sleep(0.02)
        if not self.documents:
            self.kill()
            raise AssertionError(f"huimem watch did not begin (exit {self.process.returncode}): {self.text}")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is not None:
            self.kill()
            print(f"huimem watch (exit {self.process.returncode}) said:\n{self.text}")
        elif self.process.returncode is None:
            self.stop()

    def stop(self) -> None:
        """Interrupt it; it must end soon, by itself, with its own exit code, and leave no lock behind."""
        assert self.process.poll() is None, f"huimem watch had ended ({self.process.returncode}): {self.text}"
        self.process.send_signal(signal.SIGINT)
        try:
            self.process.wait(STOPPED)
        finally:
            self.kill()
        assert self.process.returncode == 130, self.text
        assert "Traceback" not in self.text and "this is no document" not in self.text

    def kill(self) -> None:
        """End it at once, whatever it does."""
        self.process.kill()
        self.process.wait()
        for reader in self._readers:
            reader.join()

    def pause(self) -> None:
        """Stop its process; when this returns, it runs no more."""
        os.kill(self.pid, signal.SIGSTOP)
        os.waitid(os.P_PID, self.pid, os.WSTOPPED | os.WNOWAIT)

    def resume(self) -> None:
        os.kill(self.pid, signal.SIGCONT)

    def _document(self, line: str) -> None:
        try:
            self.documents.append(json.loads(line))
        except json.JSONDecodeError:
            self.said.append(f"this is no document: {line}")

    def _listen(self, stream: IO[str], take: Any) -> None:
        with stream:
            for line in stream:
                take(line.rstrip("\n"))
