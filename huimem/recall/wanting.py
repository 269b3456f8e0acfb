"""A Query → the words to look for, with how far each is trusted.

The question's own words count fully. What may have been meant by a mistyped one counts less, and so do
the words of earlier messages, the latest of which counts most: the prompt first, as MemHawk has it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from huimem.index.tokens import asked, pairs_for, query_terms
from huimem.recall.glossary import translations
from huimem.recall.intent import need_of_history, without_asides, without_now, without_request
from huimem.recall.spelling import Frequency, corrections, plain_words
from huimem.recall.wording import needed as needed_by
from huimem.records import Excluded, Query

# Shares of the prompt and of the messages before it, and what each message counts beside the next one.
PROMPT, DECAY = 0.8, 0.7
A_FEW = 4  # words
REMEMBERED, LONGEST = 6, 2_000  # messages of the history that are looked at, and characters of each
ASIDE = 0.2  # trust in a word that is named to be told apart, or only asks for what holds now


@dataclass(frozen=True, slots=True)
class Wanting:
    """Terms with their trust in (0, 1], parallel; `spoken` gives each the word it was asked as.

    `stands_for` gives a translation the question's own terms that it says; the question has `length` terms
    of its own. Every record that answers holds all of `needed`: for each phrase the words that it cannot be
    without.
    """

    terms: tuple[str, ...]
    trust: tuple[float, ...]
    spoken: Mapping[str, str]
    needed: tuple[tuple[str, ...], ...] = ()
    phrases: tuple[str, ...] = ()
    excluded: tuple[Excluded, ...] = ()
    stands_for: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    length: int = 0


def wanted(query: Query, frequency: Frequency, translated: float = 0.0) -> Wanting:
    """What is looked for. `frequency` gives in how many passages of those asked each term stands.

    `translated` is the trust in a word's translation, 0 looks for none.
    """
    own = set(query.terms)
    spoken = {term: word for term, word in asked(query.text).items() if term in own}
    spoken |= {term: term for term in query.terms if term not in spoken}
    meant = set(query_terms(without_now(without_asides(without_request(query.text)))))
    trust = {term: 1.0 if term in meant or not meant else ASIDE for term in spoken}
    for term, likely in corrections(plain_words(query.text), frequency).items():
        if term in trust and not frequency([term])[0]:
            del trust[term]  # nothing holds it; it would only count against what does
        for one in likely:
            if one.term not in trust:
                trust[one.term] = one.weight
                spoken[one.term] = f"{spoken.get(term, term)}→{one.term}"
    stands_for: dict[str, tuple[str, ...]] = {}
    translated_words = list(said_otherwise(list(trust), frequency)) if translated else []
    spoken = {pair: spoken[term] for term in trust for pair in pairs_for(term)} | spoken
    trust = by_pairs(trust)
    for words, term, share in translated_words:
        if term not in trust:
            words = tuple(by_pairs(dict.fromkeys(words, 1.0)))
            trust[term] = translated * share * min(trust[word] for word in words)
            spoken[term] = f"{' '.join(dict.fromkeys(spoken[word] for word in words))}→{term}"
            stands_for[term] = words
    for term, weight in remembered(query, frequency).items():
        if term not in trust:
            trust[term], spoken[term] = weight, term
    needed = tuple(terms for phrase in query.phrases if (terms := needed_by(phrase)))
    marks = (query.phrases, query.excluded, stands_for, len(own))
    return Wanting(tuple(trust), tuple(trust.values()), spoken, needed, *marks)


def by_pairs(trust: Mapping[str, float]) -> dict[str, float]:
    """Terms with their trust, where the pairs of an unknown Chinese word stand for it and share its trust."""
    shared: dict[str, float] = {}
    for term, weight in trust.items():
        pairs = pairs_for(term)
        for one in pairs or (term,):
            shared[one] = max(shared.get(one, 0.0), weight / max(len(pairs), 1))
    return shared


def said_otherwise(
    terms: Sequence[str], frequency: Frequency
) -> Iterator[tuple[tuple[str, ...], str, float]]:
    """For terms of a question the terms of their translations that anything holds.

    Each with what it stands for and its share of the translation, which may be of several words.
    """
    found = [
        (own, tuple(by_pairs(dict.fromkeys(one, 1.0))))
        for own, others in translations(terms).items()
        for one in others
    ]
    listed = list(dict.fromkeys(term for _, one in found for term in one))
    held = dict(zip(listed, frequency(listed), strict=True)) if listed else {}
    for own, one in found:
        if all(held[term] for term in one):
            yield from ((own, term, 1 / len(one)) for term in one)


def remembered(query: Query, frequency: Frequency) -> dict[str, float]:
    """The terms of the messages before the question that anything holds, with their trust.

    A message of many words has no more weight than one of as many as the question has, or a few.
    """
    found: dict[str, float] = {}
    for text, weight in told_before(query):
        terms = by_pairs(dict.fromkeys(query_terms(text), 1.0))
        known = [term for term, n in zip(terms, frequency([*terms]), strict=True) if n]
        fair = min(1.0, max(len(query.terms), A_FEW) / max(sum(terms[term] for term in known), 1))
        for term in known:
            found[term] = max(found.get(term, 0.0), weight / PROMPT * fair * terms[term])
    return found


def read_with(query: Query) -> str:
    """The question as another must read it: behind the last message where it cannot stand alone."""
    if query.history and need_of_history(query.text, len(query.terms)) == 1:
        return f"{query.history[-1][-LONGEST:]}\n{query.text}"
    return query.text


def history_weights(query: Query) -> tuple[float, ...]:
    """The share of each message of the history beside the question's own: all together at most 1 − `PROMPT`.

    Parallel to `query.history`, oldest first; 0 for what lies too far back, or is of another topic.
    """
    need = need_of_history(query.text, len(query.terms))
    decays = [DECAY**back if back < REMEMBERED else 0.0 for back in range(len(query.history))]
    total = sum(decays) or 1.0
    return tuple(need * (1 - PROMPT) * decay / total for decay in reversed(decays))


def told_before(query: Query) -> list[tuple[str, float]]:
    """The messages before the question that are looked for beside its own words, with their shares.

    Of a long one its end, where what comes next is most likely spoken of.
    """
    weighed = zip(query.history, history_weights(query), strict=True)
    return [(text[-LONGEST:], share) for text, share in weighed if share]
