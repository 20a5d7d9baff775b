"""The verdict of an experiment in the terminal and as JSON, good or bad printed the same way."""

from __future__ import annotations

from typing import Any

from rich.text import Text

from warmstart.cli._output import open_console, print_json
from warmstart.cli._text import clean, count
from warmstart.experiment.plan import RunnerKind
from warmstart.experiment.verdict import Verdict, to_dict
from warmstart.workspace import Workspace
from warmstart.workspace.experiments import Standing, reach_verdict, read_standing

SCHEMA_VERSION = 1


def print_report(name: str, *, as_json: bool) -> None:
    """Plan, design, every metric, verdict, and what was not as planned."""
    standing = read_standing(Workspace.open(), name)
    verdict = reach_verdict(standing)
    if as_json:
        print_json(build_report(standing, verdict))
        return
    console = open_console()
    for label, lines in list_blocks(standing, verdict):
        for line in lines:
            console.print(_line(label, line), soft_wrap=True)
            label = ""  # noqa: PLW2901 - only the first line of a block has it


def build_report(standing: Standing, verdict: Verdict) -> dict[str, Any]:
    """The report for machines."""
    plan = standing.plan
    return {
        "schema_version": SCHEMA_VERSION,
        "name": plan.name,
        "plan": standing.hash,
        "registered": plan.registered,
        "done": standing.done,
        "total": max(plan.total, standing.done),
        "excluded_tasks": list(plan.tasks.excluded),
        "templates": dict(plan.templates),
        "deviations": [deviation._asdict() for deviation in standing.deviations],
        "unreadable_lines": standing.unreadable,
        "verdict": to_dict(verdict),
    }


def list_blocks(standing: Standing, verdict: Verdict) -> list[tuple[str, list[str]]]:
    """The report as labelled lines."""
    return [
        ("PLAN", _plan_lines(standing)),
        ("DESIGN", _design_lines(standing, verdict)),
        *(
            (metric.metric.value.upper(), [f"{arm.arm}: {metric.sentence}"])
            for arm in verdict.arms
            for metric in arm.metrics
        ),
        ("NOTES", _note_lines(standing)),
        ("VERDICT", [f"{verdict.conclusion.value}: {verdict.headline}"]),
    ]


def _plan_lines(standing: Standing) -> list[str]:
    design = standing.plan.design
    rule = f"{design.rule.value} ({design.looks} looks)" if design.rule == "obf" else design.rule
    return [
        f"sha256:{standing.hash[:16]}  registered {standing.plan.registered}",
        (
            f"primary: {design.metric.value}, {design.direction.value} is better;"
            f" alpha {design.alpha:g} two-sided; margin {design.margin:g}; rule: {rule};"
            f" seed {design.seed}"
        ),
    ]


def _design_lines(standing: Standing, verdict: Verdict) -> list[str]:
    plan = standing.plan
    total = max(plan.total, standing.done)
    paired = "sessions as they came" if _is_observed(standing) else "paired by task, interleaved"
    lines = [
        (
            f"{paired}; {count(plan.tasks.count, 'task')} x {plan.design.trials};"
            f" {standing.done:,} of {total:,} sessions"
        )
    ]
    lines += [
        f"{arm.arm}: {count(arm.sessions, 'session')}, {arm.crashed} crashed, {arm.timeouts} timed"
        f" out (kept as failures), {count(arm.calls, 'call')}, {arm.seeded_calls:,} example calls"
        " not counted"
        for arm in verdict.analysis.arms
    ]
    return lines


def _note_lines(standing: Standing) -> list[str]:
    lines = []
    excluded = standing.plan.tasks.excluded
    if excluded:
        lines.append(f"{count(len(excluded), 'task')} left out: a template was built from them")
    lines += [
        f"the plan was changed after {deviation.trials} trials: {'; '.join(deviation.changes)}"
        for deviation in standing.deviations
    ]
    if standing.unreadable:
        lines.append(f"{count(standing.unreadable, 'line')} of the trial file cannot be read")
    return lines or ["no task was left out, the plan was not changed"]


def _is_observed(standing: Standing) -> bool:
    return standing.plan.runner.kind is RunnerKind.OBSERVED


def _line(label: str, text: str) -> Text:
    return Text(f"{label:<11}", style="bold").append(clean(text), style="not bold")
