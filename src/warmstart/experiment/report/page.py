"""The report as one self-contained HTML page: the answer first, then everything it rests on."""

from __future__ import annotations

from collections.abc import Iterable

from warmstart._version import __version__
from warmstart.experiment._effects import margin_on_scale
from warmstart.experiment.analysis import Comparison
from warmstart.experiment.report import plots
from warmstart.experiment.report.figures import (
    NOUNS,
    TONES,
    effect_size,
    interval,
    visible_effect,
)
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
)
from warmstart.experiment.report.subject import Subject
from warmstart.experiment.report.tables import (
    Table,
    list_arms,
    list_checks,
    list_effects,
    list_looks,
    list_shorter,
    list_tasks,
)
from warmstart.experiment.verdict import Conclusion
from warmstart.report.page import (
    Html,
    build_page,
    callout,
    cards,
    columns,
    details,
    figure,
    legend,
    listing,
    note,
    paragraph,
    section,
    table,
)

__all__ = ["write_page"]

MAX_OPEN = 2
"""Treatment arms whose plots are shown at once; those of further ones are folded."""


def write_page(subject: Subject) -> str:
    """A whole document; foreign names in it are escaped by the page's own parts."""
    plan = subject.plan
    parts = [
        _answers(subject),
        _key_figures(subject),
        _effects(subject),
        _smallest(subject),
        _tasks(subject),
        _monitoring(subject),
        _learning(subject),
        _costs(subject),
        _fairness(subject),
        section("What this does not show", listing(list_limits(subject))),
    ]
    digest = subject.hash[:16]
    return build_page(
        f"Experiment {plan.name}",
        f"{NOUNS[plan.design.metric]}, {plan.design.direction.value} is better · "
        f"{', '.join(plan.design.arms)}",
        [part for part in parts if part],
        f"warmstart {__version__} · plan sha256:{digest} · registered {plan.registered}",
    )


def _answers(subject: Subject) -> Html:
    parts = []
    comparisons = subject.verdict.analysis.comparisons
    for verdict, comparison in zip(subject.verdict.arms, comparisons, strict=True):
        label = verdict.conclusion.value + (" · pilot" if verdict.pilot else "")
        if not subject.decided:
            label += " · unfinished"
        reasons = "; ".join(verdict.reasons)
        text = answer_arm(verdict, comparison)
        if reasons:
            text += f" Reason: {reasons}."
        parts.append(callout(TONES[verdict.conclusion], label, text))
    if not parts:
        parts.append(callout("open", "nothing compared", subject.verdict.headline))
    steps = list_next_steps(subject)
    after = Html("") if not steps else Html(f"<h2>Next</h2>{listing(steps)}")
    return Html("".join(parts) + after)


def _key_figures(subject: Subject) -> Html:
    analysis = subject.verdict.analysis
    tasks, calls = len(analysis.tasks), sum(arm.calls for arm in analysis.arms)
    planned = "as they came" if subject.observed else f"{subject.plan.tasks.count:,} planned"
    items = [
        (f"{tasks:,}", "tasks", planned),
        (f"{subject.done:,}", "sessions", f"of {subject.total:,}; {len(analysis.arms)} arms"),
        (f"{calls:,}", "calls", "example calls not counted"),
    ]
    for comparison in analysis.comparisons[:1]:
        effect = comparison.primary
        if effect.units and subject.verdict.conclusion is not Conclusion.INVALID:
            items.insert(0, (effect_size(effect), NOUNS[effect.metric], interval(effect)))
        items.append((visible_effect(effect), "smallest visible", "seen in 80 % of such runs"))
    return cards(items)


def _effects(subject: Subject) -> Html | None:
    drawn = [plots.plot_effects(subject, ratio=ratio) for ratio in (False, True)]
    captions = (
        (
            "★ is the registered metric; the strip is its margin, the dashed line no difference. "
            "Green is better, red is worse, grey shows nothing. An interval that touches the dashed "
            "line allows no claim."
        ),
        "Geometric means as ratios to the control, failures and timeouts included.",
    )
    shown = [figure(p, c) for p, c in zip(drawn, captions, strict=True) if p is not None]
    if not shown:
        return None
    against = [
        f"{arm.arm} {line}" for arm in subject.verdict.arms for line in arm.against_references
    ]
    lines = [
        f"{one.treatment}: {line}"
        for one in subject.verdict.analysis.comparisons
        for line in describe_errors(one.primary)
    ]
    return section(
        "Effects",
        *shown,
        *([paragraph("Is it the template, or any text?"), listing(against)] if against else []),
        *([listing(lines)] if lines else []),
        details("All figures", _table(list_effects(subject)), folded=True),
    )


