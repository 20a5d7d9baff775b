"""Reports of experiments, and what they leave in the record of the templates they were about.

A verdict is recorded once it is decided (all planned trials are in, or the registered rule stopped
the run), once per state of the trials. ``template list`` shows the latest one, ``template show``
all of them.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from warmstart.app.core import Workspace
from warmstart.app.experiments import ExperimentState, read_state
from warmstart.app.templates import open_library
from warmstart.experiment import (
    ArmComparison,
    ArmKind,
    ArmVerdict,
    ExperimentReport,
    PlanChange,
    describe_smallest,
    effect_size,
    parse_arm,
    question_of,
    verdict_of,
)
from warmstart.store import TemplateVerdict

__all__ = ["list_template_verdicts", "make_report", "report_experiment"]


def report_experiment(workspace: Workspace, name: str) -> ExperimentReport:
    """The verdict and what it rests on; a decided one goes into the records of its templates.

    The experiment may be running meanwhile.

    Raises:
        NotFoundError: there is no such experiment.
    """
    report = make_report(read_state(workspace, name))
    report = replace(report, specs=_find_versions(workspace, report.plan.templates))
    return replace(report, recorded=_record_verdicts(workspace, report))


def _find_versions(workspace: Workspace, templates: Mapping[str, str]) -> dict[str, str]:
    """The version each pinned content has in the library, where it is still there."""
    found: dict[str, str] = {}
    with open_library(workspace, read_only=True) as library:
        for spec, identity in templates.items():
            row = library.db.find_template_row(identity) if library.db else None
            if row is not None:
                found[spec] = f"{row.name}@{row.version}"
    return found


def make_report(state: ExperimentState) -> ExperimentReport:
    """The report on an experiment as far as it is."""
    return ExperimentReport(
        plan=state.plan,
        hash=state.hash,
        done=state.done,
        verdict=verdict_of(state.trials, question_of(state.plan)),
        changes=tuple(PlanChange(one.trials, one.changes) for one in state.deviations),
        unreadable=state.unreadable,
    )


def _record_verdicts(workspace: Workspace, report: ExperimentReport) -> int:
    """Add decided verdicts to the templates' records and count those that are new."""
    found = list(list_template_verdicts(report, time.time())) if report.decided else []
    if not found:
        return 0
    with open_library(workspace) as library:
        db = library.require_db()
        new = [one for one in found if not _is_known(one, db.list_verdicts(one.template_id))]
        for one in new:
            db.record_verdict(one)
    return len(new)


def list_template_verdicts(report: ExperimentReport, now: float) -> Iterator[TemplateVerdict]:
    """What an experiment says about its templates: effects, or how small one may be."""
    comparisons = report.verdict.analysis.comparisons
    if report.smallest is not None:
        spec = parse_arm(report.plan.design.control)
        text = describe_smallest(report.smallest)
        yield _make(report, spec.template, text, _smallest(report), now)
        return
    for verdict, comparison in zip(report.verdict.arms, comparisons, strict=True):
        spec = parse_arm(verdict.arm)
        if spec.kind is ArmKind.WARM and not spec.variant:
            text = f"{verdict.conclusion.value}: {verdict.sentence}"
            yield _make(report, spec.template, text, _effect(verdict, comparison), now)


def _make(
    report: ExperimentReport, template: str, text: str, numbers: dict[str, Any], now: float
) -> TemplateVerdict:
    models = {model for arm in report.verdict.analysis.arms for model in arm.models}
    return TemplateVerdict(
        template_id=report.plan.templates.get(template, ""),
        model=", ".join(sorted(models)) or report.plan.runner.model,
        text=text,
        numbers={
            "experiment": report.plan.name,
            "plan": report.hash,
            "done": report.done,
            **numbers,
        },
        decided_at=now,
    )


def _effect(verdict: ArmVerdict, comparison: ArmComparison) -> dict[str, Any]:
    effect = comparison.primary
    low, high = effect.interval
    return {
        "kind": "effect",
        "short": _shorten(verdict, effect_size(effect) if effect.units else ""),
        "conclusion": verdict.conclusion.value,
        "pilot": verdict.pilot,
        "control": effect.control,
        "metric": effect.metric.value,
        "is_ratio": effect.is_ratio,
        "estimate": effect.estimate,
        "interval": [v if math.isfinite(v) else None for v in (low, high)],
        "p": effect.p,
        "p_holm": comparison.p_holm,
        "tasks": effect.units,
        "sessions": list(effect.sessions),
        "reasons": list(verdict.reasons),
    }


def _shorten(verdict: ArmVerdict, size: str) -> str:
    """For a listing: ``better -2.8 points``; a size only where it is claimed."""
    word = verdict.conclusion.value
    return f"{word} {size}" if word in ("better", "worse") else word


def _smallest(report: ExperimentReport) -> dict[str, Any]:
    found = report.smallest
    if found is None or found.chosen is None:
        return {"kind": "smallest", "arm": None}
    return {
        "kind": "smallest",
        "arm": found.chosen.arm,
        "tokens": found.chosen.tokens,
        "of_tokens": found.tokens,
    }


def _is_known(verdict: TemplateVerdict, earlier: list[TemplateVerdict]) -> bool:
    return any(verdict.numbers == one.numbers for one in earlier)
