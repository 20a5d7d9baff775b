"""Options that several commands on experiments have: what is compared, and who runs it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

__all__ = ["METRICS", "plan_options", "runner_options"]

METRICS = ["error_rate", "success", "turns", "tokens", "seconds"]
_Command = TypeVar("_Command", bound=Callable[..., Any])

_PLAN = (
    click.option("--tasks", "tasks_file", type=click.Path(dir_okay=False, path_type=Path),
                  metavar="FILE", help="Tasks, one JSON object per line."),
    click.option("--split", default="test", show_default=True, metavar="NAME",
                  help="Only tasks of this split; all for every one."),
    click.option("--trials", type=click.IntRange(min=1), default=3, show_default=True, metavar="N",
                  help="Repetitions of each task in each arm."),
    click.option("--metric", type=click.Choice(METRICS), default="error_rate", show_default=True,
                  help="What the verdict is about."),
    click.option("--direction", type=click.Choice(["lower", "higher"]),
                  help="Which way is better; else what is usual for the metric."),
    click.option("--margin", type=click.FloatRange(min=0), metavar="X",
                  help="Smallest difference that matters: 0.02 is 2 points."),
    click.option("--alpha", type=click.FloatRange(0, 1, min_open=True, max_open=True), default=0.05,
                  show_default=True, metavar="X", help="Accepted risk of a false claim."),
    click.option("--seed", type=int, default=1, show_default=True, metavar="N",
                  help="Order of trials and sampling."),
    click.option("--preamble", metavar="TEXT", help="System text that all arms share."),
    click.option("--unreviewed", is_flag=True, help="Also try drafts nobody has approved."),
)  # fmt: skip
_RUNNER = (
    click.option("--endpoint", "url", metavar="URL", help="Address of the model."),
    click.option("--model", default="", metavar="NAME", help="The model's name."),
    click.option("--api", type=click.Choice(["openai", "anthropic"]), default="openai",
                  show_default=True, help="What the endpoint speaks."),
    click.option("--protocol", type=click.Choice(["native", "json"]), default="native",
                  show_default=True, help="Tool calls, or JSON for small models."),
    click.option("--key-env", "key_variable", default="", metavar="VARIABLE",
                  help="Environment variable that holds the key; only its name is kept."),
    click.option("--temperature", type=float, metavar="X", help="Else the endpoint's own."),
    click.option("--max-tokens", type=click.IntRange(min=1), default=1024, show_default=True,
                  metavar="N", help="Of one answer."),
    click.option("--max-turns", type=click.IntRange(min=1), default=12, show_default=True,
                  metavar="N", help="Answers before a trial is given up."),
    click.option("--request-timeout", type=click.FloatRange(0, min_open=True), default=120.0,
                  show_default=True, metavar="SECONDS"),
    click.option("--trial-timeout", type=click.FloatRange(0, min_open=True), default=600.0,
                  show_default=True, metavar="SECONDS"),
    click.option("--retries", type=click.IntRange(min=0), default=5, show_default=True, metavar="N",
                  help="After 429, 5xx and lost connections."),
    click.option("--prices", metavar="IN,OUT", help="Dollars per million tokens: 3,15."),
    click.option("--command", metavar="LINE",
                  help="Run this agent: words with {prompt}, {workdir}, {start} ..."),
)  # fmt: skip


def plan_options(command: _Command) -> _Command:
    """Tasks, repetitions, metric and margin."""
    return _give(command, _PLAN)


def runner_options(command: _Command) -> _Command:
    """The endpoint or the command that carries out trials."""
    return _give(command, _RUNNER)


def _give(command: _Command, options: tuple[Callable[[_Command], _Command], ...]) -> _Command:
    for option in reversed(options):
        command = option(command)
    return command
