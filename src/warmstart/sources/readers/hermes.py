"""Hermes' state.db: one session per row of ``sessions``, its messages by id.

Column-tolerant from schema v4 on: a column the database does not have reads as NULL, one we do not
know is not asked for. The database is never written to and never opened as a plain file. Hermes
has no field for a call's failure; results keep their text and the judge decides.

Messages come in the order of their ids: Hermes' clock may step back, its ids do not. What the
flags of a row say (live, archived, rewound) becomes its fate; which rows are repeats is for
``_hermes_copies`` to find.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from hashlib import blake2b
from operator import itemgetter
from pathlib import Path
from typing import Any, NamedTuple

from warmstart.errors import SourceError
from warmstart.model import (
    Compaction,
    Fate,
    Kind,
    Link,
    Message,
    Parent,
    Request,
    Result,
    Role,
    Session,
    Status,
)
from warmstart.sources.assemble import build_session
from warmstart.sources.fields import as_float, as_int, as_text, parse_time, parse_tokens
from warmstart.sources.json_text import is_json, parse_text
from warmstart.sources.log import ReadLog
from warmstart.sources.openai_blocks import read_requests
from warmstart.sources.reader import Probe, Unit
from warmstart.sources.readers._hermes_copies import settle_copies
from warmstart.sources.sqlite import DatabaseReader, open_database
from warmstart.sources.sqlite_guard import GuardedConnection
from warmstart.store import WARMUP_MARK, read_mark
from warmstart.wire import ROLES, as_dict, as_dicts, as_id, content_text

DATABASE = "state.db"
PROFILES = "profiles"
OWN_COLUMNS = frozenset({"session_id", "role", "content", "tool_calls"})
"""Of ``messages``: what other agents with tables of the same names (goose) do not have."""
MESSAGE_COLUMNS = (
    "id", "role", "content", "tool_call_id", "tool_calls", "tool_name", "timestamp", "reasoning",
    "reasoning_content", "reasoning_details", "observed", "active", "compacted",
    "_compressed_summary", "display_kind", "effect_disposition",
)  # fmt: skip
READ = (
    "id", "source", "model", "model_config", "system_prompt", "parent_session_id", "started_at",
    "ended_at", "end_reason", "title", "cwd", "git_branch", "git_repo_root", "input_tokens",
    "output_tokens", "cache_read_tokens", "cache_write_tokens", "reasoning_tokens",
    "actual_cost_usd", "estimated_cost_usd", "cost_status",
)  # fmt: skip
COUNTERS = ("message_count", "tool_call_count", "rewind_count", "last_message_at")
"""Columns that change with a session's messages."""
PARENT = "parent_session_id"
SIZED = ("content", "tool_calls")
"""Columns of a message whose size is measured."""
TOKENS = {
    "input": "input_tokens",
    "output": "output_tokens",
    "cache_read": "cache_read_tokens",
    "cache_write": "cache_write_tokens",
    "reasoning": "reasoning_tokens",
}
RESET_REASONS = frozenset({"session_reset", "idle", "daily", "suspended", "new_session"})
HEIRS = frozenset({Link.COMPACTION, Link.BRANCH, Link.UNKNOWN})
"""Links whose sessions may begin with their parent's messages."""
CLOCK_SLACK_SECONDS = 5.0
_LIVE, _TURN, _TOOL, _ASSISTANT = Fate.LIVE, Kind.TURN, Role.TOOL, Role.ASSISTANT
BOOKKEEPING_ROLES = frozenset({"session_meta"})
"""Rows an older gateway wrote beside the conversation: no message, and nothing lost without it."""

