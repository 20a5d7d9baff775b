"""Whether two arms may be compared, and whether the data can carry a claim.

Validity is checked before any difference is looked at. Six tasks and six discordant tasks are
arithmetic: below them no two-sided test reaches 5 %. The other limits are conventions.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from warmstart.experiment.effects import ArmTrials, Effect
from warmstart.experiment.plan import Metric
from warmstart.experiment.question import Question
from warmstart.experiment.trial import Trial, TrialStatus
from warmstart.stats import MISMATCH_P, clustered_difference, sample_ratio, sign_flip

MAX_MISSING = 0.05
CRASH_P = 0.01
CRASH_GAP = 0.05
"""Conventions: a task missing in one arm of more than 5 %, a crash gap above 5 points."""


class ValidityCheck(NamedTuple):
    """One condition of validity and what was found."""

    name: str
    ok: bool
    finding: str


def check_validity(
    control: ArmTrials, treatment: ArmTrials, question: Question
) -> tuple[ValidityCheck, ...]:
    """All checks, passed ones included, so that a report can show that they were made."""
    checks = [
        _sample_ratio(control, treatment, question),
        _crashes(control, treatment, question),
        _same(control, treatment, "model"),
        _same(control, treatment, "setup"),
        _cold_control(control, question),
    ]
    if question.paired:
        checks.insert(1, _missing(control, treatment, question))
    return tuple(checks)


def _sample_ratio(control: ArmTrials, treatment: ArmTrials, question: Question) -> ValidityCheck:
    a, b = len(control.trials), len(treatment.trials)
    p = sample_ratio(a, b, question.share)
    return ValidityCheck(
        "sample ratio",
        p >= MISMATCH_P,
        f"{a} and {b} sessions, planned share {question.share:.2f}, p = {p:.3g}",
    )


def _missing(control: ArmTrials, treatment: ArmTrials, question: Question) -> ValidityCheck:
    """While tasks are still to come, those that one arm lacks may simply be under way."""
    a, b = set(control.tasks), set(treatment.tasks)
    alone, everything = len(a ^ b), len(a | b)
    running = everything < (question.planned_tasks or 0)
    ok = running or alone <= max(1.0, MAX_MISSING * everything)
    return ValidityCheck(
        "tasks in both arms", ok, f"{alone} of {everything} tasks are in one arm only"
    )


def _crashes(control: ArmTrials, treatment: ArmTrials, question: Question) -> ValidityCheck:
    """Timeouts count too, except for success, where they simply are failures."""
    bad = {TrialStatus.CRASHED}
    if question.metric is not Metric.SUCCESS:
        bad.add(TrialStatus.TIMEOUT)
    before, after = _broken(control, bad), _broken(treatment, bad)
    shared = [task for task in before if task in after]
    if question.paired:
        gaps = [_share(after[task]) - _share(before[task]) for task in shared]
        gap = sum(gaps) / len(gaps) if gaps else 0.0
        p = sign_flip(gaps, question.seed)
    else:
        difference = clustered_difference(list(before.values()), list(after.values()))
        gap, p = difference.estimate, difference.p
    totals = [int(sum(e for e, _ in rows.values())) for rows in (before, after)]
    ok = p >= CRASH_P or abs(gap) <= CRASH_GAP
    return ValidityCheck(
        "crashes alike", ok, f"{totals[0]} and {totals[1]} broken off, p = {p:.3g}"
    )


def _broken(group: ArmTrials, bad: set[TrialStatus]) -> dict[str, tuple[float, float]]:
    return {
        task: (float(sum(trial.status in bad for trial in rows)), float(len(rows)))
        for task, rows in group.tasks.items()
    }


def _share(cluster: tuple[float, float]) -> float:
    return cluster[0] / cluster[1]


def _same(control: ArmTrials, treatment: ArmTrials, name: str) -> ValidityCheck:
    a, b = ({str(getattr(trial, name)) for trial in group.trials} for group in (control, treatment))
    ok = a == b or not a or not b
    finding = "the same in both arms" if ok else f"{_listed(a)} against {_listed(b)}"
    return ValidityCheck(f"same {name}", ok, finding)


def _listed(values: set[str]) -> str:
    return ", ".join(sorted(value[:24] or "unknown" for value in values))


def _cold_control(control: ArmTrials, question: Question) -> ValidityCheck:
    warmed = [t for t in control.trials if _is_cold(question) and _was_warmed(t)]
    return ValidityCheck(
        "control is cold", not warmed, f"{len(warmed)} control sessions had a warm-up"
    )


def _is_cold(question: Question) -> bool:
    return question.control.split(":")[0] == "cold"


def _was_warmed(trial: Trial) -> bool:
    return trial.warmup_calls > 0 or trial.warmup_tokens > 0


MIN_TASKS = 6
PILOT_TASKS = 15
"""Below this a result is labelled a pilot."""
MIN_ERRORS = 10
MIN_EFFECTIVE_CALLS = 100


def reasons_against(effect: Effect, alpha: float) -> Iterator[str]:
    """Why the data cannot carry a claim; nothing if they can."""
    if effect.sessions == (1, 1):
        yield "one session against one is not an experiment"
    if effect.units < MIN_TASKS:
        yield f"{effect.units} {effect.unit}s to compare, at least {MIN_TASKS} are needed"
        return
    if effect.errors is not None:
        yield from _too_few_errors(effect)
    if effect.metric is Metric.SUCCESS and effect.p_sign_flip is not None:
        yield from _too_few_discordant(effect)
    yield from _disagreement(effect, alpha)


def _too_few_errors(effect: Effect) -> Iterator[str]:
    """The busier arm must have ten errors: none at all in the other may be the very effect."""
    detail = effect.errors
    if detail is None:
        return
    most = max(detail.control.errors, detail.treatment.errors)
    if most < MIN_ERRORS:
        yield f"{most:.0f} errors in the arm that has more, at least {MIN_ERRORS} are needed"
    effective = detail.control.n_eff + detail.treatment.n_eff
    if effective < MIN_EFFECTIVE_CALLS:
        yield (
            f"the calls are worth {effective:.0f} independent ones, "
            f"at least {MIN_EFFECTIVE_CALLS} are needed"
        )


def _too_few_discordant(effect: Effect) -> Iterator[str]:
    if effect.nonzero < MIN_TASKS:
        yield (f"{effect.nonzero} tasks on which the arms differ, at least {MIN_TASKS} are needed")


def _disagreement(effect: Effect, alpha: float) -> Iterator[str]:
    other = effect.p_sign_flip
    if other is not None and (effect.p <= alpha) != (other <= alpha):
        yield f"the tests disagree: p = {effect.p:.3f}, by sign flips {other:.3f}"
