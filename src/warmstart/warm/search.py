"""What a message is about: a lexical search over short texts, and a guess at the kind of work.

The search is BM25 in which a word is there or not. Words are folded and cut to their stem the
simple way, so that "tests failing" meets "failed test". Text without spaces (Chinese, Japanese) is
searched by pairs of characters. Which texts have a term is found out when the term is asked for and
then kept, so that one question to a large library is cheap and the next ones are cheaper.

The kinds of work are those a template can have (``code``, ``file``, ``research``, ``terminal``,
``browser``); a message that does not say is of the kind the user's sessions mostly were, else
``mixed``, which fits everything.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from functools import cache

K1 = 1.2
B = 0.5
"""How strongly length counts against a text; the texts here are all short."""
MIN_STEM = 4
MAX_KNOWN_WORDS = 50_000
UNSPACED = "\u2e80"
"""From this code point on, scripts write words without spaces."""
_ASCII_WORDS = re.compile(r"[^\W_]+", re.ASCII)
_CAMEL = re.compile(r"([a-z0-9])([A-Z])")
_ENDINGS = ("ations", "ation", "ings", "ing", "ies", "ers", "ed", "er", "es", "ly", "s", "e", "y")
_COMMON = """
    a about after all also am an and any are as at be been before but by can could did do does for
    from get had has have help he her here him his how i if in into is it its just let like look
    make me my need no not now of on or our out please she should so some than that the their them
    then there these they this those to too up us use using very want was we were what when where
    which who why will with would you your
