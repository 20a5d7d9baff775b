"""Which session goes on where another was compacted.

A parent alone says nothing: subagents and branches have parents too. A session continues another
when that one ended with ``compression`` and the child was neither branched off nor delegated.
"""

from __future__ import annotations

import json
from typing import Any

from warmstart.store.backend import Row
from warmstart.store.part import Part, find_one

COMPRESSION = "compression"
NOT_CONTINUING = frozenset({"subagent", "tool"})
MARKS = ("_branched_from", "_delegate_from")
CHILDREN = """SELECT id, source, model_config FROM sessions WHERE parent_session_id = ?
    ORDER BY started_at DESC, id DESC"""


class Lineage(Part):
    """Walking from parents to children and back."""

    def get_lineage(self, session_id: str) -> list[str]:
        """The session and its ancestors, eldest first."""
        line = [session_id]
        while True:
            sql = "SELECT parent_session_id AS parent FROM sessions WHERE id = ?"
            row = find_one(self._backend, sql, line[0])
            if row is None or row["parent"] is None or row["parent"] in line:
                return line
            line.insert(0, row["parent"])

    def get_conversation_root(self, session_id: str) -> str:
        """The eldest ancestor."""
        return self.get_lineage(session_id)[0]

    def get_compression_tip(self, session_id: str) -> str:
        """The session that goes on now: itself, or the last of its continuations."""
        return self.get_compression_lineage(session_id)[-1]

    def get_compression_lineage(self, session_id: str) -> list[str]:
        """The session and its continuations, in order."""
        line = [session_id]
        while True:
            child = self._find_continuation(line[-1])
            if child is None or child in line:
                return line
            line.append(child)

    def _find_continuation(self, session_id: str) -> str | None:
        sql = "SELECT end_reason FROM sessions WHERE id = ?"
        row = find_one(self._backend, sql, session_id)
        if row is None or row["end_reason"] != COMPRESSION:
            return None
        rows = self._backend.query(CHILDREN, (session_id,))
        return next((child["id"] for child in rows if _continues(child)), None)


def _continues(row: Row) -> bool:
    config: Any = json.loads(row["model_config"]) if row["model_config"] else {}
    marked = isinstance(config, dict) and any(config.get(mark) for mark in MARKS)
    return row["source"] not in NOT_CONTINUING and not marked
