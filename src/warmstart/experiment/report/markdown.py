"""The report as Markdown: it reads well as plain text and in every renderer of tables."""

from __future__ import annotations

import re

from warmstart._version import __version__
from warmstart.experiment.report.lines import (
    answer_arm,
    answer_smallest,
    describe_design,
    describe_errors,
    describe_looks,
    describe_plan,
    describe_trend,
    list_limits,
    list_next_steps,
    list_notes,
    list_references,
    show_visible,
)
from warmstart.experiment.report.subject import Subject
from warmstart.experiment.report.tables import (
    Table,
    list_arms,
    list_checks,
    list_effects,
    list_shorter,
    list_tasks,
    list_warmups,
)

__all__ = ["write_markdown"]

_SPECIAL = re.compile(r"([\\`*_\[\]<>|#~])")
_BREAKS = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]+")


def plain(text: str) -> str:
    """Foreign text as text: nothing in it is markup, and it stays on its line."""
    return _SPECIAL.sub(r"\\\1", _BREAKS.sub(" ", text))


def write_markdown(subject: Subject) -> str:
    """The whole report."""
    parts = [
        f"# Experiment {plain(subject.plan.name)}",
        *_write_answers(subject),
        "## Effects",
        _write_table(list_effects(subject)),
        *_write_details(subject),
    ]
    if subject.smallest is not None:
        parts += ["## How small may it be", _write_table(list_shorter(subject))]
    parts += [
        "## Arms",
        _write_table(list_arms(subject)),
        _write_table(list_warmups(subject)),
        _write_list([describe_trend(arm) for arm in subject.verdict.analysis.arms]),
        "## Plan and design",
        _write_list([*describe_plan(subject.plan, subject.hash), *describe_design(subject)]),
        "## Exclusions and deviations",
        _write_list(list_notes(subject)),
        "## May the arms be compared",
        _write_table(list_checks(subject)),
        "## What this does not show",
        _write_list(list_limits(subject)),
        *_write_tasks(subject),
        f"Computed by warmstart {__version__}.",
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _write_answers(subject: Subject) -> list[str]:
    parts = []
    if subject.smallest is not None:
        parts.append(f"**{plain(answer_smallest(subject))}**")
    comparisons = () if parts else subject.verdict.analysis.comparisons
    arms = () if parts else subject.verdict.arms
    for verdict, comparison in zip(arms, comparisons, strict=True):
        label = verdict.conclusion.value + (" (pilot)" if verdict.pilot else "")
        parts.append(f"**{label}**: {plain(answer_arm(verdict, comparison))}")
        reasons = [*verdict.reasons, show_visible(comparison.primary)]
        parts.append(_write_list([reason for reason in reasons if reason]))
    if not parts:
        parts.append(plain(subject.verdict.headline))
    steps = list_next_steps(subject)
    return [*parts, *(["Next:", _write_list(steps)] if steps else [])]


def _write_details(subject: Subject) -> list[str]:
    parts = []
    for one in subject.verdict.analysis.comparisons:
        lines = [*describe_errors(one.primary), *list_references(one), describe_looks(one)]
        parts.append(f"{plain(one.treatment)}:\n\n{_write_list(lines)}")
    return parts


def _write_tasks(subject: Subject) -> list[str]:
    parts = []
    for one in subject.verdict.analysis.comparisons:
        if one.primary.differences:
            parts += [f"## Task by task: {plain(one.treatment)}",
                      _write_table(list_tasks(subject, one))]  # fmt: skip
    return parts


def _write_table(table: Table) -> str:
    if not table.rows:
        return ""
    rules = ["---" if i < table.text_columns else "---:" for i in range(len(table.names))]
    rows = [table.names, tuple(rules), *table.rows]
    lines = []
    for index, row in enumerate(rows):
        cells = row if index == 1 else tuple(map(plain, row))
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def _write_list(items: list[str]) -> str:
    return "\n".join(f"- {plain(item)}" for item in items)
