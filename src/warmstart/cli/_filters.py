"""The filters that ``sessions list`` and ``sessions export`` share, as click options."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any, TypeVar

import click

_UNIT_SECONDS = {"m": 60, "h": 3600, "d": 86_400, "w": 604_800}
_AGE = re.compile(r"(\d{1,6})([mhdw])")
_Command = TypeVar("_Command", bound=Callable[..., Any])


class Moment(click.ParamType):  # type: ignore[type-arg] # generic only since click 8.5
    """A date, a date and time, or an age such as 7d; becomes seconds since the epoch."""

    name = "when"

    def __init__(self, *, end_of_day: bool = False) -> None:
        self.end_of_day = end_of_day

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        """Times without a zone are local."""
        if isinstance(value, float):
            return value
        age = _AGE.fullmatch(value)
        if age:
            return time.time() - int(age[1]) * _UNIT_SECONDS[age[2]]
        try:
            moment = datetime.fromisoformat(value)
            if self.end_of_day and len(value) == len("2026-01-31"):
                moment += timedelta(days=1)
            return moment.timestamp()
        except (ValueError, OverflowError, OSError):
            self.fail(f"{value!r} is no date (2026-01-31) and no age (12h, 7d, 2w)", param, ctx)


_OPTIONS = (
    click.option("--format", metavar="NAME", help="Read PATHs as this format; else detected."),
    click.option("--source", metavar="NAME", help="Only sessions of this format."),
    click.option("--agent", metavar="NAME", help="Only sessions of this agent."),
    click.option("--model", metavar="TEXT", help="Only models whose name contains TEXT."),
    click.option("--project", metavar="TEXT", help="Only projects whose path contains TEXT."),
    click.option("--since", type=Moment(), help="Active since a date, or an age: 12h, 7d, 2w."),
    click.option("--until", type=Moment(end_of_day=True), help="Started by then."),
    click.option("--tool", metavar="NAME", help="Only sessions that called NAME (* matches any)."),
    click.option("--min-messages", type=click.IntRange(min=0), metavar="N"),
    click.option("--max-messages", type=click.IntRange(min=0), metavar="N"),
    click.option("--errors", "errors_only", is_flag=True, help="Only sessions with failed calls."),
)


def session_filters(command: _Command) -> _Command:
    """Give a command every filter; they arrive as the fields of a Selection."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command
