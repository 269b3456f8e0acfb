"""What of a question is not said by the one who asks: quotations, titles, code, addresses, paths."""

from __future__ import annotations

import re

HIDDEN = "\x00"
_ANY = re.compile(r"[`{“「『《«\"'@/]|www\.")
# What such a thing holds for certain, and its form. Where that can be, a form begins with a character of
# its own and looks back from behind it, since such a one is found several times as fast. Quoted text is
# bounded and holds no mark that opens another, so that a lone quotation mark costs no more than its
# neighbourhood.
_FORMS = tuple(
    (mark, re.compile(form, re.ASCII | re.DOTALL))
    for mark, form in (
        ("```", r"```.*?(?:```|\Z)"),
        ("`", r"`[^`\n]{1,400}`"),
        ('{"', r'\{"[^{}]{0,400}\}'),
        ("“", r"“[^“”\n]{0,400}”"),
        ("「", r"「[^「」\n]{0,400}」"),
        ("『", r"『[^『』\n]{0,400}』"),
        ("《", r"《[^《》\n]{0,100}》"),
        ("«", r"«[^«»\n]{0,400}»"),
        ('"', r'"(?<!\w")[^"\n]{0,400}"(?!\w)'),
        ("'", r"'(?<!\w')(?!\d0s)[^'\n]{1,200}'(?!\w)"),
        ("://", r"\b(?:https?|ftp|file)://\S+"),
        ("www.", r"\bwww\.\S+"),
        ("@", r"[\w.+-]{1,64}@[\w-]+\.[\w.-]+"),
        ("/", r"(?<![\w/.])(?:~|\.{1,2})?/[\w.-]+(?:/[\w.-]+)+"),
    )
)


_INNER = re.compile(r"/[\w.-]+/", re.ASCII)  # of every path


def hide(text: str) -> str:
    """The text with what is not meant as a time made unreadable; every character keeps its place."""
    if not _ANY.search(text):
        return text
    for mark, form in _FORMS:
        if mark in text and (mark != "/" or _INNER.search(text)):
            hidden = form.sub(_hidden, text)
            if hidden != text and mark in hidden:  # what held a quotation itself
                hidden = form.sub(_hidden, hidden)
            text = hidden
    return text


def _hidden(found: re.Match[str]) -> str:
    return HIDDEN * len(found[0])
