"""Options that commands about sessions share: which sessions, and which tools count as what."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterable
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, TypeVar

import click

from warmstart.errors import UsageError

if TYPE_CHECKING:
    from warmstart.app import ToolRules, Workspace

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
            known = "a date (2026-01-31) or an age (12h, 7d, 2w)"
            self.fail(f"{value!r} must be {known}", param, ctx)


_FILTERS = (
    click.option("--format", metavar="NAME", help="Read PATHs as this format; else detected."),
    click.option("--source", metavar="NAME", help="Only sessions of this format."),
    click.option("--agent", metavar="NAME", help="Only sessions of this agent."),
    click.option("--model", metavar="TEXT", help="Only models whose name contains TEXT."),
    click.option("--project", metavar="TEXT", help="Only projects whose path contains TEXT."),
    click.option("--platform", metavar="NAME", help="Only sessions held there: cli, telegram."),
    click.option("--since", type=Moment(), help="Active since a date, or an age: 12h, 7d, 2w."),
    click.option("--until", type=Moment(end_of_day=True), help="Started by then."),
    click.option("--tool", metavar="NAME", help="Only sessions that called NAME (* matches any)."),
    click.option("--min-messages", type=click.IntRange(min=0), metavar="N"),
    click.option("--max-messages", type=click.IntRange(min=0), metavar="N"),
    click.option("--errors", "errors_only", is_flag=True, help="Only sessions with failed calls."),
)
_RULES = (
    click.option("--count-trivial", is_flag=True,
                 help="Count housekeeping tools (todo, memory, clarify ...) in rates too."),
    click.option("--trivial", multiple=True, metavar="TOOL",
                 help="Leave this tool out of rates as well; may be repeated."),
    click.option("--tool-type", "tool_types", multiple=True, metavar="TOOL=TYPE",
                 help="Count TOOL as code, file, research, terminal, browser, meta or other."),
)  # fmt: skip


def session_filters(command: _Command) -> _Command:
    """Give a command every filter; they arrive as the fields of a Selection."""
    return _give(command, _FILTERS)


def rule_options(command: _Command) -> _Command:
    """Give a command what decides which tools count; ``take_rules`` makes rules of it."""
    return _give(command, _RULES)


def _give(command: _Command, options: Iterable[Callable[[_Command], _Command]]) -> _Command:
    for option in reversed(list(options)):
        command = option(command)
    return command


def take_rules(workspace: Workspace, options: dict[str, Any]) -> ToolRules:
    """The rules a user asked for; their options are taken out of ``options``.

    Raises:
        UsageError: a tool type is not written TOOL=TYPE or does not exist.
    """
    from warmstart.app import load_rules  # noqa: PLC0415 - loads the profile stage

    names = ("count_trivial", "trivial", "tool_types")
    return load_rules(workspace, **{name: options.pop(name) for name in names})


def refuse_empty(items: Iterable[str | None]) -> None:
    """Refuse an empty argument, as of an unset variable, which would mean this folder.

    Raises:
        UsageError: an item is empty.
    """
    if any(item is not None and not item.strip() for item in items):
        raise UsageError("an argument is empty", hint="name an id or a path; . is this folder")