"""
STOP_WORDS = frozenset(_COMMON.split())


class _Terms(dict[str, str]):
    """The term of each word met so far; empty for words that tell nothing."""

    def __missing__(self, word: str) -> str:
        if len(self) >= MAX_KNOWN_WORDS:
            self.clear()
        term = "" if len(word) < 2 or word in STOP_WORDS else _stem(word)
        self[word] = term
        return term


_TERMS = _Terms()


def list_terms(text: str) -> list[str]:
    """The terms of a text that distinguish it from others, in order, repeats included."""
    if text.isascii():
        return [term for word in _ASCII_WORDS.findall(_lower(text)) if (term := _TERMS[word])]
    return [
        term
        for word in _any_words().findall(_lower(text))
        for term in (_list_pairs(word) if _is_unspaced(word) else (_TERMS[word],))
        if term
    ]


@cache
def _any_words() -> re.Pattern[str]:
    """Words of any script; compiled on first use, its wide ranges take five milliseconds."""
    return re.compile(r"(?:(?![\W_])[\u2e80-\uffff])+|[^\W_\u2e80-\uffff]+")


def _lower(text: str) -> str:
    """The text in lower case, with camel case split into words."""
    return (_CAMEL.sub(r"\1 \2", text) if _CAMEL.search(text) else text).lower()


def _is_unspaced(word: str) -> bool:
    return word[0] >= UNSPACED


def _list_pairs(word: str) -> list[str]:
    """A run of characters without spaces, in pairs."""
    return [word[at : at + 2] for at in range(len(word) - 1)] or [word]


def _stem(word: str) -> str:
    """The word without its ending; always a prefix of the word."""
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= MIN_STEM - 1:
            stem = word[: -len(ending)]
            # fail, failed, failing; stop, stopped, stopping
            return stem[:-1] if len(stem) > MIN_STEM - 1 and stem[-1] == stem[-2] else stem
    return word


class Bm25:
    """Texts that can be searched; each is known by its place."""

    __slots__ = ("_holders", "_lowered", "_norms", "_texts")

    def __init__(self, texts: Iterable[str]) -> None:
        self._texts = list(texts)
        self._lowered = [text.lower() for text in self._texts]
        for place, (text, lowered) in enumerate(zip(self._texts, self._lowered, strict=True)):
            if len(text) != len(lowered):
                # A few letters have no single small one; places must agree, so both are small.
                self._texts[place] = self._lowered[place] = _lower(text)
        mean = sum(map(len, self._texts)) / (len(self._texts) or 1) or 1.0
        self._norms = [(K1 + 1) / (1 + K1 * (1 - B + B * len(t) / mean)) for t in self._texts]
        self._holders: dict[str, tuple[int, ...]] = {}

    def score(self, terms: Iterable[str]) -> dict[int, float]:
        """How well texts match, only those that match at all.

        A term that one text alone has adds about one, whatever the size of the library; a term
        that all have adds little more than half.
        """
        number = len(self._texts)
        rarest = _rarity(1, number)
        scores: dict[int, float] = {}
        for term in dict.fromkeys(terms):
            holders = self._find_holders(term)
            weight = 0.5 + 0.5 * _rarity(len(holders), number) / rarest
            for place in holders:
                scores[place] = scores.get(place, 0.0) + weight * self._norms[place]
        return scores

    def _find_holders(self, term: str) -> tuple[int, ...]:
        """The places of texts that have a term; a plain substring search rules most out."""
        known = self._holders.get(term)
        if known is None:
            maybe = [place for place, text in enumerate(self._lowered) if term in text]
            if not _is_unspaced(term):
                texts, lowered = self._texts, self._lowered
                maybe = [p for p in maybe if _holds(texts[p], lowered[p], term)]
            if len(self._holders) >= MAX_KNOWN_WORDS:
                self._holders.clear()
            known = self._holders[term] = tuple(maybe)
        return known


def _holds(text: str, lowered: str, term: str) -> bool:
    """Whether a word of the text has the term as its stem.

    A stem is a beginning of its word, so only words that begin with it are looked at. Going over
    the whole text with a pattern costs ten times as much.
    """
    at = lowered.find(term)
    while at >= 0:
        if at == 0 or _is_edge(text, at):
            end = at + len(term)
            while end < len(text) and not _is_edge(text, end) and text[end].isalnum():
                end += 1
            if _TERMS[lowered[at:end]] == term:
                return True
        at = lowered.find(term, at + 1)
    return False


def _is_edge(text: str, at: int) -> bool:
    """Whether a word may begin at a place: what ``list_terms`` finds by its patterns."""
    before, here = text[at - 1], text[at]
    if not before.isalnum() or before >= UNSPACED or here >= UNSPACED:
        return True
    return "A" <= here <= "Z" and ("a" <= before <= "z" or "0" <= before <= "9")


def _rarity(holders: int, number: int) -> float:
    return math.log(1 + (number - holders + 0.5) / (holders + 0.5))


MIXED = "mixed"
CLUES = {
    "code": "bug function class method refactor implement compile typescript python javascript"
    " rust golang script algorithm exception traceback type lint query sql notebook calculate",
    "file": "file folder directory rename edit write read replace document readme config yaml"
    " json csv markdown line paragraph section",
    "research": "research search find paper article compare summarize summarise latest news source"
    " investigate information documentation web explain",
    "terminal": "run install build deploy server docker container kubernetes service log disk"
    " process command shell bash git branch commit test ci package upgrade restart",
    "browser": "browser click page website login form screenshot tab navigate scroll button url"
    " checkout booking",
}
MIN_LEAD = 1
"""How many more clues the first kind must have than the second."""
_KINDS_BY_TERM: dict[str, set[str]] = {}
for _kind, _words in CLUES.items():
    for _term in list_terms(_words):
        _KINDS_BY_TERM.setdefault(_term, set()).add(_kind)


def guess_task_type(message: str, history: Mapping[str, int] | None = None) -> str:
    """The kind of work, from the message, else from how many past sessions were of each kind."""
    votes = dict.fromkeys(CLUES, 0)
    for term in dict.fromkeys(list_terms(message)):
        for kind in _KINDS_BY_TERM.get(term, ()):
            votes[kind] += 1
    ranked = sorted(votes, key=lambda kind: -votes[kind])
    if votes[ranked[0]] >= votes[ranked[1]] + MIN_LEAD:
        return ranked[0]
    known = {kind: count for kind, count in (history or {}).items() if kind in CLUES}
    total = sum((history or {}).values())
    usual = max(sorted(known), key=known.__getitem__, default=MIXED)
    return usual if known and known[usual] * 2 > total else MIXED
