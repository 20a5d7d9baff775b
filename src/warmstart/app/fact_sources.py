"""What there is to have facts of: the units of a selection, with whole databases as one."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import orjson

from warmstart.app.core import ARCHIVE_READER, Workspace, explain_failure, may_hold
from warmstart.errors import NotFoundError, SourceError
from warmstart.facts.hermes_refresh import READERS as DATABASE_READERS
from warmstart.facts.refresh import Entry
from warmstart.facts.writing import Source
from warmstart.model import Selection
from warmstart.sources import (
    Found,
    ReadLog,
    Store,
    choose_reader,
    find_units,
    get_reader,
    is_database,
    list_units,
)

__all__ = ["list_entries", "name_place"]

Rooted = tuple[str, Found | Source, bool]
"""The root, a unit or a whole database under it, and whether it is all that was asked for."""


def name_place(selection: Selection) -> str:
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


def list_entries(
    workspace: Workspace, selection: Selection, log: ReadLog
) -> tuple[list[Entry], list[str]]:
    """Every unit to have facts of, in order, and the roots that were looked at.

    Raises:
        NotFoundError: there is nothing at a path.
        SourceError: the one path given cannot be read.
    """
    if selection.source is not None:
        get_reader(selection.source)
    roots: list[str] = []
    listing = _list_paths if selection.paths else _list_stores
    entries: list[Entry] = []
    databases: set[tuple[str, Path]] = set()
    for root, item, alone in listing(workspace, selection, log, roots):
        reader, path = (
            (item.reader, item.path)
            if isinstance(item, Source)
            else (item.reader.name, item.unit.path)
        )
        if reader in DATABASE_READERS:
            if (reader, path) not in databases:
                databases.add((reader, path))
                source = Source(root, reader, path, position=len(entries))
                entries.append(Entry(source, None, alone))
        elif isinstance(item, Found):
            entries.append(_make_entry(root, item, len(entries), alone=alone))
    return entries, roots


def _make_entry(root: str, found: Found, position: int, *, alone: bool) -> Entry:
    unit = found.unit
    source = Source(root, found.reader.name, unit.path, unit.key, unit.fingerprint, position)
    return Entry(source, found, alone)


def expand_database(entry: Entry, log: ReadLog) -> list[Entry]:
    """The sessions of a database as units of their own, for the reader to read one by one."""
    source = entry.source
    reader = get_reader(source.reader)
    return [
        _make_entry(source.root, Found(reader, unit), source.position, alone=False)
        for unit in reader.units(source.path, log)
    ]


def _list_stores(
    workspace: Workspace, selection: Selection, log: ReadLog, roots: list[str]
) -> Iterator[Rooted]:
    for store in workspace.find_stores():
        if selection.format not in (None, store.reader) or not may_hold(store.reader, selection):
            continue
        root = _name_root(store.path)
        try:
            items = list(_list_store(store, log))
        except (SourceError, OSError) as error:
            log.skip(explain_failure(error), store.path)
            continue
        roots.append(root)
        # Of two archived copies of a session, the one in the newer file is the longer one.
        for item in reversed(items) if store.reader == ARCHIVE_READER else items:
            yield root, item, False


def _list_store(store: Store, log: ReadLog) -> Iterator[Found | Source]:
    if store.reader in DATABASE_READERS and store.path.is_file():
        reader = choose_reader(store.path, None)
        if reader is not None and reader.name == store.reader:
            yield Source("", store.reader, store.path)
            return
    yield from list_units(store, log)


def _list_paths(
    workspace: Workspace, selection: Selection, log: ReadLog, roots: list[str]
) -> Iterator[Rooted]:
    del workspace
    alone = len(selection.paths) == 1
    for name in selection.paths:
        path = Path(name)
        try:
            items = _list_path(path, selection, log)
            roots.append(_name_root(path))
            for item in items:
                whole = isinstance(item, Source) or (item.unit.path == path and not item.unit.key)
                yield _name_root(path), item, alone and whole
        except SourceError as error:
            if alone:
                raise
            log.skip(explain_failure(error), path)


def _list_path(path: Path, selection: Selection, log: ReadLog) -> Iterator[Found | Source]:
    if not path.exists():
        raise NotFoundError(
            f"no such file or folder: {str(path)!r}", wanted=str(path), hint="warmstart doctor"
        )
    if path.is_file() and is_database(path):
        forced = get_reader(selection.format) if selection.format else None
        reader = choose_reader(path, forced)
        if reader is not None and reader.name in DATABASE_READERS:
            yield Source("", reader.name, path)
            return
    yield from find_units(path, log, selection.format)


def _name_root(path: Path) -> str:
    return os.fsencode(path).decode("utf-8", "replace")
