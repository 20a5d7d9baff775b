"""Rows into the index: units with their sessions, a batch at a time; each batch is one transaction.

What must stay true: a session keeps its number when it is written again, because another process
may be about to read it; and no text is stored that has not gone through the mask.
"""

from __future__ import annotations

import os
import sqlite3
from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from itertools import chain
from operator import attrgetter, itemgetter
from pathlib import Path
from typing import Any, NamedTuple

from msgspec.structs import replace

from warmstart.facts.index import next_revision, transaction
from warmstart.facts.tables import CALL, SESSION, clean
from warmstart.model import CallFact, Marker, SessionFacts, Status
from warmstart.sources import ReadLog

__all__ = ["Mask", "Reading", "UnitRow", "keep_texts", "mask_facts", "store_path", "write_readings"]

Mask = Callable[[list[str]], list[str]]
"""Texts without their secrets; the very same list where there were none."""
_INSERT_SESSION = f"""INSERT INTO session_fact (unit, position, revision, {SESSION.names})
    VALUES (?, ?, ?, {SESSION.marks})"""
_UPDATE_SESSION = f"""UPDATE session_fact SET (unit, position, revision, {SESSION.names})
    = (?, ?, ?, {SESSION.marks}) WHERE number = ?"""
_INSERT_CALL = f"INSERT INTO call_fact VALUES (?, {CALL.marks})"
_CHILDREN = ("call_fact", "session_tool", "marker")
_STATUSES = {status: place for place, status in enumerate(Status)}
_INSERT_TOOL = f"INSERT INTO session_tool VALUES (?, ?{', ?' * len(Status)})"
_INSERT_MARKER = "INSERT INTO marker VALUES (?, ?, ?, ?, ?)"
_SESSION_TEXTS = [SESSION.columns[place].name for place in SESSION.masked]
_session_texts = attrgetter(*_SESSION_TEXTS)
_call_texts = [itemgetter(place) for place in CALL.masked]
_value_of = itemgetter(1)
_tool_and_status = itemgetter(3, 4)


class UnitRow(NamedTuple):
    """A unit as the index knows it."""

    source: int
    reader: str
    path: Path
    key: str
    position: int
    fingerprint: str
    size: str | None = None
    """What ``Reader.measure`` says of it, where its fingerprint cannot see every edit."""


class Reading(NamedTuple):
    """What reading a unit gave."""

    unit: UnitRow
    sessions: Sequence[SessionFacts]
    log: ReadLog
    disturbed: Sequence[int] = ()
    """Units that repeat something of this one, and have to be read again after it."""


def store_path(path: Path | str) -> str | bytes:
    """A path as it is stored: text, or bytes where it is not valid text."""
    text = str(path)
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return os.fsencode(path)
    return text


def keep_texts(texts: list[str]) -> list[str]:
    """Mask nothing: for facts that are not stored."""
    return texts


def write_readings(connection: sqlite3.Connection, readings: Sequence[Reading], mask: Mask) -> None:
    """Store units that were read; each replaces what was known of it."""
    masked = _mask_all(readings, mask)
    rows = SESSION.encode([facts for sessions in masked for facts in sessions])
    written: list[tuple[int, SessionFacts]] = []
    with transaction(connection):
        revision = next_revision(connection)
        for reading, sessions in zip(readings, masked, strict=True):
            unit, is_new = _ensure_unit(connection, reading)
            for position, facts in enumerate(sessions):
                row = (unit, position, revision, *next(rows))
                written.append((_write_session(connection, row, is_new=is_new), facts))
            if not is_new:
                _delete_rest(connection, unit, len(sessions))
            _write_skips(connection, reading.unit.source, unit, reading.log)
        _write_children(connection, written)


def _mask_all(readings: Sequence[Reading], mask: Mask) -> list[list[SessionFacts]]:
    """The sessions of each reading without secrets.

    All texts are looked at together, because one look costs as much as several; only where that
    finds something is each session masked by itself.
    """
    texts = list(
        dict.fromkeys(
            text
            for reading in readings
            for facts in reading.sessions
            for text in _list_texts(facts)
        )
    )
    if mask(texts) is texts:
        return [list(reading.sessions) for reading in readings]
    return [[mask_facts(facts, mask) for facts in reading.sessions] for reading in readings]


def _list_texts(facts: SessionFacts) -> list[str]:
    texts = [text for text in _session_texts(facts) if text]
    for get in _call_texts:
        texts += dict.fromkeys(map(get, facts.calls))
    texts += map(_value_of, facts.markers)
    return texts


def mask_facts(facts: SessionFacts, mask: Mask) -> SessionFacts:
    """The facts of a session without the secrets in them."""
    texts = list(dict.fromkeys(_list_texts(facts)))
    masked = dict(zip(texts, mask(texts), strict=True))
    named = {
        name: masked[text]
        for name, text in zip(_SESSION_TEXTS, _session_texts(facts), strict=True)
        if text
    }
    calls = [_mask_call(call, masked) for call in facts.calls]
    markers = [Marker(one.kind, masked[one.value], one.uses) for one in facts.markers]
    return replace(facts, calls=tuple(calls), markers=tuple(markers), **named)


def _mask_call(call: CallFact, masked: dict[str, str]) -> CallFact:
    values: list[Any] = list(call)
    for place in CALL.masked:
        values[place] = values[place] and masked[values[place]]
    return CallFact._make(values)


