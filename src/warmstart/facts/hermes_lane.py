"""From rows of a Hermes database to facts, without the messages in between.

For sessions whose rows are all plain: live, with ids on every call and result, no summary, nothing
encoded. Any other is left to the reader (``Unusual``), which is slower and knows everything. What
must stay true: for every session that is not left to it, the facts are those ``derive_facts`` gives
for what the reader reads.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from typing import Any

import orjson

from warmstart.facts.derive import OPENING_CHARS
from warmstart.facts.hashes import hash_call, hash_shape
from warmstart.facts.markers import MarkerCounter
from warmstart.facts.packing import Calls
from warmstart.facts.quick import find_verdict
from warmstart.facts.verdicts import encode_verdict
from warmstart.facts.voice import VoiceCounter
from warmstart.model import Request, Result
from warmstart.outcome import judge
from warmstart.outcome.tools import kind_of
from warmstart.sources.fields import parse_time
from warmstart.sources.readers._hermes_rows import (
    INJECTED_PREFIXES,
    MERGED_PREFIX,
    SUMMARY_PREFIXES,
)
from warmstart.sources.sqlite import list_columns

ORIGIN = "hermes"
"""Whose rules results are judged by: our own store keeps Hermes' rows."""
_SUMMARIES = (*SUMMARY_PREFIXES, MERGED_PREFIX)
_ENCODED = frozenset("\x00\x1e")
_PLAIN_VALUES = {
    "active": "active IS NOT NULL AND active IS NOT 1",
    "compacted": "compacted IS NOT NULL AND compacted IS NOT 0",
    "observed": "observed IS NOT NULL AND observed IS NOT 0",
    "_compressed_summary": "_compressed_summary IS NOT NULL AND _compressed_summary IS NOT 0",
    "display_kind": "display_kind IS NOT NULL AND display_kind IS NOT ''",
    # Marks of our own store: warm-up messages, and how a tool ended.
    "effect_disposition": "effect_disposition IS NOT NULL"
    " AND effect_disposition NOT IN ('', 'none', 'unknown')",
}
"""Columns by which a row is more than a live message, and when."""
START_CHARS = 64
_MARK_CHARS = max(map(len, _SUMMARIES))
CONTENT = (
    f"CASE WHEN content IS NULL THEN '' WHEN role = 'assistant' AND typeof(content) = 'text'"
    f" THEN substr(content, 1, {START_CHARS}) ELSE content END"
)
_UNANSWERED = encode_verdict(judge(Request(tool=""), None))
_loads = orjson.loads


class Unusual(Exception):  # noqa: N818 - no error: the reader takes over
    """The session is not one for this lane."""


class OutOfOrder(Unusual):
    """The rows did not come in the order of their ids; asked for in that order, they may do."""


def odd_test(connection: sqlite3.Connection) -> str:
    """An SQL expression that is 0 for a plain row."""
    have = list_columns(connection, "messages")
    tests = [f"({test})" for name, test in _PLAIN_VALUES.items() if name in have]
    return " OR ".join(tests) or "0"


def plain_rows_query(connection: sqlite3.Connection) -> str:
    """The rows of one session, in no promised order; the last column is 0 for plain ones."""
    have = list_columns(connection, "messages")
    wanted = ("id", "role", "content", "tool_call_id", "tool_calls")
    columns = ", ".join(name if name in have else f"NULL AS {name}" for name in wanted)
    # Of what the agent says, only the beginning may matter: it tells a summary.
    columns = columns.replace("content", CONTENT, 1)
    return f"SELECT {columns}, {odd_test(connection)} FROM messages WHERE session_id = ?"


