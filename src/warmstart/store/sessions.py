"""The table of sessions: how a row begins, what is known about it, its title, how it ends.

A second ``create_session`` fills in what a row lacks and overwrites nothing; the first end reason
wins. A title is short, clean and on one session only. Message counters belong to ``messages`` and
are not touched here.
"""

from __future__ import annotations

import re
import time
import unicodedata
from collections.abc import Mapping
from typing import Any, TypedDict, Unpack

from warmstart.store.backend import (
    Backend,
    Clause,
    OpenStore,
    Row,
    Value,
    escape_like,
    find_one,
    join_clauses,
    one_of,
    reject_unknown,
)
from warmstart.store.encoding import decode_text, encode_text, parse_time
from warmstart.store.errors import TitleError
from warmstart.store.search import unindex
from warmstart.store.values import check_id, encode_json

UNKNOWN_SOURCE = "unknown"
TEXT_FIELDS = (
    "user_id", "session_key", "chat_id", "chat_type", "thread_id", "display_name", "profile_name",
    "model", "system_prompt", "parent_session_id", "cwd", "git_branch",
)  # fmt: skip
FILLED_FIELDS = (*TEXT_FIELDS, "model_config")
COUNTED_FIELDS = (
    "input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens",
    "reasoning_tokens", "api_call_count",
)  # fmt: skip
COST_FIELDS = ("estimated_cost_usd", "actual_cost_usd")
NOTED_FIELDS = (
    "cost_status", "cost_source", "pricing_version",
    "billing_provider", "billing_base_url", "billing_mode",
)  # fmt: skip
SECONDS_PER_DAY = 86_400
MAX_TITLE_LENGTH = 100
NUMBERED = re.compile(r"(.*?) #(\d+)")


class SessionFields(TypedDict, total=False):
    """What may be known about a session when it begins."""

    user_id: str | None
    session_key: str | None
    chat_id: str | None
    chat_type: str | None
    thread_id: str | None
    display_name: str | None
    profile_name: str | None
    model_config: Any
    system_prompt: str | None
    parent_session_id: str | None
    cwd: str | None
    git_branch: str | None
    started_at: float | None


class TokenCounts(TypedDict, total=False):
    """What one answer of a model cost, beyond its input and output tokens."""

    cache_read_tokens: int
    cache_write_tokens: int
    reasoning_tokens: int
    api_call_count: int
    estimated_cost_usd: float | None
    actual_cost_usd: float | None
    cost_status: str | None
    cost_source: str | None
    pricing_version: str | None
    billing_provider: str | None
    billing_base_url: str | None
    billing_mode: str | None
    absolute: bool


def create_session(
    db: OpenStore,
    session_id: str,
    source: str,
    model: str | None = None,
    **fields: Unpack[SessionFields],
) -> str:
    """Create the row, or fill in what an existing one lacks; the id."""
    values = encode_session(session_id, source, {"model": model, **fields})
    db.backend.write(lambda: insert_session(db.backend, values))
    return session_id


def ensure_session(
    db: OpenStore,
    session_id: str,
    source: str = UNKNOWN_SOURCE,
    model: str | None = None,
    **fields: Unpack[SessionFields],
) -> str:
    """Create the row if there is none; call it with the first message, not before."""
    values = encode_session(session_id, source, {"model": model, **fields})
    row = get_session(db, session_id)
    if row is None or _lacks(row, values):
        db.backend.write(lambda: insert_session(db.backend, values))
    return session_id


def get_session(db: OpenStore, session_id: str) -> Row | None:
    """The session's row, or None."""
    row = find_one(db.backend, "SELECT * FROM sessions WHERE id = ?", session_id)
    return decode_session(row) if row else None


def resolve_session_id(db: OpenStore, session_id_or_prefix: str) -> str | None:
    """The full id for an id, or for a prefix that only one session has; else None."""
    rows = db.backend.query(
        "SELECT id FROM sessions WHERE id = ? OR id LIKE ? ESCAPE '\\' ORDER BY id LIMIT 50",
        (session_id_or_prefix, escape_like(session_id_or_prefix) + "%"),
    )
    found = [row["id"] for row in rows if row["id"].startswith(session_id_or_prefix)]
    if session_id_or_prefix in found:
        return session_id_or_prefix
    return found[0] if len(found) == 1 else None


def end_session(db: OpenStore, session_id: str, end_reason: str) -> None:
    """Mark it as ended; the first reason wins."""
    _update(db,
        "ended_at = ?, end_reason = ? WHERE id = ? AND ended_at IS NULL",
        time.time(), encode_text(end_reason), session_id,
    )  # fmt: skip


def reopen_session(db: OpenStore, session_id: str) -> None:
    """Remove the end, so that the session can go on."""
    _update(db, "ended_at = NULL, end_reason = NULL WHERE id = ?", session_id)


