"""Facts of the sessions in a workspace, kept in an index that nobody has to think about.

Every function here first brings the index up to date with what its selection is about, reading
only what changed, and then answers from it. Where no index can be kept (a home that cannot be
written to), sessions are read each time and a note says so.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

from warmstart.app.core import COPYING_READERS, Workspace, explain_failure
from warmstart.app.fact_sources import expand_database, list_entries, name_place
from warmstart.errors import SourceError
from warmstart.facts import derive_facts
from warmstart.facts.hermes_refresh import READERS, refresh_database
from warmstart.facts.index import (
    FILE,
    IndexDamagedError,
    IndexUnavailableError,
    ensure_place,
    move_aside,
    open_index,
)
from warmstart.facts.lanes import Unusual
from warmstart.facts.packing import Mask, SessionRow, row_of, unpack_facts
from warmstart.facts.reading import (
    count_sessions,
    find_doubles,
    list_ids,
    list_numbers,
    list_rows,
    load_facts,
    tell_place_skips,
)
from warmstart.facts.refresh import Entry, refresh_units
from warmstart.model.facts import SessionFacts
from warmstart.model.selection import Selection
from warmstart.sources import ReadLog

__all__ = [
    "MASKED",
    "FactsStatus",
    "LateMask",
    "Progress",
    "View",
    "identify_file",
    "index_path",
    "open_view",
    "read_facts",
    "read_rows",
    "read_session_rows",
    "read_status",
    "refresh_facts",
]

MASKED = "<SECRET:"
"""Begins what stands in a kept text for a secret."""
Progress = Callable[[int, int], None]
"""Told how many things of how many have been read."""


def identify_file(path: Path) -> int | None:
    """A number that another file at the same path does not have; None where there is none."""
    try:
        return path.stat().st_ino
    except OSError:
        return None


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
    with open_view(workspace, selection, log, rebuild=rebuild, on_progress=on_progress) as view:
        if view is None:
            for session in workspace.read_sessions(selection, log):
                yield derive_facts(session)
            return
        yield from load_facts(view.connection, view.list_numbers(selection))


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
    with open_view(workspace, selection, log, on_progress=on_progress) as view:
        if view is None:
            for session in workspace.read_sessions(selection, log):
                yield row_of(derive_facts(session))
            return
        yield from view.rows(selection)


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
        mask = LateMask(workspace)
        place, roots = _refresh(connection, workspace, selection, log, mask, on_progress)
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


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """The index, up to date for one selection."""

    connection: sqlite3.Connection
    path: Path
    """Where it is kept, for whoever needs a connection of its own."""
    file: int | None
    """Which file that is, because another may take its place."""
    place: int
    roots: frozenset[str]
    is_default: bool
    """The stores of this machine, whose sessions our own stores may repeat."""
    mask: Mask
    """What the texts in it went through, so that a filter finds what was masked."""
    doubles: frozenset[int] = frozenset()
    """Sessions of a database that a copy of it holds too."""

    def select(self, selection: Selection) -> list[tuple[int, int]]:
        """Number and revision of the sessions selected."""
        if not selection.has_filters and not self._has_copies():
            found = list_ids(self.connection, self.place)
            return [(n, revision) for n, revision, root in found if self._holds(n, root)]
        return [pair for pair, _ in self._matching(selection)]

    def list_numbers(self, selection: Selection) -> list[int]:
        """The same without the revisions."""
        if not selection.has_filters and not self._has_copies():
            found = list_numbers(self.connection, self.place)
            return [number for number, root in found if self._holds(number, root)]
        return [number for (number, _), _ in self._matching(selection)]

    def rows(self, selection: Selection) -> Iterator[SessionRow]:
        """The rows of the sessions selected."""
        return (row for _, row in self._matching(selection))

    def _matching(self, selection: Selection) -> Iterator[tuple[tuple[int, int], SessionRow]]:
        live: set[str] = set()
        may_repeat = self._has_copies()
        takes_all = not selection.has_filters
        for number, revision, reader, root, row in list_rows(self.connection, self.place):
            if not self._holds(number, root):
                continue
            if may_repeat:
                is_copy = not live.isdisjoint((row.id, row.native_id))
                if reader in COPYING_READERS and is_copy:
                    continue
                live.add(row.id)
            if takes_all or self._is_selected(selection, row):
                yield (number, revision), row

    def _is_selected(self, selection: Selection, row: SessionRow) -> bool:
        """Whether a filter fits a row, as it was written or as the index has masked it."""
        if _is_selected(selection, row):
            return True
        names = (row.agent, row.model or "", row.project or "", row.packed_tools.decode())
        if not any(MASKED in name for name in names):
            return False
        return _is_selected(_mask_selection(selection, self.mask), row)

    def _holds(self, number: int, root: str) -> bool:
        return root in self.roots and number not in self.doubles

    def _has_copies(self) -> bool:
        if not self.is_default:
            return False
        marks = ", ".join("?" * len(COPYING_READERS))
        query = f"SELECT 1 FROM units WHERE place = ? AND reader IN ({marks}) LIMIT 1"
        row = self.connection.execute(query, (self.place, *COPYING_READERS)).fetchone()
        return row is not None


def _mask_selection(selection: Selection, mask: Mask) -> Selection:
    """The selection, asking for names as the index has them."""
    asked = {name: getattr(selection, name) for name in ("agent", "model", "project", "tool")}
    named: dict[str, Any] = {name: mask([text])[0] for name, text in asked.items() if text}
    return replace(selection, **named)


def _is_selected(selection: Selection, row: SessionRow) -> bool:
    failed = selection.errors_only and row.errors > 0
    tools = row.tools if selection.tool is not None else ()
    return selection.matches_extract(row, failed=failed, tools=tools)


@contextmanager
def open_view(
    workspace: Workspace,
    selection: Selection,
    log: ReadLog,
    *,
    rebuild: bool = False,
    on_progress: Progress | None = None,
) -> Iterator[View | None]:
    """The index brought up to date; None where there can be none."""
    path = index_path(workspace)
    if rebuild:
        move_aside(path)
    counts, examples = log.counts.copy(), dict(log.examples)
    with ExitStack() as stack:
        view = None
        try:
            try:
                view = _make_view(stack, workspace, selection, log, on_progress)
            except IndexDamagedError as error:
                log.counts, log.examples = counts.copy(), dict(examples)
                log.notes.append(error.message)
                view = _make_view(stack, workspace, selection, log, on_progress)
        except IndexUnavailableError as error:
            # Reading each time meets again what was left out so far.
            log.counts, log.examples = counts, examples
            log.notes.append(f"{error.message}; sessions are read each time")
        yield view


class LateMask:
    """A ``Masker`` that is opened with the first text there is: most refreshes read nothing."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._mask: Mask | None = None

    def __call__(self, texts: list[str]) -> list[str]:
        """The texts without their secrets."""
        if self._mask is None:
            from warmstart.app.redaction import Masker  # noqa: PLC0415 - its tables are large

            self._mask = Masker(self._workspace)
        return self._mask(texts)


