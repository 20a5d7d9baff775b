"""Error rates in sentences, in tables and in plots, worded the same wherever they stand."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from warmstart.present.document import Column, Table, list_more
from warmstart.present.text import count, interval, percent, points, points_span

if TYPE_CHECKING:
    from warmstart.present.plots import PlotMark
    from warmstart.profile import Contrast, Group, Rate

__all__ = [
    "RATE_COLUMNS",
    "REPAIR_MEANING",
    "describe_contrast",
    "describe_rate",
    "list_rate_cells",
    "make_mark",
    "make_rate_table",
    "show_rate",
]

RATE_COLUMNS = (
    Column("sessions", right=True),
    Column("calls", right=True),
    Column("errors", right=True),
    Column("rate", right=True),
    Column("95 % CI", right=True),
)
REPAIR_MEANING = "the tool works again within 10 calls, or another of its kind within 3"


def show_rate(rate: Rate) -> str:
    """A rate alone; with no error at all, the bound that the data allow."""
    if rate.rate is None:
        return "-"
    return percent(rate.rate) if rate.errors else f"below {percent(rate.high)}"


def describe_rate(rate: Rate, noun: str = "judged call") -> str:
    """What a rate rests on: interval and counts."""
    if not rate.calls:
        return "no call was judged ok or failed"
    of = f"{rate.errors:,} of {count(rate.calls, noun)} failed"
    if not rate.errors:
        return f"none of {count(rate.calls, noun)} failed"
    return f"95 % CI {interval(rate.low, rate.high)}, {of}"


def list_rate_cells(rate: Rate) -> list[str]:
    """The cells of ``RATE_COLUMNS``."""
    if rate.rate is None:
        return [f"{rate.sessions:,}", "0", "0", "-", "-"]
    shown = percent(rate.rate) if rate.errors else f"<{percent(rate.high)}"
    bounds = interval(rate.low, rate.high) if rate.errors else "no error"
    return [f"{rate.sessions:,}", f"{rate.calls:,}", f"{rate.errors:,}", shown, bounds]


def make_rate_table(
    name: str, groups: Sequence[Group], *, limit: int | None = None, noun: str = ""
) -> Table:
    """Groups with their rates; what is beyond the limit is counted under the table."""
    shown = groups[:limit]
    return Table(
        columns=(Column(name, style="name"), *RATE_COLUMNS),
        rows=[[group.label, *list_rate_cells(group.rate)] for group in shown],
        more=list_more(len(shown), len(groups), noun),
    )


def make_mark(label: str, rate: Rate, note: str = "", *, step: str = "") -> PlotMark:
    """A rate as it is plotted."""
    from warmstart.present.plots import PlotMark  # noqa: PLC0415 - only where something is drawn

    return PlotMark(
        label=label, value=rate.rate, low=rate.low, high=rate.high, note=note, step=step
    )


def describe_contrast(found: Contrast) -> str:
    """A difference in percentage points, with its interval."""
    return f"{points(found.estimate)} {points_span(found.low, found.high)}"
