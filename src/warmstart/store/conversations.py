"""Reading sessions back: the conversation a model is sent, a message's surroundings, lineage.

A parent alone says nothing: subagents and branches have parents too. A session continues another
if that one ended with ``compression`` and the child was neither branched off nor delegated.

A view is anchored on a row id, as a search gives it. Around an active message are the active ones;
around one that was compacted away or taken back are all of them.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from warmstart.store.backend import OpenStore, Row, find_one
from warmstart.store.encoding import decode_message
from warmstart.store.messages import SHOWN, get_messages

ALWAYS = ("role", "content")
WHERE_GIVEN = ("tool_call_id", "tool_name", "tool_calls")
OF_ASSISTANT = (
    "reasoning", "reasoning_content", "reasoning_details", "codex_reasoning_items",
    "codex_message_items",
)  # fmt: skip
Turn = dict[str, Any]

COMPRESSION = "compression"
NOT_CONTINUING = frozenset({"subagent", "tool"})
MARKS = ("_branched_from", "_delegate_from")
CHILDREN = """SELECT id, source, model_config FROM sessions WHERE parent_session_id = ?
    ORDER BY started_at DESC, id DESC"""

SPOKEN_ROLES = ("user", "assistant")
ALL = 1 << 62
View = dict[str, list[Row] | int]


def get_messages_as_conversation(
    db: OpenStore,
    session_id: str,
    include_ancestors: bool = False,  # noqa: FBT001, FBT002 - the callers' signature
    include_inactive: bool = False,  # noqa: FBT001, FBT002 - same
    repair_alternation: bool = False,  # noqa: FBT001, FBT002 - same
) -> list[Turn]:
    """The messages as a model is sent them; those of ancestors come first, the eldest on top."""
    line = get_lineage(db, session_id) if include_ancestors else [session_id]
    turns = [_as_turn(row) for one in line for row in get_messages(db, one, include_inactive)]
    return repair_turns(turns) if repair_alternation else turns


def repair_turns(turns: list[Turn]) -> list[Turn]:
    """The turns with neighbouring user texts joined and tool results without a call removed."""
    called: set[str] = set()
    repaired: list[Turn] = []
    for turn in turns:
        called |= {call["id"] for call in _calls(turn) if "id" in call}
        if turn["role"] == "tool" and turn.get("tool_call_id") not in called:
            continue
        last = repaired[-1] if repaired else {}
        if turn["role"] == "user" == last.get("role") and _are_texts(last, turn):
            repaired[-1] = {**last, "content": f"{last['content']}\n\n{turn['content']}"}
        else:
            repaired.append(turn)
    return repaired


def get_lineage(db: OpenStore, session_id: str) -> list[str]:
    """The session and its ancestors, eldest first."""
    line = [session_id]
    while True:
        sql = "SELECT parent_session_id AS parent FROM sessions WHERE id = ?"
        row = find_one(db.backend, sql, line[0])
        if row is None or row["parent"] is None or row["parent"] in line:
            return line
        line.insert(0, row["parent"])


def get_conversation_root(db: OpenStore, session_id: str) -> str:
    """The eldest ancestor."""
    return get_lineage(db, session_id)[0]


def get_compression_tip(db: OpenStore, session_id: str) -> str:
    """The last of the session's continuations, or the session itself."""
    return get_compression_lineage(db, session_id)[-1]


def get_compression_lineage(db: OpenStore, session_id: str) -> list[str]:
    """The session and its continuations, in order."""
    line = [session_id]
    while True:
        child = _find_continuation(db, line[-1])
        if child is None or child in line:
            return line
        line.append(child)


