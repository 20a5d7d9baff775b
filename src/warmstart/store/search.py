"""Finding messages by their words.

SQLite's FTS5 index is derived data, filled in batches after the fact: no append waits for it, no
failure of it reaches a writer, and what it does not hold yet is scanned, so a search is complete
at every moment and on a read-only handle too. PostgreSQL keeps a tsvector in the row. Where an
index cannot answer (no FTS5, a damaged index, scripts without spaces) all messages are scanned.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any, NamedTuple

from warmstart.store.backend import Backend, Dialect, Row, Value
from warmstart.store.encoding import decode_message, decode_text
from warmstart.store.errors import StoreError
from warmstart.store.part import (
    Clause,
    Part,
    find_one,
    join_clauses,
    one_of,
    read_meta,
    reject_unknown,
    write_meta,
)
from warmstart.store.query import Query, parse_query

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


class Found(NamedTuple):
    """A search, ready to be put to either database."""

    query: Query
    where: Clause
    sort: str | None
    wanted: int


class Search(Part):
    """Searching messages."""

    def search_messages(
        self,
        query: str,
        source_filter: list[str] | None = None,
        exclude_sources: list[str] | None = None,
        role_filter: list[str] | None = None,
        limit: int = 20,
        offset: int = 0,
        **more: Any,
    ) -> list[Row]:
        """Messages that match, best first (``sort``: "newest" or "oldest"), with a snippet.

        ``include_inactive`` also finds what compaction archived or a rewind took back.
        """
        reject_unknown(more, frozenset({"sort", "include_inactive"}), "search_messages()")
        parsed = parse_query(query or "")
        if parsed.is_empty or limit <= 0:
            return []
        where = _filters(source_filter, exclude_sources, role_filter, more)
        search = Found(parsed, where, more.get("sort"), limit + offset)
        rows = self._find(search)[offset : offset + limit]
        return [self._present(row, parsed) for row in rows]

    def index_messages(self) -> bool:
        """Bring the index up to date now; False where there is no index."""
        return catch_up(self._backend, wait=True)

    def _find(self, search: Found) -> list[Row]:
        if search.query.needs_scan:
            return _scan(self._backend, search, after=0)
        if self._backend.dialect is Dialect.POSTGRESQL:
            return _find_by_tsvector(self._backend, search)
        if not self._backend.options.read_only:
            catch_up(self._backend, wait=False)
        try:
            indexed = _find_by_fts5(self._backend, search)
        except StoreError:
            return _scan(self._backend, search, after=0)
        rest = _scan(self._backend, search, after=find_watermark(self._backend))
        found = [*rest, *indexed] if search.sort == "newest" else [*indexed, *rest]
        return found[: search.wanted]

    def _present(self, row: Row, query: Query) -> Row:
        text = _searched_text(row)
        hit = {name: row[name] for name in row if name not in ("content", "search_text", "rank")}
        hit["snippet"] = query.cut_snippet(text)
        hit["context"] = [
            *self._neighbour(row, "<", "DESC"),
            {"role": row["role"], "content": text[:MAX_CONTEXT_LENGTH]},
            *self._neighbour(row, ">", "ASC"),
        ]
        return decode_message(hit)

    def _neighbour(self, row: Row, side: str, order: str) -> Iterator[Row]:
        sql = AROUND.format(side=side, order=order)
        for found in self._backend.query(sql, (row["session_id"], row["id"])):
            content = decode_text(found["content"])
            text = content if isinstance(content, str) else ""
            yield {"role": decode_text(found["role"]), "content": text[:MAX_CONTEXT_LENGTH]}


def catch_up(backend: Backend, *, wait: bool) -> bool:
    """Index what is not indexed yet, a batch per transaction; False where that is not possible."""
    if backend.dialect is not Dialect.SQLITE or backend.options.read_only:
        return False
    try:
        while backend.write(lambda: _index_batch(backend), wait=wait):
            pass
    except StoreError:
        return False
    return True


def find_watermark(backend: Backend) -> int:
    """The last message id in the index; ids are handed out and committed in the same order."""
    return int(read_meta(backend, WATERMARK) or 0)


def unindex(backend: Backend, where: str, session_id: str) -> None:
    """Take messages out of the index before they are deleted; inside the caller's transaction."""
    if backend.dialect is not Dialect.SQLITE or not _has_index(backend):
        return
    try:
        backend.execute(UNFILL.format(where=where), (session_id, find_watermark(backend)))
    except StoreError:
        drop_index(backend)


def drop_index(backend: Backend) -> None:
    """Forget the index; it is built anew when next needed."""
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


def _find_by_fts5(backend: Backend, search: Found) -> list[Row]:
    where, values = search.where
    order = ORDERS.get(search.sort or "", "w.rank, m.id DESC")
    return backend.query(
        f"SELECT {HIT} FROM message_words w JOIN messages m ON m.id = w.rowid"
        " JOIN sessions s ON s.id = m.session_id"
        f" WHERE message_words MATCH ? AND {where} ORDER BY {order} LIMIT ?",
        [search.query.to_fts5(), *values, search.wanted],
    )


def _find_by_tsvector(backend: Backend, search: Found) -> list[Row]:
    where, values = search.where
    order = ORDERS.get(search.sort or "", "ts_rank(m.words, q.words) DESC, m.id DESC")
    return backend.query(
        f"SELECT {HIT} {FROM}, to_tsquery('simple', ?) AS q (words)"
        f" WHERE m.words @@ q.words AND {where} ORDER BY {order} LIMIT ?",
        [search.query.to_tsquery(), *values, search.wanted],
    )


def _scan(backend: Backend, search: Found, *, after: int) -> list[Row]:
    """Read messages in order and try each; newest first unless asked otherwise."""
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


def _filters(
    sources: list[str] | None,
    without: list[str] | None,
    roles: list[str] | None,
    more: Mapping[str, Any],
) -> Clause:
    clauses: list[Clause] = []
    if sources is not None:
        clauses.append(one_of("s.source", list(sources)) if sources else ("1 = 0", []))
    if without:
        clauses.append(one_of("s.source", list(without), negated=True))
    if roles:
        clauses.append(one_of("m.role", list(roles)))
    if not more.get("include_inactive"):
        clauses.append(("m.active = 1", []))
    return join_clauses(clauses)
