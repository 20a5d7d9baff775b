"""Bytes and JSON out of files of unknown content.

Compression is recognised by its magic number, never by the name. A line that is too long, not
JSON or not an object is counted and passed over, and so is a half-written last line.
"""

from __future__ import annotations

import io
import os
import stat
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import IO, Any, NamedTuple, cast

from warmstart.errors import SourceError
from warmstart.sources.json_text import (
    BIG_BYTES,
    MAX_VALUES,
    has_too_many_values,
    is_json,
    parse_json,
    parse_strictly,
)
from warmstart.sources.log import ReadLog
from warmstart.sources.unpacking import (
    BUFFER_BYTES,
    SPARE_BYTES,
    UnpackLimitError,
    limit_document,
    measure_packed,
    unpack,
)

MAX_LINE_BYTES = 32 * 1024 * 1024
"""Model providers take requests of 32 MB at most, so no message that was sent is longer."""
MAX_DOCUMENT_BYTES = 1024 * 1024 * 1024
_NEWLINE = ord("\n")


class Line(NamedTuple):
    """A JSON object and where it stood."""

    number: int
    data: dict[str, Any]


_make_line = partial(tuple.__new__, Line)
"""From a tuple; a named tuple's own constructor takes three times as long."""


@contextmanager
def open_bytes(path: Path, buffering: int = -1, *, spare: int = SPARE_BYTES) -> Iterator[IO[bytes]]:
    """The uncompressed content of a file, opened read-only; ``spare`` as in ``unpack``.

    Raises:
        SourceError: it cannot be opened, or its compressed stream is broken or has no end.
    """
    try:
        _refuse_pipe(path)
        with path.open("rb", buffering) as raw, unpack(raw, spare) as unpacked:
            yield unpacked
    except (OSError, EOFError, zlib.error) as error:
        raise unreadable(path, error) from error


def _refuse_pipe(path: Path) -> None:
    """Raise for anything but a regular file: opening a pipe would wait for its writer."""
    if not stat.S_ISREG(path.stat().st_mode):
        raise OSError("not a regular file")


def is_bomb(error: SourceError) -> bool:
    """Whether a file could not be read because it unpacks to too much."""
    return isinstance(error.__cause__, UnpackLimitError)


def unreadable(path: Path, error: BaseException) -> SourceError:
    """The error every seam raises for a file it cannot read."""
    why = getattr(error, "strerror", None) or str(error) or type(error).__name__
    return SourceError(f"cannot read {str(path)!r}: {why}", path=path)


def read_head(path: Path, size: int = 65536) -> bytes:
    """The first uncompressed bytes; whatever could be unpacked of a broken stream."""
    data = bytearray()
    try:
        with open_bytes(path) as file:
            while len(data) < size and (chunk := file.read(min(512, size - len(data)))):
                data += chunk
    except SourceError:
        if not data:
            raise
    return bytes(data)


def read_lines(path: Path, log: ReadLog) -> Iterator[tuple[int, bytes, bool]]:
    """Yield (line number, bytes, complete) for each line of a file.

    Empty lines are counted but not given. A stream that breaks off (truncated gzip) ends the lines
    and is counted.
    """
    number = 0
    try:
        with open_bytes(path, BUFFER_BYTES) as file:
            for line in iter(partial(file.readline, MAX_LINE_BYTES), b""):
                number += 1
                if line == b"\n":
                    number += _pass_over_blank_lines(file)
                elif line[-1] == _NEWLINE:
                    yield number, line, True
                elif len(line) < MAX_LINE_BYTES:
                    yield number, line, False
                else:
                    del line
                    _pass_over_line(file)
                    log.skip("line longer than 32 MiB", path, number)
    except SourceError as error:
        if number == 0:
            raise
        is_limit = isinstance(error.__cause__, UnpackLimitError)
        log.skip(str(error.__cause__) if is_limit else "compressed data broken off", path, number)


def _pass_over_blank_lines(file: IO[bytes]) -> int:
    """Leave out the empty lines that are in the buffer already; there may be a great many."""
    peeked = cast("io.BufferedReader", file).peek()
    count = len(peeked) - len(peeked.lstrip(b"\n"))
    file.read(count)
    return count


def _pass_over_line(file: IO[bytes]) -> None:
    while chunk := file.readline(BUFFER_BYTES):
        if chunk.endswith(b"\n"):
            break


def read_json_lines(path: Path, log: ReadLog) -> Iterator[Line]:
    """Every JSON object of a JSONL file; lines that hold none are counted."""
    return parse_lines(read_lines(path, log), path, log)


def parse_lines(
    lines: Iterator[tuple[int, bytes, bool]], path: Path, log: ReadLog
) -> Iterator[Line]:
    """The objects on lines; those that hold none are counted."""
    for number, line, complete in lines:
        data = parse_strictly(line) if len(line) <= BIG_BYTES else None
        if data.__class__ is not dict:
            data = parse_line(line, number, path, log, complete=complete)
        if data is not None:
            yield _make_line((number, data))


def parse_line(
    line: bytes, number: int, path: Path, log: ReadLog, *, complete: bool
) -> dict[str, Any] | None:
    """The object on a line; None, and counted, where it holds no object."""
    data = parse_json(line)
    if isinstance(data, dict):
        return data
    if line.isspace():
        return None
    if not complete:
        log.skip("last line half-written", path, number)
    elif has_too_many_values(line):
        log.skip("line holds more than 1.5 million values", path, number)
    elif is_json(data):
        log.skip("line is JSON but not an object", path, number)
    else:
        log.skip("line is not valid JSON", path, number)
    return None


def read_json(path: Path) -> Any:
    """One whole JSON document.

    Raises:
        SourceError: unreadable, too large, or no JSON.
    """
    with open_bytes(path) as file:
        packed = measure_packed(file)
        limit = MAX_DOCUMENT_BYTES
        if packed is not None:
            limit = min(limit_document(packed), limit)
        # With a size, Python would set aside a gigabyte for each small file.
        is_small = packed is None and os.fstat(file.fileno()).st_size <= limit
        data = file.read() if is_small else file.read(limit + 1)
    if len(data) > limit:
        error = OSError("larger than 1 GiB") if packed is None else UnpackLimitError()
        raise unreadable(path, error) from error
    # What lies on disk as it is may take what memory it takes.
    return parse_document(data, path, None if packed is None else MAX_VALUES + packed)


def parse_document(data: bytes, path: Path, max_values: int | None) -> Any:
    """A document's value.

    Raises:
        SourceError: it is not valid JSON, or holds too many values.
    """
    value = parse_json(data, max_values)
    if is_json(value):
        return value
    is_full = max_values is not None and has_too_many_values(data, max_values)
    why = f"it holds more than {max_values:,} values" if is_full else "not valid JSON"
    raise SourceError(f"cannot read {str(path)!r}: {why}", path=path)
