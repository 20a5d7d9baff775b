from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from warmstart.app import Workspace
from warmstart.app.observed_trials import collect_observed
from warmstart.experiment.plan import Design, Plan, Runner, RunnerKind, TaskSet
from warmstart.model.warmup import Arm
from warmstart.store import SessionDB, Start

PLAN = Plan(
    name="live",
    registered="2026-01-01T00:00:00Z",
    design=Design(arms=("cold", "warm:reads")),
    tasks=TaskSet(count=0, sha256=""),
    runner=Runner(kind=RunnerKind.OBSERVED, observed="live"),
)
BEFORE, AFTER = 1.7e9, 1.8e9


@pytest.fixture
def workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Workspace:
    monkeypatch.setenv("HOME", str(tmp_path))
    return Workspace.open(tmp_path / "ws")


def _settle(db: SessionDB, number: int, arm: Arm, template: str, at: float = AFTER) -> None:
    start = Start(
        agent="library", arm=arm, template=template, started_at=at, message_hash=f"h{number % 2}"
    )
    session = f"kept-{number}"
    db.append_to(session, [{"role": "user", "content": "x"}], "library")
    db.settle_start(db.record_start(start), f"live_store:{session}", 4, 1, None)


def test_live_starts_become_trials_of_their_arm(workspace: Workspace) -> None:
    with workspace.open_store() as db:
        _settle(db, 0, Arm.WARM, "reads")
        _settle(db, 1, Arm.HOLDOUT, "reads")
        _settle(db, 2, Arm.COLD, "")
        _settle(db, 3, Arm.WARM, "other")
        _settle(db, 4, Arm.WARM, "reads", BEFORE)
        db.record_start(Start(agent="library", arm=Arm.WARM, template="reads", started_at=AFTER))
        trials = list(collect_observed(workspace, db, PLAN))
        every = replace(PLAN, runner=replace(PLAN.runner, observed="live:all"))
        assert len(list(collect_observed(workspace, db, every))) == 3
    assert [(trial.arm, trial.task) for trial in trials] == [("warm:reads", "h0"), ("cold", "h1")]
    assert trials[0].session == "live_store:kept-0"


def test_counts_stand_in_for_a_session_that_is_gone(workspace: Workspace) -> None:
    with workspace.open_store() as db:
        _settle(db, 0, Arm.WARM, "reads")
        db.delete_session("kept-0")
        [trial] = collect_observed(workspace, db, PLAN)
    assert (len(trial.calls), trial.errors) == (4, 1)
