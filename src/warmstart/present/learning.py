"""Whether the agent learns within a session, and the statistics behind a profile, as blocks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial

from warmstart.present.document import Block, Callout, Column, Heading, Plot, Table, Text, Tone
from warmstart.present.plots import PlotMark, draw_forest
from warmstart.present.rates import describe_contrast, make_rate_table
from warmstart.present.text import (
    count,
    p_value,
    p_words,
    percent,
    points,
    points_span,
    span,
)
from warmstart.profile import (
    PROFICIENCY_FORMULA,
    PROFICIENCY_TERMS,
    Group,
    Learning,
    LearningVerdict,
    Profile,
    Trend,
)

__all__ = ["list_details", "show_learning"]

TONES: Mapping[LearningVerdict, Tone] = {
    LearningVerdict.LEARNING: "good",
    LearningVerdict.WORSENING: "bad",
    LearningVerdict.SELECTION: "warn",
    LearningVerdict.BOTH: "warn",
    LearningVerdict.INCONCLUSIVE: "neutral",
}


def show_learning(learning: Learning) -> Iterator[Block]:
    """The answer; the first sentence says it, the rest is among the details."""
    first, stop, _ = learning.sentence.partition(". ")
    yield Heading("Does it learn, or do good sessions simply last longer?")
    yield Callout(
        tone=TONES[learning.verdict],
        label=str(learning.verdict),
        content=first + stop.strip(),
    )


def list_details(profile: Profile) -> Iterator[Block]:
    """What the figures rest on."""
    rate, learning = profile.rate, profile.learning
    yield Text("; ".join(_count_outcomes(profile)))
    if rate.errors:
        icc = "-" if rate.icc is None else f"{rate.icc:.2f}"
        yield Text(
            f"Calls of a session go together: ICC {icc}, design effect {rate.deff:.1f}, so"
            f" {count(rate.calls, 'call')} are worth {rate.n_eff:,.0f} independent ones."
        )
    if profile.proficiency is not None:
        terms = f"{PROFICIENCY_FORMULA}; {PROFICIENCY_TERMS}"
        yield Text(f"Proficiency {profile.proficiency:.2f} = {terms}.")
    yield Text(learning.sentence)
    yield from _show_trends(learning.trends)
    if learning.first_calls:
        yield Text("Error rate in the first 50 calls, by how long the session became:")
        groups = [Group(label=row.label, rate=row.rate) for row in learning.first_calls]
        yield make_rate_table("eventual length", groups)
        yield Text(
            "All of these sessions had the same 50 calls to learn in, so a gap between the rows is"
            " not learning. Sessions of 50 calls or fewer are left out.",
            "muted",
        )
    yield from _show_changes(profile)


def _count_outcomes(profile: Profile) -> Iterator[str]:
    statuses = sorted(profile.statuses.items(), key=lambda item: -item[1])
    yield "Calls: " + ", ".join(f"{name} {number:,}" for name, number in statuses if number)
    totals = profile.totals
    for name, words in (
        ("trivial_calls", "of housekeeping tools left out"),
        ("compactions", "compactions"),
        ("warmups", "warm-up messages, never counted"),
    ):
        if totals.get(name):
            yield f"{int(totals[name]):,} {words}"


def _show_trends(trends: Sequence[Trend]) -> Iterator[Block]:
    if not any(trend.informative for trend in trends):
        yield Text("No session has both failures and successes of one tool: no trend.", "muted")
        return
    marks = [
        PlotMark(
            label=trend.variant,
            value=trend.log_odds if trend.informative else None,
            low=trend.low,
            high=trend.high,
            note=f"{count(trend.informative, 'session')}, {count(trend.errors, 'error')}",
            tone="dot" if trend.variant == "guard 1" else "faint",
        )
        for trend in trends
    ]
    yield Plot(
        draw=partial(draw_forest, marks, "Change of the log odds of an error within sessions",
                     zero=True, ends=("errors fall", "errors rise")),
        caption="Change of the log odds of an error as a session goes on, per step of"
        " log2(1 + position/10), within session and tool. The guard is how many last calls of"
        " each tool are left out, because how sessions end would bend the trend.",
    )  # fmt: skip
    yield Table(
        columns=(Column("within sessions", style="name"), Column("informative", right=True),
                 Column("errors", right=True, priority=1), Column("log odds", right=True),
                 Column("95 % CI", right=True), Column("p", right=True)),
        rows=[
            [t.variant, f"{t.informative:,}", f"{t.errors:,}", f"{t.log_odds:+.2f}",
             span(t.low, t.high), p_value(t.p)]
            for t in trends
        ],
    )  # fmt: skip
    for trend in trends:
        if trend.p_sign_flip is not None:
            yield Text(f"{trend.variant} by sign flips: {p_words(trend.p_sign_flip)}", "muted")


def _show_changes(profile: Profile) -> Iterator[Block]:
    found, gain = profile.length_contrast, profile.gain
    if found is not None:
        compared = [group.rate for group in profile.by_length if group.rate.calls][-2:]
        held = count(sum(rate.sessions for rate in compared), "session")
        yield Text(
            f"Longest sessions minus the next: {describe_contrast(found)}, {p_words(found.p)}"
            f" ({held})."
        )
    if gain is not None:
        yield Text(
            f"First fifth of a session {percent(gain.early)}, last fifth {percent(gain.late)}"
            f" (final call left out); mean change per session {points(gain.mean_change)}"
            f" {points_span(gain.low, gain.high)}, {count(gain.sessions, 'session')}."
        )
