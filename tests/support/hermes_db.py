"""Small Hermes databases, plain and odd, and changes to them as an agent or a person makes them."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from hypothesis import strategies as st

SESSIONS = (
    "id TEXT PRIMARY KEY, source TEXT, model TEXT, model_config TEXT, system_prompt TEXT, "
    "parent_session_id TEXT, started_at REAL, ended_at REAL, end_reason TEXT, cwd TEXT, "
    "input_tokens INTEGER, output_tokens INTEGER, title TEXT, message_count INTEGER"
)
MESSAGES = (
    "id INTEGER PRIMARY KEY AUTOINCREMENT, session_id TEXT, role TEXT, content TEXT, "
    "tool_call_id TEXT, tool_calls TEXT, tool_name TEXT, timestamp REAL, observed INTEGER "
    "DEFAULT 0, active INTEGER DEFAULT 1, compacted INTEGER DEFAULT 0, display_kind TEXT"
)
STARTED = 1_790_000_000.0
Row = dict[str, Any]


def user(text: str, **fields: Any) -> Row:
    return {"role": "user", "content": text, **fields}


def asks(*calls: tuple[str, str, Any], **fields: Any) -> Row:
    """Calls as (id, tool, arguments); arguments that are text are written as they are."""
    written = [
        {
            "id": call_id,
            "type": "function",
            "function": {
                "name": tool,
                "arguments": given if isinstance(given, str) else json.dumps(given),
            },
        }
        for call_id, tool, given in calls
    ]
    return {"role": "assistant", "content": None, "tool_calls": json.dumps(written), **fields}


def answers(call_id: str | None, text: Any, **fields: Any) -> Row:
    return {"role": "tool", "tool_call_id": call_id, "content": text, **fields}


def make_database(
    path: Path, sessions: Mapping[str, Sequence[Row]], rows: Mapping[str, Row] | None = None
) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.unlink(missing_ok=True)
    with closing(sqlite3.connect(path)) as database, database:
        database.execute(f"CREATE TABLE sessions ({SESSIONS})")
        database.execute(f"CREATE TABLE messages ({MESSAGES})")
        database.execute("CREATE INDEX by_session ON messages (session_id, timestamp)")
    for number, (name, messages) in enumerate(sessions.items()):
        given = (rows or {}).get(name, {})
        add_session(path, name, messages, started_at=STARTED + number, **given)
    return path


def add_session(path: Path, name: str, messages: Iterable[Row], **fields: Any) -> None:
    with closing(sqlite3.connect(path)) as database, database:
        _insert(database, "sessions", {"id": name, "source": "cli", **fields})
        for row in messages:
            _insert(database, "messages", {"session_id": name, **row})


def add_messages(path: Path, name: str, *messages: Row) -> None:
    with closing(sqlite3.connect(path)) as database, database:
        for row in messages:
            _insert(database, "messages", {"session_id": name, **row})


def change(path: Path, statement: str, *values: Any) -> None:
    with closing(sqlite3.connect(path)) as database, database:
        database.execute(statement, values)


def _insert(database: sqlite3.Connection, table: str, row: Row) -> None:
    names, marks = ", ".join(row), ", ".join("?" * len(row))
    database.execute(f"INSERT INTO {table} ({names}) VALUES ({marks})", list(row.values()))


RESULTS = (
    '{"output": "a\\nb", "exit_code": 0, "error": null}',
    '{"output": "", "exit_code": 1, "error": null}',
    '{"output": "bash: nope: command not found", "exit_code": 127, "error": null}',
    '{"error": "File not found: a.py"}',
    '{"success": true, "diff": "x"}',
    '{"success": false, "error": "no match"}',
    '{"status": "success", "output": "fine"}',
    '{"status": "error", "error": "Traceback (most recent call last):"}',
    '{"content": "     1|import os", "total_lines": 3}',
    "total 3\nsrc\ntests",
    "Error: it did not work",
    "1 failed, 3 passed in 0.2s\n[exit code 1]",
    "cat: a.py: No such file or directory",
    '{"broken": ',
    "",
    "plain words\n",
    "x" * 1200,
    '{"output": "' + "y" * 1200 + '", "exit_code": 0, "error": null}',
    '{"content": "' + "z" * 1200 + '"}',
)
CALL_IDS = st.sampled_from(["call_0", "call_1", "call_2"])
ARGUMENTS = st.sampled_from(
    [
        {"command": "ls -la | head -3"},
        {"command": "pytest -q"},
        {"command": "git commit -m x || true"},
        {"path": "src/a.py", "offset": 1},
        {"url": "https://example.org/a"},
        {"code": "print(1)", "deep": {"a": [1, None, 2.5]}},
        "",
        "not json",
        "[1, 2]",
        {},
    ]
)
TOOLS = st.sampled_from(["terminal", "read_file", "execute_code", "web_extract", "made_up", "todo"])
TEXTS = st.sampled_from(
    [
        "please fix the cart",
        "no, that is wrong",
        "",
        " ",
        "[System: a note]",
        "[CONTEXT COMPACTION] earlier",
        " [PRIOR CONTEXT] words [COMPACTION SUMMARY BELOW]",
        '\x00json:[{"type": "text", "text": "hi"}]',
        "why?",
    ]
)
ASKING = st.lists(st.tuples(CALL_IDS, TOOLS, ARGUMENTS), max_size=3).map(lambda calls: asks(*calls))
MESSAGE = st.one_of(
    ASKING,
    ASKING,
    st.builds(answers, CALL_IDS, st.sampled_from(RESULTS)),
    st.builds(answers, CALL_IDS, st.sampled_from(RESULTS)),
    st.builds(user, TEXTS),
    st.builds(user, TEXTS, observed=st.sampled_from([0, 1])),
    st.builds(lambda text: {"role": "assistant", "content": text}, TEXTS),
    st.builds(
        lambda role: {"role": role, "content": "x"},
        st.sampled_from(["system", "session_meta", "odd"]),
    ),
    st.builds(
        answers, st.sampled_from([None, "", 7, "call_9"]), st.sampled_from([None, b"raw \xff", "x"])
    ),
    st.just({"role": "assistant", "content": "x", "tool_calls": "{broken"}),
    st.just({"role": "assistant", "content": "x", "tool_calls": '[{"id": 3, "name": "odd"}]'}),
    st.builds(user, TEXTS, active=st.just(0), compacted=st.sampled_from([0, 1])),
)
SESSION_ROWS = st.fixed_dictionaries(
    {},
    optional={
        "system_prompt": st.sampled_from(["You are careful.", ""]),
        "ended_at": st.just(STARTED + 99),
        "end_reason": st.sampled_from(["compression", "session_reset", "branched"]),
        "input_tokens": st.integers(0, 9),
        "parent_session_id": st.sampled_from(["s0", "s1", "gone"]),
        "title": st.just("A title"),
    },
)