def _ensure_unit(connection: sqlite3.Connection, reading: Reading) -> tuple[int, bool]:
    """The number of a unit, and whether it is new."""
    source, reader, path, key, position, fingerprint, size = reading.unit
    connection.executemany(
        "UPDATE unit SET fingerprint = '' WHERE id = ?", [(unit,) for unit in reading.disturbed]
    )
    asked = reading.log.asked
    seen = array("q", asked).tobytes() if asked else None
    identity = (source, reader, store_path(path), key)
    row = connection.execute(
        "SELECT id FROM unit WHERE source = ? AND reader = ? AND path = ? AND key = ?", identity
    ).fetchone()
    if row is None:
        cursor = connection.execute(
            """INSERT INTO unit (source, reader, path, key, position, fingerprint, size, seen)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?)""",
            (*identity, position, fingerprint, size, seen),
        )
        return int(cursor.lastrowid or 0), True
    connection.execute(
        "UPDATE unit SET position = ?, fingerprint = ?, size = ?, seen = ? WHERE id = ?",
        (position, fingerprint, size, seen, row[0]),
    )
    return int(row[0]), False


def _write_session(connection: sqlite3.Connection, row: tuple[Any, ...], *, is_new: bool) -> int:
    """Store a session's own row and delete the rows below it; returns its number."""
    known = None
    if not is_new:
        known = connection.execute(
            "SELECT number FROM session_fact WHERE unit = ? AND position = ?", row[:2]
        ).fetchone()
    if known is None:
        return int(connection.execute(_INSERT_SESSION, row).lastrowid or 0)
    connection.execute(_UPDATE_SESSION, (*row, known[0]))
    for table in _CHILDREN:
        connection.execute(f"DELETE FROM {table} WHERE session = ?", known)
    return int(known[0])


def _delete_rest(connection: sqlite3.Connection, unit: int, sessions: int) -> None:
    """Delete the sessions and skips that a unit no longer has."""
    connection.execute(
        "DELETE FROM session_fact WHERE unit = ? AND position >= ?", (unit, sessions)
    )
    connection.execute("DELETE FROM skip WHERE unit = ?", (unit,))


def _write_children(
    connection: sqlite3.Connection, sessions: Sequence[tuple[int, SessionFacts]]
) -> None:
    """Store the calls, tools and markers of sessions whose own rows were written."""
    calls = CALL.encode((number, facts.calls) for number, facts in sessions)
    connection.executemany(_INSERT_CALL, calls)
    tools = (_count_tools(number, facts) for number, facts in sessions)
    connection.executemany(_INSERT_TOOL, chain.from_iterable(tools))
    markers = (
        (number, place, str(one.kind), clean(one.value), one.uses)
        for number, facts in sessions
        for place, one in enumerate(facts.markers)
    )
    connection.executemany(_INSERT_MARKER, markers)


def _count_tools(session: int, facts: SessionFacts) -> Iterable[list[Any]]:
    """The rows of ``session_tool``: each tool's calls by how they ended."""
    rows: dict[str, list[Any]] = {}
    for (tool, status), calls in Counter(map(_tool_and_status, facts.calls)).items():
        row = rows.get(tool)
        if row is None:
            row = rows[tool] = [session, clean(tool), *([0] * len(Status))]
        row[2 + _STATUSES[status]] = calls
    return rows.values()


def _write_skips(
    connection: sqlite3.Connection, source: int, unit: int | None, log: ReadLog
) -> None:
    """Remember what was left out of a unit, or of a source's listing."""
    rows = []
    for reason, count in log.counts.items():
        first = log.examples[reason]
        rows.append((source, unit, reason, count, clean(str(first.path)), first.line))
    if rows:
        connection.executemany("INSERT INTO skip VALUES (?, ?, ?, ?, ?, ?)", rows)


def write_source(
    connection: sqlite3.Connection,
    source: int,
    *,
    stamp: str,
    measured_at: float,
    log: ReadLog,
) -> None:
    """Remember that everything of a source has been read, and what its listing left out."""
    with transaction(connection):
        connection.execute(
            "UPDATE source SET stamp = ?, measured_at = ? WHERE id = ?",
            (stamp, measured_at, source),
        )
        connection.execute("DELETE FROM skip WHERE source = ? AND unit IS NULL", (source,))
        _write_skips(connection, source, None, log)


def ensure_sources(
    connection: sqlite3.Connection, source_set: int, paths: Sequence[Path]
) -> list[tuple[int, str, float]]:
    """Number, stamp and time of the last measurement of each source, entered where it is new."""
    query = "SELECT path, id, position, stamp, measured_at FROM source WHERE source_set = ?"
    names = [store_path(path) for path in paths]
    for _ in range(2):
        known = {row[0]: row[1:] for row in connection.execute(query, (source_set,))}
        wrong = [
            (source_set, name, position)
            for position, name in enumerate(names)
            if name not in known or known[name][1] != position
        ]
        if not wrong:
            break
        with transaction(connection):
            connection.executemany(
                """INSERT INTO source (source_set, path, position) VALUES (?, ?, ?)
                    ON CONFLICT DO UPDATE SET position = excluded.position""",
                wrong,
            )
    return [(known[name][0], known[name][2], known[name][3]) for name in names]


def delete_units(connection: sqlite3.Connection, units: Iterable[int]) -> None:
    """Delete units that are no longer there, with their sessions."""
    with transaction(connection):
        connection.executemany("DELETE FROM unit WHERE id = ?", [(unit,) for unit in units])


def mark_units(connection: sqlite3.Connection, units: Iterable[int]) -> None:
    """Mark units to be read again."""
    rows = [(unit,) for unit in units]
    if rows:
        connection.executemany("UPDATE unit SET fingerprint = '' WHERE id = ?", rows)


def move_units(connection: sqlite3.Connection, moves: Sequence[tuple[int, int]]) -> None:
    """Store the new positions of units, given as position and number."""
    if moves:
        with transaction(connection):
            connection.executemany("UPDATE unit SET position = ? WHERE id = ?", moves)
