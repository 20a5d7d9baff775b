"""Listing sessions: newest first, filtered, a page at a time."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypedDict, Unpack

from warmstart.store.backend import (
    Clause,
    OpenStore,
    Row,
    escape_like,
    join_clauses,
    one_of,
    reject_unknown,
)
from warmstart.store.sessions import decode_session

RICH = """SELECT s.*, coalesce(s.last_message_at, s.started_at) AS last_active,
    (SELECT m.content FROM messages m WHERE m.session_id = s.id AND m.role = 'user'
     AND m.content IS NOT NULL ORDER BY m.id LIMIT 1) AS preview FROM sessions s"""
PREVIEW_LENGTH = 60
SIMPLE_FILTERS = {
    "min_message_count": "s.message_count >= ?",
    "user_id": "s.user_id = ?",
    "started_after": "s.started_at >= ?",
    "started_before": "s.started_at < ?",
}
LIKE_FILTERS = {
    "cwd_prefix": "s.cwd LIKE ? ESCAPE '\\'",
    "id_query": "s.id LIKE ? ESCAPE '\\'",
    "search_query": "s.title LIKE ? ESCAPE '\\'",
}


class ListFilters(TypedDict, total=False):
    """Which sessions a listing shows."""

    exclude_sources: list[str] | None
    cwd_prefix: str | None
    include_children: bool
    min_message_count: int
    include_archived: bool
    archived_only: bool
    id_query: str | None
    search_query: str | None
    user_id: str | None
    ended: bool | None
    started_after: float | None
    started_before: float | None
    order_by_last_active: bool


def list_sessions(
    db: OpenStore,
    source: str | None = None,
    limit: int = 20,
    offset: int = 0,
    **filters: Unpack[ListFilters],
) -> list[Row]:
    """Sessions, newest first, with ``preview`` and ``last_active``."""
    reject_unknown(filters, ListFilters.__optional_keys__, "list_sessions()")
    where, values = join_clauses(_list_clauses(source, {"include_children": True, **filters}))
    order = "last_active" if filters.get("order_by_last_active") else "s.started_at"
    rows = db.backend.query(
        f"{RICH} WHERE {where} ORDER BY {order} DESC, s.id DESC LIMIT ? OFFSET ?",
        [*values, limit, offset],
    )
    return [_with_preview(row) for row in rows]


def list_sessions_rich(
    db: OpenStore,
    source: str | None = None,
    limit: int = 20,
    offset: int = 0,
    **filters: Unpack[ListFilters],
) -> list[Row]:
    """Sessions as ``list_sessions`` gives them, by default without children of other sessions."""
    filters.setdefault("include_children", False)
    return list_sessions(db, source, limit, offset, **filters)


def search_sessions(
    db: OpenStore, source: str | None = None, limit: int = 20, offset: int = 0
) -> list[Row]:
    """Sessions, newest first."""
    return list_sessions(db, source, limit, offset, include_archived=True)


def session_count(db: OpenStore, source: str | None = None) -> int:
    """The number of sessions, ended ones included."""
    clause = one_of("source", [source]) if source else ("1 = 1", [])
    sql = f"SELECT count(*) AS n FROM sessions WHERE {clause[0]}"
    return int(db.backend.query(sql, clause[1])[0]["n"])


def _list_clauses(source: str | None, filters: Mapping[str, Any]) -> list[Clause]:
    clauses: list[Clause] = []
    if source:
        clauses.append(one_of("s.source", [source]))
    if filters.get("exclude_sources"):
        clauses.append(one_of("s.source", list(filters["exclude_sources"]), negated=True))
    if not filters.get("include_children"):
        clauses.append(("s.parent_session_id IS NULL", []))
    for name, sql in SIMPLE_FILTERS.items():
        if filters.get(name) is not None:
            clauses.append((sql, [filters[name]]))
    if filters.get("ended") is not None:
        clauses.append((f"s.ended_at IS {'NOT ' if filters['ended'] else ''}NULL", []))
    return [*clauses, *_like_clauses(filters), *_archive_clauses(filters)]


def _like_clauses(filters: Mapping[str, Any]) -> list[Clause]:
    clauses: list[Clause] = []
    for name, sql in LIKE_FILTERS.items():
        if filters.get(name):
            pattern = escape_like(filters[name]) + "%"
            clauses.append((sql, [pattern if name == "cwd_prefix" else "%" + pattern]))
    return clauses


def _archive_clauses(filters: Mapping[str, Any]) -> list[Clause]:
    if filters.get("archived_only"):
        return [("s.archived = 1", [])]
    return [] if filters.get("include_archived") else [("s.archived = 0", [])]


def _with_preview(row: Row) -> Row:
    row = decode_session(row)
    preview = row["preview"]
    text = " ".join(preview.split()) if isinstance(preview, str) else ""
    row["preview"] = text[:PREVIEW_LENGTH] + ("..." if len(text) > PREVIEW_LENGTH else "")
    return row