ENCODED_OPENINGS = ("\x00", "\x1e")
ENCODED_PREFIXES = ("\x00json:", "\x1ejson:")
"""Content other than plain text is stored as one of these (Hermes', ours) and its JSON."""
SUMMARY_PREFIXES = ("[CONTEXT COMPACTION", "[CONTEXT SUMMARY]:")
MERGED_SUMMARY_MARK = "COMPACTION SUMMARY BELOW]"
MERGED_PREFIX = "[PRIOR CONTEXT"
"""Where roles must alternate, the summary is put into the first message kept instead."""
INJECTED_PREFIXES = (
    "[System: ",
    "[Your active task list was preserved across context compression]",
    "[IMPORTANT: Background process ",
    "[IMPORTANT: MCP servers have been reloaded",
    "[Background process ",
    "[ASYNC DELEGATION ",
    "[Continuing toward ",
)
"""User messages that Hermes writes whole; notes it puts before a user's own words are not here."""


class Hermes(DatabaseReader):
    """Hermes state.db, or a Hermes home with its profiles."""

    name = "hermes"
    title = "Hermes state.db"

    def recognises(self, probe: Probe) -> bool:
        """A database with Hermes' own message columns, or a folder that holds one."""
        if probe.is_folder:
            return any(_is_hermes(path) for path in _databases_in(probe.path))
        return {"sessions", "messages"} <= probe.tables and _is_hermes(probe.path)

    def units(self, path: Path, log: ReadLog) -> Iterator[Unit]:
        """One unit per session, in the order they were started."""
        if not path.is_dir():
            yield from _list_sessions(path, log)
            return
        for database in _databases_in(path):
            try:
                yield from _list_sessions(database, log)
            except SourceError as error:
                log.skip(error.message.rpartition(": ")[2], database)

    def measure(self, path: Path, keys: Iterable[str] | None = None) -> dict[str, str]:
        """How much each session of a database holds, or each of some.

        Fingerprints of units do not see a message that was edited in place; its size does, unless
        the edit keeps it. This reads all messages.
        """
        return _measure_sessions(path, keys)

    def read_rows(
        self, connection: GuardedConnection, unit: Unit, log: ReadLog
    ) -> Iterator[Session]:
        """The one session of a unit."""
        row = _get_row(connection, unit.key)
        parent_id = as_id(row.get("parent_session_id"))
        parent_row = _get_row(connection, parent_id) if parent_id else {}
        parent = _find_parent(row, parent_row)
        messages = _read_messages(connection, unit.key, unit.path, log)
        inherited: list[Message] = []
        if parent is not None and parent.link in HEIRS and parent_row:
            theirs = _read_messages(connection, str(parent_row["id"]), unit.path, ReadLog())
            inherited = settle_copies(theirs).messages
        rotated = parent is not None and parent.link is Link.COMPACTION
        settled = settle_copies(messages, inherited, rotated=rotated)
        prompt = as_text(row.get("system_prompt"))
        opening = [Message(role=Role.SYSTEM, text=prompt)] if prompt else []
        yield build_session(
            self.name,
            unit.key,
            [*opening, *settled.messages],
            parent=parent,
            compactions=tuple(Compaction(at=at + len(opening)) for at in settled.compactions),
            path=str(unit.path),
            **_session_fields(row),
        )


def _databases_in(home: Path) -> list[Path]:
    homes = [home, *sorted((home / PROFILES).glob("*"))]
    return [folder / DATABASE for folder in homes if (folder / DATABASE).is_file()]


def _is_hermes(path: Path) -> bool:
    try:
        with open_database(path) as connection:
            return connection.columns("messages") >= OWN_COLUMNS
    except SourceError:
        return False


def _list_sessions(path: Path, log: ReadLog) -> list[Unit]:
    with open_database(path) as connection:
        counts = _count_messages(connection)
        rows, parents = _list_rows(connection)
    units = []
    for key in [*rows, *(key for key in counts if key not in rows)]:
        session_id = as_id(key)
        if session_id is None:
            log.skip("session without an id", path)
            continue
        # How a parent ended and what it held decides what of a session is a copy.
        parent = parents.get(key)
        before = parent and (rows.get(parent), counts.get(parent))
        state = (rows.get(key, ()), counts.get(key), before)
        digest = blake2b(repr(state).encode("utf-8", "replace"), digest_size=12).hexdigest()
        units.append(Unit(path=path, key=session_id, fingerprint=digest))
    return units


