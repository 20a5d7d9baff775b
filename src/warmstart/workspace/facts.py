"""Facts of the sessions in a workspace, kept in an index that nobody has to think about.

Every function here first brings the index up to date with what its selection is about, reading
only what changed, and then answers from it. Where no index can be kept (a home that cannot be
written to), sessions are read each time and a note says so.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from warmstart.errors import SourceError
from warmstart.facts.derive import derive_facts
from warmstart.facts.hermes_refresh import refresh_database
from warmstart.facts.index import (
    FILE,
    IndexUnavailableError,
    ensure_place,
    move_aside,
    open_index,
)
from warmstart.facts.lanes import Unusual
from warmstart.facts.packing import SessionRow, row_of, unpack_facts
from warmstart.facts.reading import (
    count_sessions,
    list_ids,
    list_rows,
    load_facts,
    load_summaries,
    split_chunks,
    stamp_chunk,
    tell_place_skips,
    write_summary,
)
from warmstart.facts.refresh import Entry, refresh_units
from warmstart.model.facts import SessionFacts
from warmstart.model.selection import Selection
from warmstart.sources import ReadLog
from warmstart.workspace.core import COPYING_READERS, Workspace, explain_failure
from warmstart.workspace.fact_sources import expand_database, list_entries, name_place

__all__ = [
    "FactsStatus",
    "Making",
    "index_path",
    "read_facts",
    "read_rows",
    "read_session_rows",
    "read_status",
    "read_summaries",
    "read_summary",
    "refresh_facts",
]

Progress = Callable[[int, int], None]
"""Told how many things of how many have been read."""
Summarise = Callable[[Sequence[SessionFacts]], bytes]
MAX_UNKEPT = 512


def index_path(workspace: Workspace) -> Path:
    """Where the index is, or would be."""
    return workspace.home / FILE


def read_facts(
    workspace: Workspace,
    selection: Selection,
    log: ReadLog,
    *,
    rebuild: bool = False,
    on_progress: Progress | None = None,
) -> Iterator[SessionFacts]:
    """The facts of the sessions selected, in the order of their sources.

    Raises:
        NotFoundError: there is nothing at a path.
        SourceError: the one path given cannot be read.
    """
    with _view(workspace, selection, log, rebuild=rebuild, on_progress=on_progress) as view:
        if view is None:
            for session in workspace.read_sessions(selection, log):
                yield derive_facts(session)
            return
        yield from load_facts(view.connection, [number for number, _ in view.select(selection)])


def read_rows(
    workspace: Workspace,
    selection: Selection,
    log: ReadLog,
    *,
    on_progress: Progress | None = None,
) -> Iterator[tuple[SessionRow, SessionFacts]]:
    """The rows of the sessions selected, with their facts but for the calls."""
    for row in read_session_rows(workspace, selection, log, on_progress=on_progress):
        yield row, unpack_facts(row)


def read_session_rows(
    workspace: Workspace,
    selection: Selection,
    log: ReadLog,
    *,
    on_progress: Progress | None = None,
) -> Iterator[SessionRow]:
    """The rows alone: for whoever counts all of them and shows a few."""
    with _view(workspace, selection, log, on_progress=on_progress) as view:
        if view is None:
            for session in workspace.read_sessions(selection, log):
                yield row_of(derive_facts(session))
            return
        yield from view.rows(selection)


def read_summaries(
    workspace: Workspace,
    selection: Selection,
    log: ReadLog,
    *,
    version: str,
    summarise: Summarise,
    on_progress: Progress | None = None,
) -> Iterator[bytes]:
    """Summaries that together cover the sessions selected, each session exactly once.

    A summary is made of a few hundred sessions by ``summarise`` and kept until one of them
    changes or ``version`` is another; a selection that leaves sessions out is summarised anew.
    """
    with _view(workspace, selection, log, on_progress=on_progress) as view:
        if view is None:
            yield from _summarise_unkept(workspace, selection, log, summarise)
            return
        yield from _ensure_summaries(view, selection, version, summarise)


class Making(NamedTuple):
    """How one summary of many sessions is made."""

    version: str
    """Another where summaries are made in another way."""
    summarise: Summarise
    join: Callable[[Sequence[bytes]], bytes]


def read_summary(
    workspace: Workspace,
    selection: Selection,
    log: ReadLog,
    making: Making,
    *,
    on_progress: Progress | None = None,
) -> bytes:
    """All summaries as one, kept until any session changes."""
    with _view(workspace, selection, log, on_progress=on_progress) as view:
        if view is None:
            return making.join(list(_summarise_unkept(workspace, selection, log, making.summarise)))
        version, summarise, join = making
        if selection.has_filters:
            return join(list(_ensure_summaries(view, selection, version, summarise)))
        whole = f"{version}:whole"
        stamp = stamp_chunk(view.select(selection))
        kept = load_summaries(view.connection, view.place, whole).get(0)
        if kept is not None and kept[0] == stamp:
            return kept[1]
        data = join(list(_ensure_summaries(view, selection, version, summarise)))
        write_summary(view.connection, view.place, whole, 0, (stamp, data))
        return data


def _ensure_summaries(
    view: _View, selection: Selection, version: str, summarise: Summarise
) -> Iterator[bytes]:
    """A summary for each few hundred sessions, the kept one where there is one."""
    is_whole = not selection.has_filters
    stored = load_summaries(view.connection, view.place, version)
    for chunk, members in split_chunks(view.select(selection)).items():
        stamp = stamp_chunk(members)
        kept = stored.get(chunk)
        if kept is not None and kept[0] == stamp:
            yield kept[1]
            continue
        facts = list(load_facts(view.connection, [number for number, _ in members]))
        data = summarise(facts)
        if is_whole and len(facts) == len(members):
            write_summary(view.connection, view.place, version, chunk, (stamp, data))
        yield data


def _summarise_unkept(
    workspace: Workspace, selection: Selection, log: ReadLog, summarise: Summarise
) -> Iterator[bytes]:
    batch: list[SessionFacts] = []
    for session in workspace.read_sessions(selection, log):
        batch.append(derive_facts(session))
        if len(batch) >= MAX_UNKEPT:
            yield summarise(batch)
            batch = []
    if batch:
        yield summarise(batch)


def refresh_facts(
    workspace: Workspace,
    selection: Selection,
    log: ReadLog,
    *,
    rebuild: bool = False,
    on_progress: Progress | None = None,
) -> int:
    """Bring the index up to date, or make it anew; returns how many sessions it holds.

    Raises:
        IndexUnavailableError: there can be no index in this home.
    """
    if rebuild:
        move_aside(index_path(workspace))
    with open_index(index_path(workspace)) as connection:
        place, roots = _refresh(connection, workspace, selection, log, on_progress)
        tell_place_skips(connection, place, roots, log)
        return count_sessions(connection, place)


class FactsStatus(NamedTuple):
    """What the index holds."""

    path: Path
    bytes: int
    units: int
    sessions: int
    calls: int


def read_status(workspace: Workspace) -> FactsStatus | None:
    """What the index holds; None where there is none yet.

    Raises:
        IndexUnavailableError: it cannot be opened.
    """
    path = index_path(workspace)
    if not path.exists():
        return None
    with open_index(path) as connection:
        units = connection.execute("SELECT count(*) FROM units").fetchone()[0]
        sessions, size = connection.execute(
            "SELECT count(*), total(length(calls) - 4) FROM sessions"
        ).fetchone()
    return FactsStatus(path, path.stat().st_size, units, sessions, int(size) // 30)


@dataclass(frozen=True, slots=True)
class _View:
    """The index, up to date for one selection."""

    connection: sqlite3.Connection
    place: int
    roots: frozenset[str]
    is_default: bool
    """The stores of this machine, whose sessions our own stores may repeat."""

    def select(self, selection: Selection) -> list[tuple[int, int]]:
        """Number and revision of the sessions selected."""
        if not selection.has_filters and not self._has_copies():
            found = list_ids(self.connection, self.place)
            return [(number, revision) for number, revision, root in found if root in self.roots]
        return [pair for pair, _ in self._matching(selection)]

    def rows(self, selection: Selection) -> Iterator[SessionRow]:
        """The rows of the sessions selected."""
        return (row for _, row in self._matching(selection))

    def _matching(self, selection: Selection) -> Iterator[tuple[tuple[int, int], SessionRow]]:
        live: set[str] = set()
        may_repeat = self._has_copies()
        takes_all = not selection.has_filters
        for number, revision, reader, root, row in list_rows(self.connection, self.place):
            if root not in self.roots:
                continue
            if may_repeat:
                is_copy = not live.isdisjoint((row.id, row.native_id))
                if reader in COPYING_READERS and is_copy:
                    continue
                live.add(row.id)
            if takes_all or _is_selected(selection, row):
                yield (number, revision), row

    def _has_copies(self) -> bool:
        if not self.is_default:
            return False
        marks = ", ".join("?" * len(COPYING_READERS))
        query = f"SELECT 1 FROM units WHERE place = ? AND reader IN ({marks}) LIMIT 1"
        row = self.connection.execute(query, (self.place, *COPYING_READERS)).fetchone()
        return row is not None


def _is_selected(selection: Selection, row: SessionRow) -> bool:
    failed = selection.errors_only and row.errors > 0
    tools = row.tools if selection.tool is not None else ()
    return selection.matches_extract(row, failed=failed, tools=tools)


@contextmanager
def _view(
    workspace: Workspace,
    selection: Selection,
    log: ReadLog,
    *,
    rebuild: bool = False,
    on_progress: Progress | None = None,
) -> Iterator[_View | None]:
    """The index brought up to date; None where there can be none."""
    if rebuild:
        move_aside(index_path(workspace))
    try:
        opened = open_index(index_path(workspace))
        connection = opened.__enter__()
    except IndexUnavailableError as error:
        log.notes.append(f"{error.message}; sessions are read each time")
        yield None
        return
    try:
        place, roots = _refresh(connection, workspace, selection, log, on_progress)
        tell_place_skips(connection, place, roots, log)
        yield _View(connection, place, frozenset(roots), not selection.paths)
    finally:
        opened.__exit__(None, None, None)


def _refresh(
    connection: sqlite3.Connection,
    workspace: Workspace,
    selection: Selection,
    log: ReadLog,
    on_progress: Progress | None,
) -> tuple[int, list[str]]:
    entries, roots = list_entries(workspace, selection, log)
    place = ensure_place(connection, name_place(selection))
    settled: list[Entry] = []
    for entry in entries:
        if entry.found is not None:
            settled.append(entry)
            continue
        try:
            refresh_database(connection, place, entry.source, on_progress)
            settled.append(entry)
        except Unusual:
            settled += expand_database(entry, log)
        except SourceError as error:
            if entry.alone:
                raise
            log.skip(explain_failure(error), entry.source.path)
            settled.append(entry)
    refresh_units(connection, place, settled, roots, on_progress)
    return place, roots
