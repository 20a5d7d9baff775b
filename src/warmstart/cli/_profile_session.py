"""The profile of one session on the terminal."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import TYPE_CHECKING

from rich.text import Text

from warmstart.cli._profile_text import (
    heading,
    interval,
    percent,
    rate_words,
    say,
    show_table,
    sparkline,
)
from warmstart.cli._text import clean, count, one_line, readable_duration
from warmstart.profile.proficiency import PROFICIENCY_FORMULA, PROFICIENCY_TERMS
from warmstart.profile.session import SessionProfile

if TYPE_CHECKING:
    from rich.console import Console

MAX_ROWS = 10
SPARK_CELLS = 40


def print_session_profile(console: Console, profile: SessionProfile) -> None:
    """Everything about one session."""
    _print_about(console, profile)
    _print_rates(console, profile)
    _print_tools(console, profile)
    _print_repairs(console, profile)
    _print_user(console, profile)


def _print_about(console: Console, profile: SessionProfile) -> None:
    console.print(Text(clean(profile.session_id), style="bold cyan"), soft_wrap=True)
    parts = [profile.agent, profile.model or "", profile.project or ""]
    say(console, ", ".join(part for part in parts if part), "dim")
    if profile.title:
        say(console, one_line(profile.title))
    say(console, ", ".join(_amounts(profile)))
    if profile.warmups:
        say(console, f"{count(profile.warmups, 'warm-up message')}, never counted", "dim")


def _amounts(profile: SessionProfile) -> Iterator[str]:
    """How much there was of everything; what is not known is left out."""
    left_out = f" ({profile.trivial_calls:,} of housekeeping tools left out)"
    yield count(profile.messages, "message")
    yield f"{count(profile.turns, 'turn')} of the user"
    yield count(profile.calls, "call") + (left_out if profile.trivial_calls else "")
    if profile.seconds:
        yield readable_duration(profile.seconds)
    if profile.tokens.total:
        yield count(profile.tokens.total, "token")
    if profile.compactions:
        yield count(profile.compactions, "compaction")


def _print_rates(console: Console, profile: SessionProfile) -> None:
    others = ", ".join(f"{name} {number}" for name, number in profile.statuses.items() if number)
    line = Text("error rate ", style="bold").append(rate_words(profile.rate), style="bold")
    console.print(line.append(f"  {others or 'no calls'}", style="not bold"), soft_wrap=True)
    if profile.outcomes:
        say(console, f"errors over the session  {_spark(profile.outcomes)}")
    if profile.gain is not None:
        say(
            console,
            f"first fifth {percent(profile.early_rate)}, last fifth {percent(profile.late_rate)}"
            f" (final call left out), gain {100 * profile.gain:+.1f} points",
        )
    kind = profile.task_type or "-"
    say(console, f"task type {kind}, dominant tool type {profile.dominant_tool_type or '-'}")
    if profile.proficiency is not None:
        say(console, f"proficiency {profile.proficiency:.2f} = {PROFICIENCY_FORMULA}")
        say(console, PROFICIENCY_TERMS, "dim")


def _spark(outcomes: str) -> str:
    """Share of errors in equal stretches of the session."""
    cells = min(SPARK_CELLS, len(outcomes))
    edges = [index * len(outcomes) // cells for index in range(cells + 1)]
    parts = [outcomes[a:b] for a, b in pairwise(edges)]
    return sparkline([part.count("x") / len(part) for part in parts])


def _print_tools(console: Console, profile: SessionProfile) -> None:
    if not profile.tools:
        return
    heading(console, "Tools")
    rows = [
        [one.tool, one.type, f"{one.calls:,}", percent(one.share), f"{one.ok:,}",
         f"{one.errors:,}", percent(one.rate), interval(one.low, one.high)]
        for one in profile.tools[:MAX_ROWS]
    ]  # fmt: skip
    names = ("TOOL", "TYPE", "CALLS", "SHARE", "OK", "ERRORS", "RATE", "95 % CI")
    show_table(console, names, rows, texts=2)
    if profile.error_classes:
        words = ", ".join(f"{name} {number}" for name, number in profile.error_classes.items())
        say(console, f"error classes: {words}", "dim")
    if profile.masked:
        say(console, f"{count(profile.masked, 'call')} hid the exit code of the command", "dim")


def _print_repairs(console: Console, profile: SessionProfile) -> None:
    if profile.recoveries:
        heading(console, "Repairs", f"{percent(profile.repair_rate)} of the failures")
        rows = [
            [f"#{one.position}", one.tool, one.error_class, one.how, one.repaired_by,
             f"#{one.repaired_at}", f"{one.after}"]
            for one in profile.recoveries[:MAX_ROWS]
        ]  # fmt: skip
        names = ("AT", "FAILED", "WITH", "REPAIRED BY", "TOOL", "AT", "CALLS LATER")
        show_table(console, names, rows, texts=5)
    if profile.repeats:
        heading(console, "Identical calls", f"{count(profile.repeated_calls, 'repeat')}")
        rows = [
            [one.tool, f"{one.times}", f"{one.errors}", f"#{one.first}"]
            for one in profile.repeats[:MAX_ROWS]
        ]
        show_table(console, ("TOOL", "TIMES", "ERRORS", "FIRST AT"), rows)


def _print_user(console: Console, profile: SessionProfile) -> None:
    heading(console, "User and context")
    say(
        console,
        f"request style {profile.style or '-'}, feedback style {profile.feedback or '-'},"
        f" preferred tools {', '.join(profile.preferred_tools) or '-'}",
    )
    if profile.domains:
        say(console, f"domains: {', '.join(profile.domains[:8])}")
    rows = [[m.value, str(m.kind), f"{m.uses}"] for m in profile.markers[:MAX_ROWS]]
    show_table(console, ("MARKER", "KIND", "USES"), rows, texts=2)
