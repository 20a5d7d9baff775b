"""What is in a store, without reading all of it: units are counted, one is read as a sample.

The sample answers what names and sizes cannot: whether the store can be read, which version of
the agent wrote it, and whether its files hold one session each or many.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from warmstart.errors import SourceError
from warmstart.model import Session
from warmstart.sources.fields import as_float
from warmstart.sources.files import read_json
from warmstart.sources.log import ReadLog
from warmstart.sources.reader import Reader, Unit
from warmstart.sources.registry import READERS
from warmstart.sources.scan import FoundUnit, read_unit
from warmstart.sources.sqlite import list_tables, open_database
from warmstart.sources.stores import Store, list_units
from warmstart.wire import as_dict

DAY_SECONDS = 86_400.0
WARNING_DAYS = 7
CLAUDE_CODE_PERIOD_DAYS = 30.0
"""What Claude Code does unless ``cleanupPeriodDays`` says otherwise."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Expiry:
    """Sessions that the agent itself will delete soon."""

    period_days: float
    files: int
    """How many are within a week of it, or past it."""
    first_at: float
    """When the first of them goes; the agent does it the next time it starts after that."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreReport:
    """What was found at one place in one format."""

    reader: str
    """Empty where no reader knows the place."""
    title: str
    path: Path
    units: int = 0
    counted: str = "sessions"
    """What ``units`` counts: "sessions", or "files" where a file holds many."""
    bytes: int = 0
    newest: float | None = None
    """Last change on disk."""
    version: str | None = None
    """Of the agent that wrote the sample, or of the store's schema."""
    problem: str | None = None
    """Why it cannot be read; None when it can."""
    skipped: tuple[str, ...] = ()
    expiry: Expiry | None = None


def survey_store(store: Store) -> list[StoreReport]:
    """One report per format found at a store; exactly one when nothing could be found."""
    log = ReadLog()
    units: dict[str, list[Unit]] = {}
    problem = None
    try:
        for found in list_units(store, log):
            units.setdefault(found.reader.name, []).append(found.unit)
    except (SourceError, OSError) as error:
        problem = str(error)
    reports = [_report(store.path, READERS[name], listed, log) for name, listed in units.items()]
    return reports or [_empty_report(store, log, problem)]


def _empty_report(store: Store, log: ReadLog, problem: str | None) -> StoreReport:
    reader = READERS.get(store.reader)
    return StoreReport(
        reader=store.reader,
        title=reader.title if reader else "",
        path=store.path,
        problem=problem,
        skipped=tuple(log.sentences()),
    )


def _report(path: Path, reader: Reader, units: list[Unit], log: ReadLog) -> StoreReport:
    stats = {place: _measure(place) for place in {unit.path for unit in units}}
    newest = max(units, key=lambda unit: stats[unit.path][1])
    sample, problem = _read_sample(FoundUnit(reader, newest), log)
    times = [changed for _, changed in stats.values()]
    return StoreReport(
        reader=reader.name,
        title=reader.title,
        path=path,
        units=len(units),
        counted="files" if len(sample) > 1 else "sessions",
        bytes=sum(size for size, _ in stats.values()),
        newest=max(times),
        version=next((s.agent_version for s in sample if s.agent_version), None)
        or _schema_version(newest),
        problem=problem,
        skipped=tuple(log.sentences()),
        expiry=_find_expiry(reader.name, path, times),
    )


def _read_sample(found: FoundUnit, log: ReadLog) -> tuple[list[Session], str | None]:
    try:
        return list(islice(read_unit(found, log, alone=True), 2)), None
    except (SourceError, OSError) as error:
        return [], str(error)


def _schema_version(unit: Unit) -> str | None:
    """Of a database that keeps its schema's version in a table of that name."""
    if not unit.key:
        return None
    try:
        with open_database(unit.path) as connection:
            if "schema_version" not in list_tables(connection):
                return None
            row = connection.execute("SELECT max(version) FROM schema_version").fetchone()
    except SourceError:
        return None
    return f"schema {row[0]}"


def _measure(path: Path) -> tuple[int, float]:
    """Size on disk and last change, of a file with its write-ahead log or of a whole folder."""
    size, changed = 0, 0.0
    for file in _files_of(path):
        try:
            stat = file.stat()
        except OSError:
            continue
        size += stat.st_size
        changed = max(changed, stat.st_mtime)
    return size, changed


def _files_of(path: Path) -> Iterator[Path]:
    if path.is_dir():
        yield from (file for file in path.rglob("*") if file.is_file())
    else:
        yield path
        yield path.with_name(path.name + "-wal")


def _find_expiry(reader: str, path: Path, times: list[float]) -> Expiry | None:
    period = _PERIODS.get(reader)
    days = period(path) if period else None
    if days is None:
        return None
    threshold = time.time() - (days - WARNING_DAYS) * DAY_SECONDS
    soon = [changed for changed in times if changed < threshold]
    if not soon:
        return None
    return Expiry(period_days=days, files=len(soon), first_at=min(soon) + days * DAY_SECONDS)


def _claude_code_period(path: Path) -> float | None:
    """Days until Claude Code deletes a transcript; None away from its own folder."""
    home = path.parent if path.name == "projects" else path
    if not (home / "projects").is_dir():
        return None
    settings = home / "settings.json"
    try:
        data = as_dict(read_json(settings)) if settings.is_file() else {}
    except SourceError:
        data = {}
    days = as_float(data.get("cleanupPeriodDays"))
    return days if days is not None and days >= 0 else CLAUDE_CODE_PERIOD_DAYS


_PERIODS: dict[str, Callable[[Path], float | None]] = {"claude_code": _claude_code_period}
