"""Any Python string → a string that every model's tokenizer takes.

In: text as it stands in a file, however broken. Out: valid Unicode without NUL, which would end a C string.
"""

from __future__ import annotations


def well_formed(text: str, limit: int) -> str:
    """The first `limit` characters; a blank for each NUL, U+FFFD for each half of a torn surrogate pair."""
    text = text[:limit].replace("\0", " ")
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text
