"""Sessions of the OpenAI Agents SDK: ``SQLiteSession`` and the advanced one built on it.

One row is one item of the Responses API; what ends in ``_call`` asks, what ends in ``_call_output``
answers. Items the model gave one after another are one assistant message, so that parallel calls
stand together. A branch of an advanced session is a session of its own; it shares rows with the
branch it came from, and a shared row counts in the first one only. The SDK stores no outcome for a
function call and neither do we.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from msgspec.structs import replace

from warmstart.model import (
    Compaction,
    Fate,
    Link,
    Message,
    Parent,
    Request,
    Result,
    Role,
    Session,
    Tokens,
)
from warmstart.sources.assemble import build_session
from warmstart.sources.fields import as_int, as_text, parse_time
from warmstart.sources.json_text import parse_text
from warmstart.sources.log import ReadLog
from warmstart.sources.openai_blocks import read_usage
from warmstart.sources.reader import Probe, Unit
from warmstart.sources.sqlite import DatabaseReader, open_database
from warmstart.sources.sqlite_guard import GuardedConnection
from warmstart.wire import as_dict, as_dicts, as_id, content_text, encode_text, make_request

SESSIONS, MESSAGES = "agent_sessions", "agent_messages"
STRUCTURE, USAGE = "message_structure", "turn_usage"
STRUCTURE_COLUMNS = frozenset({"id", "session_id", "message_id", "branch_id", "sequence_number"})
USAGE_COLUMNS = (
    "session_id", "branch_id", "input_tokens", "output_tokens", "total_tokens",
    "input_tokens_details", "output_tokens_details",
)  # fmt: skip
MAIN = "main"

ROLES = {
    "user": Role.USER,
    "assistant": Role.ASSISTANT,
    "system": Role.SYSTEM,
    "developer": Role.SYSTEM,
}
COMPACTION_TYPES = frozenset({"compaction", "compaction_summary"})
SILENT_TYPES = frozenset(
    {"item_reference", "mcp_list_tools", "mcp_approval_request", "mcp_approval_response"}
)
"""Items without text, calls or results."""
ARGUMENT_FIELDS = ("arguments", "input", "action", "operation", "code", "queries")
HOSTED_RESULT_FIELDS = ("error", "output", "results", "outputs")
FAILED = {"completed": False, "failed": True}


class StoredItem(NamedTuple):
    """One stored item."""

    id: Any
    item: dict[str, Any]
    created_at: float | None


class OpenAIAgents(DatabaseReader):
    """OpenAI Agents SDK sessions."""

    name = "openai_agents"
    title = "OpenAI Agents SDK sessions"

    def recognises(self, probe: Probe) -> bool:
        """By the SDK's two tables."""
        return probe.tables >= {SESSIONS, MESSAGES}

    def units(self, path: Path, log: ReadLog) -> Iterator[Unit]:
        """One unit per session id, in the order of their first items."""
        with open_database(path) as connection:
            states = _list_states(connection)
        for key, state in states.items():
            session_id = as_id(key)
            if session_id is None:
                log.skip("session without an id", path)
            else:
                yield Unit(path=path, key=session_id, fingerprint=state)

    def read_rows(
        self, connection: GuardedConnection, unit: Unit, log: ReadLog
    ) -> Iterator[Session]:
        """The session, and each of its branches as one more."""
        rows = _read_rows(connection, unit, log)
        branches = _read_branches(connection, unit.key, rows)
        tokens = _read_usage(connection, unit.key)
        counted: dict[Any, str] = {}
        for branch, row_ids in branches.items():
            shared = [row_id for row_id in row_ids if row_id in counted]
            source = counted[shared[-1]] if shared else MAIN
            yield _build(
                unit,
                _name(unit.key, branch),
                _read_items([rows[row_id] for row_id in row_ids], shared, unit.path, log),
                tokens=tokens.get(branch),
                parent=None
                if branch == MAIN
                else Parent(id=f"{self.name}:{_name(unit.key, source)}", link=Link.BRANCH),
            )
            counted = dict.fromkeys(row_ids, branch) | counted


def _name(session_id: str, branch: str) -> str:
    return session_id if branch == MAIN else f"{session_id}/{branch}"


