"""Files that hold many records in any of three ways: one per line, one array, or one document.

What a record is, its reader knows; how the file is laid out, and which number a record has, is
the same for all of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any, Literal, NamedTuple

from warmstart.errors import SourceError
from warmstart.sources.files import (
    MAX_LINE_BYTES,
    Line,
    parse_lines,
    read_json,
    read_json_lines,
    read_lines,
)
from warmstart.sources.json_text import parse_json
from warmstart.sources.log import ReadLog
from warmstart.wire import as_dict

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


class Records(NamedTuple):
    """What a file holds, and how it is laid out."""

    layout: Literal["lines", "array", "document"]
    lines: Iterator[Line]


def read_records(path: Path, log: ReadLog) -> Iterator[Line]:
    """Every record of a file with its number: lines, items of an array, or the one document."""
    return open_records(path, log).lines


def open_records(path: Path, log: ReadLog) -> Records:
    """The records of a file; it is opened once where each line is a record."""
    held = ReadLog()
    lines = read_lines(path, held)
    for number, line, _ in lines:
        data = parse_json(line)
        if isinstance(data, dict):
            return Records("lines", _read_on(Line(number, data), lines, path, log, held))
        if not line.isspace():
            break
    else:
        return Records("lines", iter(()))
    try:
        document = read_json(path)
    except SourceError:
        if any(isinstance(value, dict) for value in islice(sniff_lines(path), SNIFFED_LINES)):
            return Records("lines", read_json_lines(path, log))
        raise
    if not isinstance(document, list):
        return Records("document", iter((Line(1, as_record(document)),)))
    items = (Line(number, as_record(item)) for number, item in enumerate(document, 1))
    return Records("array", items)


def _read_on(
    first: Line, lines: Iterator[tuple[int, bytes, bool]], path: Path, log: ReadLog, held: ReadLog
) -> Iterator[Line]:
    try:
        yield first
        yield from parse_lines(lines, path, log)
    finally:
        log.absorb(held)


def as_record(item: Any) -> dict[str, Any]:
    """An item of an array as a record; a list among them is the messages of a conversation."""
    return {"messages": item} if isinstance(item, list) else as_dict(item)


def sniff_lines(path: Path) -> Iterator[Any]:
    """The first lines that are not blank, parsed as far as they can be."""
    size = 0
    for number, line, _ in read_lines(path, ReadLog()):
        size += len(line)
        if not line.isspace():
            yield parse_json(line)
        if size > MAX_LINE_BYTES or number > MAX_BLANK_LINES:
            break
