"""From sessions on disk to a template: facts decide, contents are fetched only for the few chosen.

    report = mine_template(Workspace.open(), BuildRequest(name="shop"), Selection(), ReadLog())

Sessions are fetched by the place their facts name; a session of a large database is read alone,
without listing the database. One that is no longer there is counted, not an error.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from warmstart.app.core import Workspace
from warmstart.app.facts import Progress, read_facts
from warmstart.app.redaction import open_redactor
from warmstart.errors import NotFoundError, SourceError, UsageError
from warmstart.facts import gc_paused
from warmstart.mine import (
    BuildRequest,
    Plan,
    build_template,
    extract_template,
    plan_template,
    propose_templates,
)
from warmstart.model import Session
from warmstart.model.facts import SessionFacts
from warmstart.model.selection import Selection
from warmstart.model.template import Template
from warmstart.sources import (
    Found,
    ReadLog,
    Unit,
    find_reader,
    find_units,
    get_reader,
    probe_path,
    read_unit,
)

READ_BY_ID = frozenset({"hermes", "live_store"})
"""Databases whose sessions are read by id alone."""
MAX_SEARCHES = 3
"""Looking for a session that moved may read every store, so it is done for a few only."""
GONE = "session gone since its facts were kept"


@dataclass(frozen=True, slots=True, kw_only=True)
class Mined:
    """A template that was made, and what it was made from; not saved yet."""

    request: BuildRequest
    template: Template
    plan: Plan | None = None
    """None where one session was named by hand."""
    missing: int = 0
    """Sessions that were chosen and could not be read any more."""


def mine_template(
    workspace: Workspace,
    request: BuildRequest,
    selection: Selection,
    log: ReadLog,
    *,
    on_progress: Progress | None = None,
    only: Collection[str] | None = None,
) -> Mined:
    """Build one template from the sessions selected; ``only`` those with these ids, if given.

    Raises:
        UsageError: no session qualified, or nothing in them could be verified.
    """
    with gc_paused():
        found = read_facts(workspace, selection, log, on_progress=on_progress)
        facts = [one for one in found if only is None or one.id in only]
        plan = plan_template(request, facts)
        del facts
        _require_sessions(plan)
        return _build(workspace, request, plan, selection, log)


def mine_session(
    workspace: Workspace, wanted: str, request: BuildRequest, selection: Selection, log: ReadLog
) -> Mined:
    """Make a template of one session.

    Raises:
        NotFoundError: no session has that id.
        UsageError: nothing in it could be verified.
    """
    session = workspace.get_session(wanted, selection, log)
    template = extract_template(session, request, open_redactor(workspace, pii=True))
    return Mined(request=request, template=template)


def mine_proposals(
    workspace: Workspace,
    request: BuildRequest,
    selection: Selection,
    log: ReadLog,
    *,
    on_progress: Progress | None = None,
) -> Iterator[Mined]:
    """One template per task type with enough good sessions, made one at a time.

    Raises:
        UsageError: no task type has enough.
    """
    with gc_paused():
        facts = list(read_facts(workspace, selection, log, on_progress=on_progress))
        proposals = propose_templates(facts, request)
    if not proposals:
        _require_sessions(plan_template(request, facts))
        raise UsageError(
            "no task type has three sessions that qualify",
            hint="warmstart template build --name NAME takes all of them together",
        )
    for proposal in proposals:
        with gc_paused():
            mined = _build(workspace, proposal.request, proposal.plan, selection, log)
        yield mined


def fetch_sessions(
    workspace: Workspace, wanted: Sequence[SessionFacts], selection: Selection, log: ReadLog
) -> Iterator[Session]:
    """The contents of the sessions that facts are about, place by place.

    What cannot be read of them was counted when their facts were made; only what is gone is new.
    """
    reading = ReadLog()  # ids that were met when facts were made are no copies now
    searches = MAX_SEARCHES
    by_path: dict[str, set[str]] = {}
    for facts in wanted:
        by_path.setdefault(facts.path or "", set()).add(facts.id)
    for path in sorted(by_path):
        left = set(by_path[path])
        for found in _find_units(path, left, selection, reading):
            for session in read_unit(found, reading):
                if session.id in left:
                    left.discard(session.id)
                    yield session
            if not left:
                break
        for missing in sorted(left):
            searches -= 1
            if searches >= 0:
                yield from _look_elsewhere(workspace, missing, selection, log)
            else:
                log.skip(GONE, Path(path))


def _build(
    workspace: Workspace, request: BuildRequest, plan: Plan, selection: Selection, log: ReadLog
) -> Mined:
    sessions = list(fetch_sessions(workspace, plan.fetched, selection, log))
    template = build_template(request, plan, sessions, open_redactor(workspace, pii=True))
    return Mined(
        request=request,
        template=template,
        plan=plan,
        missing=len(plan.fetched) - len(sessions),
    )


def _require_sessions(plan: Plan) -> None:
    if plan.qualified:
        return
    reasons = ", ".join(f"{number:,} {reason}" for reason, number in plan.left_out.items())
    raise UsageError(
        f"no session qualifies: {plan.looked_at:,} looked at"
        + (f" ({reasons})" if reasons else ""),
        hint="warmstart sessions list shows what is there; --min-messages and --max-error-rate "
        "loosen the rules",
    )


def _find_units(path: str, wanted: set[str], selection: Selection, log: ReadLog) -> Iterator[Found]:
    """What to read at a place: single sessions by id where the format can, else every unit."""
    place = Path(path)
    if not path or not place.exists():
        return
    try:
        by_name = get_reader(selection.format) if selection.format else None
        reader = by_name or find_reader(probe_path(place))
        if reader is not None and reader.name in READ_BY_ID:
            for key in sorted(wanted):
                yield Found(reader, Unit(path=place, key=key.partition(":")[2]))
        else:
            yield from find_units(place, log, selection.format)
    except SourceError as error:
        log.skip(error.message.rpartition(": ")[2] or "unreadable", place)


def _look_elsewhere(
    workspace: Workspace, session_id: str, selection: Selection, log: ReadLog
) -> Iterator[Session]:
    """A session that is not where its facts say: moved, or read through another unit."""
    try:
        yield workspace.get_session(session_id, replace(selection, source=None), log)
    except (NotFoundError, SourceError):
        log.skip(GONE, Path(session_id))
