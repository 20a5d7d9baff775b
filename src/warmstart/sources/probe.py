"""Look at a path just long enough for a reader to recognise it."""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import Any

from warmstart.errors import SourceError
from warmstart.sources.files import open_bytes, parse_json, read_json, read_lines
from warmstart.sources.log import ReadLog
from warmstart.sources.reader import Probe
from warmstart.sources.sqlite import is_database, list_tables, open_database

MAX_RECORDS = 12
MAX_BAD_LINES = 4


def probe_path(path: Path) -> Probe:
    """What is at a path.

    Raises:
        SourceError: it is not there or cannot be opened.
    """
    if path.is_dir():
        return Probe(path=path, is_folder=True, names=_names_in(path))
    try:
        if is_database(path):
            with open_database(path) as connection:
                return Probe(path=path, tables=list_tables(connection))
        if _first_bytes(path, 4) == b"PK\x03\x04":
            with zipfile.ZipFile(path) as archive:
                return Probe(path=path, members=frozenset(archive.namelist()))
    except (OSError, zipfile.BadZipFile) as error:
        raise SourceError(f"cannot read {str(path)!r}: {error}", path=path) from error
    return _probe_json(path)


def _names_in(folder: Path) -> frozenset[str]:
    try:
        return frozenset(entry.name for entry in folder.iterdir())
    except OSError as error:
        raise SourceError(f"cannot read {str(folder)!r}: {error.strerror}", path=folder) from error


def _first_bytes(path: Path, size: int) -> bytes:
    with open_bytes(path) as file:
        return file.read(size)


def _probe_json(path: Path) -> Probe:
    """JSONL if lines parse one by one, else one document."""
    head = _first_bytes(path, 4096).lstrip()
    if head[:1] == b"[":
        return _probe_document(path)
    if head[:1] != b"{":
        return Probe(path=path)
    records = _first_records(path)
    if records:
        return Probe(path=path, records=records, is_lines=True)
    return _probe_document(path)


def _first_records(path: Path) -> tuple[dict[str, Any], ...]:
    records: list[dict[str, Any]] = []
    bad = 0
    for _, line, _ in read_lines(path, ReadLog()):
        value = parse_json(line)
        if isinstance(value, dict):
            records.append(value)
        elif not line.isspace():
            bad += 1
        if len(records) >= MAX_RECORDS or bad >= MAX_BAD_LINES:
            break
    return tuple(records)


def _probe_document(path: Path) -> Probe:
    try:
        document = read_json(path)
    except SourceError:
        return Probe(path=path)
    if isinstance(document, dict):
        return Probe(path=path, records=(document,))
    items = document if isinstance(document, list) else []
    records = tuple(item for item in items[:MAX_RECORDS] if isinstance(item, dict))
    return Probe(path=path, records=records, is_array=True)
