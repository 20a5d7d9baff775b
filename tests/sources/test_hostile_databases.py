"""Databases made to hang or flood whoever reads them: each is skipped, the rest is read on."""

from __future__ import annotations

import sqlite3
import struct
from contextlib import closing
from pathlib import Path

import pytest

from support.hermes_db import MESSAGES, SESSIONS, answers, asks, make_database, user
from support.limited import read_limited, run_limited
from warmstart.errors import SourceError
from warmstart.sources.sqlite import open_database

TALK = [user("Run it."), asks(("c1", "terminal", {"command": "ls"})), answers("c1", "a.txt")]
ENDLESS = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT"
MESSAGE_COLUMNS = (
    "x AS id, 's1' AS session_id, 'user' AS role, 'hi' AS content, NULL AS tool_calls,"
    " NULL AS tool_call_id"
)
TABLES = f"CREATE TABLE sessions ({SESSIONS}); INSERT INTO sessions (id) VALUES ('s1');"
OPENCODE = """CREATE TABLE message (id, session_id, data);
    CREATE TABLE part (id, session_id, message_id, data);"""
SCRIPTS = {
    "endless view of messages": (
        f"{TABLES} CREATE VIEW messages AS {ENDLESS} {MESSAGE_COLUMNS} FROM n;",
        "'messages' is a view",
    ),
    "endless view of sessions": (
        f"CREATE TABLE messages ({MESSAGES}); CREATE VIEW sessions AS {ENDLESS} x AS id FROM n;",
        "'sessions' is a view",
    ),
    "endless view of opencode sessions": (
        f"{OPENCODE} CREATE VIEW session AS {ENDLESS} x AS id FROM n;",
        "'session' is a view",
    ),
    "view written into the schema as a table": (
        f"""{TABLES} CREATE VIEW messages AS {ENDLESS} {MESSAGE_COLUMNS} FROM n;
        PRAGMA writable_schema = 1;
        UPDATE sqlite_master SET type = 'table' WHERE name = 'messages';""",
        "malformed database schema",
    ),
    "virtual table": (
        f"""{TABLES} CREATE VIRTUAL TABLE messages
        USING fts4(id, session_id, role, content, tool_calls, tool_call_id);""",
        "'messages' is a virtual table",
    ),
    "computed column": (
        f"""{TABLES} CREATE TABLE messages (id INTEGER PRIMARY KEY, session_id, role, tool_calls,
            tool_call_id, content AS (hex(hex(hex(zeroblob(30000000))))));
        INSERT INTO messages (session_id, role) VALUES ('s1', 'user');""",
        "'messages' is a table with computed columns",
    ),
}


LIST_FACTS = """
from warmstart.cli.main import main
sys.argv = ["warmstart", "sessions", "list", sys.argv[1], "--json"]
main()
"""


