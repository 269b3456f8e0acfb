"""The editor that somebody has set, a file and a line → the command that opens it there.

In: `$VISUAL` or `$EDITOR`. Out: an argument list that no shell reads; nothing but a path and a line is added
to what was set.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from os.path import expanduser

from huimem.errors import ConfigError

VARIABLES = ("VISUAL", "EDITOR")
REMEDY = 'Set one where your shell starts: export VISUAL=vim, or export VISUAL="code --wait".'

_PLUS = ("+{line}", "{path}")
_GO_TO = ("-g", "{path}:{line}")
_COLON = ("{path}:{line}",)
# By program: how it is told a file and a line in it.
_WORDS: Mapping[str, tuple[str, ...]] = {
    **dict.fromkeys(("vi", "vim", "view", "ex", "nvim", "gvim", "mvim", "kak"), _PLUS),
    **dict.fromkeys(("nano", "pico", "emacs", "emacsclient", "mg", "joe", "jed", "micro", "gedit"), _PLUS),
    **dict.fromkeys(("code", "code-insiders", "codium", "vscodium", "cursor", "windsurf"), _GO_TO),
    **dict.fromkeys(("hx", "helix", "subl", "zed", "zeditor"), _COLON),
}  # fmt: skip
# Programs that leave their window behind and end at once, unless they are told to stay.
_WAIT: Mapping[str, frozenset[str]] = {
    **{name: frozenset({"-w", "--wait"}) for name, words in _WORDS.items() if words == _GO_TO},
    **dict.fromkeys(("subl", "zed", "zeditor", "mate"), frozenset({"-w", "--wait"})),
    **dict.fromkeys(("gvim", "mvim"), frozenset({"-f", "--nofork"})),
}


@dataclass(frozen=True, slots=True)
class Editor:
    """A program that edits files, with what it is always given, and where it was set: `$VISUAL`."""

    words: tuple[str, ...]
    variable: str

    @property
    def name(self) -> str:
        """The program without its folder and ending: `vim` for /usr/bin/vim.basic."""
        return re.split(r"[/\\]", self.words[0])[-1].partition(".")[0].casefold()

    @property
    def waits(self) -> bool:
        """Whether it ends when the file was closed; False where it is known to end before that."""
        return self.name not in _WAIT or not _WAIT[self.name].isdisjoint(self.words)

    def command(self, path: str, line: int) -> list[str]:
        """What opens a file at a line, where it is known how to say that; 0 is any line."""
        added = _WORDS.get(self.name, ("{path}",)) if line else ("{path}",)
        return [*self.words, *(word.format(path=path, line=line) for word in added)]


def editor_of(environ: Mapping[str, str]) -> Editor:
    """The editor that is set. Raises `ConfigError` where none is, or none of that name is there."""
    for name in VARIABLES:
        if text := environ.get(name, "").strip():
            program, *others = _split(text, f"${name}")
            found = shutil.which(expanduser(program))
            if found is None:
                raise ConfigError(f"${name} names {program!r}, and there is no such program", REMEDY)
            return Editor((found, *others), f"${name}")
    raise ConfigError("no editor is set, neither by $VISUAL nor by $EDITOR", REMEDY)


def _split(text: str, variable: str) -> tuple[str, ...]:
    """The words of a command line as a shell has them; a text that is a program's path is one word."""
    if shutil.which(text):
        return (text,)
    try:
        words = shlex.split(text, posix=os.name != "nt")
    except ValueError as error:
        raise ConfigError(
            f"{variable} cannot be understood: {error}", "Close its quotation marks."
        ) from error
    return tuple(word.strip('"') for word in words) if os.name == "nt" else tuple(words)
