"""Reads the two sides of ``warmstart compare`` and prints them.

JSON is one object: ``schema_version``, ``comparison`` and ``skipped``.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from rich.text import Text

from warmstart.app import Workspace
from warmstart.app.comparing import compare_sides
from warmstart.cli._filters import Moment
from warmstart.cli._output import list_skips, open_console, print_json, report_skips
from warmstart.cli._profile_text import (
    RATE_COLUMNS,
    heading,
    p_words,
    percent,
    points,
    rate_cells,
    say,
    show_table,
)
from warmstart.cli._text import clean
from warmstart.errors import NotFoundError, UsageError
from warmstart.model import Selection
from warmstart.profile.comparison import Comparison, ComparisonVerdict, Side
from warmstart.profile.document import to_document
from warmstart.profile.rules import Rules
from warmstart.profile.sums import Contrast
from warmstart.sources import ReadLog

if TYPE_CHECKING:
    from rich.console import Console

SCHEMA_VERSION = 1
WHOLE_FROM = 1000
"""Means from here on are shown without a fraction."""
TEXT_FIELDS = frozenset({"source", "agent", "model", "project", "tool", "format"})
NUMBER_FIELDS = frozenset({"min_messages", "max_messages"})
TIME_FIELDS = frozenset({"since", "until"})


def run_compare(
    texts: tuple[str, str], paths: tuple[str, ...], rules: Rules, *, as_json: bool, quiet: bool
) -> None:
    """Compare, then print.

    Raises:
        NotFoundError: a side has no session.
    """
    within = Selection(paths=paths)
    sides = [(text, parse_side(text, within)) for text in texts]
    log = ReadLog()
    try:
        found = compare_sides(Workspace.open(), sides, within, log, rules=rules)
    except NotFoundError:
        report_skips(log, quiet=quiet)
        raise
    if as_json:
        print_json(
            {
                "schema_version": SCHEMA_VERSION,
                "comparison": _document(found),
                "skipped": list_skips(log),
            }
        )
    else:
        print_comparison(open_console(), found)
    report_skips(log, quiet=quiet)


def parse_side(text: str, within: Selection) -> Selection | str:
    """A side as a user wrote it: a filter, a path, or else a session's id.

    Raises:
        UsageError: a filter has an unknown name or a value that cannot be right.
    """
    if not text.strip():
        raise UsageError("a side to compare is empty", hint="warmstart compare --help")
    if "=" in text:
        fields: dict[str, Any] = {}
        for part in text.split(","):
            name, sign, value = part.strip().partition("=")
            if not sign or not value:
                raise UsageError(f"{part!r} is no NAME=VALUE", hint="warmstart compare --help")
            fields.update(_parse_field(name.replace("-", "_"), value))
        return replace(within, **fields)
    if Path(text).exists():
        return replace(within, paths=(text,))
    return text


def _parse_field(name: str, value: str) -> dict[str, Any]:
    try:
        if name == "path":
            return {"paths": (value,)}
        if name in TEXT_FIELDS:
            return {name: value}
        if name in NUMBER_FIELDS:
            return {name: int(value)}
        if name in TIME_FIELDS:
            return {name: Moment(end_of_day=name == "until").convert(value, None, None)}
    except (ValueError, click.UsageError) as error:
        words = error.message if isinstance(error, click.UsageError) else f"{value!r} is no number"
        raise UsageError(f"filter {name!r}: {words}", hint="warmstart compare --help") from error
    known = sorted(TEXT_FIELDS | NUMBER_FIELDS | TIME_FIELDS | {"path"})
    raise UsageError(f"there is no filter {name!r}", hint=f"filters are {', '.join(known)}")


def _document(found: Comparison) -> dict[str, Any]:
    made: dict[str, Any] = to_document(found)
    for side in ("first", "second"):
        made[side].pop("tool_sums")
    return made


def print_comparison(console: Console, found: Comparison) -> None:
    """Verdict, rates, then what else differs."""
    decided = found.verdict is not ComparisonVerdict.INCONCLUSIVE
    label = f"{found.verdict} (pilot)" if found.pilot else str(found.verdict)
    console.print(Text(label, style="bold green" if decided else "bold"))
    say(console, found.sentence)
    say(console, "; ".join(_basis(found)), "dim")
    units = f"{found.unit.partition(' ')[0].upper()}S"
    show_table(
        console,
        ("", units, *RATE_COLUMNS[1:]),
        [
            [f"A {clean(found.first.label)}", *rate_cells(found.first_rate)],
            [f"B {clean(found.second.label)}", *rate_cells(found.second_rate)],
        ],
    )
    detail = "a template or model may change how many calls are made"
    heading(console, "Beside it", f"all sessions of both sides; {detail}")
    rows = zip(_facts(found.first), _facts(found.second), strict=True)
    show_table(console, ("", "A", "B"), [[name, one, two] for (name, one), (_, two) in rows])
    if found.tools:
        heading(
            console, "By tool", "all sessions; each on its own, not adjusted for how many there are"
        )
        made = [
            [t.tool, *rate_cells(t.first)[1:4], *rate_cells(t.second)[1:4], _cell(t.difference)]
            for t in found.tools
        ]
        names = ("TOOL", "CALLS A", "ERR", "RATE A", "CALLS B", "ERR", "RATE B", "B - A")
        show_table(console, names, made)


def _cell(found: Contrast) -> str:
    return "-" if math.isnan(found.estimate) else points(found)


def _basis(found: Comparison) -> Iterator[str]:
    """The effect, what such data could show, and what it rests on."""
    d = found.difference
    if not math.isnan(d.estimate):
        exact = "" if found.p_sign_flip is None else f", sign-flip {p_words(found.p_sign_flip)}"
        yield f"B - A {points(d)}, {p_words(d.p)}{exact}"
        yield f"MDE80 {100 * d.mde80:.1f} points"
    yield f"unit: {found.unit}, {found.units[0]:,} and {found.units[1]:,}"
    if any(found.unpaired):
        one, two = found.unpaired
        yield f"left out as unpaired: {one:,} tasks of A, {two:,} of B"


def _facts(side: Side) -> list[tuple[str, str]]:
    profile = side.profile
    totals = profile.totals
    sessions = int(totals.get("sessions", 0))
    tokens = sum(totals.get(name, 0) for name in ("input", "output", "cache_read", "cache_write"))
    repaired = sum(tool.repaired for tool in profile.tools)
    errors = profile.rate.errors

    def each(value: float) -> str:
        if not sessions:
            return "-"
        mean = value / sessions
        return f"{mean:,.1f}" if mean < WHOLE_FROM else f"{mean:,.0f}"

    return [
        ("sessions", f"{sessions:,}"),
        ("calls per session", each(profile.rate.calls)),
        ("errors per session", each(errors)),
        ("messages per session", each(totals.get("messages", 0))),
        ("tokens per session", each(tokens) if tokens else "-"),
        ("failures repaired", percent(repaired / errors) if errors else "-"),
        ("unanswered calls", f"{profile.statuses.get('unanswered', 0):,}"),
        ("rejected calls", f"{profile.statuses.get('rejected', 0):,}"),
    ]