def _list_rows(
    connection: GuardedConnection,
) -> tuple[dict[Any, tuple[Any, ...]], dict[Any, Any]]:
    """The rows of all sessions in the order they were started, and the parents of those."""
    have = connection.columns("sessions")
    columns = [name for name in (*READ, *COUNTERS) if name in have]
    order = "ORDER BY started_at, id" if "started_at" in have else ""
    query = f"SELECT {', '.join(map(_as_listed, columns))} FROM sessions {order}"
    rows = {row[0]: row for row in connection.select(query)}
    if PARENT not in columns:
        return rows, {}
    at = columns.index(PARENT)
    return rows, {key: row[at] for key, row in rows.items()}


def _as_listed(column: str) -> str:
    """Of a prompt, which may be long, only whether there is one."""
    return "length(system_prompt) > 0" if column == "system_prompt" else column


def _measure_sessions(path: Path, keys: Iterable[str] | None) -> dict[str, str]:
    with open_database(path) as connection:
        parents: dict[Any, Any] = {}
        if PARENT in connection.columns("sessions"):
            parents = dict(connection.select(f"SELECT id, {PARENT} FROM sessions"))
        have = connection.columns("messages")
        sizes = [f"total(length(CAST({name} AS BLOB)))" for name in SIZED if name in have]
        query = f"SELECT session_id, count(*), max(id), {', '.join(sizes)} FROM messages"
        if keys is None:
            rows = connection.select(f"{query} GROUP BY session_id")
            keys = {*map(str, parents), *(str(row[0]) for row in rows)}
        else:
            wanted = {*keys, *(str(parents.get(key)) for key in keys)}
            one = f"{query} WHERE session_id = ?"
            rows = [row for key in wanted for row in connection.select(one, key)]
    found = {str(row[0]): row[1:] for row in rows if row[1]}
    return {key: _join_sizes(found, key, parents.get(key)) for key in keys}


def _join_sizes(sizes: Mapping[str, tuple[Any, ...]], key: str, parent: Any) -> str:
    """The sizes of a session and of its parent, as one text."""
    numbers = (*sizes.get(key, (0,)), *sizes.get(str(parent), (0,)))
    return " ".join(f"{number:.0f}" for number in numbers)


def _count_messages(connection: GuardedConnection) -> dict[Any, tuple[Any, ...]]:
    """Rows, newest id and live rows per session, all from one covering index.

    ``compacted`` never changes without ``active``, and only ``active`` is in an index: asking for
    both would read every message of the database.
    """
    active = "total(active)" if "active" in connection.columns("messages") else "0"
    rows = connection.select(
        f"SELECT session_id, count(*), max(id), {active} FROM messages GROUP BY session_id"
    )
    return {row[0]: row[1:] for row in rows}


def _get_row(connection: GuardedConnection, session_id: str) -> dict[str, Any]:
    """The row of a session; empty where messages or children have outlived it."""
    columns = connection.known_columns("sessions", READ)
    rows = connection.select(f"SELECT {columns} FROM sessions WHERE id = ?", session_id)
    return dict(zip(READ, rows[0], strict=True)) if rows else {}


def _session_fields(row: Mapping[str, Any]) -> dict[str, Any]:
    """What a row of ``sessions`` says of a session, as fields of ours."""
    config = _config(row)
    return {
        "platform": as_text(row.get("source")),
        "model": as_text(row.get("model")),
        "title": as_text(row.get("title")),
        "project": as_text(row.get("cwd")) or as_text(row.get("git_repo_root")),
        "git_branch": as_text(row.get("git_branch")),
        "started_at": parse_time(row.get("started_at")),
        "ended_at": parse_time(row.get("ended_at")),
        "end_reason": as_text(row.get("end_reason")),
        "tokens": parse_tokens(row, TOKENS),
        "cost_usd": _cost(row),
        # Runs of an experiment name their task and how it went; see runners/sessions.py.
        "task": as_text(config.get("_task")),
        "reward": as_float(config.get("_reward")),
    }


