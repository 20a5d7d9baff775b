"""The ``.eval`` archive of Inspect: a zip of one header and one entry (or folder) per sample.

Entries may be compressed with zstd, which ``zipfile`` would unpack without a limit; here it is
done piece by piece, as for any other file. A sample is one JSON entry; a large one is a folder of
flat sequences (messages, attachments) that ``sample.json`` refers to by index, and is put together
again here. Nothing is unpacked to disk.
"""

from __future__ import annotations

import io
import struct
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from warmstart.errors import SourceError
from warmstart.sources.fields import as_int, as_list
from warmstart.sources.files import MAX_DOCUMENT_BYTES, parse_document, unreadable
from warmstart.sources.json_text import MAX_VALUES
from warmstart.sources.unpacking import UnpackLimitError, limit_document, open_zstd
from warmstart.wire import as_dict

ZSTD_METHOD = 93
METHODS = frozenset({zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED})
"""What ``zipfile`` unpacks no further than it is asked to."""
HEADERS = ("header.json", "_journal/start.json", "start.json")
"""Where the eval is described, best first; a run still under way has a journal only."""
SAMPLES = "samples/"
SHELL = "/sample.json"


class Entry(NamedTuple):
    """A sample of an archive and what tells whether it changed."""

    name: str
    fingerprint: str


def is_sample(name: str) -> bool:
    """Whether an archive member is a sample: an entry of its own, or the shell of a folder."""
    if not name.startswith(SAMPLES) or not name.endswith(".json"):
        return False
    inner = name.removeprefix(SAMPLES)
    return "/" not in inner or (inner.endswith(SHELL) and inner.count("/") == 1)


def list_samples(path: Path) -> list[Entry]:
    """The samples of an archive in the order of their names."""
    with _open(path) as archive:
        entries = {info.filename: info for info in archive.infolist()}
        if sum(info.compress_size for info in entries.values()) > path.stat().st_size:
            raise zipfile.BadZipFile("entries overlap")
    return [
        Entry(name, f"{entries[name].CRC:08x}-{entries[name].file_size}")
        for name in sorted(entries)
        if is_sample(name)
    ]


def read_header(path: Path) -> dict[str, Any]:
    """What the archive says of the whole eval; empty where that is missing or broken."""
    with _open(path) as archive:
        names = set(archive.namelist())
        for name in HEADERS:
            if name in names:
                try:
                    return as_dict(_load(archive, name, path))
                except SourceError:
                    continue
    return {}


def read_sample(path: Path, name: str) -> Any:
    """One sample as a single document, whichever way it is stored.

    Raises:
        SourceError: not there, damaged, too large, or no JSON.
    """
    with _open(path) as archive:
        sample = _load(archive, name, path)
        if isinstance(sample, dict) and name.endswith(SHELL):
            folder = name.removesuffix("sample.json")
            pool = _load_sequence(archive, f"{folder}messages/", path)
            texts = _load_sequence(archive, f"{folder}attachments/", path)
            sample = sample | {
                "messages": _expand(as_list(sample.get("message_refs")), pool),
                "attachments": {str(index): text for index, text in enumerate(texts)},
                "events": _load_sequence(archive, f"{folder}events/", path),
            }
    return sample


def _expand(refs: list[Any], pool: list[Any]) -> list[Any]:
    """References are half-open ranges into the sequence, or single indexes."""
    items: list[Any] = []
    for ref in refs:
        bounds = ref if isinstance(ref, list) else [ref]
        start = as_int(bounds[0]) if bounds else None
        if start is None or start < 0:
            continue
        end = as_int(bounds[1]) if len(bounds) > 1 else start + 1
        items.extend(pool[start:end])
        if len(items) > MAX_VALUES:
            raise ValueError("a sample refers to its messages again and again")
    return items


def _load_sequence(archive: zipfile.ZipFile, folder: str, path: Path) -> list[Any]:
    """The items of a sequence; its chunks are named by the index of their first item."""
    starts = {
        int(number): name
        for name in archive.namelist()
        if name.startswith(folder)
        and (number := name.removeprefix(folder).removesuffix(".json")).isdecimal()
        and len(number) < 20
    }
    chunks = (_load(archive, starts[start], path) for start in sorted(starts))
    return [item for chunk in chunks for item in as_list(chunk)]


def _load(archive: zipfile.ZipFile, name: str, path: Path) -> Any:
    try:
        info = archive.getinfo(name)
    except KeyError as error:
        raise SourceError(f"cannot read {str(path)!r}: no entry {name!r}", path=path) from error
    limit = min(limit_document(info.compress_size), MAX_DOCUMENT_BYTES)
    data = _read_entry(archive, info, limit)
    if len(data) > limit:
        raise UnpackLimitError
    return parse_document(data, path, MAX_VALUES + info.compress_size)


def _read_entry(archive: zipfile.ZipFile, info: zipfile.ZipInfo, limit: int) -> bytes:
    """The content of an entry, at most one byte more than the limit."""
    if info.compress_type in METHODS:
        with archive.open(info) as entry:
            return entry.read(limit + 1)
    if info.compress_type != ZSTD_METHOD or archive.fp is None:
        raise NotImplementedError("an entry is compressed in a way that is not supported")
    # Behind a header of 30 bytes come a name and more, whose lengths are its last two fields.
    archive.fp.seek(info.header_offset + 26)
    lengths = struct.unpack("<HH", archive.fp.read(4))
    archive.fp.seek(sum(lengths), io.SEEK_CUR)
    with open_zstd(io.BytesIO(archive.fp.read(info.compress_size))) as entry:
        data = entry.read(limit + 1)
    if len(data) <= limit and zlib.crc32(data) != info.CRC:
        raise zipfile.BadZipFile("an entry is damaged")
    return data


@contextmanager
def _open(path: Path) -> Iterator[zipfile.ZipFile]:
    """The archive, with everything that can be wrong with one turned into SourceError."""
    broken = (
        OSError,
        EOFError,
        ValueError,  # an offset or a date that no archive can have
        RuntimeError,  # encrypted; also NotImplementedError: an unknown compression
        struct.error,
        zlib.error,
        zipfile.BadZipFile,
    )
    try:
        with zipfile.ZipFile(path) as archive:
            yield archive
    except broken as error:
        raise unreadable(path, error) from error
