"""Which templates do harm, by the store's counts; ``warmstart.template.record`` has the rule."""

from __future__ import annotations

from collections.abc import Mapping

from warmstart.library.model import Retired
from warmstart.model.template import TemplateState
from warmstart.model.warmup import Arm
from warmstart.store import TemplateDB, TemplateRow
from warmstart.template.record import MIN_SETTLED, Comparison, Tally, find_harm

IN_USE = (TemplateState.APPROVED, TemplateState.DRAFT)
Tallies = Mapping[tuple[str, str, Arm], Tally]
"""By template id, model and arm."""


def find_harmful(db: TemplateDB) -> list[Retired]:
    """Versions in use that should not be, each with its reason.

    What was settled before a person gave a version its state does not count towards the least
    number of sessions: approving a retired template gives it another chance.
    """
    tallies = {
        (row.template_id, row.model, row.arm): Tally(row.successes, row.failures)
        for row in db.list_template_records()
    }
    found = []
    for row in db.list_template_rows():
        if row.state not in IN_USE:
            continue
        comparisons = _compare(row, tallies)
        settled = sum(comparison.warm.settled for comparison in comparisons)
        harm = find_harm(comparisons) if settled - row.settled_before >= MIN_SETTLED else None
        if harm is not None:
            found.append(Retired(row.name, row.version, f"retired by its record: {harm.reason}"))
    return found


def _compare(row: TemplateRow, tallies: Tallies) -> list[Comparison]:
    models = sorted(
        model for identity, model, arm in tallies if (identity, arm) == (row.template_id, Arm.WARM)
    )
    return [
        Comparison(
            model=model,
            warm=tallies[row.template_id, model, Arm.WARM],
            held_out=tallies.get((row.template_id, model, Arm.HOLDOUT), Tally()),
            cold=tallies.get(("", model, Arm.COLD), Tally()),
        )
        for model in models
    ]
