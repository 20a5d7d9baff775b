"""Rows out of the index, in the order of their sources."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence
from hashlib import blake2b
from pathlib import Path
from typing import NamedTuple

import orjson

from warmstart.facts.index import transaction
from warmstart.facts.packing import SessionRow, unpack_facts
from warmstart.facts.skips import tell_skips
from warmstart.model.facts import SessionFacts
from warmstart.sources import ReadLog

CHUNK = 512
"""Sessions that share one stored summary."""
LOADED = 128
"""Sessions that are taken from the index at once."""
_ROW = """s.name, s.origin, s.agent, s.model, s.project, s.started_at, s.ended_at, s.messages,
    s.statuses, s.tools, s.details"""
_JOINED = """FROM units u JOIN sessions s ON s.unit = u.id WHERE u.place = ?
    ORDER BY u.position, u.id, s.key, s.ord"""

Keep = Callable[[SessionRow], bool]


class Listed(NamedTuple):
    """A session of a place: where it is kept, what keeps it, and its row."""

    id: int
    revision: int
    reader: str
    root: str
    row: SessionRow


def list_rows(connection: sqlite3.Connection, place: int) -> Iterator[Listed]:
    """Every session of a place, without its calls."""
    rows = connection.execute(
        f"SELECT s.id, s.revision, u.reader, u.root, {_ROW} {_JOINED}", (place,)
    )
    for row in rows:
        yield Listed(row[0], row[1], row[2], row[3], SessionRow._make(row[4:]))


def list_ids(connection: sqlite3.Connection, place: int) -> list[tuple[int, int, str]]:
    """Number, revision and root of every session: all there is to know where none is left out."""
    return connection.execute(f"SELECT s.id, s.revision, u.root {_JOINED}", (place,)).fetchall()


def list_numbers(connection: sqlite3.Connection, place: int) -> list[tuple[int, str]]:
    """Number and root of every session: found in half the time, because no row is looked at."""
    return connection.execute(f"SELECT s.id, u.root {_JOINED}", (place,)).fetchall()


def find_doubles(
    connection: sqlite3.Connection, place: int, readers: Iterable[str]
) -> list[tuple[int, Path]]:
    """Sessions of databases that another database holds too, at least as far: number and file.

    A copy of a database, made to keep or to move it, has sessions with the same ids that began at
    the same moment; those that only share an id are others.
    """
    names = sorted(readers)
    marks = ", ".join("?" * len(names))
    units = f"SELECT id, path, position FROM units WHERE place = ? AND reader IN ({marks})"
    found = connection.execute(f"SELECT count(DISTINCT path) FROM ({units})", (place, *names))
    if found.fetchone()[0] < 2:
        return []
    rows = connection.execute(
        f"""SELECT s.id, s.name, s.started_at, u.path FROM ({units}) u JOIN sessions s
            ON s.unit = u.id WHERE s.started_at IS NOT NULL
            ORDER BY s.messages DESC, u.position, s.id""",
        (place, *names),
    )
    seen: dict[tuple[str, float], bytes] = {}
    return [
        (number, Path(os.fsdecode(path)))
        for number, name, started_at, path in rows
        if seen.setdefault((name, started_at), path) != path
    ]


def count_sessions(connection: sqlite3.Connection, place: int) -> int:
    """How many sessions of a place the index holds."""
    query = "SELECT count(*) FROM sessions WHERE unit IN (SELECT id FROM units WHERE place = ?)"
    return int(connection.execute(query, (place,)).fetchone()[0])


def load_facts(connection: sqlite3.Connection, ids: Sequence[int]) -> Iterator[SessionFacts]:
    """The facts of sessions by their numbers, in that order."""
    query = f"SELECT s.id, {_ROW}, s.calls FROM sessions s WHERE s.id IN (%s)"
    for start in range(0, len(ids), LOADED):
        some = ids[start : start + LOADED]
        rows = connection.execute(query % ", ".join(map(str, some)))
        found = {row[0]: row for row in rows}
        for number in some:
            row = found.pop(number, None)
            if row is not None:  # another process may have replaced it meanwhile
                yield unpack_facts(row[1:-1], row[-1])


def tell_place_skips(
    connection: sqlite3.Connection, place: int, roots: Iterable[str], log: ReadLog
) -> None:
    """What was left out when the units of a place were read."""
    wanted = set(roots)
    rows = connection.execute(
        "SELECT root, skips FROM units WHERE place = ? AND skips IS NOT NULL ORDER BY position",
        (place,),
    )
    for root, skips in rows:
        if root in wanted:
            for noted in orjson.loads(skips).values():
                tell_skips(noted, log)


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
    connection: sqlite3.Connection, place: int, version: str
) -> dict[int, tuple[bytes, bytes]]:
    """Stamp and data of every stored summary, by chunk."""
    rows = connection.execute(
        "SELECT chunk, stamp, data FROM summaries WHERE place = ? AND version = ?",
        (place, version),
    )
    return {row[0]: (row[1], row[2]) for row in rows}


def write_summary(
    connection: sqlite3.Connection,
    place: int,
    version: str,
    chunk: int,
    summary: tuple[bytes, bytes],
) -> None:
    """Keep a chunk's summary, instead of any made of it before or under other rules."""
    with transaction(connection):
        connection.execute(
            "INSERT OR REPLACE INTO summaries (place, chunk, version, stamp, data)"
            " VALUES (?, ?, ?, ?, ?)",
            (place, chunk, version, *summary),
        )
