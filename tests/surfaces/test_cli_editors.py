"""Editors as people set them, in a table: the command that opens a file at a line, and which of them wait."""

from __future__ import annotations

from pathlib import Path

import pytest

from huimem.errors import ConfigError
from huimem.surfaces.cli.editors import editor_of
from huimem.surfaces.cli.open import opener

NOTE = "/v/my notes/a:b '1'.md"

# The words that are set, what is added to them for line 31, whether the program ends with its window.
COMMANDS = [
    ("vim", ["+31", NOTE], True),
    ("/usr/bin/vim.basic -u NONE", ["+31", NOTE], True),
    ("nvim", ["+31", NOTE], True),
    ("vi", ["+31", NOTE], True),
    ("nano -l", ["+31", NOTE], True),
    ("emacs -nw", ["+31", NOTE], True),
    ("emacsclient -c -a ''", ["+31", NOTE], True),
    ("gvim", ["+31", NOTE], False),
    ("gvim -f", ["+31", NOTE], True),
    ("code", ["-g", f"{NOTE}:31"], False),
    ("code --wait", ["-g", f"{NOTE}:31"], True),
    ("cursor -w -n", ["-g", f"{NOTE}:31"], True),
    ("codium --wait", ["-g", f"{NOTE}:31"], True),
    ("subl -w", [f"{NOTE}:31"], True),
    ("subl", [f"{NOTE}:31"], False),
    ("zed --wait", [f"{NOTE}:31"], True),
    ("hx", [f"{NOTE}:31"], True),
    ("helix", [f"{NOTE}:31"], True),
    ("mate", [NOTE], False),
    ("ed", [NOTE], True),
    ("env LANG=C vim", [NOTE], True),
]


def programs(folder: Path, *names: str) -> str:
    """A folder of programs of these names."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in names:
        (folder / name).write_text("#!/bin/sh\n", encoding="utf-8")
        (folder / name).chmod(0o755)
    return str(folder)


@pytest.mark.parametrize(("given", "added", "waits"), COMMANDS)
def test_known_editors_are_told_the_line(
    given: str, added: list[str], waits: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name, *options = given.split()
    name = name.rpartition("/")[2]
    monkeypatch.setenv("PATH", programs(tmp_path / "bin", name))
    program = str(tmp_path / "bin" / name)
    given = given.replace("/usr/bin/vim.basic", program)
    editor = editor_of({"VISUAL": given, "EDITOR": "ed"})
    options = [option.replace("''", "") for option in options]
    assert editor.command(NOTE, 31) == [program, *options, *added]
    assert editor.command(NOTE, 0) == [program, *options, NOTE]
    assert (editor.waits, editor.variable) == (waits, "$VISUAL")


def test_what_was_set_is_read_by_no_shell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", programs(tmp_path / "bin", "ed"))
    editor = editor_of({"VISUAL": " ", "EDITOR": 'ed "two words" $HOME `id` ; rm > x'})
    assert editor.variable == "$EDITOR"
    assert editor.command("/v/$(id).md", 1)[1:] == [
        *("two words", "$HOME", "`id`", ";", "rm", ">", "x", "/v/$(id).md")
    ]


def test_a_program_whose_path_has_blanks_needs_no_quotation_marks(tmp_path: Path) -> None:
    programs(tmp_path / "my editors", "vim")
    program = str(tmp_path / "my editors/vim")
    for given in (program, f'"{program}"'):
        assert editor_of({"VISUAL": given}).command("/v/a.md", 3) == [program, "+3", "/v/a.md"]


def test_a_home_is_written_out(own_home: Path) -> None:
    programs(own_home / "bin", "vim")
    assert editor_of({"EDITOR": "~/bin/vim"}).words == (str(own_home / "bin/vim"),)


REFUSED = [
    ({}, "no editor is set, neither by $VISUAL nor by $EDITOR"),
    ({"VISUAL": "", "EDITOR": "  "}, "no editor is set, neither by $VISUAL nor by $EDITOR"),
    ({"VISUAL": "no-such-editor -w"}, "$VISUAL names 'no-such-editor', and there is no such program"),
    ({"EDITOR": "''"}, "$EDITOR names '', and there is no such program"),
    ({"EDITOR": "vim 'x"}, "$EDITOR cannot be understood: No closing quotation"),
]


@pytest.mark.parametrize(("environ", "message"), REFUSED)
def test_an_editor_that_is_none_is_refused_with_the_remedy(environ: dict[str, str], message: str) -> None:
    with pytest.raises(ConfigError) as refused:
        editor_of(environ)
    assert refused.value.message == message and refused.value.hint


OPENERS = [("linux", "xdg-open"), ("freebsd14", "xdg-open"), ("darwin", "open"), ("win32", "")]


@pytest.mark.parametrize(("platform", "program"), OPENERS)
def test_each_system_has_its_opener(
    platform: str, program: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", programs(tmp_path / "bin"))
    if program:
        with pytest.raises(ConfigError, match=f"there is no {program} here"):
            opener(platform)
        programs(tmp_path / "bin", program)
    assert opener(platform) == program
