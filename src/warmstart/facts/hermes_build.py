"""The facts of some sessions of a Hermes database: by the lane where they are plain, else read."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any, NamedTuple, Self

from warmstart.errors import SourceError
from warmstart.facts.asking import Tool
from warmstart.facts.derive import derive_facts
from warmstart.facts.hermes_book import Extent, SessionKey, SessionRows, measure_sessions, parent_of
from warmstart.facts.hermes_lane import OutOfOrder, Walk, plain_rows_query, read_times
from warmstart.facts.lanes import Unusual
from warmstart.facts.packing import Packed, pack_columns, pack_facts
from warmstart.facts.skips import Skips, note_skips
from warmstart.model import Link, Parent
from warmstart.model.facts import SessionFacts
from warmstart.sources.log import ReadLog
from warmstart.sources.reader import Reader, Unit
from warmstart.sources.readers.hermes import HEIRS, session_fields
from warmstart.sources.registry import get_reader
from warmstart.sources.scan import Found, read_unit
from warmstart.sources.sqlite import open_database

_SAME_WORDS = """SELECT 1 FROM messages WHERE session_id = ? AND role = 'user' AND (content = ?
    OR typeof(content) <> 'text' OR hex(substr(CAST(content AS BLOB), 1, 1)) IN ('00', '1E'))"""


class Built(NamedTuple):
    """One session, ready to be stored; no row where nothing of it could be read."""

    key: SessionKey
    row: Packed | None
    extent: Extent
    skips: Skips


class Builder:
    """Builds sessions of one database; holds its connections while open."""

    def __init__(self, path: Path, reader: str, rows: SessionRows) -> None:
        self._path = path
        self._reader: Reader = get_reader(reader)
        self._rows = rows
        self._open = ExitStack()
        self._connection: sqlite3.Connection | None = None
        self._query = ""
        self._tools: dict[str, Tool] = {}

    def __enter__(self) -> Self:
        self._connection = connection = open_plainly(self._open, self._path)
        self._query = plain_rows_query(connection)
        return self

    def __exit__(self, *error: object) -> None:
        self._open.close()

    def build(self, keys: Sequence[SessionKey]) -> Iterator[Built]:
        """The sessions asked for, in that order."""
        for key in keys:
            try:
                yield self._build_plain(key)
            except (Unusual, sqlite3.OperationalError):
                yield self._read(key)

    def _build_plain(self, key: SessionKey) -> Built:
        row = self._rows.get(key)
        if not row:
            raise Unusual
        fields = session_fields(row)
        parent, parent_row = parent_of(row, self._rows)
        offset = int(bool(row["system_prompt"]))
        walk = self._walk(key, offset)
        is_heir = parent is not None and parent.link in HEIRS and bool(parent_row)
        if is_heir and self._may_repeat(walk, parent_row["id"]):
            raise Unusual
        facts = self._make_facts(key, fields, parent, walk)
        extent = Extent(walk.size - offset, walk.last_id, walk.chars, 0)
        packed = pack_columns(facts, walk.calls, key=key)
        return Built(key, packed, extent, {})

    def _walk(self, key: SessionKey, offset: int) -> Walk:
        """The session's rows; sorted only where the index does not give them in order already."""
        connection = self._get_connection()
        for query in (self._query, f"{self._query} ORDER BY id"):
            walk = Walk(offset=offset, tools=self._tools)
            with closing(connection.execute(query, (key,))) as cursor:
                try:
                    walk.take(cursor)
                except OutOfOrder:
                    continue
            return walk
        raise Unusual

    def _may_repeat(self, walk: Walk, parent: str) -> bool:
        """Whether a session may begin with a copy of something its parent holds.

        A copied beginning repeats the parent's own rows from its first one on, so a first turn
        that the parent does not have is proof that there is none.
        """
        text = walk.first_turn
        if not walk.last_id:
            return False
        if text is None or "\ufffd" in text:
            return True
        found = self._get_connection().execute(_SAME_WORDS, (parent, text))
        return found.fetchone() is not None

    def _make_facts(
        self, key: SessionKey, fields: dict[str, Any], parent: Parent | None, walk: Walk
    ) -> SessionFacts:
        rotated = parent is not None and parent.link is Link.COMPACTION
        name = self._reader.name
        if fields["tokens"] is None:
            del fields["tokens"]
        if fields["started_at"] is None or fields["ended_at"] is None:
            times = read_times(self._get_connection(), key)
            if fields["started_at"] is None:
                fields["started_at"] = times[0] if times else None
            if fields["ended_at"] is None:
                fields["ended_at"] = max(times, default=None)
        voice = walk.voice.finish()
        return SessionFacts(
            id=f"{name}:{key}",
            origin=name,
            agent=name,
            opening=walk.opening,
            parent=self._rename(parent),
            messages=walk.size,
            turns=voice.messages,
            compactions=(0,) if rotated else (),
            markers=walk.markers.finish(),
            voice=voice,
            path=str(self._path),
            **fields,
        )

    def _rename(self, parent: Parent | None) -> Parent | None:
        """Our own store has Hermes' rows, but its sessions are not Hermes'."""
        if parent is None:
            return None
        return Parent(id=f"{self._reader.name}:{parent.id.partition(':')[2]}", link=parent.link)

    def _read(self, key: SessionKey) -> Built:
        log = ReadLog()
        found = Found(self._reader, Unit(path=self._path, key=key))
        sessions = list(read_unit(found, log))
        extent = measure_sessions(self._get_connection(), [key]).get(key, Extent(0, 0, 0, 0))
        packed = pack_facts(derive_facts(sessions[0]), key=key) if sessions else None
        return Built(key, packed, extent, note_skips(log))

    def _get_connection(self) -> sqlite3.Connection:
        if self._connection is None:
            raise SourceError("the database is not open", path=self._path)
        return self._connection


def open_plainly(stack: ExitStack, path: Path) -> sqlite3.Connection:
    """A connection that gives rows as tuples and text as it is; broken text is an error."""
    connection = stack.enter_context(open_database(path))
    connection.row_factory = None
    connection.text_factory = str
    return connection
