"""A text → the script that most of it is written in.

An embedder puts texts of one language near each other whatever they say; the script is what can be
told of a language without a model. Latin letters stand for all their languages.
"""

from __future__ import annotations

import re

LATIN, HAN = "latin", "han"
# A character of these says as much as several letters: a Chinese sentence full of English names is
# Chinese. Kana are found in every Japanese text, beside far more Han.
_SCRIPTS = {
    HAN: (re.compile("[\u3400-\u9fff\uf900-\ufaff]"), 4),
    "kana": (re.compile("[\u3040-\u30ff]"), 8),
    "hangul": (re.compile("[\uac00-\ud7af\u1100-\u11ff]"), 4),
    "cyrillic": (re.compile("[\u0400-\u052f]"), 1),
    "greek": (re.compile("[\u0370-\u03ff]"), 1),
    "arabic": (re.compile("[\u0600-\u06ff\u0750-\u077f]"), 1),
    "hebrew": (re.compile("[\u0590-\u05ff]"), 1),
    "indic": (re.compile("[\u0900-\u0dff]"), 1),
    "thai": (re.compile("[\u0e00-\u0e7f]"), 1),
}
_LATIN = re.compile("[A-Za-z\u00c0-\u024f]")


def script(text: str) -> str:
    """The name of a script; `LATIN` for a text without letters."""
    if text.isascii():
        return LATIN
    weights = {name: len(pattern.findall(text)) * weight for name, (pattern, weight) in _SCRIPTS.items()}
    name = max(weights, key=weights.__getitem__)
    return name if weights[name] > len(_LATIN.findall(text)) else LATIN
