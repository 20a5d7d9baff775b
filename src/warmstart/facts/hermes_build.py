"""The facts of some sessions of a Hermes database: by the lane where they are plain, else read."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any, NamedTuple, Self

from warmstart.errors import SourceError
from warmstart.facts.asking import Tool
from warmstart.facts.derive import derive_facts
from warmstart.facts.details import Details, list_tokens
from warmstart.facts.hermes_book import (
    NOTHING,
    Extent,
    SessionKey,
    SessionRows,
    measure_sessions,
    parent_of,
)
from warmstart.facts.hermes_lane import (
    OutOfOrder,
    Walk,
    find_end,
    plain_rows_query,
    read_times,
)
from warmstart.facts.lanes import Unusual
from warmstart.facts.packing import (
    Calls,
    Head,
    Mask,
    Packed,
    Parts,
    keep_texts,
    list_parts,
    pack_rows,
)
from warmstart.facts.skips import Skips, note_skips
from warmstart.model import Link, Parent
from warmstart.model.session import NO_TOKENS
from warmstart.sources import Found, Reader, ReadLog, Unit, get_reader, read_unit
from warmstart.sources.readers.hermes import HEIRS, session_fields
from warmstart.sources.sqlite import list_columns, open_database

PACKED_AT_ONCE = 32
"""Sessions whose texts are masked together: a look costs as much for one as for several."""
_SAME_WORDS = """SELECT 1 FROM messages WHERE session_id = ? AND role = 'user' AND (content = ?
    OR typeof(content) <> 'text' OR hex(substr(CAST(content AS BLOB), 1, 1)) IN ('00', '1E'))"""


class Built(NamedTuple):
    """One session, ready to be stored; no row where nothing of it could be read."""

    key: SessionKey
    row: Packed | None
    extent: Extent
    skips: Skips

    def strip(self) -> Sent:
        """As plain tuples, which go from one process to another in a third of the time."""
        return self.key, self.row and tuple(self.row), self.extent, self.skips


class _Draft(NamedTuple):
    """One session before its row is packed."""

    key: SessionKey
    parts: Parts | None
    extent: Extent
    skips: Skips


Sent = tuple[SessionKey, tuple[Any, ...] | None, Extent, Skips]


class Builder:
    """Builds sessions of one database; holds its connections while open."""

    def __init__(self, path: Path, reader: str, rows: SessionRows, mask: Mask = keep_texts) -> None:
        self._path = path
        self._mask = mask
        self._reader: Reader = get_reader(reader)
        self._rows = rows
        self._open = ExitStack()
        self._connection: sqlite3.Connection | None = None
        self._queries: Sequence[str] = ()
        self._has_times = False
        self._tools: dict[str, Tool] = {}

    def __enter__(self) -> Self:
        self._connection = connection = open_plainly(self._open, self._path)
        query = plain_rows_query(connection)
        self._has_times = "timestamp" in list_columns(connection, "messages")
        self._queries = (query, f"{query} ORDER BY id")
        return self

    def __exit__(self, *error: object) -> None:
        self._open.close()

    def build(self, keys: Sequence[SessionKey]) -> Iterator[Built]:
        """The sessions asked for, in that order."""
        for start in range(0, len(keys), PACKED_AT_ONCE):
            drafts = [self._draft(key) for key in keys[start : start + PACKED_AT_ONCE]]
            rows = iter(pack_rows([one.parts for one in drafts if one.parts], self._mask))
            for key, parts, extent, skips in drafts:
                yield Built(key, next(rows) if parts else None, extent, skips)

    def _draft(self, key: SessionKey) -> _Draft:
        try:
            return self._build_plain(key)
        except (Unusual, sqlite3.OperationalError):
            return self._read(key)

    def _build_plain(self, key: SessionKey) -> _Draft:
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
        extent = (walk.size - offset, walk.last_id, walk.chars, 0)
        return _Draft(key, self._gather(key, fields, parent, walk), extent, {})

    def _walk(self, key: SessionKey, offset: int) -> Walk:
        """The session's rows; sorted only where the index does not give them in order already."""
        connection = self._get_connection()
        for query in self._queries:
            walk = Walk(offset=offset, tools=self._tools)
            cursor = connection.execute(query, (key,))
            try:
                walk.take(cursor)
            except OutOfOrder:
                continue
            finally:
                cursor.close()
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

    def _gather(
        self, key: SessionKey, fields: dict[str, Any], parent: Parent | None, walk: Walk
    ) -> Parts:
        """What the session's row is packed from: equal to the parts of its derived facts."""
        self._add_times(key, fields)
        name, voice = self._reader.name, walk.voice.finish()
        details = Details(
            agent_version=None,
            title=fields["title"],
            opening=walk.opening,
            git_branch=fields["git_branch"],
            end_reason=fields["end_reason"],
            parent=self._rename(parent) if parent else None,
            task=fields["task"],
            reward=fields["reward"],
            cost_usd=fields["cost_usd"],
            tokens=list_tokens(fields["tokens"] or NO_TOKENS),
            turns=voice.messages,
            warmups=0,
            compactions=(0,) if parent and parent.link is Link.COMPACTION else (),
            voice=tuple(voice),
            path=str(self._path),
        )
        head = Head(
            key=key,
            name=f"{name}:{key}",
            origin=name,
            agent=name,
            model=fields["model"],
            project=fields["project"],
            started_at=fields["started_at"],
            ended_at=fields["ended_at"],
            messages=walk.size,
        )
        return Parts(head, details, walk.markers.rank(), walk.calls)

    def _add_times(self, key: SessionKey, fields: dict[str, Any]) -> None:
        """When a session began and ended by its messages, where its own row does not say."""
        if not self._has_times:
            return
        if fields["started_at"] is None:
            times = read_times(self._get_connection(), key)
            fields["started_at"] = times[0] if times else None
        if fields["ended_at"] is None:
            fields["ended_at"] = find_end(self._get_connection(), key)

    def _rename(self, parent: Parent) -> tuple[str, str]:
        """Our own store has Hermes' rows, but its sessions are not Hermes'."""
        return f"{self._reader.name}:{parent.id.partition(':')[2]}", parent.link

    def _read(self, key: SessionKey) -> _Draft:
        log = ReadLog()
        found = Found(self._reader, Unit(path=self._path, key=key))
        sessions = list(read_unit(found, log))
        extent = measure_sessions(self._get_connection(), [key]).get(key, NOTHING)
        parts = None
        if sessions:
            facts = derive_facts(sessions[0])
            parts = list_parts(facts, Calls.of(facts.calls), key)
        return _Draft(key, parts, extent, note_skips(log))

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
