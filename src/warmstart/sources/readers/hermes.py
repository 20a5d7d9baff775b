"""Hermes' state.db: one session per row of ``sessions``, its messages by id.

Column-tolerant from schema v4 on: a column the database does not have reads as NULL, one we do not
know is not asked for. The database is never written to and never opened as a plain file. Hermes
has no field for a call's failure; results keep their text and the judge decides.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from hashlib import blake2b
from pathlib import Path
from typing import Any

from warmstart.errors import SourceError
from warmstart.model import Compaction, Link, Message, Parent, Role, Session
from warmstart.sources.assemble import build_session
from warmstart.sources.fields import (
    as_dict,
    as_float,
    as_id,
    as_text,
    parse_time,
    parse_tokens,
)
from warmstart.sources.files import parse_json
from warmstart.sources.log import ReadLog
from warmstart.sources.reader import Probe, Unit
from warmstart.sources.readers._hermes_copies import settle_copies
from warmstart.sources.readers._hermes_rows import read_messages
from warmstart.sources.sqlite import list_columns, open_database, select_known

DATABASE = "state.db"
PROFILES = "profiles"
OWN_COLUMNS = frozenset({"session_id", "role", "content", "tool_calls"})
"""Of ``messages``: what other agents with tables of the same names (goose) do not have."""
READ = (
    "id", "source", "model", "model_config", "system_prompt", "parent_session_id", "started_at",
    "ended_at", "end_reason", "title", "cwd", "git_branch", "git_repo_root", "input_tokens",
    "output_tokens", "cache_read_tokens", "cache_write_tokens", "reasoning_tokens",
    "actual_cost_usd", "estimated_cost_usd", "cost_status",
)  # fmt: skip
COUNTERS = ("message_count", "tool_call_count", "rewind_count", "last_message_at")
"""Columns that change with a session's messages."""
TOKENS = {
    "input": "input_tokens",
    "output": "output_tokens",
    "cache_read": "cache_read_tokens",
    "cache_write": "cache_write_tokens",
    "reasoning": "reasoning_tokens",
}
PARENT = "parent_session_id"
SIZED = ("content", "tool_calls")
"""Columns of a message whose size is measured."""
RESET_REASONS = frozenset({"session_reset", "idle", "daily", "suspended", "new_session"})
HEIRS = frozenset({Link.COMPACTION, Link.BRANCH, Link.UNKNOWN})
"""Links whose sessions may begin with their parent's messages."""
CLOCK_SLACK_SECONDS = 5.0


class Hermes:
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

    def read(self, unit: Unit, log: ReadLog) -> Iterator[Session]:
        """The one session of a unit."""
        with open_database(unit.path) as connection:
            session = read_session(connection, unit, log)
        yield session


def _databases_in(home: Path) -> list[Path]:
    homes = [home, *sorted((home / PROFILES).glob("*"))]
    return [folder / DATABASE for folder in homes if (folder / DATABASE).is_file()]


def _is_hermes(path: Path) -> bool:
    try:
        with open_database(path) as connection:
            return list_columns(connection, "messages") >= OWN_COLUMNS
    except SourceError:
        return False


def _list_sessions(path: Path, log: ReadLog) -> list[Unit]:
    with open_database(path) as connection:
        counts = _count_messages(connection)
        have = list_columns(connection, "sessions")
        columns = [name for name in (*READ, *COUNTERS) if name in have]
        order = "ORDER BY started_at, id" if "started_at" in have else ""
        query = f"SELECT {', '.join(map(_as_listed, columns))} FROM sessions {order}"
        rows = {row[0]: tuple(row) for row in connection.execute(query)}
    parents = columns.index(PARENT) if PARENT in columns else None
    units = []
    for key in [*rows, *(key for key in counts if key not in rows)]:
        session_id = as_id(key)
        if session_id is None:
            log.skip("session without an id", path)
            continue
        row = rows.get(key, ())
        # How a parent ended and what it held decides what of a session is a copy.
        parent = row[parents] if row and parents is not None else None
        state = (row, counts.get(key), parent and (rows.get(parent), counts.get(parent)))
        digest = blake2b(repr(state).encode("utf-8", "replace"), digest_size=12).hexdigest()
        units.append(Unit(path=path, key=session_id, fingerprint=digest))
    return units


def _as_listed(column: str) -> str:
    """Of a prompt, which may be long, only whether there is one."""
    return "length(system_prompt) > 0" if column == "system_prompt" else column


