"""Summaries of the facts of a workspace, each of a few hundred sessions, kept until one changes.

Where many are missing they are made in two processes: each reads the index through a connection
of its own, and this one alone writes. What a summary holds is up to the function that makes it.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import closing, suppress
from pathlib import Path
from typing import NamedTuple

from warmstart.app.core import Workspace
from warmstart.app.facts import FactsView, Progress, identify_file, open_view
from warmstart.facts import (
    BUSY_SECONDS,
    MAX_WORKERS,
    IndexUnavailableError,
    can_fork,
    derive_facts,
    load_facts,
    load_summaries,
    run_shares,
    split_chunks,
    stamp_chunk,
    write_summary,
)
from warmstart.model import Selection, SessionFacts
from warmstart.sources import ReadLog

__all__ = ["SummaryRecipe", "read_summaries", "read_summary", "summarise_view"]

Summarise = Callable[[Sequence[SessionFacts]], bytes]
Members = Sequence[tuple[int, int]]
"""Number and revision of each session."""
MAX_UNKEPT = 512
POOL_CHUNKS = 4
"""Missing summaries from which on two processes pay: one takes 40 ms, beginning both 20."""


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
    changes or ``version`` is another; a selection that leaves sessions out is summarised each time.
    """
    with open_view(workspace, selection, log, on_progress=on_progress) as view:
        if view is None:
            yield from _summarise_unkept(workspace, selection, log, summarise)
            return
        wanted = _Wanted(version, summarise, keep=not selection.has_filters)
        yield from _ensure_summaries(view, view.select(selection), wanted)


class SummaryRecipe(NamedTuple):
    """How one summary of many sessions is made."""

    version: str
    """Another where summaries are made in another way; both are kept."""
    summarise: Summarise
    join: Callable[[Sequence[bytes]], bytes]
    code: str = ""
    """A digest of the code that makes them; another one replaces what older code made."""


def read_summary(
    workspace: Workspace,
    selection: Selection,
    log: ReadLog,
    making: SummaryRecipe,
    *,
    on_progress: Progress | None = None,
) -> bytes:
    """All summaries as one, kept until any session changes."""
    with open_view(workspace, selection, log, on_progress=on_progress) as view:
        if view is None:
            return making.join(list(_summarise_unkept(workspace, selection, log, making.summarise)))
        return summarise_view(view, selection, making)


def summarise_view(view: FactsView, selection: Selection, making: SummaryRecipe) -> bytes:
    """All summaries of what is selected of an index that is up to date, as one."""
    version, summarise, join, code = making
    members = view.select(selection)
    wanted = _Wanted(version, summarise, keep=not selection.has_filters, code=code)
    if not wanted.keep:
        return join(_ensure_summaries(view, members, wanted))
    whole = f"{version}:whole"
    stamp = stamp_chunk(members, code)
    kept = load_summaries(view.connection, view.source_set, whole).get(0)
    if kept is not None and kept[0] == stamp:
        return kept[1]
    data = join(_ensure_summaries(view, members, wanted))
    _keep(view, whole, 0, (stamp, data))
    return data


class _Wanted(NamedTuple):
    """Which summaries are asked for, and whether those made now are kept."""

    version: str
    summarise: Summarise
    keep: bool
    code: str = ""


class _Chunk(NamedTuple):
    """Sessions that share one summary."""

    number: int
    members: Members
    stamp: bytes


class _Made(NamedTuple):
    """The summary of a chunk."""

    number: int
    data: bytes
    is_whole: bool
    """No session went while it was made."""


def _ensure_summaries(view: FactsView, members: Members, wanted: _Wanted) -> list[bytes]:
    """A summary for each few hundred sessions, the kept one where there is one."""
    stored = load_summaries(view.connection, view.source_set, wanted.version)
    chunks = {
        number: _Chunk(number, some, stamp_chunk(some, wanted.code))
        for number, some in split_chunks(members).items()
    }
    found = dict.fromkeys(chunks, b"")
    missing = []
    for number, chunk in chunks.items():
        stamp, found[number] = stored.get(number, (b"", b""))
        if stamp != chunk.stamp:
            missing.append(chunk)
    with closing(_summarise_chunks(view, missing, wanted.summarise)) as making:
        for number, data, is_whole in making:
            found[number] = data
            if wanted.keep and is_whole:
                _keep(view, wanted.version, number, (chunks[number].stamp, data))
    return list(found.values())


def _keep(view: FactsView, version: str, number: int, summary: tuple[bytes, bytes]) -> None:
    """Store a summary; on a full disk it is made again the next time."""
    with suppress(IndexUnavailableError):
        write_summary(view.connection, view.source_set, version, number, summary)


def _summarise_chunks(
    view: FactsView, chunks: Sequence[_Chunk], summarise: Summarise
) -> Generator[_Made, None, None]:
    """The summaries of chunks as they are made; what a worker left undone is made here.

    Another process may move the index aside meanwhile. What this one has opened stays readable,
    but a worker would find another file in its place.
    """

    def work(share: Sequence[_Chunk]) -> Iterator[_Made]:
        with suppress(sqlite3.Error), closing(_open_for_reading(view.path)) as connection:
            if identify_file(view.path) == view.file:
                yield from _summarise_each(connection, share, summarise)

    done = set()
    if len(chunks) >= POOL_CHUNKS and can_fork():
        shares = [chunks[start::MAX_WORKERS] for start in range(MAX_WORKERS)]
        with suppress(ChildProcessError), closing(run_shares(work, shares)) as making:
            for made in making:
                if made.is_whole:
                    done.add(made.number)
                    yield made
    left = [chunk for chunk in chunks if chunk.number not in done]
    yield from _summarise_each(view.connection, left, summarise)


def _open_for_reading(path: Path) -> sqlite3.Connection:
    """A connection for a worker: one that was open before the fork must not be used in it."""
    address = f"{path.absolute().as_uri()}?mode=ro"
    return sqlite3.connect(address, uri=True, timeout=BUSY_SECONDS, isolation_level=None)


def _summarise_each(
    connection: sqlite3.Connection, chunks: Iterable[_Chunk], summarise: Summarise
) -> Iterator[_Made]:
    for number, members, _ in chunks:
        facts = list(load_facts(connection, [session for session, _ in members]))
        yield _Made(number, summarise(facts), len(facts) == len(members))


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
