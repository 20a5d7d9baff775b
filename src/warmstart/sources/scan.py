"""From a path a user names to sessions: detect, walk, read, and carry on past what is broken."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import NamedTuple, Self, TypeVar

from warmstart.errors import FormatError, NotFoundError, SourceError
from warmstart.model import Session
from warmstart.sources.faults import go_on_after
from warmstart.sources.log import ReadLog
from warmstart.sources.probe import probe_path
from warmstart.sources.reader import OpenSource, Reader, Unit
from warmstart.sources.registry import READERS, find_reader, get_reader

SESSION_SUFFIXES = frozenset(
    {".jsonl", ".json", ".db", ".sqlite", ".sqlite3", ".eval", ".traj", ".gz", ".zst"}
)
IGNORED_FOLDERS = frozenset({".git", "node_modules", "__pycache__", ".venv"})
Part = TypeVar("Part")


class FoundUnit(NamedTuple):
    """A unit and the reader that reads it."""

    reader: Reader
    unit: Unit


def find_units(path: Path, log: ReadLog, format_name: str | None = None) -> Iterator[FoundUnit]:
    """Everything readable at a file, folder or store, oldest file first within a folder.

    Raises:
        NotFoundError: nothing is there.
        FormatError: the path is one file and no reader knows it.
    """
    if not path.exists():
        raise NotFoundError(
            f"no such file or folder: {str(path)!r}", wanted=str(path), hint="warmstart doctor"
        )
    forced = get_reader(format_name) if format_name else None
    reader = choose_reader(path, forced)
    if reader is not None:
        yield from _list_units(reader, path, log)
    elif path.is_dir():
        yield from _walk(path, log, forced)
    _report_broken(log)
    if reader is None and not path.is_dir():
        raise FormatError(
            f"no reader recognises {str(path)!r}",
            path=path,
            hint="name its format with --format, see warmstart doctor --formats",
        )


def _list_units(reader: Reader, path: Path, log: ReadLog) -> Iterator[FoundUnit]:
    """The units of a path; a reader of another package that fails is counted."""

    def report(error: Exception) -> None:
        if isinstance(error, SourceError) or reader.name not in READERS.packages:
            raise error
        log.skip(f"reader failed ({type(error).__name__})", path)

    with go_on_after(report):
        yield from (FoundUnit(reader, unit) for unit in reader.units(path, log))


def _report_broken(log: ReadLog) -> None:
    for name, package, problem in READERS.broken:
        note = f"the reader {name!r} of the package {package!r} cannot be used: {problem}"
        if note not in log.notes:
            log.notes.append(note)


def read_sessions(path: Path, log: ReadLog, format_name: str | None = None) -> Iterator[Session]:
    """Every session at a path, one at a time; what could not be read is in ``log``."""
    with UnitReader() as units:
        for found in find_units(path, log, format_name):
            alone = found.unit.path == path and not found.unit.key
            yield from units.read(found, log, alone=alone)


def read_unit(found: FoundUnit, log: ReadLog, *, alone: bool = False) -> Iterator[Session]:
    """The sessions of one unit; a unit that fails is counted, unless it is the only one."""
    yield from carry_on(found.reader.read(found.unit, log), found.unit, log, alone=alone)


class UnitReader:
    """Reads units one after another and keeps open what neighbours share.

    Units of one database that follow each other are read over one connection::

        with UnitReader() as units:
            for found in find_units(path, log):
                sessions = list(units.read(found, log))
    """

    def __init__(self) -> None:
        self._stack = ExitStack()
        self._opened: tuple[Reader, Path] | None = None
        self._source: OpenSource | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._opened = self._source = None
        self._stack.close()

    def read(self, found: FoundUnit, log: ReadLog, *, alone: bool = False) -> Iterator[Session]:
        """The sessions of one unit; a unit that fails is counted, unless it is the only one."""
        yield from carry_on(self._read(found, log), found.unit, log, alone=alone)

    def _read(self, found: FoundUnit, log: ReadLog) -> Iterator[Session]:
        wanted = found.reader, found.unit.path
        if self._source is None or wanted != self._opened:
            self.__exit__()
            self._source = self._stack.enter_context(found.reader.open(found.unit.path))
            self._opened = wanted
        yield from self._source.read(found.unit, log)


def carry_on(
    parts: Iterator[Part], unit: Unit, log: ReadLog, *, alone: bool = False
) -> Iterator[Part]:
    """Whatever is read out of a unit, up to where reading it fails; that is counted."""

    def report(error: Exception) -> None:
        if isinstance(error, SourceError):
            if alone:
                raise error
            log.skip(error.message.rpartition(": ")[2] or "unreadable", unit.path)
        else:
            log.skip(f"reader failed ({type(error).__name__})", unit.path)

    with go_on_after(report):
        yield from parts


def choose_reader(path: Path, forced: Reader | None) -> Reader | None:
    """The reader for a file, or for a folder that one of them takes as a whole."""
    if forced is not None:
        return forced if path.is_file() or forced.recognises(probe_path(path)) else None
    return find_reader(probe_path(path))


def _walk(folder: Path, log: ReadLog, forced: Reader | None) -> Iterator[FoundUnit]:
    """Sub-folders that are a store of their own are read as one; other files one by one."""
    for path in _candidates(folder, log):
        try:
            reader = choose_reader(path, forced)
            if reader is not None:
                yield from _list_units(reader, path, log)
            elif path.is_dir():
                yield from _walk(path, log, forced)
            else:
                log.skip("file of no known format", path)
        except SourceError as error:
            log.skip(error.message.rpartition(": ")[2] or "unreadable", path)


def _candidates(folder: Path, log: ReadLog) -> list[Path]:
    """Sub-folders and likely session files, oldest change first: a copy follows its original."""
    entries: list[tuple[bool, int, Path]] = []
    try:
        with os.scandir(folder) as listing:
            for entry in listing:
                path = Path(entry.path)
                if entry.is_dir(follow_symlinks=False):
                    if entry.name not in IGNORED_FOLDERS:
                        entries.append((True, 0, path))
                elif path.suffix in SESSION_SUFFIXES and entry.is_file():
                    entries.append((False, entry.stat().st_mtime_ns, path))
    except OSError as error:
        log.skip(error.strerror or "unreadable", folder)
    return [path for _, _, path in sorted(entries)]
