"""Text → how much of it asks.

In: a passage. Out: the share of its characters that stands in questions. A question answers nobody: a
passage that mostly asks what somebody asks too is near in words and far from the answer.
"""

from __future__ import annotations

import re

from huimem.index.sentences import sentences, size
from huimem.markup import fences, inside

SHORT = 20  # units: without a question mark, a longer line that begins with "what" or "how" tells something

_MARK = re.compile(r"[?？][^\w\n]*\Z")  # closing quotes and smiles may follow
_ADDRESS = re.compile(r"://\S*\Z")
_PARTICLE = re.compile(r"(?:吗|呢|么)[。.!！~～…”」』）)]*\Z")
_NO_PARTICLE = re.compile(
    r"[这那要多]么\W*\Z|(?:没有?|不知道|不管|无论|随便)\w{0,4}[什怎]么\W*\Z|着呢\W*\Z|正\w+呢\W*\Z"
)
# The search runs from line to line by their breaks. "When I was young" does not ask, "when was I" does.
_ASIDE = r"(?:(?:hey|hi|ok|okay|so|and|but|well|please)[, ]+)?"
_VERB = r"(?:is|are|was|were|am|do|does|did|can|could|will|would|should|has|have|had)(?:n['’]t)?"
_WHO = r"(?:i|you|we|they|he|she|it|there|this|that|these|those|the|my|your|our|his|her|their|any\w*|some\w*)"
_OPENS = re.compile(
    # What a question may begin with, at first glance.
    rf"\n(?=[abcdhiopsw你我他她那对请所为什怎如哪谁多几何是有能可会要]){_ASIDE}(?:"
    r"(?:why|which|whose|who|whom|what)['’]?s?\b(?! an? )"
    rf"|(?:when|where)(?:['’]s| {_VERB})\b"
    rf"|how (?:{_VERB}|to|many|much|long|old|often|far|come|about|big|tall|soon|late)\b"
    rf"|(?:do|have)(?:n['’]t)? (?:i|you|we|they)\b|(?!do|have){_VERB} {_WHO}\b|(?:does|had) {_WHO}\b"
    r"|(?:那么?|对了|请问|所以)?[，,]?(?:[你我他她]们?)?"
    r"(?:为什么|为何|什么时候|什么|怎[么样]|如何|哪|谁|多少|多[久长远大]|几[个点号天月年时次]|何时|是否|是不是|有没有|能不能|可不可以|会不会|要不要)"
    r"(?!都|也|不重要))",
    re.IGNORECASE,
)
_STOPPED = re.compile(r"[.。!！?？;；…:：]\W*\Z")


def asking(text: str) -> float:
    """The share of the characters of `text` in questions, from 0 to 1; blanks between sentences left out.

    A question ends in a question mark, or in 吗, 呢 or 么; or it is a short line without a stop that
    begins as questions do. Code, quoted lines and addresses do not ask.
    """
    if not _may_ask(text):
        return 0.0
    code = fences(text) if "```" in text or "~~~" in text else []
    asked = total = 0
    for start, end in sentences(text):
        sentence = text[start:end].strip()
        if len(sentence) < 4 and not any(map(str.isalnum, sentence)):  # a smile, a dash
            continue
        total += len(sentence)
        if _asks(text, start, sentence) and not inside(code, start):
            asked += len(sentence)
    return asked / total if total else 0.0


def _may_ask(text: str) -> bool:
    """Whether anything in `text` could make a question; most passages have nothing of the kind."""
    if "?" in text:
        return True
    if not text.isascii() and ("？" in text or "吗" in text or "呢" in text or "么" in text):
        return True
    return _OPENS.search("\n" + text) is not None


def _asks(text: str, start: int, sentence: str) -> bool:
    marked = ("?" in sentence or "？" in sentence) and _MARK.search(sentence) is not None
    if not (marked or _asks_by_words(text, start, sentence)):
        return False
    line = text[text.rfind("\n", 0, start) + 1 : start] + sentence
    if line.lstrip().startswith(">"):
        return False
    return not marked or not (sentence.count("`") % 2 or _ADDRESS.search(sentence))


def _asks_by_words(text: str, start: int, sentence: str) -> bool:
    if not sentence.isascii() and _PARTICLE.search(sentence):
        return _NO_PARTICLE.search(sentence) is None
    if (start and text[start - 1] != "\n") or _STOPPED.search(sentence):
        return False
    return _OPENS.match("\n" + sentence) is not None and size(sentence) <= SHORT
