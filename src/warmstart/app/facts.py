"""Facts of the sessions in a workspace, kept in an index that maintains itself.

Every function here first brings the index up to date with what its selection is about, reading
only what changed, and then answers from it. Where no index can be kept (a home that cannot be
written to), sessions are read each time and a note says so.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

from warmstart.app.core import COPYING_READERS, Workspace
from warmstart.app.fact_sources import list_sources, name_source_set
from warmstart.facts import (
    FILE,
    Index,
    IndexDamagedError,
    IndexUnavailableError,
    Mask,
    Progress,
    count_sessions,
    derive_facts,
    ensure_source_set,
    find_duplicates,
    list_ids,
    list_rows,
    list_tools,
    load_facts,
    move_aside,
    open_index,
    refresh_sources,
    report_skips,
)
from warmstart.model import Selection, SessionFacts
from warmstart.sources import ReadLog

__all__ = [
    "MASKED",
    "FactsStatus",
    "FactsView",
    "LateMask",
    "Progress",
    "identify_file",
    "index_path",
    "open_view",
    "read_facts",
    "read_rows",
    "read_status",
    "refresh_facts",
]

DATABASE_READERS = ("hermes", "live_store")
"""Readers of databases that people copy whole."""
MASKED = "<SECRET:"
"""Begins what stands in a kept text for a secret."""


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
    repeats: bool = True,
    on_progress: Progress | None = None,
) -> Iterator[SessionFacts]:
    """The facts of the sessions selected, in the order of their sources.

    ``repeats`` is False for a caller that does not ask which calls repeat each other.

    Raises:
        NotFoundError: there is nothing at a path.
        SourceError: the one path given cannot be read.
    """
    with open_view(workspace, selection, log, rebuild=rebuild, on_progress=on_progress) as view:
        if view is None:
            for session in workspace.read_sessions(selection, log):
                yield derive_facts(session)
            return
        numbers = [number for number, _ in view.select(selection)]
        yield from load_facts(view.connection, numbers, repeats=repeats)


def read_rows(
    workspace: Workspace,
    selection: Selection,
    log: ReadLog,
    *,
    on_progress: Progress | None = None,
) -> Iterator[SessionFacts]:
    """The facts of the sessions selected without their calls and markers: enough for a listing."""
    with open_view(workspace, selection, log, on_progress=on_progress) as view:
        if view is None:
            for session in workspace.read_sessions(selection, log):
                yield derive_facts(session)
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
    """Bring the index up to date, or rebuild it; returns how many sessions it holds.

    Raises:
        IndexUnavailableError: there can be no index in this home.
    """
    if rebuild:
        move_aside(index_path(workspace))
    with open_index(index_path(workspace)) as connection:
        index = _open_source_set(connection, workspace, selection)
        sources = list_sources(workspace, selection, log)
        listed = refresh_sources(index, sources, log, LateMask(workspace), on_progress)
        report_skips(connection, index.source_set, listed, log)
        return count_sessions(connection, index.source_set)


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
        units, sessions, calls = (
            connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0]
            for table in ("unit", "session_fact", "call_fact")
        )
    return FactsStatus(path, path.stat().st_size, units, sessions, calls)


@dataclass(frozen=True, slots=True, kw_only=True)
class FactsView:
    """The index, up to date for one selection."""

    connection: sqlite3.Connection
    path: Path
    """Where it is kept, for a worker that needs a connection of its own."""
    file: int | None
    """Which file that is, because another may take its place."""
    source_set: int
    sources: frozenset[int]
    is_default: bool
    """The stores of this machine, whose sessions our own stores may repeat."""
    mask: Mask
    """What the texts in it went through, so that a filter finds what was masked."""
    duplicates: frozenset[int] = frozenset()
    """Sessions of a database that a copy of it holds too."""

    def select(self, selection: Selection) -> list[tuple[int, int]]:
        """Number and revision of the sessions selected."""
        if not selection.has_filters and not self._has_copies():
            found = list_ids(self.connection, self.source_set)
            return [(n, revision) for n, revision, source in found if self._holds(n, source)]
        return [pair for pair, _ in self._matching(selection)]

    def rows(self, selection: Selection) -> Iterator[SessionFacts]:
        """The facts of the sessions selected, without calls and markers."""
        return (facts for _, facts in self._matching(selection))

    def _matching(self, selection: Selection) -> Iterator[tuple[tuple[int, int], SessionFacts]]:
        live: set[str] = set()
        may_repeat = self._has_copies()
        takes_all = not selection.has_filters
        tools: dict[int, list[str]] = {}
        if selection.tool is not None:
            tools = list_tools(self.connection, self.source_set)
        for number, revision, reader, source, facts in list_rows(self.connection, self.source_set):
            if not self._holds(number, source):
                continue
            if may_repeat:
                is_copy = not live.isdisjoint((facts.id, facts.native_id))
                if reader in COPYING_READERS and is_copy:
                    continue
                live.add(facts.id)
            if takes_all or self._is_selected(selection, facts, tools.get(number, ())):
                yield (number, revision), facts

    def _is_selected(self, selection: Selection, facts: SessionFacts, tools: Sequence[str]) -> bool:
        """Whether a filter fits a session, as it was written or as the index has masked it."""
        failed = facts.statuses.error > 0
        if selection.matches_extract(facts, failed=failed, tools=tools):
            return True
        named = (facts.agent, facts.model, facts.project, facts.platform)
        names = (*filter(None, named), *tools)
        if not any(MASKED in name for name in names):
            return False
        masked = _mask_selection(selection, self.mask)
        return masked.matches_extract(facts, failed=failed, tools=tools)

    def _holds(self, number: int, source: int) -> bool:
        return source in self.sources and number not in self.duplicates

    def _has_copies(self) -> bool:
        if not self.is_default:
            return False
        marks = ", ".join("?" * len(COPYING_READERS))
        query = f"""SELECT 1 FROM unit WHERE reader IN ({marks})
            AND source IN (SELECT id FROM source WHERE source_set = ?) LIMIT 1"""
        row = self.connection.execute(query, (*COPYING_READERS, self.source_set)).fetchone()
        return row is not None


def _mask_selection(selection: Selection, mask: Mask) -> Selection:
    """The selection, asking for names as the index has them."""
    fields = ("agent", "model", "project", "platform", "tool")
    asked = {name: getattr(selection, name) for name in fields}
    named: dict[str, Any] = {name: mask([text])[0] for name, text in asked.items() if text}
    return replace(selection, **named)


@contextmanager
def open_view(
    workspace: Workspace,
    selection: Selection,
    log: ReadLog,
    *,
    rebuild: bool = False,
    on_progress: Progress | None = None,
) -> Iterator[FactsView | None]:
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
) -> FactsView:
    """Open the index and bring it up to date; the stack closes it."""
    path = index_path(workspace)
    with ExitStack() as opened:
        connection = opened.enter_context(open_index(path))
        file = identify_file(path)
        mask = LateMask(workspace)
        index = _open_source_set(connection, workspace, selection)
        sources = list_sources(workspace, selection, log)
        listed = refresh_sources(index, sources, log, mask, on_progress)
        report_skips(connection, index.source_set, listed, log)
        duplicates = dict(find_duplicates(connection, index.source_set, DATABASE_READERS))
        for copy in duplicates.values():
            log.skip("copy of a session that another database holds", copy)
        stack.push(opened.pop_all())
    return FactsView(
        connection=connection,
        path=path,
        file=file,
        source_set=index.source_set,
        sources=frozenset(listed),
        is_default=not selection.paths,
        mask=mask,
        duplicates=frozenset(duplicates),
    )


def _open_source_set(
    connection: sqlite3.Connection, workspace: Workspace, selection: Selection
) -> Index:
    number = ensure_source_set(connection, name_source_set(selection))
    return Index(connection, index_path(workspace), number)
