"""Who speaks: the word in a heading ↔ role and name.

In: the words before the time of a heading, and the participants the file lists. Out: one of the
four roles or `person`, with the name as written.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

_WORDS = {
    "user": "user 用户 我 you human",
    "assistant": "assistant 助手 chatgpt claude gemini ai model bot",
    "system": "system 系统 developer",
    "tool": "tool 工具 function",
}
_ROLE = {word: role for role, words in _WORDS.items() for word in words.split()}
# Words that name nobody in particular: listing them as participants makes no person of them.
_IMPERSONAL = frozenset({"user", "assistant", "system", "tool", "用户", "助手", "系统", "工具"})
# Assistants whose word in the heading is also their name.
_NAMED = frozenset({"chatgpt", "claude", "gemini"})
_WITH_NAME = re.compile(r"(\S+)[ \t]*[(（](.+)[)）]\Z")
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff]+")


def role_of(word: str) -> str | None:
    """The role a word stands for (`Human` → user, `助手` → assistant), None for any other word."""
    return _ROLE.get(word.casefold())


def listed_names(fields: Mapping[str, str | tuple[str, ...]]) -> frozenset[str]:
    """The participants that front matter lists, case folded, without words that are only roles."""
    value = fields.get("participants", ())
    names = re.split(r"[,，]", value) if isinstance(value, str) else value
    folded = (clean_name(name).casefold() for name in names)
    return frozenset(name for name in folded if name and name not in _IMPERSONAL)


def speaker(head: str, listed: frozenset[str]) -> tuple[str, str | None] | None:
    """Role and name for `User`, `Assistant (Claude)`, `Caroline`; None where nobody known is named."""
    folded = head.casefold()
    if folded in listed:
        return "person", head
    role = _ROLE.get(folded)
    if role is not None:
        return role, head if folded in _NAMED else None
    match = _WITH_NAME.match(head)
    role = role_of(match[1]) if match else None
    return (role, match[2].strip() or None) if match and role else None


def clean_name(name: str | None) -> str:
    """A name as a heading can hold it: one line, single blanks, no control characters."""
    return " ".join(_CONTROL.sub(" ", name or "").split())


def head_of(role: str, name: str | None) -> str:
    """The words before the time: `User`, `Assistant (Claude)`, `Caroline`. Inverse of `speaker`."""
    if role not in _WORDS:
        return clean_name(name) or clean_name(role).capitalize()
    title, shown = role.capitalize(), clean_name(name)
    return f"{title} ({shown})" if shown else title
