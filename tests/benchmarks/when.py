"""How well time words are read: python -m tests.benchmarks.when compare|speed [--file FILE] [--misses]

`compare` scores huimem and whatever other libraries are installed (see peers.py) on labelled phrases:
`.jsonl` with text, lang, reference, start, end, kind (and tz), or a `.tsv` of fixtures/when. An exact
row is right when the first range has just the row's start and end, a `none` row when nothing is
found, a `vague` one when it is called vague and has no range. `speed` times whole questions and
texts of 100 kB, hostile ones among them.
"""

from __future__ import annotations

import argparse
import csv
import json
import re
import statistics
import subprocess
import sys
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from zoneinfo import ZoneInfo

from tests.benchmarks.corpora import SHARED
from tests.benchmarks.peers import PEERS, Answer, Ask, Peer, Span

PHRASES, QUESTIONS = SHARED / "oracles" / "time_dev.jsonl", SHARED / "oracles" / "time_recall_examples.jsonl"
LANGUAGES = ("en", "zh")
# What is counted, of which kind of case, and what its column is called.
MEASURES = {"exact": "exact", "start": "exact", "none": "none", "vague": "vague"}
HEADINGS = {"exact": "exact", "start": "start alone", "none": "traps quiet", "vague": "vague"}
BYTES = 100_000
WARM, COLD_RUNS = 20, 5  # phrases read before the clock starts; fresh processes


@dataclass(frozen=True, slots=True)
class Case:
    """A labelled phrase; `kind` is exact, vague or none, `span` the wall clock of `now`'s zone."""

    text: str
    language: str
    now: datetime
    kind: str
    span: Span = (None, None)


def read_cases(path: Path) -> list[Case]:
    if not path.exists():
        raise SystemExit(f"no phrases at {path}: give --file, or set HUIMEM_BENCH_DATA to the data sets")
    return [*(_from_table(path) if path.suffix == ".tsv" else _from_lines(path))]


def _from_lines(path: Path) -> Iterator[Case]:
    for line in path.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        kind = row["kind"] if row["kind"] in ("none", "vague") else "exact"
        now = datetime.fromisoformat(row["reference"]).replace(tzinfo=ZoneInfo(row.get("tz") or "UTC"))
        yield Case(row["text"], row["lang"], now, kind, (_moment(row["start"]), _moment(row["end"])))


def _from_table(path: Path) -> Iterator[Case]:
    """Rows of one text and moment stand together, one a range; the first is what counts."""
    with path.open(encoding="utf-8", newline="") as lines:
        rows = csv.DictReader(
            (line for line in lines if not line.startswith("#")), delimiter="\t", quoting=csv.QUOTE_NONE
        )
        last = None
        for row in rows:
            if last == (last := (row["text"], row["now"])):
                continue
            wall, _, zone = row["now"].rstrip("]").partition("[")
            kind = next((kind for kind in ("none", "vague") if kind in row["flags"].split()), "exact")
            language = "zh" if re.search(r"[\u4e00-\u9fff]", row["text"]) else "en"
            now = datetime.fromisoformat(wall.strip()).replace(tzinfo=ZoneInfo(zone or "Asia/Shanghai"))
            yield Case(row["text"], language, now, kind, (_moment(row["start"]), _moment(row["end"])))


def _moment(text: str | None) -> datetime | None:
    """A wall clock time; `-` and nothing are an open side."""
    return None if text in (None, "", "-") else datetime.fromisoformat(text).replace(tzinfo=None)


def right(case: Case, answer: Answer) -> bool:
    if case.kind == "none":
        return not answer.spans and not answer.vague
    if case.kind == "vague":
        return answer.vague and not answer.spans
    return bool(answer.spans) and answer.spans[0] == case.span


def starts_right(case: Case, answer: Answer) -> bool:
    """Whether at least the start is: libraries differ in whether the last day is inside."""
    return case.kind == "exact" and bool(answer.spans) and answer.spans[0][0] == case.span[0]


