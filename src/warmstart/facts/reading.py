"""Rows out of the index, in the order of their sources."""

from __future__ import annotations

import os
import sqlite3
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from hashlib import blake2b
from pathlib import Path
from typing import NamedTuple

from warmstart.facts.index import transaction
from warmstart.facts.tables import CALL, SESSION
from warmstart.model import CallFact, Marker, MarkerKind, SessionFacts
from warmstart.sources import ReadLog, Skip

__all__ = [
    "Listed",
    "count_sessions",
    "find_duplicates",
    "list_ids",
    "list_rows",
    "list_tools",
    "load_facts",
    "load_summaries",
    "report_skips",
    "split_chunks",
    "stamp_chunk",
    "write_summary",
]

CHUNK = 512
"""Sessions that share one stored summary."""
LOADED = 64
"""Sessions that are loaded at once."""
_ROW = ", ".join(f"s.{column.name}" for column in SESSION.columns)
_UNHASHED = CALL.names.replace("arguments_hash", "0 AS arguments_hash")
_JOINED = """FROM source o JOIN unit u ON u.source = o.id JOIN session_fact s ON s.unit = u.id
    WHERE o.source_set = ?"""
_ORDER = "ORDER BY o.position, u.position, u.id, s.position"
_KINDS = {str(kind): kind for kind in MarkerKind}


class Listed(NamedTuple):
    """A session of a source set: its number and revision, where it is from, and its facts."""

    number: int
    revision: int
    reader: str
    source: int
    facts: SessionFacts
    """Without calls and markers."""


def list_rows(connection: sqlite3.Connection, source_set: int) -> Iterator[Listed]:
    """Every session of a source set, without its calls and markers."""
    query = f"SELECT s.number, s.revision, u.reader, o.id, {_ROW} {_JOINED} {_ORDER}"
    cursor = connection.execute(query, (source_set,))
    while rows := cursor.fetchmany(LOADED):
        found = SESSION.decode([row[4:] for row in rows])
        for (number, revision, reader, source, *_), fields in zip(rows, found, strict=True):
            yield Listed(number, revision, reader, source, SessionFacts(**fields))


def list_ids(connection: sqlite3.Connection, source_set: int) -> list[tuple[int, int, int]]:
    """Number, revision and source of every session."""
    query = f"SELECT s.number, s.revision, o.id {_JOINED} {_ORDER}"
    return connection.execute(query, (source_set,)).fetchall()


def list_tools(connection: sqlite3.Connection, source_set: int) -> dict[int, list[str]]:
    """The tools that each session of a source set called."""
    query = f"SELECT session, tool FROM session_tool WHERE session IN (SELECT s.number {_JOINED})"
    tools: dict[int, list[str]] = {}
    for session, tool in connection.execute(query, (source_set,)):
        tools.setdefault(session, []).append(tool)
    return tools


def find_duplicates(
    connection: sqlite3.Connection, source_set: int, readers: Iterable[str]
) -> list[tuple[int, Path]]:
    """Sessions of databases that another database holds too, at least as far: number and file.

    A copy of a database, made to keep or to move it, has sessions with the same ids that began at
    the same moment; those that only share an id are others.
    """
    names = sorted(readers)
    marks = ", ".join("?" * len(names))
    units = f"""SELECT u.id, u.path, o.position AS source, u.position FROM source o JOIN unit u
        ON u.source = o.id WHERE o.source_set = ? AND u.reader IN ({marks})"""
    found = connection.execute(f"SELECT count(DISTINCT path) FROM ({units})", (source_set, *names))
    if found.fetchone()[0] < 2:
        return []
    rows = connection.execute(
        f"""SELECT s.number, s.id, s.started_at, u.path FROM ({units}) u JOIN session_fact s
            ON s.unit = u.id WHERE s.started_at IS NOT NULL
            ORDER BY s.messages DESC, u.source, u.position, s.number""",
        (source_set, *names),
    )
    seen: dict[tuple[str, float], str | bytes] = {}
    return [
        (number, Path(os.fsdecode(path)))
        for number, name, started_at, path in rows
        if seen.setdefault((name, started_at), path) != path
    ]


def count_sessions(connection: sqlite3.Connection, source_set: int) -> int:
    """How many sessions of a source set the index holds."""
    return int(connection.execute(f"SELECT count(*) {_JOINED}", (source_set,)).fetchone()[0])


