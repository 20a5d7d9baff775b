"""Rows of the table of chats as they were until schema 4, and how they become what they are now.

They stood in ``routes``, each with all that was known as one JSON text, times as ISO 8601. The
claims of expiry watchers stood there too, in scopes of their own; they last ten minutes and are not
taken along. A text that cannot be read is kept as it is: the gateway reports it and starts a new
session, as it did before.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

from warmstart.store.backend import Backend, Row
from warmstart.store.chats import ADD, Chat, decode_state
from warmstart.store.values import encode_json

CLAIM_SUFFIX = "/flush"


def move_routes(backend: Backend) -> None:
    """Move every chat to its new table and drop the old one."""
    for scope, chat in read_routes(backend):
        backend.execute(ADD, (*chat, scope))
    backend.execute("DROP TABLE routes")


def read_routes(backend: Backend) -> Iterator[tuple[str, Chat]]:
    """Scope and row of every chat of an old store, in the order of scopes and keys."""
    for row in backend.query("SELECT * FROM routes ORDER BY scope, session_key"):
        if not row["scope"].endswith(CLAIM_SUFFIX):
            yield row["scope"], _convert(row)


def _convert(row: Row) -> Chat:
    text = row["entry"]
    try:
        entry = decode_state(text)
    except (ValueError, RecursionError):
        entry = None
    known = entry if isinstance(entry, Mapping) else {}
    rest = {name: value for name, value in known.items() if name not in Chat._fields}
    return Chat(
        session_key=row["session_key"],
        session_id=row["session_id"] or "",
        created_at=_read_time(known.get("created_at"), row["updated_at"]),
        updated_at=_read_time(known.get("updated_at"), row["updated_at"]),
        state=encode_json(rest) if known else text,
        revision=1,
    )


def _read_time(value: Any, otherwise: float) -> float:
    try:
        return datetime.fromisoformat(value).timestamp()
    except (TypeError, ValueError, OverflowError, OSError):
        return otherwise
