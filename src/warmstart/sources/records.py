"""Files that hold many records in any of three ways: one per line, one array, or one document.

What a record is, its reader knows; how the file is laid out, and which number a record has, is
the same for all of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

from warmstart.errors import SourceError
from warmstart.sources.fields import as_dict
from warmstart.sources.files import MAX_LINE_BYTES, Line, read_json, read_json_lines, read_lines
from warmstart.sources.json_text import parse_json
from warmstart.sources.log import ReadLog

STORAGE_SUFFIXES = (".gz", ".zst", ".jsonl", ".json")
SNIFFED_LINES = 12
MAX_BLANK_LINES = 1000
"""How far into a file its first lines are looked for."""


def file_stem(name: str) -> str:
    """A file's name without what says how it is stored."""
    stem = name
    for suffix in STORAGE_SUFFIXES:
        stem = stem.removesuffix(suffix)
    return stem or name


def read_records(path: Path, log: ReadLog) -> Iterator[Line]:
    """Every record of a file with its number: lines, items of an array, or the one document."""
    document = read_document(path)
    if document is None:
        return read_json_lines(path, log)
    return (Line(number, as_record(item)) for number, item in enumerate(document, 1))


def as_record(item: Any) -> dict[str, Any]:
    """An item of an array as a record; a list among them is the messages of a conversation."""
    return {"messages": item} if isinstance(item, list) else as_dict(item)


def read_document(path: Path) -> list[Any] | None:
    """The records of a file that is one JSON document; None where each line is a record."""
    first = next(sniff_lines(path), None)
    if isinstance(first, dict):
        return None
    try:
        document = read_json(path)
    except SourceError:
        if any(isinstance(value, dict) for value in islice(sniff_lines(path), SNIFFED_LINES)):
            return None
        raise
    return document if isinstance(document, list) else [document]


def sniff_lines(path: Path) -> Iterator[Any]:
    """The first lines that are not blank, parsed as far as they can be."""
    size = 0
    for number, line, _ in read_lines(path, ReadLog()):
        size += len(line)
        if not line.isspace():
            yield parse_json(line)
        if size > MAX_LINE_BYTES or number > MAX_BLANK_LINES:
            break