@dataclass(frozen=True, slots=True)
class Score:
    """What a library made of the cases: right and all by (measure, language), seconds, misses, errors."""

    right: Counter[tuple[str, str]]
    all: Counter[tuple[str, str]]
    spent: list[float]
    misses: list[tuple[Case, Answer]]
    errors: Counter[str]

    def share(self, measure: str, language: str) -> str:
        count, hits = self.all[measure, language], self.right[measure, language]
        return f"{hits / count:.1%} ({hits} of {count})" if count else "–"


def score(peer: Peer, ask: Ask, cases: list[Case]) -> Score:
    made = Score(Counter(), Counter(), [], [], Counter())
    known = [case for case in cases if case.language in peer.languages]
    for case in known[:WARM]:
        _answer(ask, case, made.errors)
    made.errors.clear()
    for case in known:
        start = time.perf_counter()
        answer = _answer(ask, case, made.errors)
        made.spent.append(time.perf_counter() - start)
        if case.kind == "vague" and not peer.says_vague:
            continue
        made.all[case.kind, case.language] += 1
        if case.kind == "exact":
            made.all["start", case.language] += 1
            made.right["start", case.language] += starts_right(case, answer)
        if right(case, answer):
            made.right[case.kind, case.language] += 1
        else:
            made.misses.append((case, answer))
    return made


def _answer(ask: Ask, case: Case, errors: Counter[str]) -> Answer:
    """Whatever a library raises counts as nothing read, and is told below the table."""
    try:
        return ask(case.text, case.now, case.language)
    except Exception as error:
        errors[type(error).__name__] += 1
        return Answer()


def cold(statements: str) -> float:
    """Median milliseconds that the statements take in a fresh process."""
    program = (
        f"import time; start = time.perf_counter()\n{statements}\nprint((time.perf_counter() - start) * 1e3)"
    )
    runs = [
        subprocess.run(
            [sys.executable, "-W", "ignore", "-c", program], capture_output=True, text=True, check=True
        )
        for _ in range(COLD_RUNS)
    ]
    return statistics.median(float(run.stdout.split()[-1]) for run in runs)


def compare(cases: list[Case], *, only: str | None, misses: bool) -> None:
    there = {case.kind for case in cases}
    kinds = [kind for kind, of in MEASURES.items() if of in there]
    columns = [f"{HEADINGS[kind]} {language}" for kind in kinds for language in LANGUAGES]
    header = ["library", *columns, "median a phrase", "slowest", "import", "with a first phrase"]
    print("| " + " | ".join(header) + " |\n|" + "---|" * len(header))
    notes = ["The labels follow our own conventions: where a library has another, that counts as wrong.", ""]
    for peer in PEERS:
        if only and peer.name not in only.split(","):
            continue
        try:
            ask = peer.load()
        except ImportError as error:
            print(f"| {peer.name} | not installed: {error} |" + " |" * (len(header) - 2))
            continue
        made = score(peer, ask, cases)
        shares = [made.share(kind, language) for kind in kinds for language in LANGUAGES]
        times = [
            f"{statistics.median(made.spent or [0]) * 1e6:,.0f} µs",
            f"{max(made.spent or [0]) * 1e3:,.1f} ms",
            f"{cold(peer.imports):,.0f} ms",
            f"{cold(f'{peer.imports}; {peer.first}'):,.0f} ms",
        ]
        print("| " + " | ".join([_named(peer), *shares, *times]) + " |", flush=True)
        notes += [f"{peer.name} raised {error} on {count} phrases" for error, count in made.errors.items()]
        if misses and peer.name == "huimem":
            notes += [*_told(made.misses)]
    print("\n" + "\n".join(notes))


def _named(peer: Peer) -> str:
    try:
        return f"{peer.name} {version(peer.distribution)}"
    except PackageNotFoundError:
        return peer.name


def _told(misses: list[tuple[Case, Answer]]) -> Iterator[str]:
    for case, answer in misses:
        wanted = _spoken(case.span) if case.kind == "exact" else case.kind
        got = ", ".join(_spoken(span) for span in answer.spans) or ("vague" if answer.vague else "nothing")
        yield f"{case.language}\t{case.text}\t{case.now:%Y-%m-%dT%H:%M}\twanted {wanted}\tgot {got}"


