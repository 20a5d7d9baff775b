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
from warmstart.app.experiments import Standing, reach_verdict, read_standing
from warmstart.app.templates import open_library
from warmstart.experiment.analysis import Comparison
from warmstart.experiment.arms import ArmKind, parse_arm
from warmstart.experiment.report import Change, Subject
from warmstart.experiment.report.figures import effect_size
from warmstart.experiment.report.lines import answer_arm, answer_smallest
from warmstart.experiment.verdict import ArmVerdict
from warmstart.store import TemplateVerdict

__all__ = ["list_template_verdicts", "read_report", "record_verdicts", "report_on"]


def read_report(workspace: Workspace, name: str) -> Subject:
    """What a report on an experiment is about; it may be running meanwhile.

    Raises:
        NotFoundError: there is no such experiment.
    """
    subject = report_on(read_standing(workspace, name))
    return replace(subject, specs=_find_versions(workspace, subject.plan.templates))


def _find_versions(workspace: Workspace, templates: Mapping[str, str]) -> dict[str, str]:
    """The version each pinned content has in the library, where it is still there."""
    found: dict[str, str] = {}
    with open_library(workspace, read_only=True) as library:
        for spec, identity in templates.items():
            row = library.db.find_template_row(identity) if library.db else None
            if row is not None:
                found[spec] = f"{row.name}@{row.version}"
    return found


def report_on(standing: Standing) -> Subject:
    """The same from where it stands."""
    return Subject(
        plan=standing.plan,
        hash=standing.hash,
        done=standing.done,
        verdict=reach_verdict(standing),
        changes=tuple(Change(one.trials, one.changes) for one in standing.deviations),
        unreadable=standing.unreadable,
    )


def record_verdicts(workspace: Workspace, subject: Subject) -> int:
    """Put the verdicts into the templates' records; how many were new. None before the end."""
    if not subject.decided:
        return 0
    found = list(list_template_verdicts(subject, time.time()))
    if not found:
        return 0
    with open_library(workspace) as library:
        db = library.require_db()
        new = [one for one in found if not _is_known(one, db.list_verdicts(one.template_id))]
        for one in new:
            db.record_verdict(one)
    return len(new)


def list_template_verdicts(subject: Subject, now: float) -> Iterator[TemplateVerdict]:
    """What an experiment says about its templates: effects, or how small one may be."""
    comparisons = subject.verdict.analysis.comparisons
    if subject.smallest is not None:
        spec = parse_arm(subject.plan.design.control)
        yield _make(subject, spec.template, answer_smallest(subject), _smallest(subject), now)
        return
    for verdict, comparison in zip(subject.verdict.arms, comparisons, strict=True):
        spec = parse_arm(verdict.arm)
        if spec.kind is ArmKind.WARM and not spec.variant:
            text = f"{verdict.conclusion.value}: {answer_arm(verdict, comparison)}"
            yield _make(subject, spec.template, text, _effect(verdict, comparison), now)


def _make(
    subject: Subject, template: str, text: str, numbers: dict[str, Any], now: float
) -> TemplateVerdict:
    models = {model for arm in subject.verdict.analysis.arms for model in arm.models}
    return TemplateVerdict(
        template_id=subject.plan.templates.get(template, ""),
        model=", ".join(sorted(models)) or subject.plan.runner.model,
        text=text,
        numbers={
            "experiment": subject.plan.name,
            "plan": subject.hash,
            "done": subject.done,
            **numbers,
        },
        decided_at=now,
    )


def _effect(verdict: ArmVerdict, comparison: Comparison) -> dict[str, Any]:
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
    """For a listing: ``better -2.8 pp``; a size only where it is claimed."""
    word = verdict.conclusion.value
    return f"{word} {size}" if word in ("better", "worse") else word


def _smallest(subject: Subject) -> dict[str, Any]:
    found = subject.smallest
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