def load_facts(
    connection: sqlite3.Connection, numbers: Sequence[int], *, repeats: bool = True
) -> Iterator[SessionFacts]:
    """The facts of sessions by their numbers, in that order.

    A session that another process has deleted meanwhile is left out. Without ``repeats`` every
    ``arguments_hash`` is 0, which saves a sixth of the memory where all sessions are kept.
    """
    known: dict[tuple[str, str, int], Marker] = {}
    for start in range(0, len(numbers), LOADED):
        some = numbers[start : start + LOADED]
        wanted = f"({', '.join(map(str, some))})"
        query = f"SELECT s.number, {_ROW} FROM session_fact s WHERE s.number IN {wanted}"
        rows = connection.execute(query).fetchall()
        decoded = SESSION.decode([row[1:] for row in rows])
        fields = dict(zip((row[0] for row in rows), decoded, strict=True))
        calls = _load_calls(connection, wanted, CALL.names if repeats else _UNHASHED)
        markers = _load_markers(connection, wanted, known)
        for number in some:
            if number in fields:
                yield SessionFacts(
                    **fields[number],
                    calls=calls.get(number, ()),
                    markers=tuple(markers.get(number, ())),
                )


def _load_calls(
    connection: sqlite3.Connection, wanted: str, columns: str
) -> dict[int, tuple[CallFact, ...]]:
    """The calls of some sessions, by session."""
    query = f"SELECT session, {columns} FROM call_fact WHERE session IN {wanted} ORDER BY 1, 2"
    rows = connection.execute(query).fetchall()
    calls = CALL.decode([row[1:] for row in rows])
    found, start = {}, 0
    for session, size in Counter(row[0] for row in rows).items():
        found[session] = tuple(calls[start : start + size])
        start += size
    return found


def _load_markers(
    connection: sqlite3.Connection, wanted: str, known: dict[tuple[str, str, int], Marker]
) -> dict[int, list[Marker]]:
    """The markers of some sessions, by session; ``known`` are those that were met before.

    Sessions name the same files and commands again and again: as one object each, the markers of
    10,985 sessions take a tenth of the memory.
    """
    query = f"""SELECT session, kind, value, uses FROM marker WHERE session IN {wanted}
        ORDER BY session, position"""
    markers: dict[int, list[Marker]] = {}
    for session, *values in connection.execute(query):
        row = (values[0], values[1], values[2])
        marker = known.get(row)
        if marker is None:
            marker = known[row] = Marker(_KINDS[row[0]], row[1], row[2])
        markers.setdefault(session, []).append(marker)
    return markers


def report_skips(
    connection: sqlite3.Connection, source_set: int, sources: Iterable[int], log: ReadLog
) -> None:
    """Add to a log what was left out when the units of some sources were read."""
    wanted = set(sources)
    rows = connection.execute(
        """SELECT o.id, k.reason, k.count, k.path, k.line FROM source o JOIN skip k
            ON k.source = o.id LEFT JOIN unit u ON u.id = k.unit WHERE o.source_set = ?
            ORDER BY o.position, u.position, k.rowid""",
        (source_set,),
    )
    for source, reason, count, path, line in rows:
        if source in wanted:
            log.counts[reason] += count
            log.examples.setdefault(reason, Skip(reason, Path(path), line))


def split_chunks(ids: Iterable[tuple[int, int]]) -> dict[int, list[tuple[int, int]]]:
    """(number, revision) of sessions by the chunk they belong to."""
    chunks: dict[int, list[tuple[int, int]]] = {}
    for pair in ids:
        chunks.setdefault(pair[0] // CHUNK, []).append(pair)
    return chunks


def stamp_chunk(members: Sequence[tuple[int, int]], code: str = "") -> bytes:
    """Changes when a member does, when another session is in it, or with the code's digest."""
    return blake2b(repr(members).encode() + code.encode(), digest_size=16).digest()


def load_summaries(
    connection: sqlite3.Connection, source_set: int, version: str
) -> dict[int, tuple[bytes, bytes]]:
    """Stamp and data of every stored summary, by chunk."""
    rows = connection.execute(
        "SELECT chunk, stamp, data FROM summary WHERE source_set = ? AND version = ?",
        (source_set, version),
    )
    return {row[0]: (row[1], row[2]) for row in rows}


def write_summary(
    connection: sqlite3.Connection,
    source_set: int,
    version: str,
    chunk: int,
    summary: tuple[bytes, bytes],
) -> None:
    """Keep a chunk's summary, instead of any made of it before."""
    with transaction(connection):
        connection.execute(
            "INSERT OR REPLACE INTO summary (source_set, chunk, version, stamp, data)"
            " VALUES (?, ?, ?, ?, ?)",
            (source_set, chunk, version, *summary),
        )