def promote_to_session_reset(db: OpenStore, session_id: str, reason: str = "session_reset") -> bool:
    """End it for a reset, even if closing the agent had ended it; True if that changed it."""
    changed = _update(db,
        "ended_at = coalesce(ended_at, ?), end_reason = ? WHERE id = ?"
        " AND (ended_at IS NULL OR end_reason IN"
        " ('agent_close', 'cli_close', 'ws_disconnect'))",
        time.time(), encode_text(reason), session_id,
    )  # fmt: skip
    return bool(changed)


def update_system_prompt(db: OpenStore, session_id: str, system_prompt: str) -> None:
    """Replace the stored system prompt."""
    _update(db, "system_prompt = ? WHERE id = ?", encode_text(system_prompt), session_id)


def update_session_model(db: OpenStore, session_id: str, model: str) -> None:
    """Replace the model, after the user has changed it in mid-session."""
    _update(db, "model = ? WHERE id = ?", encode_text(model), session_id)


def update_session_cwd(db: OpenStore, session_id: str, cwd: str) -> None:
    """Replace the folder it works in."""
    _update(db, "cwd = ? WHERE id = ?", encode_text(cwd), session_id)


def set_session_archived(db: OpenStore, session_id: str, archived: bool = True) -> bool:  # noqa: FBT001, FBT002 - the callers' signature
    """Hide it from listings or show it again; True if there is such a session."""
    return bool(_update(db, "archived = ? WHERE id = ?", int(archived), session_id))


def update_token_counts(
    db: OpenStore,
    session_id: str,
    input_tokens: int = 0,
    output_tokens: int = 0,
    model: str | None = None,
    **counts: Unpack[TokenCounts],
) -> None:
    """Add to the counters, or set them where ``absolute``; a missing model is filled in."""
    reject_unknown(counts, TokenCounts.__optional_keys__, "update_token_counts()")
    given = {"input_tokens": input_tokens, "output_tokens": output_tokens, **counts}
    sets, values = _count_sets(given)
    _update(db,
        f"{sets}, model = coalesce(model, ?) WHERE id = ?",
        *values, encode_text(model) if model else None, session_id,
    )  # fmt: skip


def delete_session(db: OpenStore, session_id: str) -> bool:
    """Delete it with its messages; its children stay, without a parent. True if it existed."""
    return db.backend.write(lambda: _delete(db.backend, session_id))


def delete_session_if_empty(db: OpenStore, session_id: str) -> bool:
    """Delete it if it has no message; True if it was deleted."""
    sql = (
        "DELETE FROM sessions WHERE id = ? AND NOT EXISTS"
        " (SELECT 1 FROM messages m WHERE m.session_id = sessions.id)"
    )
    return bool(db.change(sql, (session_id,)))


def prune_sessions(db: OpenStore, older_than_days: float = 90, source: str | None = None) -> int:
    """Delete ended sessions that began longer ago than that; their number."""
    where, values = _ended_before(older_than_days, source)
    rows = db.backend.query(f"SELECT id FROM sessions WHERE {where} ORDER BY id", values)
    # One transaction each: other writers get their turn between two deletions.
    return sum(delete_session(db, row["id"]) for row in rows)


def archive_sessions(db: OpenStore, older_than_days: float = 90, source: str | None = None) -> int:
    """Hide from listings what ``prune_sessions`` would delete; their number."""
    where, values = _ended_before(older_than_days, source)
    return _update(db, f"archived = 1 WHERE archived = 0 AND {where}", *values)


def _update(db: OpenStore, sets: str, *parameters: Value) -> int:
    return db.change(f"UPDATE sessions SET {sets}", parameters)


def sanitize_title(title: str | None) -> str | None:
    """The title without control characters and repeated spaces; None if nothing is left.

    Raises:
        TitleError: it is too long.
    """
    if not title:
        return None
    spaced = re.sub(r"\s+", " ", title)
    shown = "".join(one for one in spaced if unicodedata.category(one) not in ("Cc", "Cf", "Cs"))
    clean = re.sub(r" +", " ", shown).strip()
    if len(clean) > MAX_TITLE_LENGTH:
        raise TitleError(f"title too long: {len(clean)} characters, at most {MAX_TITLE_LENGTH}")
    return clean or None


def set_session_title(db: OpenStore, session_id: str, title: str | None) -> bool:
    """Set or clear the title; True if there is such a session.

    Raises:
        TitleError: another session has it.
    """
    clean = sanitize_title(title)
    return db.backend.write(lambda: _set_title(db, session_id, clean))


def set_title(db: OpenStore, session_id: str, title: str | None) -> bool:
    """Set or clear the title; the same as ``set_session_title``."""
    return set_session_title(db, session_id, title)


def get_session_title(db: OpenStore, session_id: str) -> str | None:
    """The title, or None."""
    row = find_one(db.backend, "SELECT title FROM sessions WHERE id = ?", session_id)
    return row["title"] if row else None


def get_session_by_title(db: OpenStore, title: str) -> Row | None:
    """The session with exactly this title."""
    row = find_one(db.backend, "SELECT * FROM sessions WHERE title = ?", title)
    return decode_session(row) if row else None


