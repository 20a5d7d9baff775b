"""What a reader is: the one seam between foreign formats and the model.

A reader recognises what it can read, lists the units it is made of without reading their
contents, and turns a unit into sessions. A unit is the smallest thing read as a whole: a file, a
folder of event files, or one session of a database. Its fingerprint changes when its content may
have, so a caller that remembers fingerprints reads only what is new. A caller that reads many
units of one path asks for ``open`` first, and a database is then opened once for all of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from warmstart.model import Session
from warmstart.sources.log import ReadLog


@dataclass(frozen=True, slots=True, kw_only=True)
class Probe:
    """What can be known of a path cheaply; readers recognise their format by it."""

    path: Path
    is_folder: bool = False
    names: frozenset[str] = frozenset()
    """Of a folder: the names in it."""
    tables: frozenset[str] = frozenset()
    """Of an SQLite database: its tables."""
    records: tuple[dict[str, Any], ...] = ()
    """Of a JSONL file: its first few objects. Of a JSON document (also one JSON array): the
    document itself if it is an object, else the first few objects of the array; of an array of
    arrays, each as the ``messages`` of an object."""
    is_array: bool = False
    """The document is one JSON array."""
    is_lines: bool = False
    """The records are lines of a JSONL file rather than one document."""
    members: frozenset[str] = frozenset()
    """Of a zip archive: the names in it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Unit:
    """The smallest thing a reader reads as a whole."""

    path: Path
    key: str = ""
    """Which part of ``path`` (a session id in a database); empty for the whole."""
    fingerprint: str = ""
    """Changes when the content may have changed."""
    extra: dict[str, Any] = field(default_factory=dict, compare=False)
    """What listing learned that reading needs again."""


class OpenSource(Protocol):
    """What ``Reader.open`` gives: a way to read many units of one path."""

    def read(self, unit: Unit, log: ReadLog) -> Iterator[Session]:
        """Read a unit's sessions, as ``Reader.read`` does."""


class Reader(Protocol):
    """One format. Implementations are stateless; everything they learn is in what they return.

    Inherit from ``FileReader`` (a unit is a file) or ``DatabaseReader`` (a unit is a session of a
    database); either has ``open`` already.
    """

    name: str
    """Origin of the sessions it reads; also what ``--format`` takes."""
    title: str
    """The format's name for people."""

    def recognises(self, probe: Probe) -> bool:
        """Whether the path holds this format."""

    def units(self, path: Path, log: ReadLog) -> Iterator[Unit]:
        """List what is at a recognised path, cheaply and in a stable order."""

    def read(self, unit: Unit, log: ReadLog) -> Iterator[Session]:
        """Read a unit's sessions, counting in ``log`` whatever had to be left out.

        Raises:
            SourceError: nothing of the unit could be read.
        """

    def open(self, path: Path) -> AbstractContextManager[OpenSource]:
        """Keep open what the units of a path share while many of them are read."""


class FileReader:
    """Base of readers whose units are whole files: nothing has to stay open between them."""

    def open(self, path: Path) -> AbstractContextManager[Any]:
        """The reader itself."""
        del path
        return nullcontext(self)


def file_fingerprint(path: Path) -> str:
    """Size and modification time: what changes whenever a file is appended to or rewritten."""
    stat = path.stat()
    return f"{stat.st_size}-{stat.st_mtime_ns}"


def file_unit(path: Path) -> Iterator[Unit]:
    """The units of a format whose file is read as a whole."""
    yield Unit(path=path, fingerprint=file_fingerprint(path))
