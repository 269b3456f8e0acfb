"""What tests of imports are made of: exports written here, a vault that they come into, its bytes."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import BinaryIO, Literal

from huimem.config import load
from huimem.importers.bringing import Report, bring_in
from huimem.importers.options import Options
from huimem.vault.intake import Intake
from huimem.vault.ledger import Ledger
from huimem.vault.vault import Vault

Source = Literal["chatgpt", "claude", "claude-code", "openai", "undated"]
BEGIN = datetime(2026, 4, 6, 1, 14, 23, tzinfo=UTC)  # 09:14:23 in Shanghai, a Monday of week 15
NOW = datetime(2026, 4, 15, 2, 30, tzinfo=UTC)


@dataclass(frozen=True)
class Said:
    """A message of an export; `after`: seconds since BEGIN."""

    role: str
    text: str
    after: int
    id: str

    @property
    def at(self) -> datetime:
        return BEGIN + timedelta(seconds=self.after)


def talk(*texts: str, first: int = 0, step: int = 7) -> list[Said]:
    """User and assistant in turn, a few seconds apart."""
    roles = ("user", "assistant")
    return [Said(roles[n % 2], text, first + n * step, f"m{n}") for n, text in enumerate(texts)]


@dataclass(frozen=True)
class Talk:
    """A conversation, to be written as any program's export."""

    messages: Sequence[Said]
    id: str = "c-1"
    title: str = "Trading days"

    def written(self, source: Source) -> object:
        """The JSON value of it; for claude-code, a list of lines."""
        return _WRITERS[source](self)

    def grown(self, *texts: str, first: int = 3600) -> Talk:
        """With further messages, later ones."""
        more = [replace(m, id=f"n{m.after}") for m in talk(*texts, first=first)]
        return replace(self, messages=[*self.messages, *more])


def _chatgpt(given: Talk) -> object:
    nodes: dict[str, object] = {"root": {"id": "root", "message": None, "parent": None, "children": []}}
    parent = "root"
    for said in given.messages:
        nodes[said.id] = {"id": said.id, "parent": parent, "children": [], "message": chatgpt_message(said)}
        parent = said.id
    return {
        "conversation_id": given.id,
        "title": given.title,
        "create_time": BEGIN.timestamp(),
        "default_model_slug": "gpt-5",
        "mapping": nodes,
        "current_node": parent,
    }


def chatgpt_message(said: Said) -> dict[str, object]:
    return {
        "id": said.id,
        "author": {"role": said.role},
        "create_time": said.at.timestamp(),
        "content": {"content_type": "text", "parts": [said.text]},
    }


def _claude(given: Talk) -> object:
    senders = {"user": "human", "assistant": "assistant"}
    messages = [
        {
            "uuid": said.id,
            "sender": senders[said.role],
            "created_at": said.at.isoformat(),
            "content": [{"type": "text", "text": said.text}],
        }
        for said in given.messages
    ]
    return {"uuid": given.id, "name": given.title, "chat_messages": messages}


def _claude_code(given: Talk) -> list[object]:
    lines: list[object] = []
    parent = None
    for said in given.messages:
        message: dict[str, object] = {"role": said.role, "content": said.text}
        if said.role == "assistant":
            message |= {"id": f"msg-{said.id}", "content": [{"type": "text", "text": said.text}]}
        lines.append(
            {
                "type": said.role,
                "uuid": f"{given.id}-{said.id}",
                "parentUuid": parent,
                "sessionId": given.id,
                "timestamp": said.at.isoformat(),
                "message": message,
            }
        )
        parent = f"{given.id}-{said.id}"
    return lines


def _openai(given: Talk, *, dated: bool = True) -> object:
    messages = [
        {"role": said.role, "content": said.text, **({"created_at": said.at.timestamp()} if dated else {})}
        for said in given.messages
    ]
    return {"id": given.id, "title": given.title, "messages": messages}


_WRITERS = {
    "chatgpt": _chatgpt,
    "claude": _claude,
    "claude-code": _claude_code,
    "openai": _openai,
    "undated": lambda given: _openai(given, dated=False),
}


def export(path: Path, source: Source, talks: Iterable[Talk]) -> Path:
    """Write an export of these conversations; claude-code: `path` is a folder."""
    if source == "claude-code":
        path.mkdir(parents=True, exist_ok=True)
        for each in talks:
            written = each.written(source)
            assert isinstance(written, list)
            text = "".join(f"{json.dumps(line, ensure_ascii=False)}\n" for line in written)
            (path / f"{each.id}.jsonl").write_text(text, encoding="utf-8")
        return path
    path.parent.mkdir(parents=True, exist_ok=True)
    values = [each.written(source) for each in talks]
    path.write_text(json.dumps(values, ensure_ascii=False), encoding="utf-8")
    return path


def made_vault(root: Path, zone: str = "Asia/Shanghai") -> Path:
    root.mkdir(parents=True, exist_ok=True)
    (root / "huimem.toml").write_text(f'timezone = "{zone}"\n', encoding="utf-8")
    return root


def bring(
    root: Path,
    source: Path,
    *,
    namespace: str = "",
    name: str = "auto",
    options: Options | None = None,
    write: bool = True,
    again: bool = False,
    stdin: BinaryIO | None = None,
) -> Report:
    """One import, as the command makes it."""
    vault = Vault.open(root, load(root))
    state = vault.prepare("locks").parent if write else vault.state
    with Ledger(state, keep=write) as ledger:
        intake = Intake(vault, namespace, ledger, NOW, write, again)
        return bring_in(source, intake, options or Options(vault.zone), name=name, stdin=stdin)


def forget_ledger(root: Path) -> None:
    """Lose what only the state folder knows."""
    for path in (root / ".huimem").glob("imports.db*"):
        path.unlink()


def sessions(root: Path) -> list[Path]:
    return sorted(
        path for path in root.rglob("*.md") if ".huimem" not in path.parts and "feedback" not in path.parts
    )


def only_session(root: Path) -> Path:
    (path,) = sessions(root)
    return path


def said_in(root: Path, path: Path) -> list[tuple[str, str]]:
    """Role and text of every message of a session, as huimem reads it."""
    vault = Vault.open(root, load(root))
    session = vault.session(path.relative_to(root).as_posix())
    return [(message.role, message.text) for message in session.messages if message.role != "note"]


def texts_in(root: Path) -> list[str]:
    """The text of every message in the vault, by file and in order."""
    return [text for path in sessions(root) for _, text in said_in(root, path)]


def outcome(report: Report) -> dict[str, int]:
    """What became of the conversations and messages: counts that are not 0, skips among them."""
    counts = {"added": report.added, "grown": report.grown, "edited": report.edited}
    counts |= {"gone": report.deleted, "out": report.forgotten, "skipped": len(report.skipped)}
    return {name: count for name, count in {**report.outcomes, **counts}.items() if count}
