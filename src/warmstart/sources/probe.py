"""Look at a path just long enough for a reader to recognise it."""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import Any

from warmstart.errors import SourceError
from warmstart.sources.files import (
    MAX_LINE_BYTES,
    is_bomb,
    read_head,
    read_json,
    read_lines,
    unreadable,
)
from warmstart.sources.json_text import BYTE_ORDER_MARK, parse_json
from warmstart.sources.log import ReadLog
from warmstart.sources.reader import Probe
from warmstart.sources.records import MAX_BLANK_LINES, as_record
from warmstart.sources.sqlite import DATABASE_MAGIC, is_named_database, list_tables, open_database

HEAD_BYTES = 4096
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
        head = DATABASE_MAGIC if is_named_database(path) else read_head(path, HEAD_BYTES)
        if head.startswith(DATABASE_MAGIC):
            with open_database(path) as connection:
                return Probe(path=path, tables=list_tables(connection))
        if head.startswith(b"PK\x03\x04"):
            with zipfile.ZipFile(path) as archive:
                return Probe(path=path, members=frozenset(archive.namelist()))
    except (OSError, zipfile.BadZipFile, NotImplementedError, ValueError) as error:
        raise unreadable(path, error) from error
    return _probe_json(path, head.removeprefix(BYTE_ORDER_MARK).lstrip())


def _names_in(folder: Path) -> frozenset[str]:
    try:
        return frozenset(entry.name for entry in folder.iterdir())
    except OSError as error:
        raise SourceError(f"cannot read {str(folder)!r}: {error.strerror}", path=folder) from error


def _probe_json(path: Path, head: bytes) -> Probe:
    """JSONL if lines parse one by one, else one document."""
    if head[:1] == b"[":
        return _probe_document(path)
    if head[:1] != b"{":
        return Probe(path=path)
    line, newline, _ = head.partition(b"\n")
    is_laid_out = bool(newline) and not isinstance(parse_json(line), dict)
    records, all_good = ((), False) if is_laid_out else _first_records(path)
    if records and all_good:
        return Probe(path=path, records=records, is_lines=True)
    # An object on a line of its own may also be part of a document that is laid out so.
    document = _probe_document(path)
    if document.records:
        return document
    records = records or _first_records(path)[0]
    return Probe(path=path, records=records, is_lines=True) if records else document


def _first_records(path: Path) -> tuple[tuple[dict[str, Any], ...], bool]:
    records: list[dict[str, Any]] = []
    bad = size = 0
    for number, line, _ in read_lines(path, ReadLog()):
        value = parse_json(line)
        size += len(line)
        if isinstance(value, dict):
            records.append(value)
        elif not line.isspace():
            bad += 1
        is_enough = len(records) >= MAX_RECORDS or bad >= MAX_BAD_LINES
        if is_enough or size > MAX_LINE_BYTES or number > MAX_BLANK_LINES:
            break
    return tuple(records), bad == 0


def _probe_document(path: Path) -> Probe:
    try:
        document = read_json(path)
    except SourceError as error:
        if is_bomb(error):
            raise
        return Probe(path=path)
    if isinstance(document, dict):
        return Probe(path=path, records=(document,))
    items = document if isinstance(document, list) else []
    kinds = (dict, list)
    records = tuple(as_record(item) for item in items[:MAX_RECORDS] if isinstance(item, kinds))
    return Probe(path=path, records=records, is_array=True)
