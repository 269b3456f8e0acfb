"""What bringing years in costs: python -m tests.benchmarks.importing speed|first --folder DIR [--megabytes N]

`speed` imports a synthetic ChatGPT export through the command line, words and all, then the same file
again; `first` starts from an empty environment: install, a vault, an export of 300 conversations, an
answer. Each prints rows of the table in RESULTS.md.

The synthetic export has the fields of real ones. Of its bytes some 40 % are text: words and Chinese
clauses of the sample vault drawn by chance, one in fifty a number or a name that is rare; a fifth of the
messages is Chinese.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import resource
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from hashlib import blake2b
from pathlib import Path
from uuid import UUID

ROOT = Path(__file__).parents[2]
CHATS = 300
NEEDLE = "the marigold code for the allotment gate is 4711"


class Export:
    """Makes conversations as ChatGPT's export writes them, always the same ones."""

    def __init__(self) -> None:
        self._chance = random.Random(7)
        text = " ".join(path.read_text(encoding="utf-8") for path in sorted((ROOT / "vault").rglob("*.md")))
        self._words = re.findall(r"[a-z]{2,12}", text)
        self._clauses = re.findall(r"[一-鿿]{3,14}", text)

    def text(self, length: int) -> str:
        """About so many bytes of text."""
        if self._chance.random() < 0.2:
            return "，".join(self._some(self._clauses, length // 24 + 1))
        return " ".join(self._some(self._words, length // 6 + 1))

    def _some(self, of: list[str], count: int) -> list[str]:
        """So many of these, now and then a rare one."""
        found = self._chance.choices(of, k=count)
        for place in range(0, count, 50):
            found[self._chance.randrange(place, min(place + 50, count))] = self._rare()
        return found

    def _rare(self) -> str:
        number = int(self._chance.paretovariate(0.7)) % 10_000_000
        return f"{self._chance.choice(self._words)}{number}" if number % 2 else str(number)

    def conversation(self, begins: float, said: str = "") -> dict[str, object]:
        """One of 6 to 30 messages; `said` is what its last message says."""
        names = [self._name() for _ in range(self._chance.randrange(6, 30, 2))]
        root = self._name()
        mapping: dict[str, object] = {
            root: {"id": root, "message": None, "parent": None, "children": names[:1]}
        }
        for index, name in enumerate(names):
            begins += self._chance.randrange(5, 300)
            text = self.text(self._chance.randrange(*((400, 2500) if index % 2 else (40, 300))))
            mapping[name] = {
                "id": name,
                "message": self._message(name, index, begins, said if said and name == names[-1] else text),
                "parent": names[index - 1] if index else root,
                "children": names[index + 1 : index + 2],
            }
        return {
            "title": self.text(30),
            "create_time": begins,
            "update_time": begins,
            "mapping": mapping,
            "moderation_results": [],
            "current_node": names[-1],
            "plugin_ids": None,
            "conversation_id": self._name(),
            "gizmo_id": None,
            "is_archived": False,
            "safe_urls": [],
            "default_model_slug": "auto",
        }

    def _name(self) -> str:
        return str(UUID(int=self._chance.getrandbits(128)))

    def _message(self, name: str, index: int, at: float, text: str) -> dict[str, object]:
        return {
            "id": name,
            "author": {"role": "assistant" if index % 2 else "user", "name": None, "metadata": {}},
            "create_time": at + 0.123456,
            "update_time": None,
            "content": {"content_type": "text", "parts": [text]},
            "status": "finished_successfully",
            "end_turn": True,
            "weight": 1.0,
            "metadata": {
                "request_id": f"{name[:16]}-ABC",
                "message_source": None,
                "timestamp_": "absolute",
                "message_type": None,
                "model_slug": "gpt-5",
                "default_model_slug": "auto",
                "parent_id": name,
                "finish_details": {"type": "stop", "stop_tokens": [200002]},
                "citations": [],
                "content_references": [],
                "is_complete": True,
                "serialization_metadata": {"custom_symbol_offsets": []},
                "selected_sources": [],
                "dictation": False,
            },
            "recipient": "all",
            "channel": None,
        }


def write(path: Path, *, size: int = 0, chats: int = 0) -> None:
    """An export of at least `size` bytes, or of so many chats, the one in the middle with the needle."""
    export, written = Export(), 0
    with path.open("w", encoding="utf-8") as file:
        for number in range(1 << 30):
            if written >= size and number >= chats:
                break
            made = export.conversation(1.5e9 + number * 20_000, NEEDLE if number == chats // 2 else "")
            written += file.write(("," if number else "[") + json.dumps(made, ensure_ascii=False))
        file.write("]")


def run(*words: str | Path, **environment: str) -> tuple[float, int]:
    """Seconds that a process took, and the peak memory of it or of any of its children in KiB."""
    start = time.perf_counter()
    subprocess.run(
        [str(word) for word in words], check=True, env={**os.environ, **environment}, stdout=sys.stderr
    )
    return time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss


def huimem(*words: str | Path) -> tuple[float, int]:
    return run(sys.executable, "-m", "huimem", "-q", *words, HUIMEM_EMBEDDER="none", PYTHONPATH=str(ROOT))


def state_of(root: Path) -> str:
    """A digest of every file of a vault outside its state folder."""
    found = blake2b(digest_size=16)
    for path in sorted(path for path in root.rglob("*") if path.is_file() and ".huimem" not in path.parts):
        found.update(str(path).encode() + path.read_bytes())
    return found.hexdigest()


def speed(folder: Path, megabytes: int) -> None:
    export, root = folder / f"conversations-{megabytes}.json", folder / "imported"
    if not export.exists():
        write(export, size=megabytes * 1_000_000)
    shutil.rmtree(root, ignore_errors=True)
    huimem("init", root, "--tz", "Asia/Shanghai")
    size = export.stat().st_size / 1e6
    first, memory = huimem("import", export, "--vault", root)
    told = f"{first:.1f} s, {size / first:.1f} MB/s, peak {memory / 1024:,.0f} MB in one process"
    print(f"| import of {size:,.0f} MB, words searchable | {told} |")
    before = state_of(root)
    second, _ = huimem("import", export, "--vault", root)
    same = "no byte changed" if state_of(root) == before else "BYTES CHANGED"
    print(f"| … again | {second:.1f} s, {second / first:.3f} of that, {same} |")


def steps(folder: Path) -> Iterator[tuple[str, list[str]]]:
    """The README's own steps, in an environment of its own."""
    binary = folder / "venv/bin"
    yield "an empty environment", [sys.executable, "-m", "venv", str(folder / "venv")]
    yield "pip install .", [str(binary / "pip"), "install", "-q", str(ROOT)]
    huimem = str(binary / "huimem")
    vault = ["--vault", str(folder / "AI")]
    yield "huimem init", [huimem, "init", str(folder / "AI")]
    yield f"huimem import, {CHATS} conversations", [huimem, "import", str(folder / "chatgpt.json"), *vault]
    yield (
        "huimem recall",
        [huimem, "recall", *vault, "what is the code for the allotment gate?", "--limit", "1"],
    )


def first(folder: Path) -> None:
    shutil.rmtree(folder / "venv", ignore_errors=True)
    shutil.rmtree(folder / "AI", ignore_errors=True)
    write(folder / "chatgpt.json", chats=CHATS)
    total = 0.0
    for name, words in steps(folder):
        start = time.perf_counter()
        clean = {
            name: value for name, value in os.environ.items() if not name.startswith(("HUIMEM", "PYTHON"))
        }
        done = subprocess.run(words, capture_output=True, text=True, check=True, env=clean)
        total += time.perf_counter() - start
        print(f"| … {name} | {time.perf_counter() - start:.1f} s |")
    right = NEEDLE.rsplit(" ", 1)[1] in done.stdout
    print(f"| from nothing to the {'right' if right else 'WRONG'} first answer | {total:.0f} s |")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("part", choices=["speed", "first"])
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument("--megabytes", type=int, default=200)
    given = parser.parse_args()
    given.folder.mkdir(parents=True, exist_ok=True)
    if given.part == "speed":
        speed(given.folder, given.megabytes)
    else:
        first(given.folder)


if __name__ == "__main__":
    main()
