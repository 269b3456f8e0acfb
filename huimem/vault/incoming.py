"""Messages as programs hand them over (OpenAI's shape and its kin) → Messages.

In: mappings with a role and content, or Messages. Out: Messages in the vault's roles, times aware.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime, tzinfo

from huimem.errors import UsageError
from huimem.given import several
from huimem.records import Message
from huimem.vault.moments import read_moment
from huimem.vault.roles import role_of

_TIMES = ("at", "created_at", "timestamp", "create_time")


def messages_from(
    items: Mapping[str, object] | Message | Iterable[Mapping[str, object] | Message], zone: tzinfo
) -> tuple[Message, ...]:
    """The messages of a list, or one, in order. A time without an offset is a wall clock of `zone`.

    Content may be a text or a list of parts, of which the texts count; a call of a tool without
    words becomes a folded line that names it. Raises UsageError that counts the message from 1 for
    one without a role, without content or a call, with content of another kind, or with a time that
    cannot be read.
    """
    given = (items,) if isinstance(items, Mapping | Message) else items
    return tuple(
        item if isinstance(item, Message) else _message(item, number, zone)
        for number, item in enumerate(given, 1)
    )


def texts_from(items: object) -> tuple[str, ...]:
    """The texts of earlier messages: each a text itself, a Message, or a mapping with content; one will do.

    Raises UsageError for what is none of these, and for a mapping as `messages_from` does.
    """
    kinds = (str, Message, Mapping)
    hint = 'give texts or messages, oldest first: history=[{"role": "user", "content": "…"}]'
    found = several("history", items, kinds, hint)
    return tuple(_said(item, number) for number, item in enumerate(found, 1))


def _said(item: object, number: int) -> str:
    match item:
        case Message():
            return item.text
        case Mapping():
            return _text(item, number)
        case _:
            return str(item)


def _message(item: Mapping[str, object], number: int, zone: tzinfo) -> Message:
    if not isinstance(item, Mapping):
        raise UsageError(f"message {number} is no mapping", 'give each as {"role": "user", "content": "…"}')
    role, name = item.get("role"), item.get("name")
    if not isinstance(role, str) or not role.strip():
        raise UsageError(f"message {number} has no role", 'give it one, such as "role": "user"')
    known = role_of(role.strip())
    speaker = name.strip() if isinstance(name, str) and name.strip() else None
    text = _text(item, number)
    if known:
        return Message(known, text, _time(item, number, zone), speaker)
    return Message("person", text, _time(item, number, zone), speaker or role.strip())


def _text(item: Mapping[str, object], number: int) -> str:
    content = item.get("content", item.get("text"))
    if isinstance(content, str):
        return content
    if content is None:
        calls = item.get("tool_calls")
        if not isinstance(calls, list) or not calls:
            raise UsageError(f"message {number} has no content", 'give it one, such as "content": "…"')
        return _calls(calls)
    if isinstance(content, list):
        return "\n\n".join(text for part in content if (text := _part(part)))
    raise UsageError(f"message {number} has content that is no text", "give a text, or a list of parts")


def _part(part: object) -> str:
    if isinstance(part, str):
        return part
    text = part.get("text") if isinstance(part, Mapping) else None
    return text if isinstance(text, str) else ""


def _calls(calls: list[object]) -> str:
    functions = (call.get("function") for call in calls if isinstance(call, Mapping))
    names = (function.get("name") for function in functions if isinstance(function, Mapping))
    return "\n\n".join(f"> [!tool]- {name}" for name in names if name)


def _time(item: Mapping[str, object], number: int, zone: tzinfo) -> datetime | None:
    given = next((item[key] for key in _TIMES if item.get(key) is not None), None)
    if given is None:
        return None
    at = _instant(given, zone)
    if at is None:
        raise UsageError(
            f"message {number} has a time that cannot be read: {given!r:.40}",
            "write it as 2026-04-06T09:14:23, with an offset where the zone is another",
        )
    return at


def _instant(given: object, zone: tzinfo) -> datetime | None:
    if isinstance(given, datetime):
        return given if given.tzinfo else given.replace(tzinfo=zone)
    if isinstance(given, str):
        return read_moment(given, zone)
    if isinstance(given, int | float) and not isinstance(given, bool):
        try:
            return datetime.fromtimestamp(given, UTC)
        except (ValueError, OverflowError, OSError):
            return None
    return None