def get_messages_around(
    db: OpenStore, session_id: str, around_message_id: int, window: int = 5
) -> View:
    """The message with up to ``window`` before and after it, and the number of each.

    Fewer than ``window`` on one side mean that the session begins or ends there; no message of that
    id in the session is an empty window.
    """
    shown = _choose_rows(db, session_id, around_message_id)
    if shown is None:
        return {"window": [], "messages_before": 0, "messages_after": 0}
    size = max(window, 0)
    before = _list_rows(db, session_id, f"{shown} AND id <= ?", around_message_id, -(size + 1))
    after = _list_rows(db, session_id, f"{shown} AND id > ?", around_message_id, size)
    return {
        "window": before + after,
        "messages_before": len(before) - 1,
        "messages_after": len(after),
    }


def get_anchored_view(
    db: OpenStore,
    session_id: str,
    around_message_id: int,
    window: int = 5,
    bookend: int = 3,
    keep_roles: Sequence[str] | None = SPOKEN_ROLES,
) -> View:
    """The window around a message, with the session's first and last messages outside of it.

    Only messages of ``keep_roles`` (None: all) are kept, and the anchor.
    """
    view = get_messages_around(db, session_id, around_message_id, window)
    rows, shown = view["window"], _choose_rows(db, session_id, around_message_id)
    if not isinstance(rows, list) or shown is None:
        return view | {"bookend_start": [], "bookend_end": []}
    first, last = rows[0]["id"], rows[-1]["id"]
    kept = [row for row in rows if _is_kept(row, keep_roles) or row["id"] == around_message_id]
    every = _list_rows(db, session_id, f"{shown} AND id > ?", 0, ALL)
    said = [row for row in every if row["content"] and _is_kept(row, keep_roles)]
    ends = [row for row in said if row["id"] > last]
    return view | {
        "window": kept,
        "bookend_start": [row for row in said if row["id"] < first][:bookend],
        "bookend_end": ends[max(len(ends) - bookend, 0) :],
    }


def _find_continuation(db: OpenStore, session_id: str) -> str | None:
    sql = "SELECT end_reason FROM sessions WHERE id = ?"
    row = find_one(db.backend, sql, session_id)
    if row is None or row["end_reason"] != COMPRESSION:
        return None
    rows = db.backend.query(CHILDREN, (session_id,))
    return next((child["id"] for child in rows if _is_continuation(child)), None)


def _is_continuation(row: Row) -> bool:
    config: Any = json.loads(row["model_config"]) if row["model_config"] else {}
    marked = isinstance(config, dict) and any(config.get(mark) for mark in MARKS)
    return row["source"] not in NOT_CONTINUING and not marked


def _as_turn(row: Row) -> Turn:
    turn = {name: row[name] for name in ALWAYS}
    turn |= {name: row[name] for name in WHERE_GIVEN if row[name]}
    if row["role"] == "assistant":
        turn |= {name: row[name] for name in OF_ASSISTANT if row[name]}
    return turn


def _calls(turn: Turn) -> list[dict[str, Any]]:
    calls = turn.get("tool_calls")
    return [call for call in calls if isinstance(call, dict)] if isinstance(calls, list) else []


def _are_texts(*turns: Turn) -> bool:
    return all(isinstance(turn["content"], str) for turn in turns)


def _choose_rows(db: OpenStore, session_id: str, message_id: int) -> str | None:
    """The condition that says which messages are shown; None if the message is not there."""
    sql = "SELECT active FROM messages WHERE session_id = ? AND id = ?"
    row = find_one(db.backend, sql, session_id, message_id)
    if row is None:
        return None
    return "active = 1" if row["active"] else "1 = 1"


def _list_rows(
    db: OpenStore, session_id: str, where: str, message_id: int, limit: int
) -> list[Row]:
    """The first ``limit`` messages in order, or the last ones if it is negative."""
    order = "DESC" if limit < 0 else "ASC"
    rows = db.backend.query(
        f"SELECT {SHOWN} FROM messages WHERE session_id = ? AND {where}"
        f" ORDER BY id {order} LIMIT ?",
        (session_id, message_id, abs(limit)),
    )
    return [decode_message(row) for row in (reversed(rows) if limit < 0 else rows)]


def _is_kept(row: Row, roles: Sequence[str] | None) -> bool:
    return roles is None or row["role"] in roles
