"""When no conclusion may be drawn, however small the p-value is.

Six tasks and six discordant tasks are arithmetic: below them no two-sided test reaches 5 %. Ten
errors and 100 effective calls are conventions.
"""

from __future__ import annotations

from collections.abc import Iterator

from warmstart.experiment._effects import Effect
from warmstart.experiment.plan import Metric

MIN_TASKS = 6
PILOT_TASKS = 15
"""Below this a result is labelled a pilot."""
MIN_ERRORS = 10
MIN_EFFECTIVE_CALLS = 100


def reasons_against(effect: Effect, alpha: float) -> Iterator[str]:
    """Why the data cannot carry a claim; nothing if they can."""
    if effect.sessions == (1, 1):
        yield "one session against one is no experiment"
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