def _make_view(
    stack: ExitStack,
    workspace: Workspace,
    selection: Selection,
    log: ReadLog,
    on_progress: Progress | None,
) -> View:
    """Open the index and bring it up to date; the stack closes it."""
    path = index_path(workspace)
    with ExitStack() as opened:
        connection = opened.enter_context(open_index(path))
        file = identify_file(path)
        mask = LateMask(workspace)
        place, roots = _refresh(connection, workspace, selection, log, mask, on_progress)
        tell_place_skips(connection, place, roots, log)
        doubles = dict(find_doubles(connection, place, READERS))
        for copy in doubles.values():
            log.skip("copy of a session that another database holds", copy)
        stack.push(opened.pop_all())
    return View(
        connection=connection,
        path=path,
        file=file,
        place=place,
        roots=frozenset(roots),
        is_default=not selection.paths,
        mask=mask,
        doubles=frozenset(doubles),
    )


def _refresh(
    connection: sqlite3.Connection,
    workspace: Workspace,
    selection: Selection,
    log: ReadLog,
    mask: Mask,
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
            refresh_database(connection, place, entry.source, mask, on_progress)
            settled.append(entry)
        except Unusual:
            settled += expand_database(entry, log)
        except SourceError as error:
            if entry.alone:
                raise
            log.skip(explain_failure(error), entry.source.path)
            settled.append(entry)
    refresh_units(connection, place, settled, roots, mask, on_progress)
    return place, roots
