"""Trials of an observed experiment: live starts with their arm, or sessions with a label."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from warmstart.app.core import Workspace
from warmstart.errors import NotFoundError
from warmstart.experiment import ArmKind, Plan, Trial, parse_arm
from warmstart.model import Arm, Selection, Session
from warmstart.runners import (
    SessionCounts,
    SessionLabel,
    observe_counts,
    observe_session,
    parse_labels,
)
from warmstart.sources import ReadLog
from warmstart.store import SessionDB

LIVE = "live"
LIVE_ALL = "live:all"
"""Also what was started before the plan was written."""
EVERY = 1 << 40


def collect_observed(workspace: Workspace, db: SessionDB, plan: Plan) -> Iterator[Trial]:
    """The trials there are now; collecting again gives the same ones and what came since."""
    if plan.runner.observed in (LIVE, LIVE_ALL):
        return _collect_live(workspace, db, plan)
    return _collect_labelled(workspace, plan)


def _collect_live(workspace: Workspace, db: SessionDB, plan: Plan) -> Iterator[Trial]:
    since = None if plan.runner.observed == LIVE_ALL else _moment(plan.registered)
    arms = _arms_by_start(plan)
    for start in db.list_starts(unsettled=False, since=since, limit=EVERY):
        arm = arms.get((start.arm, start.template or ""))
        if arm is None or start.session_id is None:
            continue
        label = SessionLabel(start.session_id, arm, start.message_hash, start.success)
        session = _find(workspace, start.session_id)
        if session is not None:
            yield observe_session(plan.name, label, start.id, session)
        else:
            counts = SessionCounts(start.calls or 0, start.errors or 0)
            yield observe_counts(plan.name, label, start.id, counts)


def _collect_labelled(workspace: Workspace, plan: Plan) -> Iterator[Trial]:
    path = Path(plan.runner.observed)
    if not path.is_file():
        raise NotFoundError(f"there is no file of labels {str(path)!r}", wanted=str(path))
    lines = path.read_text("utf-8", "replace").split("\n")
    for number, label in enumerate(parse_labels(lines)):
        session = _find(workspace, label.session)
        if session is None:
            raise NotFoundError(
                f"no session has the id {label.session!r}",
                wanted=label.session,
                hint="warmstart sessions list",
            )
        if label.arm in plan.design.arms:
            yield observe_session(plan.name, label, number, session)


def _arms_by_start(plan: Plan) -> dict[tuple[Arm, str], str]:
    """Which arm of the plan a start belongs to: those held out of its templates are the control."""
    names = {
        arm: parse_arm(arm).template.partition("@")[0]
        for arm in plan.design.arms
        if parse_arm(arm).kind is ArmKind.WARM
    }
    found = {(Arm.WARM, name): arm for arm, name in names.items()}
    return found | {(Arm.HOLDOUT, name): plan.design.control for name in names.values()}


def _find(workspace: Workspace, session: str) -> Session | None:
    try:
        return workspace.get_session(session, Selection(), ReadLog())
    except NotFoundError:
        return None


def _moment(text: str) -> float:
    return datetime.strptime(text, "%Y-%m-%dT%H:%M:%SZ").replace(tzinfo=UTC).timestamp()
