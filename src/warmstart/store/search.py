"""Finding messages by their words.

Any text is a query. Words must all occur; ``"quoted words"`` and ``foo.py`` must occur side by
side; ``word*`` matches words that begin so; OR and NOT work between two terms and are plain words
anywhere else. A text without a word finds nothing. It is parsed once, for both databases.

SQLite's FTS5 index is derived data, filled in batches after the fact: no append waits for it, no
failure of it reaches a writer, and what it does not hold yet is scanned, so a search is complete
at every moment and on a read-only handle too. PostgreSQL keeps a tsvector in the row. Where an
index cannot answer (no FTS5, a damaged index, scripts without spaces) all messages are scanned.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, NamedTuple

from warmstart.store.backend import (
    Backend,
    Clause,
    Dialect,
    OpenStore,
    Row,
    Value,
    find_one,
    join_clauses,
    one_of,
    read_meta,
    write_meta,
)
from warmstart.store.encoding import decode_message, decode_text
from warmstart.store.errors import StoreError

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
WATERMARK = "search_indexed_through"
BATCH = 512
MAX_CONTEXT_LENGTH = 200
CREATE_INDEX = """CREATE VIRTUAL TABLE IF NOT EXISTS message_words USING fts5(
    body, content = 'message_text', content_rowid = 'id',
    tokenize = "unicode61 remove_diacritics 0")"""
FILL = """INSERT INTO message_words (rowid, body)
    SELECT id, body FROM message_text WHERE id > ? AND id <= ?"""
UNFILL = """INSERT INTO message_words (message_words, rowid, body)
    SELECT 'delete', id, body FROM message_text WHERE {where} AND id <= ?"""
HIT = """m.id, m.session_id, m.role, m.content, m.search_text, m.tool_name, m.timestamp,
    s.source, s.model, s.started_at AS session_started"""
FROM = "FROM messages m JOIN sessions s ON s.id = m.session_id"
ORDERS = {"newest": "m.id DESC", "oldest": "m.id"}
AROUND = """SELECT role, content FROM messages WHERE session_id = ? AND active = 1 AND id {side} ?
    ORDER BY id {order} LIMIT 1"""


class SearchRequest(NamedTuple):
    """A parsed query with its filters, for either database."""

    query: Query
    where: Clause
    sort: str | None
    wanted: int


def search_messages(
    db: OpenStore,
    query: str,
    source_filter: list[str] | None = None,
    exclude_sources: list[str] | None = None,
    role_filter: list[str] | None = None,
    limit: int = 20,
    *,
    offset: int = 0,
    sort: str | None = None,
    include_inactive: bool = False,
) -> list[Row]:
    """Messages that match, best first (``sort``: "newest" or "oldest"), with a snippet.

    ``include_inactive`` also finds what compaction archived or a rewind took back.
    """
    parsed = parse_query(query or "")
    if parsed.is_empty or limit <= 0:
        return []
    clauses: list[Clause] = [] if include_inactive else [("m.active = 1", [])]
    if source_filter is not None:
        clauses.append(one_of("s.source", source_filter) if source_filter else ("1 = 0", []))
    if exclude_sources:
        clauses.append(one_of("s.source", exclude_sources, negated=True))
    if role_filter:
        clauses.append(one_of("m.role", role_filter))
    search = SearchRequest(parsed, join_clauses(clauses), sort, limit + offset)
    rows = _find(db.backend, search)[offset : offset + limit]
    return [_present(db.backend, row, parsed) for row in rows]


def index_messages(db: OpenStore) -> bool:
    """Bring the index up to date; False if there is no index."""
    return catch_up(db.backend, wait=True)


def _find(backend: Backend, search: SearchRequest) -> list[Row]:
    if search.query.needs_scan:
        return _scan(backend, search, after=0)
    if backend.dialect is Dialect.POSTGRESQL:
        return _find_by_tsvector(backend, search)
    if not backend.options.read_only:
        catch_up(backend, wait=False)
    try:
        indexed = _find_by_fts5(backend, search)
    except StoreError:
        return _scan(backend, search, after=0)
    rest = _scan(backend, search, after=find_watermark(backend))
    found = [*rest, *indexed] if search.sort == "newest" else [*indexed, *rest]
    return found[: search.wanted]


def _present(backend: Backend, row: Row, query: Query) -> Row:
    text = _searched_text(row)
    hit = {name: row[name] for name in row if name not in ("content", "search_text", "rank")}
    hit["snippet"] = query.cut_snippet(text)
    hit["context"] = [
        *_neighbour(backend, row, "<", "DESC"),
        {"role": row["role"], "content": text[:MAX_CONTEXT_LENGTH]},
        *_neighbour(backend, row, ">", "ASC"),
    ]
    return decode_message(hit)


def _neighbour(backend: Backend, row: Row, side: str, order: str) -> Iterator[Row]:
    sql = AROUND.format(side=side, order=order)
    for found in backend.query(sql, (row["session_id"], row["id"])):
        content = decode_text(found["content"])
        text = content if isinstance(content, str) else ""
        yield {"role": decode_text(found["role"]), "content": text[:MAX_CONTEXT_LENGTH]}


def catch_up(backend: Backend, *, wait: bool) -> bool:
    """Index what is not indexed yet, a batch per transaction; False if that is not possible."""
    if backend.dialect is not Dialect.SQLITE or backend.options.read_only:
        return False
    try:
        while backend.write(lambda: _index_batch(backend), wait=wait):
            pass
    except StoreError:
        return False
    return True


def find_watermark(backend: Backend) -> int:
    """The last message id in the index; ids are assigned and committed in the same order."""
    return int(read_meta(backend, WATERMARK) or 0)


def unindex(backend: Backend, where: str, session_id: str) -> None:
    """Remove messages from the index before they are deleted; inside the caller's transaction."""
    if backend.dialect is not Dialect.SQLITE or not _has_index(backend):
        return
    try:
        backend.execute(UNFILL.format(where=where), (session_id, find_watermark(backend)))
    except StoreError:
        drop_index(backend)