def _config(row: Mapping[str, Any]) -> dict[str, Any]:
    text = as_text(row.get("model_config"))
    return as_dict(parse_text(text) if text else None)


def _cost(row: Mapping[str, Any]) -> float | None:
    actual = as_float(row.get("actual_cost_usd"))
    if actual is not None:
        return actual
    # A model whose price Hermes does not know is entered as costing 0.
    unknown = row.get("cost_status") == "unknown"
    return None if unknown else as_float(row.get("estimated_cost_usd"))


def _find_parent(row: Mapping[str, Any], parent: Mapping[str, Any]) -> Parent | None:
    """The parent and why: the child's own marks first, then how the parent ended."""
    config = _config(row)
    delegated = as_id(config.get("_delegate_from"))
    branched = as_id(config.get("_branched_from"))
    parent_id = as_id(row.get("parent_session_id")) or delegated or branched
    if parent_id is None:
        return None
    if delegated or row.get("source") == "subagent":
        link = Link.SUBAGENT
    elif branched:
        link = Link.BRANCH
    else:
        link = _link_by_end(row, parent)
    return Parent(id=f"{Hermes.name}:{parent_id}", link=link)


def _link_by_end(row: Mapping[str, Any], parent: Mapping[str, Any]) -> Link:
    reason = parent.get("end_reason")
    if reason == "branched":
        return Link.BRANCH
    if reason in RESET_REASONS:
        return Link.RESET
    if reason == "compression" and row.get("source") != "tool" and _follows(row, parent):
        return Link.COMPACTION
    return Link.UNKNOWN


def _follows(row: Mapping[str, Any], parent: Mapping[str, Any]) -> bool:
    """Whether it began when its parent had ended; older subagents bear no mark but do not."""
    started, ended = parse_time(row.get("started_at")), parse_time(parent.get("ended_at"))
    return started is None or ended is None or started >= ended - CLOCK_SLACK_SECONDS


class _Row(NamedTuple):
    """A row of ``messages``, in the order of ``MESSAGE_COLUMNS``."""

    id: Any
    role: Any
    content: Any
    tool_call_id: Any
    tool_calls: Any
    tool_name: Any
    timestamp: Any
    reasoning: Any
    reasoning_content: Any
    reasoning_details: Any
    observed: Any
    active: Any
    compacted: Any
    is_summary: Any
    display_kind: Any
    effect_disposition: Any


_make_row = partial(tuple.__new__, _Row)
"""From a tuple; a named tuple's own constructor takes three times as long."""


def _read_messages(
    connection: GuardedConnection, session_id: str, path: Path, log: ReadLog
) -> list[Message]:
    """Every message of a session, archived and rewound ones too, in the order of their ids."""
    columns = connection.known_columns("messages", MESSAGE_COLUMNS)
    query = f"SELECT {columns} FROM messages WHERE session_id = ?"
    rows = connection.select(query, session_id)
    try:
        rows.sort(key=itemgetter(0))  # nearly sorted already; SQLite would copy every message
    except TypeError:  # not all ids are numbers
        rows = connection.select(f"{query} ORDER BY id", session_id)
    found = [_read_message(row, path, log) for row in map(_make_row, rows)]
    return [message for message in found if message is not None]


def _read_message(row: _Row, path: Path, log: ReadLog) -> Message | None:
    role = ROLES.get(row.role) if row.role.__class__ is str else None
    if role is None:
        if row.role not in BOOKKEEPING_ROLES:
            log.skip("message of an unknown role", path)
        return None
    text = row.content
    if text.__class__ is not str or text[:1] in ENCODED_OPENINGS:
        text = _read_text(text)
    fate = _find_fate(row)
    if role is _TOOL:
        return _read_result_message(row, text, fate)
    requests: tuple[Request, ...] = ()
    reasoning = ""
    if role is _ASSISTANT:
        reasoning = _read_reasoning(row)
        if row.tool_calls:
            requests = _read_calls(row.tool_calls, path, log)
    return Message(
        role=role,
        text=text,
        requests=requests,
        reasoning=reasoning,
        native_id=as_id(row.id),
        timestamp=parse_time(row.timestamp),
        kind=_find_kind(row, role, text),
        fate=fate,
    )


