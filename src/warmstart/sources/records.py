"""Files that hold many records in any of three ways: one per line, one array, or one document.

What a record is, its reader knows; how the file is laid out, and which number a record has, is
the same for all of them. Numbers are stable: a read that is taken up at an offset goes on counting
where the first one stopped.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from warmstart.errors import SourceError
from warmstart.sources.fields import as_dict
from warmstart.sources.files import (
    MAX_LINE_BYTES,
    Line,
    open_bytes,
    parse_json,
    read_json,
    read_json_lines,
    read_lines,
)
from warmstart.sources.log import ReadLog
from warmstart.sources.reader import Unit

STORAGE_SUFFIXES = (".gz", ".zst", ".jsonl", ".json")
SNIFFED_LINES = 12
MAX_BLANK_LINES = 1000
"""How far into a file its first lines are looked for."""
CHUNK_BYTES = 1 << 20


def file_stem(name: str) -> str:
    """A file's name without what says how it is stored."""
    stem = name
    for suffix in STORAGE_SUFFIXES:
        stem = stem.removesuffix(suffix)
    return stem or name


def read_records(unit: Unit, log: ReadLog) -> Iterator[Line]:
    """Every record of a file with its number; lines from ``unit.start`` on."""
    document = read_document(unit.path)
    if document is None:
        yield from read_numbered_lines(unit, log)
        return
    log.resume_at = 0  # what is appended belongs to this same document
    for number, item in enumerate(document, 1):
        yield Line(number, as_record(item))


def as_record(item: Any) -> dict[str, Any]:
    """An item of an array as a record; a list among them is the messages of a conversation."""
    return {"messages": item} if isinstance(item, list) else as_dict(item)


def read_numbered_lines(unit: Unit, log: ReadLog) -> Iterator[Line]:
    """The objects of a JSONL file from ``unit.start`` on, numbered from the start of the file."""
    before = count_lines(unit.path, unit.start)
    for line in read_json_lines(unit.path, log, unit.start):
        yield Line(before + line.number, line.data)


def read_document(path: Path) -> list[Any] | None:
    """The records of a file that is one JSON document; None where each line is a record."""
    head = sniff_lines(path)
    if head and isinstance(head[0], dict):
        return None
    try:
        document = read_json(path)
    except SourceError:
        if any(isinstance(value, dict) for value in head):
            return None
        raise
    return document if isinstance(document, list) else [document]


def sniff_lines(path: Path) -> list[Any]:
    """The first few lines that are not blank, parsed as far as they can be."""
    values: list[Any] = []
    size = 0
    for number, line, _ in read_lines(path, ReadLog()):
        size += len(line)
        if not line.isspace():
            values.append(parse_json(line))
        if len(values) >= SNIFFED_LINES or size > MAX_LINE_BYTES or number > MAX_BLANK_LINES:
            break
    return values


def count_lines(path: Path, size: int) -> int:
    """How many lines stand before a byte offset."""
    count = 0
    with open_bytes(path) as file:
        while size > 0 and (chunk := file.read(min(size, CHUNK_BYTES))):
            size -= len(chunk)
            count += chunk.count(b"\n")
    return count
