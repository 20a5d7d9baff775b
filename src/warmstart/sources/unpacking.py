"""Compressed files as streams that stop: what comes out stays in proportion to what is on disk.

A file of 100 kB can unpack to a terabyte. Transcripts shrink to a tenth when they are compressed,
rarely to a fiftieth, so a stream that gives more than that, beyond an amount that is harmless,
is cut off. Neither unpacking itself nor a window that the file asks for takes more memory.
"""

from __future__ import annotations

import gzip
import io
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO, Any, cast

GZIP_MAGIC = b"\x1f\x8b"
ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"
BUFFER_BYTES = 1024 * 1024
"""What lines are cut from: with Python's own 8 KiB, reading lines takes three times as long."""
SPARE_BYTES = 16 * 1024 * 1024
"""What any compressed file may unpack to, however small it is."""
LINES_RATIO = 50
"""Bytes more for each byte on disk, where a file is read line by line."""
DOCUMENT_RATIO = 20
"""Bytes more for each byte on disk, where a file is read as one document."""
WINDOW_LOG_MAX = 25
"""zstd may look back 32 MiB at most; its levels up to 20 need no more."""


class UnpackLimitError(OSError):
    """A compressed stream gave more than its file can honestly hold."""

    def __init__(self) -> None:
        super().__init__("it unpacks to far more than its size; unpack it to have it read")


class Unpacked(io.RawIOBase):
    """The content of a compressed file, up to its limit."""

    def __init__(self, source: IO[bytes], packed_bytes: int, spare: int) -> None:
        super().__init__()
        self._source = source
        self._left = spare + LINES_RATIO * packed_bytes
        self.packed_bytes = packed_bytes

    def readable(self) -> bool:
        """It is."""
        return True

    def readinto(self, buffer: Any, /) -> int:
        """The next bytes.

        Raises:
            UnpackLimitError: there are too many of them.
        """
        # One step at a time: what was unpacked before a stream breaks off is not lost with it.
        piece = cast("io.BufferedIOBase", self._source).read1(len(buffer))
        self._left -= len(piece)
        if self._left < 0:
            raise UnpackLimitError
        buffer[: len(piece)] = piece
        return len(piece)


@contextmanager
def unpack(raw: IO[bytes], spare: int = SPARE_BYTES) -> Iterator[IO[bytes]]:
    """The content of an open file, unpacked where it is compressed.

    Raises:
        OSError: it is broken, or unpacks to too much.
    """
    magic = raw.read(4)
    raw.seek(0)
    if magic.startswith(GZIP_MAGIC):
        with gzip.open(raw, "rb") as source:
            yield _limit(cast("IO[bytes]", source), raw, spare)
    elif magic == ZSTD_MAGIC:
        with open_zstd(raw) as source:
            yield _limit(source, raw, spare)
    else:
        yield raw


def _limit(source: IO[bytes], raw: IO[bytes], spare: int) -> IO[bytes]:
    size = os.fstat(raw.fileno()).st_size
    return io.BufferedReader(Unpacked(source, size, spare), BUFFER_BYTES)


@contextmanager
def open_zstd(raw: IO[bytes]) -> Iterator[IO[bytes]]:
    """The content of a zstd stream; not limited yet."""
    zstd = zstd_module()
    options = {zstd.DecompressionParameter.window_log_max: WINDOW_LOG_MAX}
    try:
        with zstd.ZstdFile(raw, "rb", options=options) as source:
            yield source
    except zstd.ZstdError as error:
        raise OSError(str(error)) from error


def zstd_module() -> Any:
    """The standard library's zstd from 3.14 on, its backport before; loaded only when met."""
    if sys.version_info >= (3, 14):
        from compression import zstd  # noqa: PLC0415
    else:
        from backports import zstd  # noqa: PLC0415
    return zstd


def measure_packed(file: IO[bytes]) -> int | None:
    """The size of a compressed file on disk; None for one that is not compressed."""
    raw = getattr(file, "raw", None)
    return raw.packed_bytes if isinstance(raw, Unpacked) else None


def limit_document(packed_bytes: int) -> int:
    """How large a compressed document may be."""
    return SPARE_BYTES + DOCUMENT_RATIO * packed_bytes
