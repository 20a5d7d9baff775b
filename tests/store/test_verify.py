"""Verify names exactly what differs."""

from __future__ import annotations

import pytest

from warmstart.store import ProblemKind, SessionDB

CALLS = [{"id": "c1", "function": {"name": "terminal", "arguments": "{}"}}]


@pytest.fixture
def filled(db: SessionDB) -> SessionDB:
    db.append_message("s1", "user", "hello")
    db.append_message("s1", "assistant", None, tool_calls=CALLS)
    db.append_message("s2", "user", "other")
    return db


def test_an_untouched_store_is_clean(filled: SessionDB) -> None:
    report = filled.verify()
    assert (report.is_clean, report.sessions, report.messages) == (True, 2, 3)


def test_changed_content_is_named_with_its_message(filled: SessionDB) -> None:
    row_id = filled.get_messages("s2")[0]["id"]
    filled.backend.execute("UPDATE messages SET content = 'forged' WHERE id = ?", (row_id,))
    (problem,) = filled.verify().problems
    assert (problem.kind, problem.message_id) == (ProblemKind.CONTENT_HASH, row_id)
    assert f"session s2, message {row_id}: content_hash" in str(problem)


def test_tool_calls_that_became_no_json_are_named(filled: SessionDB) -> None:
    sql = "UPDATE messages SET tool_calls = '{' WHERE tool_calls IS NOT NULL"
    filled.backend.execute(sql)
    kinds = {problem.kind for problem in filled.verify().problems}
    assert kinds == {ProblemKind.CONTENT_HASH, ProblemKind.TOOL_CALL_COUNT}


def test_a_lost_message_shows_in_the_counters(filled: SessionDB) -> None:
    filled.backend.execute("DELETE FROM messages WHERE tool_calls IS NOT NULL")
    problems = filled.verify().problems
    assert [(one.kind, one.stored, one.derived) for one in problems] == [
        (ProblemKind.MESSAGE_COUNT, "2", "1"),
        (ProblemKind.TOOL_CALL_COUNT, "1", "0"),
    ]
