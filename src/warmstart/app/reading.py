"""How a workspace finds and reads sessions; ``Workspace`` hands its own methods on to these.

They stand apart because they bring the readers' machinery with them, which a command that only
looks into the home, or starts a session from it, does not need.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path

from warmstart.app.core import (
    ARCHIVE_READER,
    COPYING_READERS,
    Workspace,
    explain_failure,
    may_hold,
)
from warmstart.errors import AmbiguousError, NotFoundError, SourceError
from warmstart.model import Selection, Session
from warmstart.sources import (
    READERS,
    FoundUnit,
    Machine,
    ReadLog,
    Store,
    StoreReport,
    find_stores,
    find_units,
    get_reader,
    list_places,
    list_units,
    read_unit,
    survey_store,
)

__all__ = ["find_all", "get_session", "list_all_places", "read_sessions", "survey"]

MAX_CANDIDATES = 8
SURE_PREFIX_LENGTH = 8
"""From this length on, an id that a file or row is named after is taken as the only one."""


def list_all_places(workspace: Workspace) -> list[Store]:
    """See ``Workspace.list_places``."""
    return list_places(_machine(workspace))


def find_all(workspace: Workspace) -> list[Store]:
    """See ``Workspace.find_stores``."""
    return find_stores(_machine(workspace))


def survey(workspace: Workspace, paths: Iterable[str]) -> Iterator[StoreReport]:
    """See ``Workspace.survey``."""
    places = [Store(reader="", path=Path(path)) for path in paths]
    for store in places or find_all(workspace):
        yield from survey_store(store)


def read_sessions(workspace: Workspace, selection: Selection, log: ReadLog) -> Iterator[Session]:
    """See ``Workspace.read_sessions``."""
    live: set[str] = set()
    for found, alone in _find_units(workspace, selection, log):
        may_repeat = found.reader.name in COPYING_READERS and not selection.paths
        for session in read_unit(found, log, alone=alone):
            if may_repeat and not live.isdisjoint((session.id, session.native_id)):
                continue
            live.add(session.id)
            if selection.matches(session):
                yield session


def get_session(workspace: Workspace, wanted: str, selection: Selection, log: ReadLog) -> Session:
    """See ``Workspace.get_session``."""
    # Another search with the same log must not take what this one read for copies.
    log = replace(log, seen=set())
    origin, _, native = wanted.partition(":")
    if origin not in READERS:
        native = wanted
    elif selection.source is None:
        selection = replace(selection, source=origin)
    named: list[tuple[FoundUnit, bool]] = []
    others: list[tuple[FoundUnit, bool]] = []
    for pair in _find_units(workspace, selection, log):
        (named if _is_named_after(pair[0], native) else others).append(pair)
    matching = _match(wanted, named, log)
    if not matching or (len(native) < SURE_PREFIX_LENGTH and wanted not in matching):
        matching = _match(wanted, others, log) | matching
    session = _choose(wanted, matching)
    _report_namesakes(session, (found for found, _ in named), log)
    return session


def _report_namesakes(session: Session, units: Iterable[FoundUnit], log: ReadLog) -> None:
    """Say so where another database has a session of the same id: it may be a copy, or not."""
    places = {
        found.unit.path
        for found in units
        if found.unit.key == session.native_id and found.reader.name == session.origin
    }
    if len(places) > 1:
        log.notes.append(
            f"{session.id} is in {len(places)} files, this is the one in {session.path!r};"
            " name a file to choose"
        )


def _machine(workspace: Workspace) -> Machine:
    return Machine(environ=os.environ, user_home=Path.home(), warmstart_home=workspace.home)


def _find_units(
    workspace: Workspace, selection: Selection, log: ReadLog
) -> Iterator[tuple[FoundUnit, bool]]:
    """Every unit to read, and whether it is all that was asked for (then failing is fatal)."""
    if selection.source is not None:
        get_reader(selection.source)
    if not selection.paths:
        yield from ((found, False) for found in _units_of_stores(workspace, selection, log))
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


def _units_of_stores(
    workspace: Workspace, selection: Selection, log: ReadLog
) -> Iterator[FoundUnit]:
    for store in workspace.find_stores():
        if selection.format not in (None, store.reader) or not may_hold(store.reader, selection):
            continue
        try:
            units = list_units(store, log)
            # Of two archived copies of a session, the one in the newer file is the longer one.
            for found in reversed([*units]) if store.reader == ARCHIVE_READER else units:
                if may_hold(found.reader.name, selection):
                    yield found
        except (SourceError, OSError) as error:
            log.skip(explain_failure(error), store.path)


def _is_named_after(found: FoundUnit, native_id: str) -> bool:
    """Whether a unit's key, file or folder begins with an id, or has it as a later part."""
    unit = found.unit
    names = [unit.key] if unit.key else [unit.path.name, unit.path.parent.name]
    return bool(native_id) and any(
        name.startswith(native_id) or f"-{native_id}" in name or f"_{native_id}" in name
        for name in names
    )


def _match(
    wanted: str, units: Iterable[tuple[FoundUnit, bool]], log: ReadLog
) -> dict[str, Session]:
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