class Walk:
    """One session's rows, taken in the order of their ids."""

    def __init__(self, *, offset: int) -> None:
        self.calls = Calls()
        self.voice = VoiceCounter()
        self.markers = MarkerCounter()
        self.opening = ""
        self.size = offset
        """Messages so far; a system prompt that the session's own row holds is the first."""
        self.chars = 0
        """Characters of content and calls, by which a later change of a row is noticed."""
        self.last_id = 0
        self.first_turn: str | None = None
        """The text of the first message, where it is the user's own."""
        self._offset = offset
        self._turns = 0
        self._batch = 0
        self._asked: list[tuple[str, dict[str, Any], str | None] | None] = []
        self._batches: list[int] = []
        self._waiting: dict[str, int | list[list[int]]] = {}

    def take(self, rows: Iterable[tuple[Any, ...]]) -> None:
        """Every row.

        Raises:
            Unusual: one of them is not plain.
        """
        last = -1
        chars = 0
        answer, ask, hear = self._answer, self._ask, self._hear
        for row_id, role, content, call_id, tool_calls, odd in rows:
            if odd or content.__class__ is not str or content[:1] in _ENCODED:
                raise Unusual
            if row_id <= last:
                raise OutOfOrder
            last = row_id
            if role == "tool":
                answer(call_id, content)
                chars += len(content)
            elif role == "assistant":
                chars += ask(content, tool_calls)
            else:
                hear(role, content)
                chars += len(content)
            self.size += 1
        self.chars, self.last_id = chars, max(last, 0)

    def _hear(self, role: Any, text: str) -> None:
        self._batch += 1
        if role == "system":
            return
        if role != "user":
            raise Unusual
        if _may_be_marked(text):
            head = text.lstrip()
            if head.startswith(_SUMMARIES):
                raise Unusual
            if head.startswith(INJECTED_PREFIXES):
                return
        self._turns += 1
        self.voice.add(text)
        if self.size == self._offset:
            self.first_turn = text
        if not self.opening and text and not text.isspace():
            self.opening = text[:OPENING_CHARS]

    def _ask(self, text: str, tool_calls: Any) -> int:
        """An answer of the agent, with its calls; returns how long their text is."""
        if _may_be_marked(text):
            head = text.lstrip()
            if head.startswith(_SUMMARIES) or (
                len(head) < _MARK_CHARS and len(text) >= START_CHARS
            ):
                raise Unusual
        if tool_calls.__class__ is not str:
            if tool_calls is not None:
                raise Unusual
            self._batch += 1
            return 0
        for request in self._read_requests(tool_calls):
            self._add_call(request)
        return len(tool_calls)

    def _read_requests(self, tool_calls: str) -> list[Any]:
        try:
            requests = _loads(tool_calls or "[]")
        except orjson.JSONDecodeError:
            raise Unusual from None
        if requests.__class__ is not list:
            raise Unusual
        if not requests:
            self._batch += 1
        return requests

    def _add_call(self, request: Any) -> None:
        try:
            function = request["function"]
            call_id, tool, given = request["id"], function["name"], function["arguments"]
        except (KeyError, TypeError):
            raise Unusual from None
        if call_id.__class__ is not str or tool.__class__ is not str or not call_id or not tool:
            raise Unusual
        arguments, raw = _read_arguments(given)
        calls = self.calls
        index = len(calls.messages)
        calls.messages.append(self.size)
        calls.turns.append(self._turns)
        names = calls.names
        calls.tools.append(names.setdefault(tool, len(names)))
        calls.verdicts.append(_UNANSWERED)
        calls.sames.append(hash_call(tool, arguments, raw))
        calls.shapes.append(hash_shape(tool, arguments))
        self.markers.add(tool, arguments)
        self._asked.append((tool, arguments, raw))
        self._batches.append(self._batch)
        if self._waiting.setdefault(call_id, index) != index:
            self._wait_again(call_id, index)

    def _wait_again(self, call_id: str, index: int) -> None:
        """A call whose id an open one has: results go to the latest batch, in its order."""
        waiting = self._waiting[call_id]
        groups = [[waiting]] if isinstance(waiting, int) else waiting
        self._waiting[call_id] = groups
        if self._batches[groups[-1][0]] == self._batch:
            groups[-1].append(index)
        else:
            groups.append([index])

    def _answer(self, call_id: Any, text: str) -> None:
        self._batch += 1
        if call_id.__class__ is not str or not call_id:
            raise Unusual
        index = self._waiting.pop(call_id, None)
        if index is None:
            return
        if index.__class__ is list:
            index = self._take_latest(call_id, index)
        asked = self._asked[index]  # type: ignore[index] # a list was just resolved
        if asked is None:
            raise Unusual
        tool, arguments, raw = asked
        self._asked[index] = None  # type: ignore[index] # same
        code = find_verdict(kind_of(tool), tool, arguments, text)
        if code is None:
            request = Request(tool=tool, id=call_id, arguments=arguments, raw=raw)
            code = encode_verdict(judge(request, Result(text=text, call_id=call_id), ORIGIN))
        self.calls.verdicts[index] = code  # type: ignore[index] # same

    def _take_latest(self, call_id: str, groups: Any) -> int:
        index = int(groups[-1].pop(0))
        if not groups[-1]:
            groups.pop()
        if groups:
            self._waiting[call_id] = groups
        return index


def read_times(connection: sqlite3.Connection, key: str) -> list[float]:
    """When each message of a session was written, as far as that is known."""
    if "timestamp" not in list_columns(connection, "messages"):
        return []
    rows = connection.execute(
        "SELECT timestamp FROM messages WHERE session_id = ? ORDER BY id", (key,)
    )
    return [time for row in rows if (time := parse_time(row[0])) is not None]


def _may_be_marked(text: str) -> bool:
    """Whether a text may begin with one of Hermes' own openings, perhaps behind white space."""
    first = text[:1]
    return first == "[" or first.isspace()


def _read_arguments(given: Any) -> tuple[dict[str, Any], str | None]:
    if given.__class__ is str:
        if not given or given.isspace():
            return {}, None
        try:
            data = _loads(given)
        except orjson.JSONDecodeError:
            return {}, given
        return (data, None) if data.__class__ is dict else ({}, given)
    if given.__class__ is dict:
        return given, None
    raise Unusual