def _measure_sessions(path: Path, keys: Iterable[str] | None) -> dict[str, str]:
    with open_database(path) as connection:
        parents: dict[Any, Any] = {}
        if PARENT in list_columns(connection, "sessions"):
            parents = dict(map(tuple, connection.execute(f"SELECT id, {PARENT} FROM sessions")))
        have = list_columns(connection, "messages")
        sizes = [f"total(length(CAST({name} AS BLOB)))" for name in SIZED if name in have]
        query = f"SELECT session_id, count(*), max(id), {', '.join(sizes)} FROM messages"
        if keys is None:
            keys = [key for key in map(as_id, parents) if key is not None]
            rows = [tuple(row) for row in connection.execute(f"{query} GROUP BY session_id")]
            keys += [str(row[0]) for row in rows]
        else:
            wanted = {*keys, *(str(parents.get(key)) for key in keys)}
            one = f"{query} WHERE session_id = ?"
            rows = [tuple(row) for key in wanted for row in connection.execute(one, (key,))]
    found = {str(row[0]): row[1:] for row in rows if row[1]}
    return {key: _join_sizes(found, key, parents.get(key)) for key in keys}


def _join_sizes(sizes: Mapping[str, tuple[Any, ...]], key: str, parent: Any) -> str:
    """The sizes of a session and of its parent, as one text."""
    numbers = (*sizes.get(key, (0,)), *sizes.get(str(parent), (0,)))
    return " ".join(f"{number:.0f}" for number in numbers)


def _has(connection: sqlite3.Connection, table: str, column: str) -> bool:
    return column in list_columns(connection, table)


def _count_messages(connection: sqlite3.Connection) -> dict[Any, tuple[Any, ...]]:
    """Rows, newest id and live rows per session, all from one covering index.

    ``compacted`` never changes without ``active``, and only ``active`` is in an index: asking for
    both would read every message of the database.
    """
    active = "total(active)" if _has(connection, "messages", "active") else "0"
    rows = connection.execute(
        f"SELECT session_id, count(*), max(id), {active} FROM messages GROUP BY session_id"
    )
    return {row[0]: tuple(row)[1:] for row in rows}


def read_session(connection: sqlite3.Connection, unit: Unit, log: ReadLog) -> Session:
    """One session, through a connection that reads many."""
    row = _get_row(connection, unit.key)
    parent_id = as_id(row.get("parent_session_id"))
    parent_row = _get_row(connection, parent_id) if parent_id else {}
    parent = find_parent(row, parent_row)
    messages = read_messages(connection, unit.key, unit.path, log)
    inherited: list[Message] = []
    if parent is not None and parent.link in HEIRS and parent_row:
        theirs = read_messages(connection, str(parent_row["id"]), unit.path, ReadLog())
        inherited = settle_copies(theirs).messages
    rotated = parent is not None and parent.link is Link.COMPACTION
    settled = settle_copies(messages, inherited, rotated=rotated)
    prompt = _system_prompt(row)
    return build_session(
        Hermes.name,
        unit.key,
        [*prompt, *settled.messages],
        parent=parent,
        compactions=tuple(Compaction(at=at + len(prompt)) for at in settled.compactions),
        path=str(unit.path),
        **session_fields(row),
    )


def _get_row(connection: sqlite3.Connection, session_id: str) -> dict[str, Any]:
    """The row of a session; empty where messages or children have outlived it."""
    columns = select_known(connection, "sessions", READ)
    row = connection.execute(
        f"SELECT {columns} FROM sessions WHERE id = ?", (session_id,)
    ).fetchone()
    return dict(row) if row else {}


def _system_prompt(row: Mapping[str, Any]) -> list[Message]:
    text = as_text(row.get("system_prompt"))
    return [Message(role=Role.SYSTEM, text=text)] if text else []


def session_fields(row: Mapping[str, Any]) -> dict[str, Any]:
    """What a row of ``sessions`` says of a session, as fields of ours."""
    config = _config(row)
    return {
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
    return as_dict(parse_json(text.encode("utf-8", "replace")) if text else None)


def _cost(row: Mapping[str, Any]) -> float | None:
    actual = as_float(row.get("actual_cost_usd"))
    if actual is not None:
        return actual
    # A model whose price Hermes does not know is entered as costing 0.
    unknown = row.get("cost_status") == "unknown"
    return None if unknown else as_float(row.get("estimated_cost_usd"))


def find_parent(row: Mapping[str, Any], parent: Mapping[str, Any]) -> Parent | None:
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