def _read_result_message(row: _Row, text: str, fate: Fate) -> Message | None:
    result = _read_result(row, text)
    if result is None:
        return None
    return Message(
        role=_TOOL,
        results=(result,),
        native_id=as_id(row.id),
        timestamp=parse_time(row.timestamp),
        kind=_find_kind(row, _TOOL, ""),
        fate=fate,
    )


def _read_text(value: Any) -> str:
    """The text of a content cell, whichever of Hermes' encodings it is in."""
    if isinstance(value, bytes):
        value = value.decode("utf-8", "replace")
    text = value if isinstance(value, str) else "" if value is None else str(value)
    if text[:1] not in ENCODED_OPENINGS or not text.startswith(ENCODED_PREFIXES):
        return text
    encoded = text[len(ENCODED_PREFIXES[0]) :]
    content = parse_text(encoded)
    return (content_text(content) if is_json(content) else "") or encoded


def _read_result(row: _Row, text: str) -> Result | None:
    """The result in a row; None for a row that stands in for a result that never came."""
    call_id, tool = as_id(row.tool_call_id), as_text(row.tool_name)
    if not row.effect_disposition:
        return Result(text=text, call_id=call_id, tool=tool)
    mark = read_mark(row.effect_disposition)
    if mark.status is Status.UNANSWERED:
        return None
    return Result(
        text=text,
        call_id=call_id,
        tool=tool,
        is_error=mark.is_error,
        exit_code=mark.exit_code,
        status=mark.status,
    )


def _read_reasoning(row: _Row) -> str:
    if not (row.reasoning or row.reasoning_content or row.reasoning_details):
        return ""
    text = as_text(row.reasoning) or as_text(row.reasoning_content)
    return text or _read_reasoning_details(as_text(row.reasoning_details))


def _read_reasoning_details(details: str | None) -> str:
    found = as_dicts(parse_text(details)) if details else []
    texts = (as_text(item.get("text") or item.get("summary")) for item in found)
    return "\n".join(filter(None, texts))


def _find_head(text: str) -> str:
    """A text that may not be the user's own: what Hermes writes in others' names has a bracket."""
    opening = text[:1]
    return text.lstrip() if opening == "[" or opening.isspace() else ""


def _find_kind(row: _Row, role: Role, text: str) -> Kind:
    if row.effect_disposition == WARMUP_MARK:
        return Kind.WARMUP
    if role is _TOOL or role is Role.SYSTEM:
        return _TURN
    head = _find_head(text)
    if row.is_summary and as_int(row.is_summary):
        return Kind.SUMMARY
    if head and _is_summary(head):
        return Kind.SUMMARY
    return Kind.INJECTED if role is Role.USER and _is_injected(row, head) else _TURN


def _is_injected(row: _Row, head: str) -> bool:
    noted = as_int(row.observed) or as_text(row.display_kind)
    return bool(noted) or head.startswith(INJECTED_PREFIXES)


def _is_summary(head: str) -> bool:
    """Whether a compaction wrote a message, or wrote its summary into it, by how it opens."""
    if head.startswith(MERGED_PREFIX):
        return MERGED_SUMMARY_MARK in head
    return head.startswith(SUMMARY_PREFIXES)


def _find_fate(row: _Row) -> Fate:
    """Rows without the flags (older schemas) or with NULL in them are live."""
    if row.active is None or row.active == 1 or as_int(row.active) != 0:
        return _LIVE
    return Fate.ARCHIVED if as_int(row.compacted) else Fate.REWOUND


def _read_calls(value: Any, path: Path, log: ReadLog) -> tuple[Request, ...]:
    if not isinstance(value, str):
        return ()
    calls = parse_text(value)
    if not isinstance(calls, list):
        log.skip("tool calls are not a JSON list", path)
        return ()
    return read_requests(calls)
