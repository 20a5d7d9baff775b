"""The ``.eval`` archive of Inspect: a zip of one header and one entry (or folder) per sample.

Entries may be compressed with zstd, which the standard library reads from Python 3.14 on. A
sample is one JSON entry; a large one is a folder of flat sequences (messages, attachments) that
``sample.json`` refers to by index, and is put together again here. Nothing is unpacked to disk.
"""

from __future__ import annotations

import sys
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from warmstart.errors import SourceError
from warmstart.sources.fields import as_dict, as_int, as_list
from warmstart.sources.files import (
    MAX_DOCUMENT_BYTES,
    is_json,
    parse_json,
    unreadable,
    zstd_module,
)

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
    return items


def _load_sequence(archive: Any, folder: str, path: Path) -> list[Any]:
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


def _load(archive: Any, name: str, path: Path) -> Any:
    try:
        info = archive.getinfo(name)
        if info.file_size > MAX_DOCUMENT_BYTES:
            raise SourceError(f"cannot read {str(path)!r}: sample larger than 1 GiB", path=path)
        value = parse_json(archive.read(info))
    except KeyError as error:
        raise SourceError(f"cannot read {str(path)!r}: no entry {name!r}", path=path) from error
    if not is_json(value):
        raise SourceError(f"cannot read {str(path)!r}: entry is no JSON", path=path)
    return value


@contextmanager
def _open(path: Path) -> Iterator[Any]:
    """The archive, with everything that can be wrong with one turned into SourceError."""
    module = _zip_module()
    broken = (
        OSError,
        EOFError,
        ValueError,  # an offset or a date that no archive can have
        RuntimeError,  # encrypted; also NotImplementedError: an unknown compression
        zlib.error,
        module.BadZipFile,
        zstd_module().ZstdError,
    )
    try:
        with module.ZipFile(path) as archive:
            yield archive
    except broken as error:
        raise unreadable(path, error) from error


def _zip_module() -> Any:
    """The ``zipfile`` that reads zstd: the standard one from 3.14 on, its backport before."""
    if sys.version_info >= (3, 14):
        import zipfile  # noqa: PLC0415
    else:
        from backports.zstd import zipfile  # noqa: PLC0415
    return zipfile
