"""Where facts come from: the sources of a selection, each a store of this machine or a path."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path

import orjson

from warmstart.app.core import ARCHIVE_READER, Workspace, explain_failure, may_hold
from warmstart.errors import SourceError
from warmstart.facts import Source
from warmstart.model import Selection
from warmstart.sources import (
    FoundUnit,
    ReadLog,
    Store,
    find_units,
    get_reader,
    is_database,
    list_units,
)

__all__ = ["list_sources", "name_source_set"]


def name_source_set(selection: Selection) -> str:
    """What tells one set of sources from another; empty for the stores of this machine.

    A message that several files hold counts in the first one read, so facts belong to the whole
    set that was read together.
    """
    if not selection.paths:
        return ""
    is_relative = not all(Path(path).is_absolute() for path in selection.paths)
    base = str(Path.cwd()) if is_relative else ""
    parts = [base, selection.format or "", *selection.paths]
    return orjson.dumps([part.encode("utf-8", "replace").decode() for part in parts]).decode()


def list_sources(workspace: Workspace, selection: Selection, log: ReadLog) -> list[Source]:
    """Every source of a selection, in order; what cannot be listed is reported to ``log``.

    Raises:
        NotFoundError: no reader has the name that was asked for.
    """
    if selection.source is not None:
        get_reader(selection.source)
    if not selection.paths:
        return [
            _make_source(store.path, partial(_list_store, store), log)
            for store in workspace.find_stores()
            if selection.format in (None, store.reader) and may_hold(store.reader, selection)
        ]
    is_alone = len(selection.paths) == 1
    return [
        _make_source(
            Path(path),
            partial(find_units, Path(path), format_name=selection.format),
            log,
            is_alone=is_alone,
        )
        for path in selection.paths
    ]


def _make_source(
    path: Path,
    find: Callable[[ReadLog], Iterable[FoundUnit]],
    log: ReadLog,
    *,
    is_alone: bool = False,
) -> Source:
    def list_found(own_log: ReadLog) -> list[FoundUnit] | None:
        try:
            return list(find(own_log))
        except (SourceError, OSError) as error:
            if is_alone:
                raise
            log.skip(explain_failure(error), path)
            return None

    return Source(path, list_found, is_alone=is_alone, is_database=_is_database(path))


def _is_database(path: Path) -> bool:
    try:
        return path.is_file() and is_database(path)
    except (OSError, SourceError):
        return False


def _list_store(store: Store, log: ReadLog) -> list[FoundUnit]:
    units = list(list_units(store, log))
    # Of two archived copies of a session, the one in the newer file is the longer one.
    return units[::-1] if store.reader == ARCHIVE_READER else units
