"""Subjects of reports from simulated trials: good, bad, open and invalid results."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache

from support.trials import simulate_trials
from warmstart.experiment.analysis import question_of
from warmstart.experiment.plan import (
    MARGINS,
    Design,
    Direction,
    Metric,
    Plan,
    Runner,
    RunnerKind,
    TaskSet,
    hash_plan,
)
from warmstart.experiment.report import ExperimentReport, PlanChange
from warmstart.experiment.trial import Trial, TrialStatus
from warmstart.experiment.verdict import verdict_of
from warmstart.stats.sequential import StoppingRule

WARM = "warm:shop"


def make_report(
    effects: Mapping[str, float],
    *,
    tasks: int = 30,
    trials: int = 2,
    design: Design | None = None,
    planned: int | None = None,
    spoil: Callable[[Trial], Trial] = lambda trial: trial,
) -> ExperimentReport:
    """A report's subject; ``effects`` are shifts of the log odds of an error, by arm."""
    arms = tuple(effects)
    design = replace(design or Design(arms=arms), arms=arms, trials=trials)
    design = replace(design, control=arms[0], margin=MARGINS[design.metric])
    plan = Plan(
        name="first",
        design=design,
        tasks=TaskSet(count=planned or tasks, sha256="0" * 64, excluded=("t1", "t2")),
        runner=Runner(url="http://127.0.0.1:1", model="m"),
        templates={"shop": "a" * 64},
        registered="2026-01-31T10:20:30Z",
    )
    rows = [spoil(_warm_up(row)) for row in simulate_trials(tasks, trials, effects, seed=5)]
    verdict = verdict_of(rows, question_of(plan))
    return ExperimentReport(plan=plan, hash=hash_plan(plan), done=len(rows), verdict=verdict)


def _warm_up(trial: Trial) -> Trial:
    if trial.arm.startswith("cold"):
        return trial
    return replace(trial, warmup_tokens=640, warmup_calls=3, copied=trial.order % 7 == 0)


def crash_some(trial: Trial) -> Trial:
    """A third of the warm sessions break off."""
    if trial.arm == "cold" or trial.order % 3:
        return trial
    return replace(trial, status=TrialStatus.CRASHED, success=None)


@cache
def better() -> ExperimentReport:
    """A clear gain, with both controls."""
    effects = {"cold": 0.0, WARM: -1.0, "token-matched": 0.0, "placebo": -0.1}
    return make_report(effects, design=Design(arms=(), rule=StoppingRule.ANYTIME))


@cache
def worse() -> ExperimentReport:
    """A clear loss, under a plan that was changed."""
    subject = make_report({"cold": 0.0, WARM: 0.9})
    return replace(
        subject, changes=(PlanChange(12, ("design.margin: 0.02 -> 0.03",)),), unreadable=1
    )


@cache
def inconclusive() -> ExperimentReport:
    """Too little to tell, on success."""
    design = Design(arms=(), metric=Metric.SUCCESS, direction=Direction.HIGHER)
    return make_report({"cold": 0.0, WARM: -0.02}, tasks=20, trials=1, design=design)


@cache
def invalid() -> ExperimentReport:
    """Crashes in one arm only."""
    return make_report({"cold": 0.0, WARM: -0.5}, spoil=crash_some)


@cache
def costs() -> ExperimentReport:
    """Tokens decide, and may be looked at any time."""
    design = Design(arms=(), metric=Metric.TOKENS, rule=StoppingRule.ANYTIME)
    return make_report({"cold": 0.0, WARM: -0.9}, tasks=40, design=design)


@cache
def ablation() -> ExperimentReport:
    """Three shorter forms against the full one; leaving guidance out does no harm."""
    sizes = {f"{WARM}/no-guidance": 600, f"{WARM}/budget-300": 250}
    effects = {WARM: -1.5, "cold": 0.5, f"{WARM}/no-guidance": -1.5, f"{WARM}/budget-300": -0.4}

    def resize(trial: Trial) -> Trial:
        return replace(trial, warmup_tokens=sizes.get(trial.arm, trial.warmup_tokens))

    return make_report(effects, tasks=60, trials=4, spoil=resize)


@cache
def observed() -> ExperimentReport:
    """Sessions as they came: no task is in both arms."""
    subject = make_report({"cold": 0.0, WARM: -0.5}, trials=1)
    runner = Runner(kind=RunnerKind.OBSERVED, observed="live")
    plan = replace(subject.plan, runner=runner)
    rows = [
        replace(row, task=f"{row.arm}-{row.task}")
        for row in simulate_trials(30, 1, {"cold": 0.0, WARM: -0.5})
    ]
    return replace(subject, plan=plan, verdict=verdict_of(rows, question_of(plan)))


CASES = {
    "better": better,
    "worse": worse,
    "inconclusive": inconclusive,
    "invalid": invalid,
    "costs": costs,
    "ablation": ablation,
    "observed": observed,
}
