"""The shape of the code: short files and functions, few parameters, plain names, no knots, no loose ends."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PACKAGE = sorted((ROOT / "huimem").rglob("*.py"))
TESTS = sorted((ROOT / "tests").rglob("*.py"))
SOURCES = [*PACKAGE, *TESTS]

LONGEST_FILE = 400
LONGEST_FUNCTION, LONG_FUNCTION = 60, 40
MOST_PARAMETERS = 6
FORBIDDEN_NAMES = {
    "manager", "helper", "helpers", "util", "utils", "common", "misc", "base", "service", "handler", "engine",
    "processor", "facade", "factory",
}  # fmt: skip

# What no file may say: loose ends, and places and people that are none of the project's business.
# Each is written so that it does not match itself.
UNSAID = {
    "a loose end": re.compile(r"\b(TO[D]O|FIX[M]E|XX[X]|HAC[K])\b"),
    "a path of one machine": re.compile(r"(?<![\w.])/(wor[k]|roo[t])/"),
    "an issue's number": re.compile(r"\bissue[ ]#?\d", re.I),
    "the host of a package registry": re.compile(
        r"\b(pyp[i]|pythonhoste[d]|npmj[s]|crate[s]|debia[n])\.(org|io|com)\b"
    ),
}
TEXT_FILES = {".py", ".toml", ".md", ".txt", ".tsv", ".cfg", ".yml", ".json", ".sh", ""}

Function = ast.FunctionDef | ast.AsyncFunctionDef


def short(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


@cache
def tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def functions(path: Path) -> Iterator[Function]:
    return (node for node in ast.walk(tree(path)) if isinstance(node, Function))


def length(function: Function) -> int:
    return (function.end_lineno or function.lineno) - function.lineno + 1


def positional(function: Function) -> list[str]:
    """Parameters that a caller may have to remember the order of."""
    names = [argument.arg for argument in (*function.args.posonlyargs, *function.args.args)]
    return names[1:] if names[:1] in (["self"], ["cls"]) else names


def words(name: str) -> set[str]:
    """`HttpHandler` and `http_handler` → {"http", "handler"}."""
    return {word.lower() for word in re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+", name)}


def is_ours(node: ast.AST) -> bool:
    if isinstance(node, ast.ImportFrom):
        return bool(node.level) or (node.module or "").split(".")[0] == "huimem"
    return isinstance(node, ast.Import) and any(name.name.split(".")[0] == "huimem" for name in node.names)


def long_file(path: Path) -> Iterator[str]:
    lines = path.read_text(encoding="utf-8").count("\n")
    if lines > LONGEST_FILE:
        yield f"{lines} lines"


def no_docstring(path: Path) -> Iterator[str]:
    if tree(path).body and not ast.get_docstring(tree(path)):
        yield "does not open with what it is for"


def long_function(path: Path) -> Iterator[str]:
    return (f"{f.name}: {length(f)} lines" for f in functions(path) if length(f) > LONGEST_FUNCTION)


def many_parameters(path: Path) -> Iterator[str]:
    return (f"{f.name}: {positional(f)}" for f in functions(path) if len(positional(f)) > MOST_PARAMETERS)


def empty_name(path: Path) -> Iterator[str]:
    classes = (node.name for node in ast.walk(tree(path)) if isinstance(node, ast.ClassDef))
    return (name for name in (path.stem, path.parent.name, *classes) if words(name) & FORBIDDEN_NAMES)


def late_import(path: Path) -> Iterator[str]:
    nodes = (node for function in functions(path) for node in ast.walk(function) if is_ours(node))
    return (f"line {getattr(node, 'lineno', 0)}" for node in nodes)


RULES = [
    (long_file, SOURCES),
    (no_docstring, SOURCES),
    (long_function, SOURCES),
    (many_parameters, PACKAGE),
    (empty_name, SOURCES),
    (late_import, PACKAGE),
]


@pytest.mark.parametrize(("rule", "paths"), RULES, ids=[rule.__name__ for rule, _ in RULES])
def test_no_file_breaks_a_rule(rule: Callable[[Path], Iterator[str]], paths: list[Path]) -> None:
    assert paths
    assert [f"{short(path)}: {fault}" for path in paths for fault in rule(path)] == []


BROKEN = [
    (long_file, "x = 1\n" * (LONGEST_FILE + 1)),
    (no_docstring, "x = 1\n"),
    (long_function, "def f():\n" + "    x = 1\n" * LONGEST_FUNCTION),
    (many_parameters, "def f(a, b, c, d, e, f, g): ...\n"),
    (empty_name, "class HTTPHandler: ...\n"),
    (late_import, "def f():\n    from huimem import records\n"),
    (late_import, "class A:\n    async def f(self):\n        import huimem.records\n"),
]
SOUND = [
    (many_parameters, "class A:\n    def f(self, a, b, c, d, e, f, *, g, h): ...\n"),
    (empty_name, "class Database: ...\n"),
    (late_import, "def f():\n    import numpy\n"),
]


@pytest.mark.parametrize(("rule", "source"), BROKEN)
def test_a_rule_sees_what_breaks_it(
    rule: Callable[[Path], Iterator[str]], source: str, tmp_path: Path
) -> None:
    (tmp_path / "module.py").write_text(source, encoding="utf-8")
    assert [*rule(tmp_path / "module.py")]


@pytest.mark.parametrize(("rule", "source"), SOUND)
def test_a_rule_passes_what_keeps_it(
    rule: Callable[[Path], Iterator[str]], source: str, tmp_path: Path
) -> None:
    (tmp_path / "module.py").write_text(source, encoding="utf-8")
    assert not [*rule(tmp_path / "module.py")]


def test_nearly_all_functions_are_shorter_still() -> None:
    lengths = sorted(length(function) for path in PACKAGE for function in functions(path))
    assert lengths[int(len(lengths) * 0.95)] <= LONG_FUNCTION


def project_files() -> list[Path]:
    """Everything a reader of the project sees: no derived folder, nothing binary."""
    tops = [top for top in ROOT.iterdir() if not top.name.startswith(".") or top.name == ".ci"]
    inside = (path for top in tops for path in (top.rglob("*") if top.is_dir() else [top]))
    return sorted(
        path
        for path in inside
        if path.suffix in TEXT_FILES
        and path.is_file()
        and not {"__pycache__", ".huimem", "dist", "build"} & {*path.parts}
    )


@pytest.mark.parametrize("what", UNSAID)
def test_no_file_says_what_is_not_its_business(what: str) -> None:
    found = [
        f"{short(path)}:{line}: {text.strip()[:80]}"
        for path in project_files()
        for line, text in enumerate(path.read_text(encoding="utf-8", errors="replace").splitlines(), start=1)
        if UNSAID[what].search(text)
    ]
    assert found == []
