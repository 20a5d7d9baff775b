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
    list_references,
)
from warmstart.experiment.report.parts import (
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
from warmstart.experiment.report.subject import Subject
from warmstart.experiment.report.tables import (
    Table,
    list_arms,
    list_checks,
    list_effects,
    list_looks,
    list_shorter,
    list_tasks,
    list_warmups,
)
from warmstart.experiment.verdict import ArmVerdict, Conclusion

__all__ = ["write_page"]

ONLY_FOR_REPAIR = (
    "The comparison is not valid: what follows helps to find out why and answers nothing."
)
MAX_CALLOUTS = 3
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
    comparisons = subject.verdict.analysis.comparisons
    pairs = list(zip(subject.verdict.arms, comparisons, strict=True))
    parts = []
    if subject.smallest is not None:
        tone = "good" if subject.smallest.chosen else "open"
        label = "smallest" if subject.smallest.chosen else "not shown"
        parts.append(callout(tone, label, answer_smallest(subject)))
    elif len(pairs) > MAX_CALLOUTS:
        parts.append(listing(f"{v.conclusion.value}: {answer_arm(v, c)}" for v, c in pairs))
    else:
        parts += [_answer(subject, verdict, comparison) for verdict, comparison in pairs]
    if not pairs:
        parts.append(callout("open", "nothing compared", subject.verdict.headline))
    return Html("".join(parts))


def _answer(subject: Subject, verdict: ArmVerdict, comparison: Comparison) -> Html:
    label = verdict.conclusion.value + (" · pilot" if verdict.pilot else "")
    if not subject.decided:
        label += " · unfinished"
    text = answer_arm(verdict, comparison)
    if verdict.reasons:
        text += f" Reason: {'; '.join(verdict.reasons)}."
    return callout(TONES[verdict.conclusion], label, text)


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
            detail = f"{effect.treatment}: {interval(effect)}"
            items.insert(0, (effect_size(effect), NOUNS[effect.metric], detail))
        items.append((visible_effect(effect), "smallest visible", "effect, with 80 % power"))
    steps = list_next_steps(subject)
    after = f"<p><strong>Next</strong></p>{listing(steps)}" if steps else ""
    return Html(cards(items) + after)


def _effects(subject: Subject) -> Html | None:
    drawn = [
        plots.plot_primary(subject),
        plots.plot_effects(subject, ratio=False),
        plots.plot_effects(subject, ratio=True),
    ]
    captions = (
        (
            f"{NOUNS[subject.plan.design.metric]}: the registered metric. The strip is the margin,"
            " the dashed line no difference. Green is better, red is worse, blue shows neither."
        ),
        "Other rates, in points. They are no claims, so they have no colour.",
        "Costs as ratios to the control (geometric means), failures and timeouts included.",
    )
    shown = [figure(p, c) for p, c in zip(drawn, captions, strict=True) if p is not None]
    if not shown:
        return None
    broken = any(arm.conclusion is Conclusion.INVALID for arm in subject.verdict.arms)
    return section(
        "Effects",
        *([note(ONLY_FOR_REPAIR)] if broken else []),
        *shown,
        *_beside(subject),
        details("All figures", _table(list_effects(subject)), folded=True),
    )


def _beside(subject: Subject) -> Iterable[Html]:
    """Comparisons with other text, and the counts behind the rates."""
    comparisons = subject.verdict.analysis.comparisons
    against = [line for one in comparisons for line in list_references(one)]
    if against:
        yield paragraph("Is it the template, or any text?")
        yield listing(against)
    lines = [f"{one.treatment}: {line}" for one in comparisons
             for line in describe_errors(one.primary)]  # fmt: skip
    if lines:
        folded = len(comparisons) > MAX_OPEN
        yield details("Counts behind the rates", listing(lines), folded=folded)


def _smallest(subject: Subject) -> Html | None:
    if subject.smallest is None:
        return None
    return section(
        "How small may it be?",
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
        _table(list_warmups(subject)),
        note("Crashes and timeouts stay in as failures. A copied value is one of the examples"
             " in a session's own calls; it may be right or a mistake."),
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
