"""Where stores and stages meet: the one object a surface or a script talks to.

    from warmstart.app import Workspace
    from warmstart.model import Selection
    from warmstart.sources import ReadLog

    for session in Workspace.open().read_sessions(Selection(errors_only=True), ReadLog()):
        print(session.id, len(session.calls))

Opening creates nothing; the home appears, private to its user, with the first thing written to it.
What finds and reads sessions is in ``reading`` and loaded when the first session is asked for.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from warmstart.atomic import write_whole
from warmstart.errors import FormatError, NotFoundError, SourceError, UsageError
from warmstart.home import STORE_FILE, find_home, find_store

if TYPE_CHECKING:
    from warmstart.model import Selection, Session
    from warmstart.profile import Profile
    from warmstart.sources import ReadLog, Store, StoreReport
    from warmstart.store import SessionDB

ARCHIVE_READER = "warmstart"
"""Exports keep the origin of their sessions, so they are read whatever source is asked for."""
COPYING_READERS = (ARCHIVE_READER, "live_store")
"""What they hold may have been taken over from an agent's store that is still there; an imported
session has the full id of its original as its own."""


@dataclass(frozen=True, slots=True)
class Workspace:
    """warmstart's home, and every session store around it."""

    home: Path

    @classmethod
    def open(cls, home: Path | None = None) -> Workspace:
        """The workspace at ``home``, else at ``WARMSTART_HOME``, else where the platform says."""
        return cls(home.expanduser() if home else find_home())

    @property
    def archive(self) -> Path:
        """Where exports are kept that ``sessions list`` finds again by itself."""
        return self.home / "archive"

    def ensure_home(self) -> Path:
        """The home, created for its user alone if it is not there."""
        self.home.mkdir(mode=0o700, parents=True, exist_ok=True)
        return self.home

    def open_store(
        self,
        location: str | None = None,
        *,
        read_only: bool = False,
        patience_seconds: float = 30.0,
        durability: Literal["normal", "full"] = "normal",
    ) -> SessionDB:
        """The live store: the one named, else ``WARMSTART_STORE``, else the one in the home.

        Args:
            location: a path or a postgresql:// address.
            read_only: nothing is created or changed.
            patience_seconds: how long a write waits for other processes before it fails.
            durability: ``full`` survives a power cut, ``normal`` the death of the process.

        Raises:
            NotFoundError: it is opened for reading and does not exist.
            StoreError: it cannot be opened.
        """
        from warmstart.store import SessionDB  # noqa: PLC0415 - not for every command

        found = find_store(self.home, location)
        if read_only and "://" not in found and not Path(found).exists():
            hint = "warmstart sessions import PATH"
            raise NotFoundError(f"there is no store at {found!r}", wanted=found, hint=hint)
        if not read_only and found == str(self.home / STORE_FILE):
            self.ensure_home()
        return SessionDB.open(
            found, read_only=read_only, deadline_seconds=patience_seconds, durability=durability
        )

    def list_places(self) -> list[Store]:
        """Every place that is looked at, whether something is there or not."""
        from warmstart.app.reading import list_all_places  # noqa: PLC0415 - see there

        return list_all_places(self)

    def find_stores(self) -> list[Store]:
        """The session stores that exist on this machine."""
        from warmstart.app.reading import find_all  # noqa: PLC0415 - see there

        return find_all(self)

    def survey(self, paths: Iterable[str] = ()) -> Iterator[StoreReport]:
        """What is at the paths given, or in every store found, one report per place and format.

        Raises:
            NotFoundError: there is nothing at a path.
        """
        from warmstart.app.reading import survey  # noqa: PLC0415 - see there

        return survey(self, paths)

    def sessions(
        self,
        *paths: str,
        project: str | None = None,
        agent: str | None = None,
        model: str | None = None,
        since: float | None = None,
        errors_only: bool = False,
    ) -> Iterator[Session]:
        """Sessions of the paths given, or of every store on this machine, one at a time.

        ``read_sessions`` takes every filter and reports what was skipped.

        Raises:
            NotFoundError: there is nothing at a path.
        """
        from warmstart.model import Selection  # noqa: PLC0415 - not for every command
        from warmstart.sources import ReadLog  # noqa: PLC0415 - same

        selection = Selection(
            paths=paths,
            project=project,
            agent=agent,
            model=model,
            since=since,
            errors_only=errors_only,
        )
        return self.read_sessions(selection, ReadLog())

    def profile(self, selection: Selection | None = None) -> Profile:
        """How reliable the selected sessions are, from the index that is kept in the home.

        Raises:
            NotFoundError: there is nothing at a path.
        """
        from warmstart.app.profiles import profile  # noqa: PLC0415 - not for every command
        from warmstart.model import Selection  # noqa: PLC0415 - same

        return profile(self, selection or Selection()).profile

    def read_sessions(self, selection: Selection, log: ReadLog) -> Iterator[Session]:
        """The sessions selected, one at a time; what could not be read is in ``log``.

        Raises:
            NotFoundError: there is nothing at a path.
            SourceError: the one path given cannot be read.
        """
        from warmstart.app.reading import read_sessions  # noqa: PLC0415 - see there

        return read_sessions(self, selection, log)

    def get_session(self, wanted: str, selection: Selection, log: ReadLog) -> Session:
        """The session whose id, or native id, is or begins with ``wanted``.

        Units named after the id are read first, so that showing one session of a large store
        does not read the store.

        Raises:
            NotFoundError: no session has it.
            AmbiguousError: more than one begins with it.
        """
        from warmstart.app.reading import get_session  # noqa: PLC0415 - see there

        return get_session(self, wanted, selection, log)

    def write_file(self, path: Path, chunks: Iterable[bytes], *, overwrite: bool = False) -> None:
        """Write a file whole or not at all, readable by its user alone.

        A link keeps pointing where it points.

        Raises:
            UsageError: there is a file already and ``overwrite`` is not set, the path is not a
                file, or its folder does not exist.
        """
        if path.exists() and not path.is_file():
            raise UsageError(f"{str(path)!r} is not a file", hint="name one to be written")
        if path.exists() and not overwrite:
            raise UsageError(f"{str(path)!r} exists already", hint="--force replaces it")
        target = Path(os.path.realpath(path))
        if self.home.resolve() in target.parents:
            self.ensure_home()
            target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not target.parent.is_dir():
            raise UsageError(f"no such folder: {str(path.parent)!r}", hint="create it first")
        write_whole(target, chunks)


def open_workspace(home: Path | None = None) -> Workspace:
    """The workspace at ``home``, else at ``WARMSTART_HOME``, else where the platform says."""
    return Workspace.open(home)


def may_hold(reader: str, selection: Selection) -> bool:
    """Whether a reader's sessions may be among those selected."""
    return selection.source in (None, reader) or reader == ARCHIVE_READER


def explain_failure(error: SourceError | OSError) -> str:
    """Why a place was left out, without its name."""
    if isinstance(error, OSError):
        return error.strerror or "unreadable"
    if isinstance(error, FormatError):
        return "file of no known format"
    return error.message.rpartition(": ")[2]
