"""From rows of a Hermes database to facts, without the messages in between.

For sessions whose rows are all plain: live, with ids on every call and result, no summary, nothing
encoded. Any other is left to the reader (``Unusual``), which is slower and knows everything. What
must stay true: for every session that is not left to it, the facts are those ``derive_facts`` gives
for what the reader reads.
"""

from __future__ import annotations

import sqlite3
from bisect import bisect_left
from collections.abc import Iterable
from typing import Any

import orjson

from warmstart.facts.asking import Tool
from warmstart.facts.derive import cut_opening
from warmstart.facts.hashes import SORTED, hash_call, hash_data
from warmstart.facts.lanes import UNANSWERED, Unusual
from warmstart.facts.markers import MarkerCounter
from warmstart.facts.packing import Calls
from warmstart.facts.verdicts import encode_verdict
from warmstart.facts.voice import VoiceCounter
from warmstart.model import Request, Result
from warmstart.outcome import judge
from warmstart.outcome.tools import command_of
from warmstart.sources.fields import MILLISECONDS_FROM, parse_time
from warmstart.sources.readers.hermes import (
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
_OPENINGS = frozenset(
    "[ \t\n\r\v\f\x00\x1c\x1d\x1e\x1f\x85\xa0\u1680\u2028\u2029\u202f\u205f\u3000"
).union(map(chr, range(0x2000, 0x200B)))
"""How a text begins that may be encoded, or be one of Hermes' own behind white space."""
PLAIN = "0"
"""The test of a database that has no way to make a row odd."""
ODD = -1
"""Below every id."""
_LOW = "\x1f"
"""Above every text that is empty or encoded."""
_loads = orjson.loads
_dumps = orjson.dumps
_Asked = tuple[int, Tool, dict[str, Any], str | None]
"""The number of a call, its tool, its arguments, and their text where that is no JSON."""


class OutOfOrder(Unusual):
    """The rows did not come in the order of their ids; asked for in that order, they may do."""


def odd_test(connection: sqlite3.Connection) -> str:
    """An SQL expression that is 0 for a plain row."""
    have = list_columns(connection, "messages")
    tests = [f"({test})" for name, test in _PLAIN_VALUES.items() if name in have]
    return " OR ".join(tests) or PLAIN


def plain_rows_query(connection: sqlite3.Connection) -> str:
    """The rows of one session, in no promised order; one that is not plain has the id ``ODD``."""
    have = list_columns(connection, "messages")
    wanted = ("role", "content", "tool_call_id", "tool_calls")
    columns = ", ".join(name if name in have else f"NULL AS {name}" for name in wanted)
    test = odd_test(connection)
    # Not a column of its own: each one is asked for three times a row, and there are many rows.
    number = "id" if test == PLAIN else f"CASE WHEN {test} THEN {ODD} ELSE id END"
    return f"SELECT {number}, {columns} FROM messages WHERE session_id = ?"


class Walk:
    """One session's rows, taken in the order of their ids."""

    def __init__(self, *, offset: int, tools: dict[str, Tool] | None = None) -> None:
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
        self._tools: dict[str, Tool] = {} if tools is None else tools
        self._asking: list[int] = []
        """Which messages ask for something."""
        self._asked: list[tuple[int, int, int, int, int]] = []
        self._waiting: dict[str, _Asked | list[list[_Asked]]] = {}

    def take(self, rows: Iterable[tuple[Any, ...]]) -> None:
        """Every row.

        Raises:
            Unusual: one of them is not plain.
        """
        last, chars, size = ODD, 0, self._offset
        waiting, verdicts = self._waiting, self.calls.verdicts
        for row_id, role, content, call_id, tool_calls in rows:
            if row_id <= last:
                raise _refuse(row_id)
            last = row_id
            if role == "tool":
                asked, text = waiting.pop(call_id, None), content
                if asked.__class__ is not tuple or text.__class__ is not str:
                    asked, text = self._find_asked(asked, call_id, text)
                chars += len(text)
                if asked is not None:
                    verdicts[asked[0]] = _settle(asked, text)
            elif role == "assistant":
                if content:
                    _require_plain(content)
                if tool_calls is not None:
                    chars += self._ask(tool_calls, size)
            else:
                chars += self._hear(role, content, size)
            size += 1
        self.size, self.chars, self.last_id = size, chars, max(last, 0)
        self.calls.add_rows(self._asked)

    def _hear(self, role: Any, text: Any, size: int) -> int:
        """A message of the user or the system; returns how long it is."""
        text = "" if text is None else text
        if text.__class__ is not str or text[:1] in _ENCODED or role not in ("user", "system"):
            raise Unusual
        if role == "user" and not (text[:1] in _OPENINGS and _is_injected(text)):
            self._add_turn(text, size)
        return len(text)

    def _add_turn(self, text: str, size: int) -> None:
        self._turns += 1
        self.voice.add(text)
        if size == self._offset:
            self.first_turn = text
        if not self.opening and text and not text.isspace():
            self.opening = cut_opening(text)

    def _ask(self, tool_calls: Any, size: int) -> int:
        """The calls of the agent's answer; returns how long their text is."""
        try:
            requests = _loads(tool_calls or "[]")
            for request in requests:
                function = request["function"]
                self._add_call(request["id"], function["name"], function["arguments"], size)
        except (orjson.JSONDecodeError, KeyError, TypeError):
            raise Unusual from None
        if requests.__class__ is not list or tool_calls.__class__ is not str:
            raise Unusual
        if requests:
            self._asking.append(size)
        return len(tool_calls)

    def _add_call(self, call_id: Any, name: Any, given: Any, size: int) -> None:
        tool = self._tools.get(name) or self._add_tool(name)
        raw = None
        try:
            arguments = _loads(given)
            data = _dumps(arguments, None, SORTED)
            key = (*arguments, *map(type, arguments.values()))
        except (orjson.JSONDecodeError, TypeError, AttributeError):
            arguments, raw, same, key = _read_oddly(name, given)
        else:
            same = hash_data(data, tool.start)
        shape, files, urls = tool.shapes.get(key) or tool.add_shape(key, arguments)
        if tool.is_shell:
            self.markers.lines.append(command_of(arguments))
        elif files or urls:
            self.markers.add_values(arguments, files, urls)
        rows, calls = self._asked, self.calls
        names = calls.names
        asked = (len(rows), tool, arguments, raw)
        rows.append((size, self._turns, names.setdefault(name, len(names)), same, shape))
        calls.verdicts.append(UNANSWERED)
        if call_id.__class__ is not str or not call_id:
            raise Unusual
        if self._waiting.setdefault(call_id, asked) is not asked:
            self._wait_again(call_id, asked)

    def _add_tool(self, name: Any) -> Tool:
        if name.__class__ is not str or not name:
            raise Unusual
        tool = self._tools[name] = Tool(name)
        return tool

    def _wait_again(self, call_id: str, asked: _Asked) -> None:
        """A call whose id an open one has: results go to the latest batch, in its order."""
        waiting = self._waiting[call_id]
        groups = [[waiting]] if isinstance(waiting, tuple) else waiting
        self._waiting[call_id] = groups
        if self._batch_of(groups[-1][0]) == self._batch_of(asked):
            groups[-1].append(asked)
        else:
            groups.append([asked])

    def _batch_of(self, asked: _Asked) -> int:
        """How many messages that ask for nothing stand before the one that asked this."""
        message = self._asked[asked[0]][0]
        return message - bisect_left(self._asking, message)

    def _find_asked(
        self, asked: _Asked | list[list[_Asked]] | None, call_id: Any, content: Any
    ) -> tuple[_Asked | None, str]:
        """What a result answers, where that is not simply the one call with its id."""
        text = "" if content is None else content
        if call_id.__class__ is not str or not call_id or text.__class__ is not str:
            raise Unusual
        if text[:1] in _ENCODED:
            raise Unusual
        if not isinstance(asked, list):
            return asked, text
        first = asked[-1].pop(0)
        if not asked[-1]:
            asked.pop()
        if asked:
            self._waiting[call_id] = asked
        return first, text


def _refuse(row_id: int) -> Unusual:
    """Why a row is not taken."""
    return Unusual() if row_id == ODD else OutOfOrder()


def _is_injected(text: str) -> bool:
    """Whether Hermes wrote a message in the user's name; a summary is not for this lane."""
    head = text.lstrip()
    if head.startswith(_SUMMARIES):
        raise Unusual
    return head.startswith(INJECTED_PREFIXES)


def _settle(asked: _Asked, text: str) -> int:
    """The verdict on a call; the judge's where there is no quick one."""
    _, tool, arguments, raw = asked
    if text >= _LOW:
        code = tool.find(tool.name, arguments, text)
        if code is not None:
            return code
    elif text[:1] in _ENCODED:
        raise Unusual
    request = Request(tool=tool.name, arguments=arguments, raw=raw)
    return encode_verdict(judge(request, Result(text=text), ORIGIN))


def _require_plain(text: Any) -> None:
    """Raise ``Unusual`` where what the agent said is no text, encoded, or a summary."""
    if text.__class__ is not str:
        raise Unusual
    opening = text[0]
    if opening in _OPENINGS and (opening in _ENCODED or text.lstrip().startswith(_SUMMARIES)):
        raise Unusual


def read_times(connection: sqlite3.Connection, key: str) -> list[float]:
    """When each message of a session was written, as far as that is known."""
    rows = connection.execute(
        "SELECT timestamp FROM messages WHERE session_id = ? ORDER BY id", (key,)
    )
    return [time for row in rows if (time := parse_time(row[0])) is not None]


def find_end(connection: sqlite3.Connection, key: str) -> float | None:
    """The latest of these moments."""
    query = "SELECT max(timestamp) FROM messages WHERE session_id = ?"
    last = connection.execute(query, (key,)).fetchone()[0]
    # To SQLite text is more than any number, so a number of seconds is more than all others.
    if isinstance(last, int | float) and 0 < last <= MILLISECONDS_FROM:
        return float(last)
    return max(read_times(connection, key), default=None)


def _read_oddly(name: str, given: Any) -> tuple[dict[str, Any], str | None, int, tuple[Any, ...]]:
    """Arguments that are no JSON text of an object: they, their text, hash and shape's key."""
    arguments, raw = _read_arguments(given)
    key = (*arguments, *map(type, arguments.values()))
    return arguments, raw, hash_call(name, arguments, raw), key


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
