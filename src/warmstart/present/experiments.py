"""Experiments before their verdict: plans, progress, runs, and how large one has to be."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from warmstart.app import Experiment, ExperimentState, RunResult, SizingResult
from warmstart.experiment import Metric, TrialStatus, to_data
from warmstart.figures import count, money
from warmstart.present.document import (
    Block,
    Column,
    Document,
    Heading,
    Listing,
    NextSteps,
    Table,
    Text,
)
from warmstart.present.json import to_json

__all__ = [
    "created_document",
    "experiments_document",
    "run_document",
    "sizes_document",
    "state_document",
]

SCHEMA_VERSION = 1
RATES = (Metric.ERROR_RATE, Metric.SUCCESS)


def created_document(made: Experiment, notes: Sequence[str] = ()) -> Document:
    """A plan that was just written, and where to review it."""
    plan, path = made.plan, str(made.folder / "plan.toml")
    counts = (
        count(plan.tasks.count, "task"),
        count(len(plan.design.arms), "arm"),
        count(plan.design.trials, "trial"),
    )
    lines = [
        f"{' x '.join(counts)} = {plan.total:,} sessions; plan sha256:{made.hash[:16]}",
        *notes,
        *_list_unreviewed(plan.unreviewed),
    ]
    if plan.tasks.excluded:
        left_out = count(len(plan.tasks.excluded), "task")
        lines.append(f"{left_out} left out: a template was built from them")
    return Document(
        title=plan.name,
        blocks=[
            Text(path),
            Listing(lines),
            NextSteps([(f"warmstart experiment run {plan.name}", "when you have reviewed it")]),
        ],
        data={
            "schema_version": SCHEMA_VERSION,
            "path": path,
            "hash": made.hash,
            "total": plan.total,
            "plan": to_data(plan),
        },
    )


def _list_unreviewed(specs: Sequence[str]) -> list[str]:
    return [
        f"unreviewed: {spec} was a draft that nobody had reviewed when this was planned"
        for spec in specs
    ]


def run_document(done: RunResult) -> Document:
    """What a run did, and what to do next."""
    lines = _list_unreviewed(done.unreviewed)
    if done.deviation is not None:
        lines.append(
            f"the plan was changed after {count(done.deviation.trials, 'trial')}, which is"
            f" recorded: {'; '.join(done.deviation.changes)}"
        )
    if done.stopped:
        lines.append(done.stopped)
    finished = done.done >= done.total or done.stopped
    step = "report" if finished else "run"
    return Document(
        title=done.name,
        blocks=[
            Text(f"{done.done:,} of {done.total:,} trials recorded"),
            *([Listing(lines)] if lines else []),
            NextSteps([(
                f"warmstart experiment {step} {done.name}",
                "read the verdict" if finished else "go on",
            )]),
        ],
        data={
            "schema_version": SCHEMA_VERSION,
            "name": done.name,
            "plan": done.hash,
            "ran": done.ran,
            "recovered": done.recovered,
            "done": done.done,
            "total": done.total,
            "stopped": done.stopped,
            "deviation": to_json(done.deviation),
        },
    )  # fmt: skip


def state_document(state: ExperimentState) -> Document:
    """How far an experiment is. Counts only: a look before the end must not show who is ahead."""
    name, total = state.plan.name, max(state.plan.total, state.done)
    lines = [
        f"plan changed after {count(one.trials, 'trial')}: {'; '.join(one.changes)}"
        for one in state.deviations
    ]
    if state.unreadable:
        lines.append(f"{count(state.unreadable, 'line')} of the trial file cannot be read")
    table = Table(
        columns=[
            Column("arm", 40),
            Column("done", right=True),
            Column("crashed", right=True),
            Column("timeout", right=True),
        ],
        rows=[
            (arm, str(row["done"]), str(row["crashed"]), str(row["timeout"]))
            for arm, row in _count_arms(state).items()
        ],
    )
    return Document(
        title=name,
        blocks=[
            Heading(f"{name}: {state.done:,} of {total:,} trials"),
            Text(f"plan sha256:{state.hash[:16]}  {state.plan.registered}"),
            table,
            *([Listing(lines)] if lines else []),
        ],
        data={"schema_version": SCHEMA_VERSION, **_state_data(state)},
    )


def experiments_document(states: Sequence[ExperimentState]) -> Document:
    """One line per experiment."""
    rows = [
        (
            one.plan.name,
            f"{one.done}/{max(one.plan.total, one.done)}",
            one.plan.design.metric.value,
            one.plan.registered,
            ", ".join(one.plan.design.arms),
        )
        for one in states
    ]
    table = Table(
        columns=[
            Column("name"),
            Column("trials", right=True),
            Column("metric"),
            Column("registered", priority=1),
            Column("arms", 60),
        ],
        rows=rows,
    )
    empty: list[Block] = [
        Text("There are no experiments yet."),
        NextSteps([("warmstart experiment new --help", "plan one")]),
    ]
    data = {
        "schema_version": SCHEMA_VERSION,
        "experiments": [_state_data(state) for state in states],
    }
    return Document(title="Experiments", blocks=[table] if rows else empty, data=data)


def _state_data(state: ExperimentState) -> dict[str, Any]:
    plan = state.plan
    return {
        "name": plan.name,
        "hash": state.hash,
        "registered": plan.registered,
        "metric": plan.design.metric.value,
        "rule": plan.design.rule.value,
        "done": state.done,
        "total": max(plan.total, state.done),
        "excluded_tasks": len(plan.tasks.excluded),
        "arms": _count_arms(state),
        "deviations": to_json(state.deviations),
        "unreadable_lines": state.unreadable,
    }


def _count_arms(state: ExperimentState) -> dict[str, dict[str, int]]:
    seen = Counter((record.trial.arm, record.trial.status) for record in state.records)
    return {
        arm: {
            "done": sum(seen[arm, status] for status in TrialStatus),
            "crashed": seen[arm, TrialStatus.CRASHED],
            "timeout": seen[arm, TrialStatus.TIMEOUT],
        }
        for arm in state.plan.design.arms
    }


def sizes_document(result: SizingResult) -> Document:
    """Tasks, sessions and money for the effect hoped for, and what a budget can see."""
    assumed = result.assumptions
    source = f"from the cold trials of {assumed.pilot}" if assumed.pilot else "assumed"
    facts = [f"{assumed.metric.value}: {assumed.control:.3g} -> {assumed.expected:.3g} ({source})"]
    if assumed.metric is Metric.ERROR_RATE:
        facts.append(f"{assumed.calls:.3g} calls per session, correlation {assumed.rho:.2g}")
    facts.append(f"power {assumed.target:g}, alpha {assumed.alpha:g}, {assumed.arms} arms")
    table = Table(
        columns=[Column(name, right=True) for name in ("trials", "tasks", "sessions", "cost")],
        rows=[
            (str(one.trials), _number(one.tasks), _number(one.sessions), money(one.cost_usd))
            for one in result.sizes
        ],
    )
    blocks: list[Text | Table] = [Text("; ".join(facts)), table]
    reach = result.reach
    if reach is not None:
        is_rate = assumed.metric in RATES
        smallest = f"{100 * reach.smallest:.1f} points" if is_rate else f"x{reach.smallest:.2f}"
        cost = f", {money(reach.cost_usd)}" if reach.cost_usd is not None else ""
        blocks.append(Text(
            f"{reach.tasks} tasks x {reach.trials}: chance of seeing this effect"
            f" {100 * reach.power:.0f} %; smallest effect seen with {100 * assumed.target:.0f} %:"
            f" {smallest}; {reach.sessions:,} sessions{cost}"
        ))  # fmt: skip
    data = {
        "schema_version": SCHEMA_VERSION,
        "assumptions": to_json(assumed),
        "sizes": to_json(result.sizes),
        "reach": to_json(reach),
    }
    return Document(title="How large it has to be", blocks=blocks, data=data)


def _number(value: int | None) -> str:
    return "never" if value is None else f"{value:,}"
