"""Protections taken out of the program one by one → the tests that notice, or that one survived.

In: `mutants.toml`, each of its mutants a text of one file, what is put in its place, and the tests that
must fail then; rows of the fault catalogue as arguments, none = all. Out: one line a mutant, exit code 1
where one survived. Everything runs in copies of the checkout.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from queue import SimpleQueue

ROOT = Path(__file__).parent.parent
TABLE = Path(__file__).with_name("mutants.toml")
COPIED = ("huimem", "tests", "fixtures", "vault", "configs", "pyproject.toml", "README*.md")
# Rows none of which may be without a mutant.
ROWS = (
    "A1", "A5", "A6", "A16", "A19", "B1", "B3", "B6", "B7", "B15", "B19", "C1", "C5", "C7", "C8", "D1", "D5",
    "D6", "E1", "F1", "F2", "F4", "F15", "F16", "G12",
)  # fmt: skip
HANGING = 15  # seconds after which a test fails: without a protection it may wait for ever
AT_ONCE = 2
PASSED, FAILED = 0, 1  # what pytest ends with; anything else means that it could not run


@dataclass(frozen=True, slots=True)
class Mutant:
    """A protection and what takes it away: `old`, which stands once in `file`, becomes `new`."""

    row: str
    why: str
    file: str
    old: str
    new: str
    tests: tuple[str, ...]

    def applied(self, source: str) -> str:
        """The file's text without the protection. Raises ValueError unless `old` stands in it once."""
        if (times := source.count(self.old)) != 1 or self.old == self.new:
            raise ValueError(f"{self.row}: {self.old!r} stands {times} times in {self.file}")
        return source.replace(self.old, self.new)


def read_mutants(table: Path = TABLE) -> tuple[Mutant, ...]:
    """The mutants of a table. Raises KeyError or TypeError for one that is not whole."""
    listed = tomllib.loads(table.read_text(encoding="utf-8"))["mutant"]
    return tuple(Mutant(**{**told, "tests": tuple(told["tests"])}) for told in listed)


@dataclass(frozen=True, slots=True)
class Copy:
    """A copy of the checkout in which tests run."""

    root: Path

    @property
    def _environment(self) -> dict[str, str]:
        # Looking for plugins takes longer than most of these tests.
        return {**os.environ, "PYTHONPATH": str(self.root), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}

    def check(self) -> None:
        """Raise RuntimeError where another huimem than the copy's would be tested."""
        look = (sys.executable, "-c", "import huimem; print(huimem.__file__)")
        found = subprocess.run(look, cwd="/", env=self._environment, capture_output=True, text=True)
        if Path(found.stdout.strip()).parent != self.root / "huimem":
            raise RuntimeError(f"another huimem is found: {found.stdout or found.stderr}")

    def test(self, tests: Sequence[str], *more: str) -> subprocess.CompletedProcess[str]:
        """Run tests, the slow ones too, up to the first that fails."""
        plugins = ("-p", "pytest_timeout", "-p", "no:cacheprovider")
        options = ("-q", "-x", *plugins, "-m", "", "-o", f"timeout={HANGING}", *more)
        return subprocess.run(
            [sys.executable, "-m", "pytest", *options, *tests],
            cwd=self.root, env=self._environment, text=True,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        )  # fmt: skip

    def test_without(self, mutant: Mutant) -> subprocess.CompletedProcess[str]:
        """Run the tests of a mutant while its protection is not there."""
        place = self.root / mutant.file
        whole = place.read_text(encoding="utf-8")
        place.write_text(mutant.applied(whole), encoding="utf-8")
        try:
            return self.test(mutant.tests)
        finally:
            place.write_text(whole, encoding="utf-8")


@contextmanager
def copies(count: int) -> Iterator[list[Copy]]:
    """So many copies of the checkout, compiled such that a change within the same second is seen."""
    with tempfile.TemporaryDirectory(prefix="huimem-mutants-", ignore_cleanup_errors=True) as folder:
        made = [Copy(Path(folder).resolve() / str(number)) for number in range(count)]
        first = made[0].root
        first.mkdir()
        for path in (path for pattern in COPIED for path in ROOT.glob(pattern)):
            if path.is_dir():
                unwanted = shutil.ignore_patterns("__pycache__", ".huimem")
                shutil.copytree(path, first / path.name, symlinks=True, ignore=unwanted)
            else:
                shutil.copy(path, first)
        compiling = ("compileall", "-q", "--invalidation-mode", "checked-hash", "huimem")
        subprocess.run([sys.executable, "-m", *compiling], cwd=first, check=True)
        for copy in made[1:]:
            shutil.copytree(first, copy.root, symlinks=True)
        for copy in made:
            copy.check()
        yield made


def judged(mutants: Sequence[Mutant], made: Sequence[Copy]) -> list[bool]:
    """Whether each mutant was caught, which is printed; as many at a time as there are copies."""
    free: SimpleQueue[Copy] = SimpleQueue()
    for copy in made:
        free.put(copy)

    def judge(mutant: Mutant) -> bool:
        copy, start = free.get(), time.monotonic()
        try:
            done = copy.test_without(mutant)
        finally:
            free.put(copy)
        ran = done.returncode in (PASSED, FAILED)
        end = ("SURVIVED", "caught")[done.returncode] if ran else "NOT RUN"
        said = "" if ran else f"\n{done.stdout}"
        print(f"{mutant.row:4}{end:9}{time.monotonic() - start:5.1f} s  {mutant.why}{said}", flush=True)
        return done.returncode == FAILED

    with ThreadPoolExecutor(len(made)) as pool:
        return [*pool.map(judge, mutants)]


def main(rows: Sequence[str]) -> int:
    """Judge the mutants of these rows, all for none; the exit code."""
    start, mutants = time.monotonic(), [each for each in read_mutants() if not rows or each.row in rows]
    if unknown := {*rows}.difference(mutant.row for mutant in mutants):
        print(f"no mutant of {', '.join(sorted(unknown))}", file=sys.stderr)
        return 2
    try:
        for mutant in mutants:
            mutant.applied((ROOT / mutant.file).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        print(error, file=sys.stderr)
        return 1
    tests = dict.fromkeys(test for mutant in mutants for test in mutant.tests)
    with copies(AT_ONCE) as made:
        whole = made[0].test([*tests], "-p", "xdist.plugin", "-n", str(AT_ONCE))
        if whole.returncode != PASSED:
            print(f"tests fail while nothing is taken out:\n{whole.stdout}")
            return 1
        print(f"nothing taken out: {whole.stdout.strip().splitlines()[-1]}", flush=True)
        caught = judged(mutants, made)
    print(f"{sum(caught)} of {len(caught)} mutants caught after {time.monotonic() - start:.0f} s")
    return 0 if all(caught) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