def _spoken(span: Span) -> str:
    return " → ".join("-" if at is None else at.isoformat().removesuffix("T00:00:00") for at in span)


def speed(cases: list[Case]) -> None:
    """Whole questions, then texts of 100 kB; `growth` is 10 for a reader that is linear."""
    ask = PEERS[0].load()
    print("| text | median | slowest |\n|---|---|---|")
    for language in LANGUAGES:
        questions = [case for case in cases if case.language == language]
        if questions:
            spent = [min(_seconds(ask, case.text, case.now) for _ in range(5)) for case in questions]
            print(
                f"| {len(spent)} questions, {language} | {statistics.median(spent) * 1e6:,.0f} µs "
                f"| {max(spent) * 1e6:,.0f} µs |"
            )
    print(f"\n| {BYTES // 1000} kB | whole | tenth | growth |\n|---|---|---|---|")
    now = datetime(2026, 4, 15, 10, 30, tzinfo=ZoneInfo("Asia/Shanghai"))
    for name, make in long_texts(cases).items():
        tenth, whole = (_seconds(ask, make(size), now) for size in (BYTES // 10, BYTES))
        growth = whole / max(tenth, 1e-9)
        print(f"| {name} | {whole * 1e3:,.1f} ms | {tenth * 1e3:,.1f} ms | {growth:.1f} |", flush=True)


def _seconds(ask: Ask, text: str, now: datetime) -> float:
    start = time.perf_counter()
    ask(text, now, "en")
    return time.perf_counter() - start


def long_texts(cases: list[Case]) -> dict[str, Callable[[int], str]]:
    """Makers of texts of so many bytes: prose without time words, questions, and what a matcher dreads."""
    asked = {lang: " ".join(case.text for case in cases if case.language == lang) for lang in LANGUAGES}
    prose = {
        "English prose": _manual(),
        "Chinese prose": _dictionary(),
        "English questions": asked["en"],
        "Chinese questions": asked["zh"],
    }
    again = [
        "yesterday ", "last ", "monday and ", "from monday to ", "the day before ", "two weeks ago and ",
        "the ", "1 ", "12", "2026-", "12:", "3/4/", "1.", "- ", "——", ",", " ", "\n", "\t", "'", "a",
        "昨天", "上", "上上个月的", "周", "一", "三百二十", "年", "三天", "从", "从周一到", "的",
        "和", "、", "　",
    ]  # fmt: skip
    texts = prose | {f"repeated {text!r}": text for text in again}
    return {name: _repeater(text) for name, text in texts.items() if text}


def _repeater(text: str) -> Callable[[int], str]:
    size = len(text.encode())
    return lambda count: (text * (count // size + 1)).encode()[:count].decode(errors="ignore")


def _manual() -> str:
    """English that speaks of other things: the language's own manual."""
    from pydoc_data import topics

    return " ".join(topics.topics.values())[: 2 * BYTES]


def _dictionary() -> str:
    """Chinese words of a dictionary, one of a hundred, a stop after twelve."""
    import jieba

    with open(Path(jieba.__file__).parent / "dict.txt", encoding="utf-8") as lines:
        words = [line.split(" ", 1)[0] for line in lines][::100]
    return "".join("".join(words[at : at + 12]) + "。" for at in range(0, len(words), 12))


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("part", choices=("compare", "speed"))
    parser.add_argument("--file", type=Path, default=None, help=f"default: {PHRASES.name}, {QUESTIONS.name}")
    parser.add_argument("--only", default=None, help="libraries to compare, by comma")
    parser.add_argument("--misses", action="store_true", help="list what huimem gets wrong")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    if options.part == "speed":
        speed(read_cases(options.file or QUESTIONS))
    else:
        compare(read_cases(options.file or PHRASES), only=options.only, misses=options.misses)


if __name__ == "__main__":
    main()
