"""Whether a running experiment may stop: its registered rule is met, and the verdict decides.

A rule that is met by too few calls for any claim does not stop a run. Tasks are taken in the order
of the schedule and only as far as it is complete without a gap, so the answer does not depend on
which trial happened to end first, nor on where a run was resumed.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from warmstart.experiment.question import Question, by_task, task_means
from warmstart.experiment.trial import Trial
from warmstart.experiment.verdict import Conclusion, verdict_of
from warmstart.stats import StoppingRule, monitor


def find_stop(trials: Iterable[Trial], question: Question, tasks: Sequence[str]) -> str | None:
    """Why no further trial is needed, None while there is no reason.

    ``tasks`` are the ids in the order of the schedule.
    """
    if question.rule is StoppingRule.FIXED or not question.treatments:
        return None
    rows = list(trials)
    stops = [_stop_of(rows, arm, question, tasks) for arm in question.treatments]
    reached = [stop for stop in stops if stop is not None]
    if len(reached) < len(stops):
        return None
    answers = {arm.conclusion for arm in verdict_of(rows, question).arms}
    if not answers <= {Conclusion.BETTER, Conclusion.WORSE}:
        return None
    return f"the stopping rule {question.rule.value} was met after {max(reached)} tasks"


def _stop_of(
    trials: Sequence[Trial], arm: str, question: Question, tasks: Sequence[str]
) -> int | None:
    control, treatment = by_task(trials, question.control), by_task(trials, arm)
    done: list[str] = []
    for task in tasks:
        counts = [len(rows.get(task, ())) for rows in (control, treatment)]
        if min(counts) < (question.trials or 1):
            break
        done.append(task)
    before, after = (task_means(rows, question.metric) for rows in (control, treatment))
    differences = [after[task] - before[task] for task in done if task in before and task in after]
    if not differences:
        return None
    watched = monitor(
        differences,
        question.planned_tasks or len(tasks),
        question.rule,
        alpha=question.alpha / len(question.treatments),
    )
    return watched.stopped_at