def _smallest(subject: Subject) -> Html | None:
    found = subject.smallest
    if found is None:
        return None
    tone = "good" if found.chosen else "open"
    return section(
        "How small may it be?",
        callout(tone, "smallest" if found.chosen else "not shown", answer_smallest(subject)),
        _table(list_shorter(subject)),
        note("Harm is in the direction that is worse. Bounds are skew-corrected (Hall); p is"
             " against harm as large as the margin, with Holm's correction."),
    )  # fmt: skip


def _tasks(subject: Subject) -> Html | None:
    parts = [_task_part(subject, one) for one in subject.verdict.analysis.comparisons]
    shown = [part for part in parts if part is not None]
    return section("Task by task", *_fold(shown, subject)) if shown else None


def _task_part(subject: Subject, comparison: Comparison) -> Html | None:
    plot = plots.plot_tasks(subject, comparison)
    if plot is None:
        return None
    sign = 1.0 if subject.lower_is_better else -1.0
    gains = sum(sign * d < 0 for _, d in comparison.primary.differences)
    losses = sum(sign * d > 0 for _, d in comparison.primary.differences)
    same = len(comparison.primary.differences) - gains - losses
    caption = (
        f"Each line is a task: hollow is {comparison.primary.control}, full is"
        f" {comparison.treatment}. {gains} got better, {losses} worse, {same} stayed the same."
    )
    rows = details(
        f"The tasks of {comparison.treatment} in figures",
        _table(list_tasks(subject, comparison)),
        folded=True,
    )
    return Html(figure(plot, caption) + rows)


def _fold(parts: list[Html], subject: Subject) -> Iterable[Html]:
    """The first few open, the rest behind a word."""
    yield from parts[:MAX_OPEN]
    names = [one.treatment for one in subject.verdict.analysis.comparisons]
    for name, part in zip(names[MAX_OPEN:], parts[MAX_OPEN:], strict=False):
        yield details(name, part, folded=True)


def _monitoring(subject: Subject) -> Html | None:
    parts = [_watched(subject, one) for one in subject.verdict.analysis.comparisons]
    shown = [part for part in parts if part is not None]
    return section("While it ran", *_fold(shown, subject)) if shown else None


def _watched(subject: Subject, comparison: Comparison) -> Html | None:
    margin = margin_on_scale(subject.plan.design.metric, subject.plan.design.margin)
    sequence = plots.plot_sequence(comparison, margin)
    evidence = plots.plot_evidence(comparison)
    if sequence is None or evidence is None:
        return None
    looks = list_looks(comparison)
    return Html(
        columns(
            figure(sequence, f"{comparison.treatment}: the difference after every task. The band"
                   " holds at all times at once, so it is wider than the final interval."),
            figure(evidence, "Evidence against 'no difference' (e-value, log axis). Looking at it"
                   " after every task costs nothing."),
        )
        + paragraph(f"{comparison.treatment}: {describe_looks(comparison)}.")
        + (_table(looks) if looks.rows else "")
    )  # fmt: skip


def _learning(subject: Subject) -> Html | None:
    analysis = subject.verdict.analysis
    plot = plots.plot_learning(analysis)
    if plot is None:
        return None
    names = [arm.arm for arm in analysis.arms]
    caption = (
        "Error rate of the calls at each place in a session. Later places hold the longer sessions"
        " only, so a fall along a line is no proof of learning; arms may be compared at one place."
    )
    return section(
        "Within a session",
        Html(f"<figure>{legend(names)}{plot}<figcaption>{caption}</figcaption></figure>"),
        listing(describe_trend(arm) for arm in analysis.arms),
    )


def _costs(subject: Subject) -> Html:
    analysis = subject.verdict.analysis
    drawn = [
        figure(plot, caption)
        for plot, caption in (
            (plots.plot_costs(analysis, in_money=False),
             "Tokens per solved task: all tokens, those of failures too, over tasks solved."),
            (plots.plot_costs(analysis, in_money=True), "Dollars per solved task, likewise."),
        )
        if plot is not None
    ]  # fmt: skip
    return section(
        "What happened in each arm",
        *([columns(*drawn)] if drawn else []),
        _table(list_arms(subject)),
        note("Crashes and timeouts stay in as failures. 'Copied values': sessions whose own calls"
             " used a value from the examples, which may be right or a mistake."),
    )  # fmt: skip


def _fairness(subject: Subject) -> Html:
    return section(
        "Plan, design and fairness",
        listing([*describe_plan(subject.plan, subject.hash), *describe_design(subject)]),
        paragraph("Exclusions and deviations:"),
        listing(list_notes(subject)),
        _table(list_checks(subject)),
    )


def _table(found: Table) -> Html:
    return table(found.names, found.rows, text_columns=found.text_columns) if found.rows else Html()
