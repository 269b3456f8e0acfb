"""A file of somebody's own questions → questions with the refs that answer them.

In: TOML with a `[[question]]` each, or JSON Lines with an object each. Out: what can be asked, and a
`Problem` with its line for each fault; a question with a fault is left out, the others stand.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time
from difflib import get_close_matches

from huimem.errors import Problem, UsageError
from huimem.records import Ref

SEVERAL = "several"  # the kind of a question that needs all of its refs
_OF_SETS = ("now", "vault")
_EXAMPLE = 'question = "…" and expected = ["chat_2026-04-06_091423#20260406T091423"]'
_PLACE = re.compile(r" \(at (?:line (\d+), column \d+|end of document)\)$")
_HEADER = re.compile(r"""\s*\[\[\s*(["']?)question\1\s*\]\]\s*(#.*)?""")
_KEY = re.compile(r"""\s*(["']?)([\w-]+)\1\s*=""")
_QUOTES = re.compile(r'"""|' + "'''")


@dataclass(frozen=True, slots=True)
class Question:
    """A question and the refs that answer it: any one, or all for the kind `several`; none: nothing does.

    `now` is naive where the file names no zone. `line` is 1-based, 0 where it is not known.
    """

    text: str
    expected: tuple[Ref, ...] = ()
    kind: str = ""
    now: datetime | None = None
    namespace: str | None = None
    when: str | None = None
    history: tuple[str, ...] = ()
    note: str = ""
    line: int = 0

    @property
    def needs_all(self) -> bool:
        return self.kind == SEVERAL


@dataclass(frozen=True, slots=True)
class QuestionSet:
    """The questions of a file and its faults. `vault` is the vault they were written for, "" if unsaid."""

    path: str
    questions: tuple[Question, ...]
    problems: tuple[Problem, ...] = ()
    vault: str = ""


@dataclass(frozen=True, slots=True)
class _Raw:
    """An object of the file as it was parsed; `lines` says where its keys stand."""

    values: Mapping[str, object]
    line: int
    lines: Mapping[str, int]

    def line_of(self, key: str) -> int:
        return self.lines.get(key, self.line)


def questions_in(text: str, path: str) -> QuestionSet:
    """The questions of a file's text. Raises UsageError, with the line, where it holds none.

    `path` names the file in faults; its ending says which of the two forms it has, else the text does.
    """
    lines = path.lower().endswith((".jsonl", ".ndjson", ".json")) or (
        not path.lower().endswith(".toml") and text.lstrip().startswith("{")
    )
    problems: list[Problem] = []
    head, raws = _json_lines(text, path, problems) if lines else _toml(text, path, problems)
    now = _checked("now", head, path, problems)
    if now is None and "now" in head.values:  # at another time the questions are others
        raise _refused(problems[-1])
    vault = _checked("vault", head, path, problems)
    questions = [
        question
        for raw in raws
        if (question := _question(raw, now if isinstance(now, datetime) else None, path, problems))
    ]
    if not raws and not problems:
        raise UsageError(
            f"{path}: there is no question in it", f"Write each as [[question]] with {_EXAMPLE}."
        )
    if not questions:
        raise _refused(min(problems, key=lambda problem: problem.line))
    problems.sort(key=lambda problem: problem.line)
    return QuestionSet(path, tuple(questions), tuple(problems), vault if isinstance(vault, str) else "")


def _refused(problem: Problem) -> UsageError:
    """A fault that leaves nothing to ask."""
    return UsageError(f"{problem.place}: {problem.message}", problem.remedy)


def _toml(text: str, path: str, problems: list[Problem]) -> tuple[_Raw, list[_Raw]]:
    lines = text.splitlines()
    try:
        document = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        said = str(error)
        place = _PLACE.search(said)
        line = int(place[1]) if place and place[1] else max(len(lines), 1)
        why = said[: place.start()] if place else "it is nested too deeply"
        raise UsageError(
            f"{path}:{line}: this is no TOML: {why}", "Correct that line; then everything else is read."
        ) from error
    listed = document.pop("question", [])
    if not (isinstance(listed, list) and all(isinstance(one, dict) for one in listed)):
        raise UsageError(f"{path}: `question` is no table", f"Write each as [[question]] with {_EXAMPLE}.")
    starts = _headers(lines)
    starts = starts if len(starts) == len(listed) else [0] * len(listed)
    first = starts[0] - 1 if listed and starts[0] else len(lines)
    head = _Raw(document, 1, _keys(lines, 0, first))
    _refuse_unknown(head, (*_OF_SETS, "question"), path, problems)
    ends = [*(start - 1 for start in starts[1:]), len(lines)]
    blocks = zip(listed, starts, ends, strict=True) if listed else ()
    return head, [_Raw(one, start, _keys(lines, start, end) if start else {}) for one, start, end in blocks]


def _headers(lines: Sequence[str]) -> list[int]:
    """The lines that begin a question, from 1; what looks so inside a text of several lines is none."""
    found, inside = [], ""
    for number, line in enumerate(lines, 1):
        if not inside and _HEADER.fullmatch(line):
            found.append(number)
        for quotes in _QUOTES.findall(line):
            inside = "" if inside == quotes else inside or quotes
    return found


def _keys(lines: Sequence[str], start: int, end: int) -> dict[str, int]:
    """Where each key first stands among lines[start:end], as 1-based lines."""
    found: dict[str, int] = {}
    for number, line in enumerate(lines[start:end], start + 1):
        if key := _KEY.match(line):
            found.setdefault(key[2], number)
    return found


def _json_lines(text: str, path: str, problems: list[Problem]) -> tuple[_Raw, list[_Raw]]:
    """An object a line; one without a question, before the others, says what holds for all of them."""
    head = _Raw({}, 1, {})
    raws: list[_Raw] = []
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        try:
            values = json.loads(line)
        except (ValueError, RecursionError) as error:
            why = getattr(error, "msg", "it is nested too deeply")
            remedy = "Write one object a line; of a list: jq -c '.[]' FILE."
            problems.append(Problem(path, number, f"this line is no JSON: {why}", remedy))
            continue
        if not isinstance(values, dict):
            problems.append(Problem(path, number, "this line is no JSON object", f"Write {{{_EXAMPLE}}}."))
        elif values and not raws and not head.values and set(values) <= set(_OF_SETS):
            head = _Raw(values, number, {})
        else:
            raws.append(_Raw(values, number, {}))
    return head, raws


def _question(raw: _Raw, now: datetime | None, path: str, problems: list[Problem]) -> Question | None:
    """A question, or None with a problem for each of its faults."""
    faults: list[Problem] = []
    _refuse_unknown(raw, tuple(key for key in _FIELDS if key != "vault"), path, faults)
    for key, remedy in _NEEDED.items():
        if key not in raw.values and not any(fault.remedy == _meant(key) for fault in faults):
            faults.append(Problem(path, raw.line, f"a question lacks `{key}`", remedy))
    read = {key: _checked(key, raw, path, faults) for key in _FIELDS if key in raw.values}
    problems += faults
    if faults:
        return None
    given = {"text": read.pop("question"), "now": now, "line": raw.line} | read
    return Question(**given)  # type: ignore[arg-type]  # each was read in the type of its field


def _refuse_unknown(raw: _Raw, known: Sequence[str], path: str, problems: list[Problem]) -> None:
    """A key with a slip in it would otherwise say nothing, and a question without `expected` much."""
    for key in raw.values:
        if key not in known:
            near = get_close_matches(key, known, n=1)
            remedy = _meant(near[0]) if near else f"Known keys: {', '.join(known)}."
            problems.append(Problem(path, raw.line_of(key), f"unknown key `{key}`", remedy))


def _meant(key: str) -> str:
    return f"Did you mean `{key}`?"


def _checked(key: str, raw: _Raw, path: str, problems: list[Problem]) -> object:
    """The value of a key in its type; None where it is not there or, with a problem, cannot be read."""
    if key not in raw.values:
        return None
    words, read = _FIELDS[key]
    try:
        return read(raw.values[key])
    except ValueError as error:
        message = f"`{key}` must be {words}" + (f": {error}" if str(error) else "")
        remedy = _REF if key == "expected" else "Correct it there, or remove it."
        problems.append(Problem(path, raw.line_of(key), message, remedy))
        return None


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise ValueError
    return value


def _words(value: object) -> str:
    if not _text(value).strip():
        raise ValueError
    return _text(value)


def _texts(value: object) -> tuple[str, ...]:
    if not isinstance(value, list):
        raise ValueError
    return tuple(map(_text, value))


def _refs(value: object) -> tuple[Ref, ...]:
    """Each once, in their order; one alone may stand without brackets."""
    listed = (value,) if isinstance(value, str) else _texts(value)
    return tuple(dict.fromkeys(Ref.parse(one.strip()) for one in listed))


def _moment(value: object) -> datetime:
    """A time of TOML, or an ISO one as text; a day begins at its midnight."""
    if isinstance(value, str):
        try:
            return datetime.fromisoformat(value)
        except ValueError:
            raise ValueError from None
    if isinstance(value, datetime):
        return value
    if isinstance(value, date):
        return datetime.combine(value, time())
    raise ValueError


_REF = "Refs stand in `huimem list --json` and `huimem recall --json`; [] where nothing answers."
_NEEDED = {"question": f"Write {_EXAMPLE}.", "expected": f"Write the refs that answer it. {_REF}"}
_FIELDS: Mapping[str, tuple[str, Callable[[object], object]]] = {
    "question": ("a text with words in it", _words),
    "expected": ("a list of refs", _refs),
    "kind": ("a text", _text),
    "now": ("an ISO time such as 2026-04-15T10:30:00+08:00", _moment),
    "namespace": ("a text", _text),
    "when": ("a text", _text),
    "history": ("a list of texts", _texts),
    "note": ("a text", _text),
    "vault": ("a text", _text),
}