def drop_index(backend: Backend) -> None:
    """Drop the index; it is rebuilt when it is next needed."""
    write_meta(backend, WATERMARK, "0")
    with suppress(StoreError):
        backend.execute("DROP TABLE IF EXISTS message_words")


def _index_batch(backend: Backend) -> bool:
    done = find_watermark(backend)
    row = find_one(
        backend,
        "SELECT max(id) AS last, count(*) AS n FROM"
        " (SELECT id FROM messages WHERE id > ? ORDER BY id LIMIT ?) AS batch",
        done, BATCH,
    )  # fmt: skip
    if row is None or not row["n"]:
        return False
    backend.execute(CREATE_INDEX)
    backend.execute(FILL, (done, row["last"]))
    write_meta(backend, WATERMARK, str(row["last"]))
    return bool(row["n"] == BATCH)


def _has_index(backend: Backend) -> bool:
    sql = "SELECT name FROM sqlite_master WHERE name = 'message_words'"
    return find_one(backend, sql) is not None


def _find_by_fts5(backend: Backend, search: SearchRequest) -> list[Row]:
    where, values = search.where
    order = ORDERS.get(search.sort or "", "w.rank, m.id DESC")
    return backend.query(
        f"SELECT {HIT} FROM message_words w JOIN messages m ON m.id = w.rowid"
        " JOIN sessions s ON s.id = m.session_id"
        f" WHERE message_words MATCH ? AND {where} ORDER BY {order} LIMIT ?",
        [search.query.to_fts5(), *values, search.wanted],
    )


def _find_by_tsvector(backend: Backend, search: SearchRequest) -> list[Row]:
    where, values = search.where
    order = ORDERS.get(search.sort or "", "ts_rank(m.words, q.words) DESC, m.id DESC")
    return backend.query(
        f"SELECT {HIT} {FROM}, to_tsquery('simple', ?) AS q (words)"
        f" WHERE m.words @@ q.words AND {where} ORDER BY {order} LIMIT ?",
        [search.query.to_tsquery(), *values, search.wanted],
    )


def _scan(backend: Backend, search: SearchRequest, *, after: int) -> list[Row]:
    """Messages found by reading them in order, newest first unless ``sort`` is "oldest"."""
    where, values = search.where
    forward = search.sort == "oldest"
    found: list[Row] = []
    at, step, order = (after, ">", "ASC") if forward else (1 << 62, "<", "DESC")
    while len(found) < search.wanted:
        parameters: list[Value] = [after, at, *values, BATCH]
        rows = backend.query(
            f"SELECT {HIT} {FROM} WHERE m.id > ? AND m.id {step} ? AND {where}"
            f" ORDER BY m.id {order} LIMIT ?",
            parameters,
        )
        found += [row for row in rows if search.query.matches(_searched_text(row))]
        if len(rows) < BATCH:
            break
        at = rows[-1]["id"]
    return found[: search.wanted]


def _searched_text(row: Mapping[str, Any]) -> str:
    content = row["search_text"]
    if content is None:
        content = decode_text(row["content"])
    return f"{content if isinstance(content, str) else ''} {row['tool_name'] or ''}".strip()


class Term(NamedTuple):
    """Words that must occur side by side."""

    words: tuple[str, ...]
    is_prefix: bool = False
    is_negated: bool = False

    @property
    def pattern(self) -> re.Pattern[str]:
        """An expression that finds the term in a text."""
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
        """Whether it holds no word to look for."""
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
        """The query as an FTS5 expression, every word quoted so that none is taken for syntax."""
        return " OR ".join(f"({_group_to_fts5(group)})" for group in self.groups)

    def to_tsquery(self) -> str:
        """The query as a tsquery."""
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
    """The query of a text that a person or a model typed."""
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
