"""A session as the live store takes it in: ``{"id", "source", …, "messages": [...]}``.

Calls are paired with their results as for any provider, so what was imported can be continued by
an agent; a row that only stands in for a result that never came is marked as such. Every message
keeps its own time. The id is the full one, so that importing twice changes nothing; a session
that comes out of a live store keeps the id it has there.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from warmstart.export.sessions import list_messages
from warmstart.model import Fate, Kind, Link, Message, Role, Session
from warmstart.store import mark_ending
from warmstart.wire import CODECS, Prompt, encode_json

LIVE_STORE = "live_store"
"""The origin of sessions read from a live store: their own id already is a store's id."""
END_REASON = "imported"
Row = dict[str, Any]


def export_store(session: Session) -> Row:
    """A session as ``SessionDB.import_sessions`` reads it."""
    rows = list(_list_rows(session))
    times = [row["timestamp"] for row in rows if "timestamp" in row]
    start = next((time for time in (session.started_at, *times) if time is not None), 0.0)
    fields = {
        "id": _store_id(session.id),
        "source": session.agent,
        "model": session.model,
        "model_config": _describe(session),
        "title": session.title,
        "cwd": session.project,
        "git_branch": session.git_branch,
        "parent_session_id": _store_id(session.parent.id) if session.parent else None,
        "started_at": start,
        "ended_at": session.ended_at if session.ended_at is not None else max([start, *times]),
        "end_reason": session.end_reason or END_REASON,
        "input_tokens": session.tokens.input,
        "output_tokens": session.tokens.output,
        "cache_read_tokens": session.tokens.cache_read,
        "cache_write_tokens": session.tokens.cache_write,
        "reasoning_tokens": session.tokens.reasoning,
        "estimated_cost_usd": session.cost_usd,
        "messages": rows,
    }
    return {name: value for name, value in fields.items() if value is not None}


def _list_rows(session: Session) -> Iterator[Row]:
    """The rows of the store; the store itself dates what has no time of its own."""
    for message in list_messages(session):
        (row,) = CODECS["openai"].encode_request(Prompt(messages=(message,)))["messages"]
        yield {**row, **_describe_message(message)}


def _describe_message(message: Message) -> Row:
    """When it was written, whether it was compacted away since, and how its call ended."""
    described: Row = {} if message.timestamp is None else {"timestamp": message.timestamp}
    if message.fate is Fate.ARCHIVED:
        described |= {"active": 0, "compacted": 1}
    if message.reasoning and message.role is Role.ASSISTANT:
        described["reasoning"] = message.reasoning
    if message.kind is Kind.INJECTED and message.role is Role.USER:
        described["observed"] = True
    for result in message.results:
        mark = mark_ending(
            is_error=result.is_error, exit_code=result.exit_code, status=result.status
        )
        described |= {"effect_disposition": mark} if mark else {}
    return described


def _describe(session: Session) -> str | None:
    """What has no column of its own, under the names that the reader of stores knows."""
    config: Row = {}
    if session.parent is not None and session.parent.link is Link.SUBAGENT:
        config["_delegate_from"] = _store_id(session.parent.id)
    if session.parent is not None and session.parent.link is Link.BRANCH:
        config["_branched_from"] = _store_id(session.parent.id)
    if session.task is not None:
        config["_task"] = session.task
    if session.reward is not None:
        config["_reward"] = session.reward
    return encode_json(config).decode() if config else None


def _store_id(identity: str) -> str:
    return identity.removeprefix(f"{LIVE_STORE}:")
