"""The report as labelled lines, for a terminal."""

from __future__ import annotations

from warmstart.experiment.analysis import Comparison, Effect
from warmstart.experiment.plan import Metric
from warmstart.experiment.report.lines import (
    answer_arm,
    answer_shortly,
    answer_smallest,
    describe_cost,
    describe_counts,
    describe_design,
    describe_errors,
    describe_looks,
    describe_plan,
    list_next_steps,
    list_notes,
    list_references,
    show_effect,
    show_ps,
    show_visible,
)
from warmstart.experiment.report.subject import Subject
from warmstart.experiment.report.tables import list_shorter
from warmstart.experiment.verdict import ArmVerdict, Conclusion

__all__ = ["list_blocks"]

LABELS = {Metric.ERROR_RATE: "ERRORS"}
MAX_DETAILED = 2
"""With more treatment arms than this only their primary metric is printed."""

Block = tuple[str, list[str]]


def list_blocks(subject: Subject) -> list[Block]:
    """Plan and design first, the verdict last: it is what remains on the screen."""
    verdict, analysis = subject.verdict, subject.verdict.analysis
    blocks: list[Block] = [
        ("PLAN", describe_plan(subject.plan, subject.hash)),
        ("DESIGN", describe_design(subject)),
        ("ARMS", [describe_counts(arm) for arm in analysis.arms]),
        *_list_effects(analysis.comparisons),
        ("NOTES", list_notes(subject)),
        ("FAILED", _list_failed(analysis.comparisons)),
    ]
    if subject.smallest is not None:
        blocks += [("SMALLEST", _list_smallest(subject)), ("VERDICT", [answer_smallest(subject)])]
    else:
        blocks.append(("VERDICT", _list_answers(subject) or [verdict.headline]))
    blocks.append(("NEXT", list_next_steps(subject)))
    return [(label, lines) for label, lines in blocks if lines]


def _list_answers(subject: Subject) -> list[str]:
    arms, comparisons = subject.verdict.arms, subject.verdict.analysis.comparisons
    detailed = len(arms) <= MAX_DETAILED
    return [
        _answer(arm, one, detailed=detailed) for arm, one in zip(arms, comparisons, strict=True)
    ]


def _list_failed(comparisons: tuple[Comparison, ...]) -> list[str]:
    return [
        f"{one.treatment}: {check.name}: {check.finding}"
        for one in comparisons
        for check in one.checks
        if not check.ok
    ]


def _list_effects(comparisons: tuple[Comparison, ...]) -> list[Block]:
    blocks: list[Block] = []
    detailed = len(comparisons) <= MAX_DETAILED
    for comparison in comparisons:
        if detailed:
            blocks += [(_label(e), _list_effect(e, comparison)) for e in comparison.effects]
            blocks.append(("LOOKS", [f"{comparison.treatment}: {describe_looks(comparison)}"]))
    if not detailed:
        lines = [_list_effect(one.primary, one)[0] for one in comparisons]
        lines.append("all figures of these arms: --markdown - or --html FILE")
        blocks.append((_label(comparisons[0].primary), lines))
    return blocks


def _label(effect: Effect) -> str:
    return LABELS.get(effect.metric, effect.metric.value.upper())


def _list_effect(effect: Effect, comparison: Comparison) -> list[str]:
    figures = show_effect(effect)
    primary = effect is comparison.primary
    ps = show_ps(effect, comparison if primary else None)
    more = [part for part in (describe_cost(effect), show_visible(effect)) if part]
    return [
        f"{effect.treatment}: {figures[0].lower()}{figures[1:]}; {ps}",
        *(["; ".join(more)] if more else []),
        *describe_errors(effect),
        *(list_references(comparison) if primary else []),
    ]


def _answer(verdict: ArmVerdict, comparison: Comparison, *, detailed: bool) -> str:
    if not detailed:
        return f"{verdict.conclusion.value}: {answer_shortly(verdict, comparison)}"
    text = f"{verdict.conclusion.value}: {answer_arm(verdict, comparison)}"
    if verdict.reasons:
        text += f" Reason: {'; '.join(verdict.reasons)}."
    if verdict.conclusion is Conclusion.INCONCLUSIVE and show_visible(comparison.primary):
        visible = show_visible(comparison.primary)
        text += f" {visible[0].upper()}{visible[1:]}."
    return text + (" This is a pilot." if verdict.pilot else "")


def _list_smallest(subject: Subject) -> list[str]:
    table = list_shorter(subject)
    return [
        f"{arm}: {answer}; {tokens} tokens, harm {harm} ({span}), Holm p {p}"
        for arm, answer, tokens, harm, span, p, _ in table.rows
    ]