def _list_states(connection: GuardedConnection) -> dict[Any, str]:
    """What changes with each session, in one pass over each table's index."""
    columns = connection.known_columns(SESSIONS, ("session_id", "updated_at"))
    counts = "SELECT session_id, count(*), max(id) FROM {} GROUP BY session_id ORDER BY min(id)"
    queries = [counts.format(MESSAGES), f"SELECT {columns} FROM {SESSIONS}"]
    if connection.columns(STRUCTURE) >= STRUCTURE_COLUMNS:
        queries.append(counts.format(STRUCTURE))
    if connection.columns(USAGE) >= set(USAGE_COLUMNS):
        queries.append(f"SELECT session_id, total(total_tokens) FROM {USAGE} GROUP BY session_id")
    states: dict[Any, str] = {}
    for query in queries:
        for key, *values in connection.select(query):
            states[key] = f"{states.get(key, '')}/{'-'.join(map(str, values))}"
    return states


def _read_rows(connection: GuardedConnection, unit: Unit, log: ReadLog) -> dict[Any, StoredItem]:
    columns = connection.known_columns(MESSAGES, ("id", "message_data", "created_at"))
    rows = {}
    for key, data, created_at in connection.select(
        f"SELECT {columns} FROM {MESSAGES} WHERE session_id = ? ORDER BY id", unit.key
    ):
        item = parse_text(as_text(data) or "")
        if not isinstance(item, dict):
            log.skip("item is not a JSON object", unit.path)
        elif "__enc__" in item:
            log.skip("item is encrypted", unit.path)
        else:
            rows[key] = StoredItem(key, item, parse_time(created_at))
    return rows


def _read_branches(
    connection: GuardedConnection, session_id: str, rows: Mapping[Any, StoredItem]
) -> dict[str, list[Any]]:
    """Row ids per branch, the main one first; rows that no branch names belong to it."""
    branches: dict[str, list[Any]] = {MAIN: []}
    if connection.columns(STRUCTURE) >= STRUCTURE_COLUMNS:
        for branch, row_id in connection.select(
            f"SELECT branch_id, message_id FROM {STRUCTURE} WHERE session_id = ? "
            "ORDER BY sequence_number, id",
            session_id,
        ):
            if row_id in rows:
                branches.setdefault(as_id(branch) or MAIN, []).append(row_id)
    placed = {row_id for row_ids in branches.values() for row_id in row_ids}
    if len(placed) < len(rows):
        main = set(branches[MAIN])
        branches[MAIN] = [i for i in rows if i in main or i not in placed]
    return branches


def _read_usage(connection: GuardedConnection, session_id: str) -> dict[str, Tokens]:
    """Tokens per branch; the input count of the Responses API includes what came from a cache."""
    if not connection.columns(USAGE) >= set(USAGE_COLUMNS):
        return {}
    totals: dict[str, Tokens] = {}
    columns = ", ".join(USAGE_COLUMNS)
    for values in connection.select(
        f"SELECT {columns} FROM {USAGE} WHERE session_id = ?", session_id
    ):
        row = dict(zip(USAGE_COLUMNS, values, strict=True))
        for name in ("input_tokens_details", "output_tokens_details"):
            row[name] = parse_text(as_text(row[name]) or "{}")
        branch = as_id(row["branch_id"]) or MAIN
        totals[branch] = totals.get(branch, Tokens()) + (read_usage(row) or Tokens())
    return totals


def _build(unit: Unit, native_id: str, entries: Sequence[Message | None], **fields: Any) -> Session:
    """A session from its messages, in which None stands for a compaction."""
    messages: list[Message] = []
    compactions = []
    for entry in entries:
        if entry is None:
            compactions.append(Compaction(at=len(messages)))
        else:
            _append(messages, entry)
    return build_session(
        OpenAIAgents.name,
        native_id,
        messages,
        compactions=tuple(compactions),
        path=str(unit.path),
        **fields,
    )


def _append(messages: list[Message], message: Message) -> None:
    """Add a message, or make it part of the last one when both are of one model response."""
    last = messages[-1] if messages else None
    if last is None or not _is_one_response(last, message):
        messages.append(message)
        return
    messages[-1] = replace(
        last,
        text=last.text or message.text,
        reasoning="\n".join(filter(None, (last.reasoning, message.reasoning))),
        requests=last.requests + message.requests,
    )


