"""Rows into the index, a unit or a batch of sessions at a time; each call is one transaction."""

from __future__ import annotations

import os
import sqlite3
from array import array
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import orjson

from warmstart.facts.index import next_revision, transaction
from warmstart.facts.packing import Packed
from warmstart.facts.skips import Skips

_COLUMNS = ("unit", "revision", *Packed._fields)
_INSERT = f"""INSERT INTO sessions ({", ".join(_COLUMNS)}) VALUES ({", ".join("?" * len(_COLUMNS))})
    ON CONFLICT (unit, key, ord) DO UPDATE SET
    {", ".join(f"{name} = excluded.{name}" for name in _COLUMNS)}"""
"""A session keeps its number when it is written again: another process may be about to read it."""


class Source(NamedTuple):
    """A unit as the index knows it: what it is, where it stands, and whether it has changed."""

    root: str
    """The store or path it was found under; what is no longer found there is forgotten."""
    reader: str
    path: Path
    key: str = ""
    fingerprint: str = ""
    position: int = 0


class Reading(NamedTuple):
    """What reading a unit gave."""

    source: Source
    rows: Sequence[Packed]
    skips: Skips
    asked: Sequence[int] = ()
    disturbed: Sequence[int] = ()
    """Units that repeat something of this one, and have to be read again after it."""


def write_readings(connection: sqlite3.Connection, place: int, readings: Sequence[Reading]) -> None:
    """Units read as a whole; each replaces what was known of it."""
    with transaction(connection):
        revision = next_revision(connection)
        for reading in readings:
            connection.executemany(
                "UPDATE units SET fingerprint = '' WHERE id = ?",
                [(unit,) for unit in reading.disturbed],
            )
            unit = ensure_unit(connection, place, reading.source)
            connection.execute(
                "UPDATE units SET fingerprint = ?, skips = ?, seen = ? WHERE id = ?",
                (
                    reading.source.fingerprint,
                    orjson.dumps({"": reading.skips}) if reading.skips else None,
                    array("q", reading.asked).tobytes() if reading.asked else None,
                    unit,
                ),
            )
            connection.executemany(_INSERT, [(unit, revision, *row) for row in reading.rows])
            connection.execute(
                "DELETE FROM sessions WHERE unit = ? AND revision <> ?", (unit, revision)
            )


def write_sessions(
    connection: sqlite3.Connection, unit: int, keys: Iterable[str], rows: Iterable[tuple[Any, ...]]
) -> None:
    """Some sessions of a unit whose sessions change one by one; rows are as ``Packed`` is."""
    with transaction(connection):
        revision = next_revision(connection)
        connection.executemany(_INSERT, [(unit, revision, *row) for row in rows])
        connection.executemany(
            "DELETE FROM sessions WHERE unit = ? AND key = ? AND revision <> ?",
            [(unit, key, revision) for key in keys],
        )


def write_state(
    connection: sqlite3.Connection,
    unit: int,
    state: bytes,
    skips: dict[str, Skips],
    *,
    fingerprint: str,
) -> None:
    """What a database looked like when its sessions were read."""
    with transaction(connection):
        connection.execute(
            "UPDATE units SET fingerprint = ?, state = ?, skips = ? WHERE id = ?",
            (fingerprint, state, orjson.dumps(skips) if skips else None, unit),
        )


def ensure_unit(connection: sqlite3.Connection, place: int, source: Source) -> int:
    """The number of a unit, entered if it is new."""
    identity = (place, source.reader, os.fsencode(source.path), source.key)
    connection.execute(
        """INSERT INTO units (place, reader, path, key, root, fingerprint, position)
            VALUES (?, ?, ?, ?, ?, '', ?)
            ON CONFLICT DO UPDATE SET root = excluded.root, position = excluded.position""",
        (*identity, source.root, source.position),
    )
    row = connection.execute(
        "SELECT id FROM units WHERE place = ? AND reader = ? AND path = ? AND key = ?", identity
    ).fetchone()
    return int(row[0])


def forget_units(connection: sqlite3.Connection, units: Iterable[int]) -> None:
    """Units that are no longer there, with their sessions."""
    with transaction(connection):
        connection.executemany("DELETE FROM units WHERE id = ?", [(unit,) for unit in units])


def move_units(connection: sqlite3.Connection, moves: Sequence[tuple[int, int]]) -> None:
    """New positions of units that were not read again: (position, unit)."""
    if moves:
        with transaction(connection):
            connection.executemany("UPDATE units SET position = ? WHERE id = ?", moves)