def resolve_session_by_title(db: OpenStore, title: str) -> str | None:
    """The id of the newest session in the line of ``title``, ``title #2``, ..."""
    rows = _list_titles(db, title)
    return max(rows, key=_read_number)["id"] if rows else None


def get_next_title_in_lineage(db: OpenStore, base_title: str) -> str:
    """The title a continuation gets: ``title #2`` after ``title``."""
    numbered = NUMBERED.fullmatch(base_title)
    base = numbered[1] if numbered else base_title
    rows = _list_titles(db, base)
    return f"{base} #{max(map(_read_number, rows)) + 1}" if rows else base


def _ended_before(days: float, source: str | None) -> Clause:
    """The condition: ended, begun longer ago than that, and of the source if one is named."""
    clauses: list[Clause] = [
        ("started_at < ?", [time.time() - days * SECONDS_PER_DAY]),
        ("ended_at IS NOT NULL", []),
    ]
    if source:
        clauses.append(one_of("source", [source]))
    return join_clauses(clauses)


def _lacks(row: Row, values: Row) -> bool:
    if row["source"] == UNKNOWN_SOURCE != values["source"]:
        return True
    return any(row[name] is None for name in values if name in FILLED_FIELDS)


def encode_session(session_id: str, source: str, fields: Mapping[str, Any]) -> Row:
    """The columns a session is created with; None values are left out."""
    reject_unknown(fields, frozenset({*FILLED_FIELDS, "started_at"}), "create_session()")
    check_id(session_id)
    if fields.get("parent_session_id"):
        check_id(fields["parent_session_id"], "parent session id")
    started = fields.get("started_at")
    values: Row = {
        "id": session_id,
        "source": encode_text(source or UNKNOWN_SOURCE),
        "started_at": time.time() if started is None else parse_time(started),
    }
    values |= {name: encode_text(fields[name]) for name in TEXT_FIELDS if fields.get(name)}
    if fields.get("model_config") is not None:
        values["model_config"] = encode_json(fields["model_config"])
    return values


def insert_session(backend: Backend, values: Row) -> None:
    """Insert the row, or fill in what it lacks; inside the caller's transaction."""
    filled = [f"{name} = coalesce(sessions.{name}, excluded.{name})" for name in values
              if name in FILLED_FIELDS]  # fmt: skip
    source = (
        f"source = CASE sessions.source WHEN '{UNKNOWN_SOURCE}' THEN excluded.source"
        " ELSE sessions.source END"
    )
    backend.execute(
        f"INSERT INTO sessions ({', '.join(values)}) VALUES ({', '.join('?' * len(values))})"
        f" ON CONFLICT (id) DO UPDATE SET {', '.join([source, *filled])}",
        list(values.values()),
    )


def decode_session(row: Row) -> Row:
    """The row with every text as it was given; ``model_config`` stays JSON text."""
    for name, value in row.items():
        if isinstance(value, str):
            row[name] = decode_text(value)
    return row


def _delete(backend: Backend, session_id: str) -> bool:
    """Delete the row and its messages; inside the caller's transaction."""
    unindex(backend, "session_id = ?", session_id)
    backend.execute(
        "UPDATE sessions SET parent_session_id = NULL WHERE parent_session_id = ?", (session_id,)
    )
    backend.execute("DELETE FROM messages WHERE session_id = ?", (session_id,))
    return bool(backend.execute("DELETE FROM sessions WHERE id = ?", (session_id,)))


def _count_sets(given: Mapping[str, Any]) -> tuple[str, list[Value]]:
    absolute = bool(given.get("absolute"))
    sets, values = [], []
    for name in (*COUNTED_FIELDS, *COST_FIELDS):
        amount = given.get(name)
        if amount is None or not (amount or absolute):
            continue
        sets.append(f"{name} = ?" if absolute else f"{name} = coalesce({name}, 0) + ?")
        values.append(amount)
    for name in NOTED_FIELDS:
        if given.get(name) is not None:
            sets.append(f"{name} = ?")
            values.append(encode_text(given[name]))
    return ", ".join(sets or ["id = id"]), values


def _set_title(db: OpenStore, session_id: str, title: str | None) -> bool:
    sql = "SELECT id FROM sessions WHERE title = ? AND id <> ?"
    other = find_one(db.backend, sql, title, session_id) if title else None
    if other:
        raise TitleError(f"title {title!r} is already in use by session {other['id']}")
    sql = "UPDATE sessions SET title = ? WHERE id = ?"
    return bool(db.backend.execute(sql, (title, session_id)))


def _list_titles(db: OpenStore, base: str) -> list[Row]:
    rows = db.backend.query(
        "SELECT id, title FROM sessions WHERE title = ? OR title LIKE ? ESCAPE '\\'",
        (base, escape_like(base) + " #%"),
    )
    return [row for row in rows if row["title"] == base or _read_base(row) == base]


def _read_base(row: Row) -> str | None:
    numbered = NUMBERED.fullmatch(row["title"])
    return numbered[1] if numbered else None


def _read_number(row: Row) -> int:
    numbered = NUMBERED.fullmatch(row["title"])
    return int(numbered[2]) if numbered else 1
