"""The page of one session: its key figures, every call in order, its tools and its repairs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from warmstart.model import SessionFacts
from warmstart.profile.page_parts import FOOTER, About, percent
from warmstart.profile.proficiency import PROFICIENCY_FORMULA, PROFICIENCY_TERMS
from warmstart.profile.rules import DEFAULT_RULES, Rules
from warmstart.profile.scan import scan_calls
from warmstart.profile.session import SessionProfile
from warmstart.profile.wording import count
from warmstart.report.page import Html, build_page, cards, figure, note, paragraph, section, table
from warmstart.report.strip import MAX_TICKS, Tick, draw_strip
from warmstart.report.svg import Mark, draw_forest

__all__ = ["Judged", "build_session_page", "list_judged"]

MAX_TOOLS = 14


class Judged(NamedTuple):
    """A judged call, as much of it as a page names."""

    tool: str
    position: int
    """In the session, among all calls."""


def list_judged(facts: SessionFacts, rules: Rules = DEFAULT_RULES) -> list[Judged]:
    """The judged calls of a session, in the order of ``SessionProfile.outcomes``."""
    return [Judged(call.tool, call.position) for call in scan_calls(facts, rules, {}).calls]


def build_session_page(
    profile: SessionProfile, calls: Sequence[Judged] = (), about: About | None = None
) -> str:
    """The page of one session; with ``calls``, every tick of the strip names its tool."""
    about = about or About()
    title = profile.title or profile.session_id
    name = profile.session_id if profile.title else ""
    who = [name, profile.agent, profile.model or "", profile.project or ""]
    size = f"{count(profile.messages, 'message')}, {count(profile.calls, 'call')}"
    parts = [
        cards(_list_cards(profile)),
        note(f"Proficiency: {PROFICIENCY_TERMS}.") if profile.proficiency is not None else Html(""),
        _strip_section(profile, calls),
        _tools_section(profile),
        _repairs_section(profile),
        _context_section(profile),
    ]
    under = [
        ", ".join(part for part in who if part),
        ", ".join(part for part in (size, about.days) if part),
        *about.lines,
    ]
    return build_page(title, under, parts, f"{FOOTER}, over the calls of this session alone.")


def _list_cards(profile: SessionProfile) -> Iterable[tuple[str, str, str]]:
    rate = profile.rate
    if not rate.calls:
        yield "-", "error rate", "no call was judged"
        yield str(profile.task_type or "-"), "task type", count(profile.calls, "call")
        return
    value = percent(rate.rate) if rate.errors else f"< {percent(rate.high)}"
    span = f"95 % CI {100 * rate.low:.1f}-{100 * rate.high:.1f} %"
    yield value, "error rate", f"{rate.errors:,} of {count(rate.calls, 'judged call')}, {span}"
    yield percent(profile.repair_rate), "of failures repaired", "within the next 10 calls"
    yield str(profile.task_type or "-"), "task type", count(profile.calls, "call")
    early, late = percent(profile.early_rate), percent(profile.late_rate)
    yield late, "errors in the last fifth", f"{early} in the first; final call left out"
    if profile.proficiency is not None:
        yield f"{profile.proficiency:.2f}", "proficiency", PROFICIENCY_FORMULA


def _strip_section(profile: SessionProfile, calls: Sequence[Judged]) -> Html:
    if not profile.outcomes:
        return Html("")
    named = calls if len(calls) == len(profile.outcomes) else [None] * len(profile.outcomes)
    ticks = [
        Tick(letter == "x", _describe(index, letter, call))
        for index, (letter, call) in enumerate(zip(profile.outcomes, named, strict=True))
    ]
    joined = " Neighbours share a tick, which is as tall as their share of failures."
    caption = (
        "Every judged call in its order; failed ones are red and taller."
        + (joined if len(ticks) > MAX_TICKS else " Each names its tool when pointed at.")
    )  # fmt: skip
    plot = draw_strip(ticks, "Judged calls in their order, failed ones taller", "judged call")
    return section("Where in the session did calls fail?", figure(plot, caption))


def _describe(index: int, letter: str, call: Judged | None) -> str:
    word = "failed" if letter == "x" else "ok"
    if call is None:
        return f"judged call {index + 1}: {word}"
    return f"#{call.position} {call.tool}: {word}"


def _tools_section(profile: SessionProfile) -> Html:
    if not profile.tools:
        return Html("")
    marks = [
        Mark(label=t.tool, value=t.rate, low=t.low, high=t.high,
             note=f"{t.errors:,} of {t.ok + t.errors:,}")
        for t in profile.tools[:MAX_TOOLS]
    ]  # fmt: skip
    if all(mark.value is None for mark in marks):
        return section("Tools", paragraph("No call of these tools was judged ok or failed."))
    more = len(profile.tools) - len(marks)
    caption = "Error rate per tool with Wilson 95 % intervals, the most used first." + (
        f" {count(more, 'more tool')} not shown." if more else ""
    )
    return section("Tools", figure(draw_forest(marks, "Error rate per tool"), caption))


def _repairs_section(profile: SessionProfile) -> Html:
    if not profile.recoveries:
        return Html("")
    rows = [
        (r.tool, r.error_class, r.how, r.repaired_by, f"#{r.position}", f"#{r.repaired_at}")
        for r in profile.recoveries
    ]
    names = ("failed", "with", "repaired by", "tool", "failed at", "worked at")
    return section("Repairs", table(names, rows, text_columns=4))


def _context_section(profile: SessionProfile) -> Html:
    if not profile.markers:
        return Html("")
    rows = [(marker.value, str(marker.kind), f"{marker.uses:,}") for marker in profile.markers]
    return section("Context", table(("marker", "kind", "uses"), rows, text_columns=2))