def make_script(path: Path, script: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    with closing(sqlite3.connect(path)) as database:
        database.executescript(script)
        database.commit()
    return path


@pytest.mark.parametrize(("script", "why"), SCRIPTS.values(), ids=SCRIPTS)
def test_what_is_no_ordinary_table_is_refused_and_the_rest_read(
    tmp_path: Path, script: str, why: str
) -> None:
    make_script(tmp_path / "a" / "state.db", script)
    make_database(tmp_path / "b" / "state.db", {"good": TALK})
    found = read_limited(tmp_path)
    assert found.sessions == [("hermes:good", 3, 1)]
    assert len(found.skipped) == 1
    assert why in found.skipped[0]


@pytest.mark.parametrize(("script", "why"), SCRIPTS.values(), ids=SCRIPTS)
def test_a_hostile_database_named_alone_is_an_error(tmp_path: Path, script: str, why: str) -> None:
    found = read_limited(make_script(tmp_path / "state.db", script))
    assert found.error is not None
    assert why in found.error


def test_triggers_virtual_tables_and_views_beside_the_sessions_do_no_harm(tmp_path: Path) -> None:
    path = make_database(tmp_path / "state.db", {"s1": TALK})
    make_script(
        path,
        f"""CREATE VIEW recent AS {ENDLESS} x FROM n;
        CREATE VIRTUAL TABLE messages_fts USING fts4(content);
        CREATE TRIGGER copy AFTER INSERT ON messages BEGIN
            INSERT INTO messages_fts (content) VALUES (new.content); END;""",
    )
    assert read_limited(tmp_path).sessions == [("hermes:s1", 3, 1)]


def test_a_column_that_was_computed_when_it_was_stored_is_read(tmp_path: Path) -> None:
    path = make_script(
        tmp_path / "a.db",
        "CREATE TABLE messages (id, twice AS (id * 2) STORED);"
        "INSERT INTO messages (id) VALUES (4);",
    )
    with open_database(path) as connection:
        assert connection.columns("messages") == {"id", "twice"}
        assert connection.execute("SELECT twice FROM messages").fetchone()[0] == 8


@pytest.mark.parametrize(
    "query",
    [
        "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT count(*) FROM n",
        "SELECT * FROM v",
        "SELECT * FROM g",
        "ATTACH 'other.db' AS other",
        "PRAGMA query_only = 0",
    ],
)
def test_a_connection_does_nothing_but_read_tables(tmp_path: Path, query: str) -> None:
    script = "CREATE TABLE t (x); CREATE VIEW v AS SELECT * FROM t; CREATE TABLE g (a, b AS (a));"
    path = make_script(tmp_path / "a.db", script)
    with pytest.raises(SourceError), open_database(path) as connection:
        connection.execute(query).fetchall()


def make_looped(path: Path, table: str) -> Path:
    """A database of a few pages in which a table's tree has 40 ways down on each of 15 levels."""
    size, ways, levels = 512, 40, 15
    make_script(path, f"DROP INDEX by_session; PRAGMA page_size = {size}; VACUUM;")
    data = bytearray(path.read_bytes())
    with closing(sqlite3.connect(path)) as database:
        root = database.execute(
            "SELECT rootpage FROM sqlite_master WHERE name = ?", (table,)
        ).fetchone()[0]
    leaf = bytes(data[(root - 1) * size : root * size])
    first = len(data) // size + 1
    for level in range(levels):
        page = make_inner_page(size, ways, child=first + level)
        if level == 0:
            data[(root - 1) * size : root * size] = page
        else:
            data += page
    data += leaf
    struct.pack_into(">I", data, 28, len(data) // size)
    path.write_bytes(data)
    return path


def make_inner_page(size: int, ways: int, child: int) -> bytes:
    """An inner page of a table, all of whose ways lead to the same page."""
    page = bytearray(size)
    start = size - 5 * ways
    struct.pack_into(">BHHHBI", page, 0, 5, 0, ways, start, 0, child)
    for number in range(ways):
        struct.pack_into(">H", page, 12 + 2 * number, start + 5 * number)
        struct.pack_into(">IB", page, start + 5 * number, child, number + 1)
    return bytes(page)


@pytest.mark.parametrize("table", ["messages", "sessions"])
def test_a_table_whose_pages_run_in_circles_is_given_up(tmp_path: Path, table: str) -> None:
    make_looped(make_database(tmp_path / "a" / "state.db", {"s1": TALK, "s2": TALK}), table)
    make_database(tmp_path / "b" / "state.db", {"good": TALK})
    found = read_limited(tmp_path)
    assert ("hermes:good", 3, 1) in found.sessions
    assert "a query found no end" in " ".join(found.skipped)


def test_facts_of_a_table_whose_pages_run_in_circles_are_given_up(tmp_path: Path) -> None:
    make_looped(make_database(tmp_path / "a" / "state.db", {"s1": TALK}), "messages")
    make_database(tmp_path / "b" / "state.db", {"good": TALK})
    printed = run_limited(LIST_FACTS, str(tmp_path), WARMSTART_HOME=str(tmp_path / "home"))
    assert "hermes:good" in printed
    assert "a query found no end" in printed


def test_a_hostile_database_beside_others_of_its_agent_is_counted(tmp_path: Path) -> None:
    script = f"{OPENCODE} CREATE TABLE session (id); INSERT INTO session VALUES ('ses_1');"
    make_script(tmp_path / "opencode.db", script)
    make_script(tmp_path / "opencode-dev.db", SCRIPTS["endless view of opencode sessions"][0])
    found = read_limited(tmp_path)
    assert [name for name, _, _ in found.sessions] == ["opencode:ses_1"]
    assert "'session' is a view" in " ".join(found.skipped)
