"""Bytes and JSON out of files that nobody promised us anything about.

Compression is recognised by its magic number, never by the name. A line that is too long, not
JSON or not an object is counted and passed over; a half-written last line waits for the next run.
"""

from __future__ import annotations

import gzip
import json
import sys
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import IO, Any, NamedTuple, cast

import orjson

from warmstart.errors import SourceError
from warmstart.sources.log import ReadLog

MAX_LINE_BYTES = 64 * 1024 * 1024
MAX_DOCUMENT_BYTES = 1024 * 1024 * 1024
BUFFER_BYTES = 1024 * 1024
"""What lines are cut from: with Python's own 8 KiB, reading lines takes three times as long."""
GZIP_MAGIC = b"\x1f\x8b"
ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"
BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_NEWLINE = ord("\n")
_NO_JSON = object()


class Line(NamedTuple):
    """A JSON object and where it stood."""

    number: int
    data: dict[str, Any]


@contextmanager
def open_bytes(path: Path, buffering: int = -1) -> Iterator[IO[bytes]]:
    """The uncompressed content of a file, opened read-only.

    Raises:
        SourceError: it cannot be opened, or its compressed stream is broken.
    """
    try:
        with path.open("rb", buffering) as raw, _unpack(raw) as unpacked:
            yield unpacked
    except (OSError, EOFError, zlib.error) as error:
        raise unreadable(path, error) from error


@contextmanager
def _unpack(raw: IO[bytes]) -> Iterator[IO[bytes]]:
    magic = raw.read(4)
    raw.seek(0)
    if magic.startswith(GZIP_MAGIC):
        with gzip.open(raw, "rb") as unpacked:
            yield cast("IO[bytes]", unpacked)
    elif magic == ZSTD_MAGIC:
        zstd = zstd_module()
        try:
            with zstd.ZstdFile(raw, "rb") as unpacked:
                yield unpacked
        except zstd.ZstdError as error:
            raise OSError(str(error)) from error
    else:
        yield raw


def zstd_module() -> Any:
    """The standard library's zstd from 3.14 on, its backport before; loaded only when met."""
    if sys.version_info >= (3, 14):
        from compression import zstd  # noqa: PLC0415
    else:
        from backports import zstd  # noqa: PLC0415
    return zstd


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


def parse_json(data: bytes) -> Any:
    """JSON as agents really write it, or the marker that ``is_json`` refuses.

    orjson is strict; Python's own parser takes over for what agents nevertheless write: lone
    surrogates (a JavaScript string cut in the middle of an emoji), NaN, broken UTF-8.
    """
    data = data.removeprefix(BYTE_ORDER_MARK)
    try:
        return orjson.loads(data)
    except orjson.JSONDecodeError:
        pass
    try:
        return _scrub(json.loads(data.decode("utf-8", "replace"), object_hook=_scrub_object))
    except (ValueError, RecursionError):
        return _NO_JSON


def is_json(value: Any) -> bool:
    """Whether ``parse_json`` understood anything."""
    return value is not _NO_JSON


def _scrub_object(data: dict[str, Any]) -> dict[str, Any]:
    return {_scrub(key): _scrub(value) for key, value in data.items()}


def _scrub(value: Any) -> Any:
    """Replace lone surrogates, which cannot be printed, stored or hashed."""
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode("utf-8")
    if isinstance(value, list):
        return [_scrub(item) for item in value]
    return value


def read_lines(path: Path, log: ReadLog, start: int = 0) -> Iterator[tuple[int, bytes, bool]]:
    """Yield (line number, bytes, complete) from byte ``start`` on; numbers count from there.

    ``log.resume_at`` follows along, just behind the last complete line. A stream that breaks off
    (truncated gzip) ends the lines and is counted.
    """
    log.resume_at = position = start
    number = 0
    try:
        with open_bytes(path, BUFFER_BYTES) as file:
            file.seek(start)
            for line in iter(partial(file.readline, MAX_LINE_BYTES), b""):
                number += 1
                position += len(line)
                if line[-1] == _NEWLINE:
                    log.resume_at = position
                    yield number, line, True
                elif len(line) < MAX_LINE_BYTES:
                    yield number, line, False
                else:
                    position += _pass_over_line(file)
                    log.skip("line longer than 64 MiB", path, number)
                    log.resume_at = position
    except SourceError:
        if number == 0:
            raise
        log.skip("compressed data broken off", path, number)


def _pass_over_line(file: IO[bytes]) -> int:
    size = 0
    while chunk := file.readline(MAX_LINE_BYTES):
        size += len(chunk)
        if chunk.endswith(b"\n"):
            break
    return size


def read_json_lines(path: Path, log: ReadLog, start: int = 0) -> Iterator[Line]:
    """Every JSON object of a JSONL file, with what is none counted."""
    for number, line, complete in read_lines(path, log, start):
        data = parse_line(line, number, path, log, complete=complete)
        if data is not None:
            yield Line(number, data)


def parse_line(
    line: bytes, number: int, path: Path, log: ReadLog, *, complete: bool
) -> dict[str, Any] | None:
    """The object on a line; None, and counted, where there is none."""
    if line.isspace():
        return None
    data = parse_json(line)
    if isinstance(data, dict):
        if not complete:
            log.resume_at += len(line)
        return data
    if not complete:
        log.skip("last line half-written", path, number)
    elif is_json(data):
        log.skip("line is JSON but no object", path, number)
    else:
        log.skip("line is no JSON", path, number)
    return None


def read_json(path: Path) -> Any:
    """One whole JSON document.

    Raises:
        SourceError: unreadable, larger than 1 GiB, or no JSON.
    """
    with open_bytes(path) as file:
        data = file.read(MAX_DOCUMENT_BYTES + 1)
    if len(data) > MAX_DOCUMENT_BYTES:
        raise SourceError(f"cannot read {str(path)!r}: larger than 1 GiB", path=path)
    value = parse_json(data)
    if not is_json(value):
        raise SourceError(f"cannot read {str(path)!r}: no valid JSON", path=path)
    return value
