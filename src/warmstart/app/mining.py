"""From sessions on disk to a template: facts decide, contents are fetched only for the few chosen.

    built = build_template(Workspace.open(), BuildRequest(name="shop"), Selection(), ReadLog())
    built.saved.spec

Sessions are fetched by the place their facts name; a session of a large database is read alone,
without listing the database. One that has gone is counted and is not an error.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from warmstart import mine
from warmstart.app.core import Workspace
from warmstart.app.facts import Progress, read_facts
from warmstart.app.redaction import open_redactor
from warmstart.app.templates import open_library
from warmstart.errors import NotFoundError, SourceError, UsageError
from warmstart.facts import gc_paused
from warmstart.library import Saved
from warmstart.mine import (
    BuildRequest,
    MiningPlan,
    extract_template,
    plan_template,
    propose_templates,
)
from warmstart.model import Selection, Session, SessionFacts, Template, TemplateState
from warmstart.sources import (
    FoundUnit,
    ReadLog,
    Unit,
    find_reader,
    find_units,
    get_reader,
    probe_path,
    read_unit,
)
from warmstart.template import check_name

__all__ = [
    "BuildResult",
    "build_from_session",
    "build_proposals",
    "build_template",
    "fetch_sessions",
]

READ_BY_ID = frozenset({"hermes", "live_store"})
"""Databases whose sessions are read by id alone."""
MAX_SEARCHES = 3
"""Looking for a session that moved may read every store, so it is done for a few only."""
GONE = "session gone since its facts were kept"


@dataclass(frozen=True, slots=True, kw_only=True)
class BuildResult:
    """A template that was built, what it was built from, and where it was saved."""

    request: BuildRequest
    template: Template
    plan: MiningPlan | None = None
    """None where one session was named by hand."""
    missing: int = 0
    """Sessions that were chosen and could not be read any more."""
    saved: Saved | None = None
    """None where saving was not asked for."""

    @property
    def looked_at(self) -> int:
        """Sessions that the rules were applied to."""
        return self.plan.looked_at if self.plan else 1

    @property
    def qualified(self) -> int:
        """Sessions that passed the rules."""
        return len(self.plan.qualified) if self.plan else 1

    @property
    def left_out(self) -> dict[str, int]:
        """Sessions that failed a rule, by rule."""
        return dict(self.plan.left_out) if self.plan else {}

    @property
    def unverified(self) -> int:
        """Calls that were not taken because their success rests on words alone."""
        return self.plan.unverified if self.plan and not self.request.textual else 0

    @property
    def next_steps(self) -> list[str]:
        """The commands to run next."""
        return self.saved.next_steps if self.saved else []


def build_template(
    workspace: Workspace,
    request: BuildRequest,
    selection: Selection,
    log: ReadLog,
    *,
    save: bool = True,
    note: str = "mined",
    tasks: tuple[str, ...] = (),
    only: Collection[str] | None = None,
    on_progress: Progress | None = None,
) -> BuildResult:
    """Build one template from the sessions selected, and save it as a draft.

    Args:
        workspace: where sessions are found and the template is saved.
        request: what is built, by which rules.
        selection: the sessions to look at.
        log: gets what could not be read.
        save: False to save nothing.
        note: kept with the draft.
        tasks: tasks that an experiment must not test the template on.
        only: ids of sessions, if not all that are selected.
        on_progress: gets how much has been read.

    Raises:
        TemplateError: the name cannot be one.
        UsageError: no session qualified, or nothing in them could be verified.
    """
    check_name(request.name)
    with gc_paused():
        found = read_facts(workspace, selection, log, repeats=False, on_progress=on_progress)
        plan = plan_template(request, (one for one in found if only is None or one.id in only))
        _require_sessions(plan)
        built = _build(workspace, request, plan, selection, log)
    if tasks:
        provenance = replace(built.template.provenance, tasks=tasks)
        built = replace(built, template=replace(built.template, provenance=provenance))
    return _save(workspace, built, note) if save else built


def build_from_session(
    workspace: Workspace,
    wanted: str,
    request: BuildRequest,
    selection: Selection,
    log: ReadLog,
    *,
    save: bool = True,
    note: str = "mined",
) -> BuildResult:
    """Build a template from one session, and save it as a draft.

    Raises:
        NotFoundError: no session has that id.
        UsageError: nothing in it could be verified.
    """
    check_name(request.name)
    session = workspace.get_session(wanted, selection, log)
    template = extract_template(session, request, open_redactor(workspace, pii=True))
    built = BuildResult(request=request, template=template)
    return _save(workspace, built, note) if save else built


def build_proposals(
    workspace: Workspace,
    request: BuildRequest,
    selection: Selection,
    log: ReadLog,
    *,
    save: bool = True,
    on_progress: Progress | None = None,
) -> Iterator[BuildResult]:
    """One template per task type with enough good sessions, each saved before the next is built.

    Raises:
        UsageError: no task type has enough.
    """
    check_name(f"{request.name}-research")
    with gc_paused():
        facts = list(read_facts(workspace, selection, log, repeats=False, on_progress=on_progress))
        proposals = propose_templates(facts, request)
    if not proposals:
        _require_sessions(plan_template(request, facts))
        raise UsageError(
            "no task type has three sessions that qualify",
            hint="warmstart template build --name NAME takes all of them together",
        )
    for proposal in proposals:
        with gc_paused():
            built = _build(workspace, proposal.request, proposal.plan, selection, log)
        yield _save(workspace, built, "mined") if save else built


def fetch_sessions(
    workspace: Workspace, wanted: Sequence[SessionFacts], selection: Selection, log: ReadLog
) -> Iterator[Session]:
    """The contents of the sessions that facts are about, place by place.

    What cannot be read of them was counted when their facts were made; only what is gone is new.
    """
    reading = ReadLog()  # of its own: ids met while facts were made are not duplicates
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
    workspace: Workspace,
    request: BuildRequest,
    plan: MiningPlan,
    selection: Selection,
    log: ReadLog,
) -> BuildResult:
    sessions = list(fetch_sessions(workspace, plan.fetched, selection, log))
    template = mine.build_template(request, plan, sessions, open_redactor(workspace, pii=True))
    missing = len(plan.fetched) - len(sessions)
    return BuildResult(request=request, template=template, plan=plan, missing=missing)


def _save(workspace: Workspace, built: BuildResult, note: str) -> BuildResult:
    with open_library(workspace) as library:
        saved = library.save(built.template, state=TemplateState.DRAFT, note=note)
    return replace(built, saved=saved)


def _require_sessions(plan: MiningPlan) -> None:
    if plan.qualified:
        return
    reasons = ", ".join(f"{number:,} {reason}" for reason, number in plan.left_out.items())
    raise UsageError(
        f"no session qualifies: {plan.looked_at:,} looked at"
        + (f" ({reasons})" if reasons else ""),
        hint="warmstart sessions list shows what is there; --min-messages and --max-error-rate "
        "loosen the rules",
    )


def _find_units(
    path: str, wanted: set[str], selection: Selection, log: ReadLog
) -> Iterator[FoundUnit]:
    """What to read at a place: single sessions by id where the format can, else every unit."""
    place = Path(path)
    if not path or not place.exists():
        return
    try:
        by_name = get_reader(selection.format) if selection.format else None
        reader = by_name or find_reader(probe_path(place))
        if reader is not None and reader.name in READ_BY_ID:
            for key in sorted(wanted):
                yield FoundUnit(reader, Unit(path=place, key=key.partition(":")[2]))
        else:
            yield from find_units(place, log, selection.format)
    except SourceError as error:
        log.skip(error.message.rpartition(": ")[2] or "unreadable", place)


def _look_elsewhere(
    workspace: Workspace, session_id: str, selection: Selection, log: ReadLog
) -> Iterator[Session]:
    """A session that is no longer at the path of its facts: moved, or read through another unit."""
    try:
        yield workspace.get_session(session_id, replace(selection, source=None), log)
    except (NotFoundError, SourceError):
        log.skip(GONE, Path(session_id))
