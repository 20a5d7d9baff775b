"""The report as labelled lines, for a terminal."""

from __future__ import annotations

from warmstart.experiment.analysis import Comparison, Effect
from warmstart.experiment.report.figures import NOUNS, p_value
from warmstart.experiment.report.lines import (
    answer_smallest,
    describe_cost,
    describe_counts,
    describe_design,
    describe_errors,
    describe_looks,
    describe_plan,
    list_next_steps,
    list_notes,
    show_effect,
    show_visible,
)
from warmstart.experiment.report.subject import Subject
from warmstart.experiment.report.tables import list_shorter
from warmstart.experiment.verdict import ArmVerdict

__all__ = ["list_blocks"]

Block = tuple[str, list[str]]


def list_blocks(subject: Subject) -> list[Block]:
    """Plan and design first, the verdict last: it is what remains on the screen."""
    verdict, analysis = subject.verdict, subject.verdict.analysis
    blocks: list[Block] = [
        ("PLAN", describe_plan(subject.plan, subject.hash)),
        ("DESIGN", describe_design(subject)),
        ("ARMS", [describe_counts(arm) for arm in analysis.arms]),
    ]
    for arm, comparison in zip(verdict.arms, analysis.comparisons, strict=True):
        blocks += _list_comparison(arm, comparison)
    failed = [
        f"{one.treatment}: {check.name}: {check.finding}"
        for one in analysis.comparisons
        for check in one.checks
        if not check.ok
    ]
    blocks.append(("NOTES", list_notes(subject)))
    if failed:
        blocks.append(("FAILED", failed))
    if subject.smallest is not None:
        blocks.append(("SMALLEST", _list_smallest(subject)))
    verdicts = [f"{arm.conclusion.value}: {arm.sentence}" for arm in verdict.arms]
    blocks.append(("VERDICT", verdicts or [verdict.headline]))
    blocks.append(("NEXT", list_next_steps(subject)))
    return [(label, lines) for label, lines in blocks if lines]


def _list_comparison(arm: ArmVerdict, comparison: Comparison) -> list[Block]:
    blocks = [
        (NOUNS[effect.metric].upper(), _list_effect(effect, comparison))
        for effect in comparison.effects
    ]
    blocks[0][1].extend(f"{arm.arm} {line}" for line in arm.against_references)
    return [*blocks, ("LOOKS", [f"{arm.arm}: {describe_looks(comparison)}"])]


def _list_effect(effect: Effect, comparison: Comparison) -> list[str]:
    figures = show_effect(effect)
    ps = f"p {p_value(effect.p)}"
    if effect.p_sign_flip is not None:
        ps += f" (sign-flip {p_value(effect.p_sign_flip)})"
    if effect is comparison.primary and comparison.p_holm != effect.p:
        ps += f", Holm {p_value(comparison.p_holm)}"
    more = [part for part in (describe_cost(effect), show_visible(effect)) if part]
    return [
        f"{effect.treatment}: {figures[0].lower()}{figures[1:]}; {ps}",
        *(["; ".join(more)] if more else []),
        *describe_errors(effect),
    ]


def _list_smallest(subject: Subject) -> list[str]:
    table = list_shorter(subject)
    rows = [
        f"{arm}: {answer}; {tokens} tokens, harm {harm} ({span}), Holm p {p}"
        for arm, answer, tokens, harm, span, p, _ in table.rows
    ]
    return [*rows, answer_smallest(subject)]
