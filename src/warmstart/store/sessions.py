"""Session rows: how they begin, what is known about them, how they end.

A row is only ever filled in, never overwritten, by a second ``create_session``; the first end
reason wins. Counters belong to ``messages`` and are not touched here.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any, TypedDict, Unpack

from warmstart.store.backend import Backend, Row, Value
from warmstart.store.encoding import decode_text, encode_text, parse_time
from warmstart.store.part import (
    Clause,
    Part,
    escape_like,
    find_one,
    join_clauses,
    one_of,
    reject_unknown,
)
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


class Sessions(Part):
    """Everything about session rows."""

    def create_session(
        self,
        session_id: str,
        source: str,
        model: str | None = None,
        **fields: Unpack[SessionFields],
    ) -> str:
        """Make the row, or fill what an existing one does not know yet; the id."""
        values = encode_session(session_id, source, {"model": model, **fields})
        self._backend.write(lambda: insert_session(self._backend, values))
        return session_id

    def ensure_session(
        self,
        session_id: str,
        source: str = UNKNOWN_SOURCE,
        model: str | None = None,
        **fields: Unpack[SessionFields],
    ) -> str:
        """Make the row if there is none; call it with the first message, not before."""
        values = encode_session(session_id, source, {"model": model, **fields})
        row = self.get_session(session_id)
        if row is None or _lacks(row, values):
            self._backend.write(lambda: insert_session(self._backend, values))
        return session_id

    def get_session(self, session_id: str) -> Row | None:
        """The row with everything known, or None."""
        row = find_one(self._backend, "SELECT * FROM sessions WHERE id = ?", session_id)
        return decode_session(row) if row else None

    def resolve_session_id(self, session_id_or_prefix: str) -> str | None:
        """The full id for an id or a prefix that only one session has."""
        rows = self._backend.query(
            "SELECT id FROM sessions WHERE id = ? OR id LIKE ? ESCAPE '\\' ORDER BY id LIMIT 50",
            (session_id_or_prefix, escape_like(session_id_or_prefix) + "%"),
        )
        found = [row["id"] for row in rows if row["id"].startswith(session_id_or_prefix)]
        if session_id_or_prefix in found:
            return session_id_or_prefix
        return found[0] if len(found) == 1 else None

    def end_session(self, session_id: str, end_reason: str) -> None:
        """Mark it as ended; the first reason wins."""
        self._update(
            "ended_at = ?, end_reason = ? WHERE id = ? AND ended_at IS NULL",
            time.time(), encode_text(end_reason), session_id,
        )  # fmt: skip

    def reopen_session(self, session_id: str) -> None:
        """Take the end back, so that the session can go on."""
        self._update("ended_at = NULL, end_reason = NULL WHERE id = ?", session_id)

    def promote_to_session_reset(self, session_id: str, reason: str = "session_reset") -> bool:
        """End it for a reset, also where closing the agent had ended it already."""
        changed = self._update(
            "ended_at = coalesce(ended_at, ?), end_reason = ? WHERE id = ?"
            " AND (ended_at IS NULL OR end_reason IN"
            " ('agent_close', 'cli_close', 'ws_disconnect'))",
            time.time(), encode_text(reason), session_id,
        )  # fmt: skip
        return bool(changed)

    def update_system_prompt(self, session_id: str, system_prompt: str) -> None:
        """Replace the stored system prompt."""
        self._update("system_prompt = ? WHERE id = ?", encode_text(system_prompt), session_id)

    def update_session_model(self, session_id: str, model: str) -> None:
        """Replace the model, when the user changes it in mid-session."""
        self._update("model = ? WHERE id = ?", encode_text(model), session_id)

    def update_session_cwd(self, session_id: str, cwd: str) -> None:
        """Replace the folder it works in."""
        self._update("cwd = ? WHERE id = ?", encode_text(cwd), session_id)

    def set_session_archived(self, session_id: str, archived: bool = True) -> bool:  # noqa: FBT001, FBT002 - the callers' signature
        """Hide it from listings or show it again; whether there is such a session."""
        return bool(self._update("archived = ? WHERE id = ?", int(archived), session_id))

    def update_token_counts(
        self,
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
        self._update(
            f"{sets}, model = coalesce(model, ?) WHERE id = ?",
            *values, encode_text(model) if model else None, session_id,
        )  # fmt: skip

    def delete_session(self, session_id: str) -> bool:
        """Delete it with its messages; its children stay, without a parent."""
        return self._backend.write(lambda: delete_session(self._backend, session_id))

    def delete_session_if_empty(self, session_id: str) -> bool:
        """Delete it if no message was ever stored; whether it was."""
        sql = (
            "DELETE FROM sessions WHERE id = ? AND NOT EXISTS"
            " (SELECT 1 FROM messages m WHERE m.session_id = sessions.id)"
        )
        return bool(self._backend.write(lambda: self._backend.execute(sql, (session_id,))))

    def prune_sessions(self, older_than_days: float = 90, source: str | None = None) -> int:
        """Delete ended sessions that began longer ago than that; how many."""
        where, values = _over_since(older_than_days, source)
        rows = self._backend.query(f"SELECT id FROM sessions WHERE {where} ORDER BY id", values)
        # One transaction each: other writers get their turn between two deletions.
        return sum(self.delete_session(row["id"]) for row in rows)

    def archive_sessions(self, older_than_days: float = 90, source: str | None = None) -> int:
        """Hide from listings what ``prune_sessions`` would delete; how many."""
        where, values = _over_since(older_than_days, source)
        return self._update(f"archived = 1 WHERE archived = 0 AND {where}", *values)

    def _update(self, sets: str, *parameters: Value) -> int:
        sql = f"UPDATE sessions SET {sets}"
        return self._backend.write(lambda: self._backend.execute(sql, parameters))


def _over_since(days: float, source: str | None) -> Clause:
    """Ended, begun longer ago than that, and of the source, if one is named."""
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
    """The columns a session is created with; what is None is left out."""
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
    """Insert, or fill in what the row does not know; inside the caller's transaction."""
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
    """A row with every text as it was given; ``model_config`` stays JSON text."""
    for name, value in row.items():
        if isinstance(value, str):
            row[name] = decode_text(value)
    return row


def delete_session(backend: Backend, session_id: str) -> bool:
    """Delete the row and all that hangs on it; inside the caller's transaction."""
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
