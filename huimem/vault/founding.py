"""The settings that a new vault begins with, as the text of its `huimem.toml`.

In: a zone and patterns. Out: TOML that a person can read and go on with.
"""

from __future__ import annotations

import json
from collections.abc import Sequence


def settings_text(tz: str | None, include: Sequence[str]) -> str:
    """The text of a new vault's `huimem.toml`."""
    zone = f"timezone = {json.dumps(tz)}" if tz else '# timezone = "Asia/Shanghai"'
    lines = [
        "# Settings that travel with this vault. All keys: huimem config show",
        "",
        "# The time zone of the times in these files; unset: that of the computer.",
        zone,
    ]
    include = [glob for glob in include if glob.strip()]
    if include:
        globs = ", ".join(json.dumps(glob, ensure_ascii=False) for glob in include)
        lines += [
            "",
            "# Only these files are part of the vault (gitignore patterns).",
            f"include = [{globs}]",
        ]
    return "\n".join(lines) + "\n"
