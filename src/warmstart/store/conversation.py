"""A session's messages as the conversation a model is sent."""

from __future__ import annotations

from typing import Any

from warmstart.store.backend import Row
from warmstart.store.lineage import Lineage
from warmstart.store.messages import Messages

ALWAYS = ("role", "content")
WHERE_GIVEN = ("tool_call_id", "tool_name", "tool_calls")
OF_ASSISTANT = (
    "reasoning", "reasoning_content", "reasoning_details", "codex_reasoning_items",
    "codex_message_items",
)  # fmt: skip
Turn = dict[str, Any]


class Conversations(Messages, Lineage):
    """Reading sessions back for a model."""

    def get_messages_as_conversation(
        self,
        session_id: str,
        include_ancestors: bool = False,  # noqa: FBT001, FBT002 - the callers' signature
        include_inactive: bool = False,  # noqa: FBT001, FBT002 - same
        repair_alternation: bool = False,  # noqa: FBT001, FBT002 - same
    ) -> list[Turn]:
        """Role, content and what belongs to the role; ancestors come first, eldest on top."""
        line = self.get_lineage(session_id) if include_ancestors else [session_id]
        turns = [_as_turn(row) for one in line for row in self.get_messages(one, include_inactive)]
        return repair_turns(turns) if repair_alternation else turns


def repair_turns(turns: list[Turn]) -> list[Turn]:
    """Neighbouring user texts made one, tool results without their call left out."""
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
