"""From trials to every figure a report shows. No conclusion is drawn here; see ``verdict``."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from warmstart.experiment.effects import ArmTrials, Effect, compare_arms, margin_on_scale
from warmstart.experiment.plan import MARGINS, Direction, Metric
from warmstart.experiment.question import (
    Question,
    by_task,
    metrics_of,
    question_of,
)
from warmstart.experiment.summaries import ArmSummary, TaskRow, summarise_arm, task_table
from warmstart.experiment.trial import Trial
from warmstart.experiment.validity import ValidityCheck, check_validity
from warmstart.stats import (
    Monitoring,
    NonInferiority,
    SequencePoint,
    holm,
    monitor,
    sym_cs,
    three_way,
)

__all__ = [
    "Analysis",
    "ArmComparison",
    "ArmSummary",
    "Effect",
    "Question",
    "TaskRow",
    "ValidityCheck",
    "analyse",
    "question_of",
]

MAX_SEQUENCE_POINTS = 80


@dataclass(frozen=True, slots=True, kw_only=True)
class ArmComparison:
    """One treatment arm against the control."""

    treatment: str
    effects: tuple[Effect, ...]
    """The primary metric first."""
    against_references: tuple[Effect, ...]
    """On the primary metric, against arms with other text of the same size or kind."""
    p_holm: float
    """Primary p, adjusted for the number of treatment arms."""
    checks: tuple[ValidityCheck, ...]
    monitoring: Monitoring | None
    """None where tasks are not paired."""
    sequence: tuple[SequencePoint, ...]
    """Confidence sequence of the primary difference (log ratio for costs), thinned for a plot."""
    preservation: NonInferiority | None
    """Whether the treatment is at least not worse than the control by more than the margin:
    what a smaller warm-up has to show. None where tasks are not paired."""
    complete: bool
    """All planned tasks are done in both arms."""

    @property
    def primary(self) -> Effect:
        """The effect that the verdict is about."""
        return self.effects[0]


@dataclass(frozen=True, slots=True, kw_only=True)
class Analysis:
    """Everything computed from the trials of one experiment."""

    question: Question
    arms: tuple[ArmSummary, ...]
    """Control first."""
    comparisons: tuple[ArmComparison, ...]
    tasks: tuple[TaskRow, ...]
    duplicates: int
    """Trials that had the key of an earlier one and were left out."""
    foreign: int
    """Trials of arms that the question does not name."""


def analyse(trials: Iterable[Trial], question: Question) -> Analysis:
    """Compute all figures; any number of trials will do, none included."""
    rows, duplicates = _unique(trials)
    names = (question.control, *question.treatments, *question.references)
    known = [row for row in rows if row.arm in names]
    groups = {arm: ArmTrials(arm=arm, tasks=by_task(known, arm)) for arm in names}
    metrics = metrics_of(known, question.metric)
    effects = [_effects(groups, arm, metrics, question) for arm in question.treatments]
    adjusted = holm([found[0].p for found in effects])
    comparisons = tuple(
        _comparison(groups, question, found, p) for found, p in zip(effects, adjusted, strict=True)
    )
    return Analysis(
        question=question,
        arms=tuple(summarise_arm(group) for group in groups.values()),
        comparisons=comparisons,
        tasks=task_table(list(groups.values()), question.metric),
        duplicates=duplicates,
        foreign=len(rows) - len(known),
    )


def _unique(trials: Iterable[Trial]) -> tuple[list[Trial], int]:
    """The first trial of each key: a trial counts once, however often it was recorded."""
    found: dict[tuple[str, str, int], Trial] = {}
    count = 0
    for trial in trials:
        count += 1
        found.setdefault(trial.key, trial)
    return list(found.values()), count - len(found)


def _effects(
    groups: dict[str, ArmTrials], arm: str, metrics: Sequence[Metric], question: Question
) -> tuple[Effect, ...]:
    return tuple(
        compare_arms(
            groups[question.control],
            groups[arm],
            metric,
            paired=question.paired,
            margin=question.margin if metric is question.metric else MARGINS[metric],
            seed=question.seed,
        )
        for metric in metrics
    )


def _comparison(
    groups: dict[str, ArmTrials], question: Question, effects: tuple[Effect, ...], p_holm: float
) -> ArmComparison:
    primary = effects[0]
    arm = primary.treatment
    control, treatment = groups[question.control], groups[arm]
    done = _done_tasks(control, treatment, question)
    complete = question.planned_tasks is None or len(done) >= question.planned_tasks
    differences = [d for task, d in primary.differences if task in done]
    return ArmComparison(
        treatment=arm,
        effects=effects,
        against_references=tuple(
            compare_arms(
                groups[name],
                treatment,
                question.metric,
                paired=question.paired,
                margin=question.margin,
                seed=question.seed,
            )
            for name in question.references
        ),
        p_holm=p_holm,
        checks=check_validity(control, treatment, question),
        monitoring=_monitor(differences, question, complete=complete) if differences else None,
        sequence=_thin(sym_cs(differences, 1.0 - question.alpha)),
        preservation=_preservation(primary, question),
        complete=complete,
    )


def _preservation(primary: Effect, question: Question) -> NonInferiority | None:
    """Differences turned so that positive is worse, as the three-way test wants them."""
    if not primary.differences:
        return None
    sign = -1.0 if question.direction is Direction.HIGHER else 1.0
    limit = margin_on_scale(question.metric, question.margin)
    return three_way([sign * d for _, d in primary.differences], limit)


def _done_tasks(control: ArmTrials, treatment: ArmTrials, question: Question) -> set[str]:
    """Tasks with all their trials in both arms: the blocks that a look may count."""
    wanted = question.trials or 1
    return {
        task
        for task, rows in control.tasks.items()
        if min(len(rows), len(treatment.tasks.get(task, ()))) >= wanted
    }


def _monitor(differences: Sequence[float], question: Question, *, complete: bool) -> Monitoring:
    """With several treatment arms each gets its share of alpha (Bonferroni): looks need one level.

    A finished experiment has its last look at the tasks it has, even if some have no value.
    """
    planned = len(differences) if complete else (question.planned_tasks or len(differences))
    return monitor(
        differences,
        planned,
        question.rule,
        alpha=question.alpha / max(1, len(question.treatments)),
    )


def _thin(points: Sequence[SequencePoint]) -> tuple[SequencePoint, ...]:
    step = -(-len(points) // MAX_SEQUENCE_POINTS)
    return tuple(point for i, point in enumerate(points, 1) if i % step == 0 or i == len(points))
