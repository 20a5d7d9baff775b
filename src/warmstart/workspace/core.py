"""Where stores and stages meet: the one object a surface or a script talks to.

    from warmstart.workspace import Workspace
    from warmstart.model.selection import Selection
    from warmstart.sources import ReadLog

    for session in Workspace.open().read_sessions(Selection(errors_only=True), ReadLog()):
        print(session.id, len(session.calls))

Opening creates nothing; the home appears, private to its user, with the first thing written to it.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from warmstart.atomic import write_whole
from warmstart.errors import AmbiguousError, FormatError, NotFoundError, SourceError, UsageError
from warmstart.home import STORE_FILE, find_home
from warmstart.model import Session
from warmstart.model.selection import Selection
from warmstart.sources import READERS, Found, ReadLog, find_units, get_reader, read_unit
from warmstart.sources.stores import Machine, Store, find_stores, list_places, list_units
from warmstart.sources.survey import StoreReport, survey_store
from warmstart.store import SessionDB

ARCHIVE_READER = "warmstart"
"""Exports keep the origin of their sessions, so they are read whatever source is asked for."""
COPYING_READERS = (ARCHIVE_READER, "live_store")
"""What they hold may have been taken over from an agent's store that is still there; an imported
session has the full id of its original as its own."""
MAX_CANDIDATES = 8
SURE_PREFIX_LENGTH = 8
"""From this length on, an id that a file or row is named after is taken as the only one."""


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

    def open_store(self, location: str | None = None, *, read_only: bool = False) -> SessionDB:
        """The live store at a path or postgresql:// address, else the one in the home.

        Raises:
            NotFoundError: it is to be read and is not there.
        """
        path = location or str(self.home / STORE_FILE)
        if read_only and "://" not in path and not Path(path).exists():
            raise NotFoundError(
                f"there is no store at {path!r}", wanted=path, hint="warmstart sessions import PATH"
            )
        if location is None and not read_only:
            self.ensure_home()
        return SessionDB.open(path, read_only=read_only)

    def list_places(self) -> list[Store]:
        """Every place that is looked at, whether something is there or not."""
        return list_places(self._machine())

    def find_stores(self) -> list[Store]:
        """The session stores that exist on this machine."""
        return find_stores(self._machine())

    def survey(self, paths: Iterable[str] = ()) -> Iterator[StoreReport]:
        """What is at the paths given, or in every store found, one report per place and format.

        Raises:
            NotFoundError: there is nothing at a path.
        """
        places = [Store(reader="", path=Path(path)) for path in paths]
        for store in places or self.find_stores():
            yield from survey_store(store)

    def read_sessions(self, selection: Selection, log: ReadLog) -> Iterator[Session]:
        """The sessions selected, one at a time; what could not be read is in ``log``.

        Raises:
            NotFoundError: there is nothing at a path.
            SourceError: the one path given cannot be read.
        """
        live: set[str] = set()
        for found, alone in self._find_units(selection, log):
            may_repeat = found.reader.name in COPYING_READERS and not selection.paths
            for session in read_unit(found, log, alone=alone):
                if may_repeat and not live.isdisjoint((session.id, session.native_id)):
                    continue
                live.add(session.id)
                if selection.matches(session):
                    yield session

    def get_session(self, wanted: str, selection: Selection, log: ReadLog) -> Session:
        """The session whose id, or native id, is or begins with ``wanted``.

        Units named after the id are read first, so that showing one session of a large store
        does not read the store.

        Raises:
            NotFoundError: no session has it.
            AmbiguousError: more than one begins with it.
        """
        # Another search with the same log must not take what this one read for copies.
        log = replace(log, seen=set())
        origin, _, native = wanted.partition(":")
        if origin not in READERS:
            native = wanted
        elif selection.source is None:
            selection = replace(selection, source=origin)
        named: list[tuple[Found, bool]] = []
        others: list[tuple[Found, bool]] = []
        for pair in self._find_units(selection, log):
            (named if _is_named_after(pair[0], native) else others).append(pair)
        matching = _match(wanted, named, log)
        if not matching or (len(native) < SURE_PREFIX_LENGTH and wanted not in matching):
            matching = _match(wanted, others, log) | matching
        return _choose(wanted, matching)

    def write_file(self, path: Path, chunks: Iterable[bytes], *, overwrite: bool = False) -> None:
        """Write a file whole or not at all, readable by its user alone.

        Raises:
            UsageError: there is a file already and ``overwrite`` is not set, or there is no folder.
        """
        if path.exists() and not overwrite:
            raise UsageError(f"{str(path)!r} exists already", hint="--force replaces it")
        if self.home.resolve() in path.resolve().parents:
            self.ensure_home()
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not path.parent.is_dir():
            raise UsageError(f"no such folder: {str(path.parent)!r}", hint="create it first")
        write_whole(path, chunks)

    def _machine(self) -> Machine:
        return Machine(environ=os.environ, user_home=Path.home(), warmstart_home=self.home)

    def _find_units(self, selection: Selection, log: ReadLog) -> Iterator[tuple[Found, bool]]:
        """Every unit to read, and whether it is all that was asked for (then failing is fatal)."""
        if selection.source is not None:
            get_reader(selection.source)
        if not selection.paths:
            yield from ((found, False) for found in self._units_of_stores(selection, log))
        for name in selection.paths:
            alone = len(selection.paths) == 1
            path = Path(name)
            try:
                for found in find_units(path, log, selection.format):
                    if may_hold(found.reader.name, selection):
                        yield found, alone and found.unit.path == path and not found.unit.key
            except SourceError as error:
                if alone:
                    raise
                log.skip(explain_failure(error), path)

    def _units_of_stores(self, selection: Selection, log: ReadLog) -> Iterator[Found]:
        for store in self.find_stores():
            if selection.format not in (None, store.reader) or not may_hold(
                store.reader, selection
            ):
                continue
            try:
                units = list_units(store, log)
                # Of two archived copies of a session, the one in the newer file is the longer one.
                for found in reversed([*units]) if store.reader == ARCHIVE_READER else units:
                    if may_hold(found.reader.name, selection):
                        yield found
            except (SourceError, OSError) as error:
                log.skip(explain_failure(error), store.path)


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


def _is_named_after(found: Found, native_id: str) -> bool:
    """Whether a unit's key, file or folder begins with an id, or has it as a later part."""
    unit = found.unit
    names = [unit.key] if unit.key else [unit.path.name, unit.path.parent.name]
    return bool(native_id) and any(
        name.startswith(native_id) or f"-{native_id}" in name or f"_{native_id}" in name
        for name in names
    )


def _match(wanted: str, units: Iterable[tuple[Found, bool]], log: ReadLog) -> dict[str, Session]:
    """Sessions by id that begin with what is wanted; only the exact one where there is one."""
    matching: dict[str, Session] = {}
    for found, alone in units:
        for session in read_unit(found, log, alone=alone):
            if wanted in (session.id, session.native_id):
                return {wanted: session}
            if session.id.startswith(wanted) or session.native_id.startswith(wanted):
                matching.setdefault(session.id, session)
    return matching


def _choose(wanted: str, found: dict[str, Session]) -> Session:
    if wanted in found:
        return found[wanted]
    if not found:
        raise NotFoundError(
            f"no session has the id {wanted!r}", wanted=wanted, hint="warmstart sessions list"
        )
    if len(found) > 1:
        raise AmbiguousError(wanted=wanted, candidates=sorted(found)[:MAX_CANDIDATES])
    return next(iter(found.values()))
