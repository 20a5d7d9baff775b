"""What a person typed into the search, understood once for every database.

Any text is a query. Words are all wanted; ``"quoted words"`` and ``foo.py`` want their words side
by side; ``word*`` wants words that begin so; OR and NOT work between two terms and are plain words
anywhere else (AND says what is meant anyway). What holds no word finds nothing.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import NamedTuple

TERM = re.compile(r'"([^"]*)"(\*?)|(\S+)')
WORD = re.compile(r"[^\W_]+")
OPERATORS = frozenset({"AND", "OR", "NOT"})
UNSPACED = re.compile(
    "[\u0e00-\u0eff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff]"
)
"""Scripts written without spaces, where an index of words knows only whole runs."""
MAX_TERMS = 40
MAX_QUERY_LENGTH = 2000
MAX_WORD_LENGTH = 500
"""PostgreSQL takes words of 2,046 bytes; the beginning of a longer one is looked for."""
SNIPPET_BEFORE, SNIPPET_AFTER = 60, 140
OPEN, CLOSE, CUT = ">>>", "<<<", "..."


class Term(NamedTuple):
    """Words that stand side by side."""

    words: tuple[str, ...]
    is_prefix: bool = False
    is_negated: bool = False

    @property
    def pattern(self) -> re.Pattern[str]:
        """Where the term occurs in a text."""
        body = r"[\W_]+".join(re.escape(word) for word in self.words)
        if any(UNSPACED.search(word) for word in self.words):
            return re.compile(body, re.IGNORECASE)
        end = "" if self.is_prefix else r"(?![^\W_])"
        return re.compile(rf"(?<![^\W_]){body}{end}", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Query:
    """Alternatives, each a group of terms that must all hold."""

    groups: tuple[tuple[Term, ...], ...]

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to look for."""
        return not self.groups

    @property
    def needs_scan(self) -> bool:
        """Whether an index of words could miss it."""
        terms = [term for group in self.groups for term in group]
        return any(UNSPACED.search(word) for term in terms for word in term.words)

    def matches(self, text: str) -> bool:
        """Whether the text is a hit."""
        return any(
            all(bool(term.pattern.search(text)) is not term.is_negated for term in group)
            for group in self.groups
        )

    def to_fts5(self) -> str:
        """As an FTS5 expression; every word quoted, so that none is taken for syntax."""
        return " OR ".join(f"({_group_to_fts5(group)})" for group in self.groups)

    def to_tsquery(self) -> str:
        """As a tsquery."""
        return " | ".join(
            "(" + " & ".join(_term_to_tsquery(term) for term in group) + ")"
            for group in self.groups
        )

    def cut_snippet(self, text: str) -> str:
        """The text around its first hit, the hit marked."""
        wanted = [term for group in self.groups for term in group if not term.is_negated]
        found = [hit for term in wanted if (hit := term.pattern.search(text))]
        if not found:
            return text[: SNIPPET_BEFORE + SNIPPET_AFTER]
        hit = min(found, key=lambda hit: hit.start())
        start, end = max(hit.start() - SNIPPET_BEFORE, 0), hit.end() + SNIPPET_AFTER
        head = (CUT if start else "") + text[start : hit.start()]
        tail = text[hit.end() : end] + (CUT if end < len(text) else "")
        return f"{head}{OPEN}{hit.group()}{CLOSE}{tail}"


def parse_query(text: str) -> Query:
    """The query in any text a person or a model may type."""
    found = TERM.finditer(text[:MAX_QUERY_LENGTH])
    pieces = [piece for one in found if (piece := _piece(one)) is not None]
    groups: list[list[Term]] = [[]]
    negated = False
    for index, piece in enumerate(pieces[:MAX_TERMS]):
        if isinstance(piece, str) and 0 < index < len(pieces) - 1 and groups[-1]:
            negated = piece == "NOT"
            if piece == "OR":
                groups.append([])
            continue
        term = Term((piece.lower(),)) if isinstance(piece, str) else piece
        groups[-1].append(term._replace(is_negated=negated))
        negated = False
    return Query(tuple(tuple(group) for group in groups if group))


def _piece(found: re.Match[str]) -> Term | str | None:
    """A term, the name of an operator, or None where there is no word."""
    quoted, star, bare = found.groups()
    if bare in OPERATORS:
        return str(bare)
    words = [word.lower() for word in WORD.findall(quoted if bare is None else bare)]
    ends_open = star == "*" if bare is None else bare.endswith("*")
    for index, word in enumerate(words):
        if len(word) > MAX_WORD_LENGTH:
            del words[index + 1 :]
            words[index], ends_open = word[:MAX_WORD_LENGTH], True
            break
    return Term(tuple(words), is_prefix=ends_open) if words else None


def _group_to_fts5(group: tuple[Term, ...]) -> str:
    parts = [_term_to_fts5(term) for term in group if not term.is_negated]
    without = [f" NOT {_term_to_fts5(term)}" for term in group if term.is_negated]
    return f"({' AND '.join(parts)})" + "".join(without)


def _term_to_fts5(term: Term) -> str:
    return '"' + " ".join(term.words) + '"' + (" *" if term.is_prefix else "")


def _term_to_tsquery(term: Term) -> str:
    words = [f"'{word}'" for word in term.words]
    if term.is_prefix:
        words[-1] += ":*"
    joined = f"({' <-> '.join(words)})"
    return f"!{joined}" if term.is_negated else joined