def _is_one_response(last: Message, message: Message) -> bool:
    if last.role is not Role.ASSISTANT or message.role is not Role.ASSISTANT:
        return False
    return last.fate is message.fate and not (message.text and (last.text or last.requests))


def _read_items(
    rows: Sequence[StoredItem], shared: Sequence[Any], path: Path, log: ReadLog
) -> list[Message | None]:
    copied = set(shared)
    entries: list[Message | None] = []
    for row in rows:
        kind = as_text(row.item.get("type")) or "message"
        if kind in COMPACTION_TYPES:
            entries.append(None)
            continue
        messages = list(_read_item(row.item, kind))
        if not messages and kind not in SILENT_TYPES:
            log.skip("item of an unknown type", path)
        entries += [
            replace(
                message,
                native_id=as_id(row.item.get("id")) or as_id(row.id),
                timestamp=row.created_at,
                fate=Fate.COPIED if row.id in copied else Fate.LIVE,
            )
            for message in messages
        ]
    return entries


def _read_item(item: Mapping[str, Any], kind: str) -> Iterator[Message]:
    role = ROLES.get(as_text(item.get("role")) or "")
    if role is not None:
        yield Message(role=role, text=content_text(item.get("content")))
    elif kind == "reasoning":
        thought = content_text(item.get("summary")) or content_text(item.get("content"))
        yield Message(role=Role.ASSISTANT, reasoning=thought)
    elif kind.endswith("_call_output"):
        yield Message(role=Role.TOOL, results=(_read_output(item, kind),))
    elif kind.endswith("_call"):
        yield Message(role=Role.ASSISTANT, requests=(_read_call(item, kind),))
        yield from _read_hosted_result(item, kind)


def _call_id(item: Mapping[str, Any]) -> str | None:
    return as_id(item.get("call_id")) or as_id(item.get("id"))


def _read_call(item: Mapping[str, Any], kind: str) -> Request:
    name = next((name for name in ARGUMENT_FIELDS if item.get(name) is not None), "arguments")
    value = item.get(name)
    written = {name: value} if name in ("code", "queries") else value
    return make_request(item.get("name"), _call_id(item), written, kind)


def _read_output(item: Mapping[str, Any], kind: str) -> Result:
    """What a call gave; shells say how each command ended, patches whether they applied."""
    output = item.get("output")
    outcomes = [as_dict(chunk.get("outcome")) for chunk in as_dicts(output)]
    codes = [as_int(outcome.get("exit_code")) for outcome in outcomes]
    failed = FAILED.get(as_text(item.get("status")) or "") if kind.startswith("apply_") else None
    if any(outcome.get("type") == "timeout" for outcome in outcomes):
        failed = True
    return Result(
        text=_output_text(output),
        call_id=_call_id(item),
        is_error=failed,
        exit_code=next((code for code in codes if code), 0 if 0 in codes else None),
    )


def _output_text(output: Any) -> str:
    """The text of an output; of a shell's, what it wrote to both its streams."""
    if output is None or isinstance(output, str):
        return output or ""
    chunks = (chunk.get(name) for chunk in as_dicts(output) for name in ("stdout", "stderr"))
    streams = "\n".join(text for text in chunks if isinstance(text, str) and text)
    return streams or content_text(output) or encode_text(output)


def _read_hosted_result(item: Mapping[str, Any], kind: str) -> Iterator[Message]:
    """The answer inside a call that OpenAI's side carried out (search, code, MCP).

    Such a call has no ``call_id``, for no item will answer it; its status is its outcome.
    """
    if kind == "function_call" or item.get("call_id") is not None:
        return
    failed = FAILED.get(as_text(item.get("status")) or "")
    value = next((item[n] for n in HOSTED_RESULT_FIELDS if item.get(n) is not None), None)
    if failed is None and value is None:
        return
    result = Result(
        text=_output_text(value),
        call_id=_call_id(item),
        tool=as_text(item.get("name")) or kind,
        is_error=True if item.get("error") is not None else failed,
    )
    yield Message(role=Role.TOOL, results=(result,))
