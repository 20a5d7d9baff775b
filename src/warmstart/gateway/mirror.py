"""``sessions.json``: the index as one file, for tools that read it, and from gateways before ours.

The file is a copy, never the truth: it is written whole and atomically when asked for, and read
only into an index that is still empty.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable
from pathlib import Path

import orjson

from warmstart.atomic import write_whole
from warmstart.gateway.entry import SessionEntry
from warmstart.gateway.errors import RecordError
from warmstart.store import StoreError

FILE_NAME = "sessions.json"
logger = logging.getLogger(__name__)


def write_file(path: Path, data: bytes) -> None:
    """Replace a file as a whole, private to its user: a reader sees the old or the new one.

    Raises:
        StoreError: the disk is full or the folder may not be written.
    """
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        write_whole(path, [data])
    except OSError as error:
        raise refuse_write(path, error) from error


def refuse_write(path: Path, error: OSError) -> StoreError:
    """What a full disk or a locked folder is to a caller."""
    why = error.strerror or str(error)
    return StoreError(f"{str(path)!r} could not be written: {why}", path=str(path))


def write_mirror(folder: Path, entries: Iterable[SessionEntry]) -> Path:
    """Write every entry by its key; the path written."""
    path = folder / FILE_NAME
    data = {entry.session_key: entry.to_dict() for entry in entries}
    write_file(path, orjson.dumps(data, option=orjson.OPT_INDENT_2))
    return path


def read_mirror(folder: Path) -> list[SessionEntry]:
    """The entries of a ``sessions.json``; what cannot be used is reported in the log."""
    path = folder / FILE_NAME
    try:
        data = orjson.loads(path.read_bytes())
    except FileNotFoundError:
        return []
    except (OSError, ValueError) as error:
        logger.warning("%s is ignored: %s", path, error)
        return []
    if not isinstance(data, dict):
        logger.warning("%s is ignored: not an object", path)
        return []
    entries = []
    for key, record in data.items():
        try:
            entries.append(SessionEntry.from_dict(record))
        except RecordError as error:
            logger.warning("entry %r of %s is ignored: %s", key, path, error)
    return entries
