"""A session as the live store takes it in: ``{"id", "source", …, "messages": [...]}``.

Calls are paired with their results as for any provider, so what was imported can be continued by
an agent; a row that only stands in for a result that never came is marked as such. Every message
keeps its own time. The id is the full one, so that importing twice changes nothing; a session
that comes out of a live store keeps the id it has there.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from warmstart.export.jsonl import encode_json
from warmstart.export.openai import write_turn
from warmstart.export.turns import Exchange, Turn, list_turns, locate_results
from warmstart.model import Fate, Kind, Link, Message, Role, Session, Status
from warmstart.store import mark_ending

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
    places = locate_results(session)
    for turn in list_turns(session):
        spoken, *answers = write_turn(turn)
        yield {**spoken, **_describe_message(session.messages[turn.message], turn)}
        for row, exchange in zip(answers, turn.exchanges, strict=True):
            place = places.get(id(exchange.call.result))
            message = None if place is None else session.messages[place[0]]
            yield {**row, **_describe_answer(message, exchange)}


def _describe_message(message: Message, turn: Turn) -> Row:
    described = _describe_fate(message)
    if message.reasoning and turn.role is Role.ASSISTANT:
        described["reasoning"] = message.reasoning
    if message.kind is Kind.INJECTED and turn.role is Role.USER:
        described["observed"] = True
    return described


def _describe_answer(message: Message | None, exchange: Exchange) -> Row:
    result = exchange.call.result
    if result is None:
        mark = mark_ending(is_error=None, status=Status.UNANSWERED)
    else:
        mark = mark_ending(
            is_error=result.is_error, exit_code=result.exit_code, status=result.status
        )
    described = {} if message is None else _describe_fate(message)
    return {**described, "effect_disposition": mark} if mark else described


def _describe_fate(message: Message) -> Row:
    """When it was said, and whether it was compacted away since."""
    when: Row = {} if message.timestamp is None else {"timestamp": message.timestamp}
    return when | ({"active": 0, "compacted": 1} if message.fate is Fate.ARCHIVED else {})


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
