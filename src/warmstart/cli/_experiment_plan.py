"""How large an experiment has to be, and the switch for the live holdout."""

from __future__ import annotations

from dataclasses import asdict, replace
from typing import Any

from rich.text import Text

from warmstart.app import Workspace
from warmstart.app.experiments import read_standing
from warmstart.app.holdout import read_holdout, write_holdout
from warmstart.cli._experiment import parse_pair
from warmstart.cli._output import Column, note, open_console, print_json, print_table
from warmstart.errors import UsageError
from warmstart.experiment.plan import Metric
from warmstart.experiment.sizing import (
    REPETITIONS,
    Assumptions,
    Reach,
    Size,
    find_reach,
    learn_from_pilot,
    list_sizes,
)
from warmstart.warm import DEFAULT_HOLDOUT

SCHEMA_VERSION = 1
USUAL = {
    Metric.ERROR_RATE: (0.09, 0.057),
    Metric.SUCCESS: (0.42, 0.52),
}
USUAL_RATIO = (1.0, 0.8)


def print_sizes(given: dict[str, Any], *, as_json: bool) -> None:
    """Tasks, sessions and money for the effect hoped for; or what a number of tasks can see."""
    assumed = _read_assumptions(given)
    repetitions = (given["trials"],) if given["trials"] else REPETITIONS
    tasks = _count_tasks(given, assumed)
    reach = find_reach(assumed, tasks, given["trials"] or 1) if tasks is not None else None
    sizes = list_sizes(assumed, repetitions)
    if as_json:
        figures = {
            "schema_version": SCHEMA_VERSION,
            "assumptions": asdict(assumed),
            "sizes": [size._asdict() for size in sizes],
            "reach": reach._asdict() if reach else None,
        }
        print_json(figures)
        return
    _print_assumptions(assumed)
    _print_table(sizes)
    if reach is not None:
        _print_reach(assumed, reach)


def _read_assumptions(given: dict[str, Any]) -> Assumptions:
    metric = Metric(given["metric"])
    control, expected = USUAL.get(metric, USUAL_RATIO)
    named = {
        name: given[name] for name in ("control", "expected", "calls", "rho", "tau")
        if given[name] is not None
    }  # fmt: skip
    assumed = Assumptions(
        **{"control": control, "expected": expected, **named},
        metric=metric, arms=given["arms"], alpha=given["alpha"], target=given["target"],
    )  # fmt: skip
    is_rate = metric in USUAL
    for value in (assumed.control, assumed.expected):
        if value < 0 or (is_rate and value > 1) or (not is_rate and value == 0):
            raise UsageError(f"{value:g} is no value of {metric.value}", hint="rates are 0 to 1")
    prices = parse_pair(given["prices"], "--prices")
    tokens = parse_pair(given["tokens"], "--tokens")
    if prices and tokens:
        each = (prices[0] * tokens[0] + prices[1] * tokens[1]) / 1e6
        assumed = replace(assumed, cost_per_session=each)
    if given["pilot"]:
        standing = read_standing(Workspace.open(), given["pilot"])
        assumed = learn_from_pilot(assumed, standing.trials, given["pilot"])
    return assumed


def _count_tasks(given: dict[str, Any], assumed: Assumptions) -> int | None:
    """The tasks a budget pays for, in whichever currency it is given."""
    sessions = given["sessions"]
    if given["dollars"] is not None:
        if not assumed.cost_per_session:
            raise UsageError(
                "what a session costs is not known", hint="--prices and --tokens, or --pilot NAME"
            )
        sessions = int(given["dollars"] / assumed.cost_per_session + 1e-9)
    if sessions is None:
        tasks: int | None = given["tasks"]
        return tasks
    tasks = sessions // (assumed.arms * (given["trials"] or 1))
    if tasks < 2:
        raise UsageError("that pays for fewer than two tasks", hint="fewer --trials, or more")
    return tasks


def _print_assumptions(assumed: Assumptions) -> None:
    source = f"from the cold trials of {assumed.pilot}" if assumed.pilot else "assumed"
    facts = [f"{assumed.metric.value}: {assumed.control:.3g} -> {assumed.expected:.3g} ({source})"]
    if assumed.metric is Metric.ERROR_RATE:
        facts.append(f"{assumed.calls:.3g} calls per session, correlation {assumed.rho:.2g}")
    facts.append(f"power {assumed.target:g}, alpha {assumed.alpha:g}, {assumed.arms} arms")
    open_console().print(Text("; ".join(facts)), soft_wrap=True)


def _print_table(sizes: list[Size]) -> None:
    columns = [
        Column(name="TRIALS", right=True), Column(name="TASKS", right=True),
        Column(name="SESSIONS", right=True), Column(name="COST", right=True),
    ]  # fmt: skip
    rows = [
        [Text(str(size.trials)), Text(_number(size.tasks)), Text(_number(size.sessions)),
         Text(_money(size.cost_usd))]
        for size in sizes
    ]  # fmt: skip
    print_table(open_console(), columns, rows)


def _print_reach(assumed: Assumptions, reach: Reach) -> None:
    is_rate = assumed.metric in USUAL
    smallest = f"{100 * reach.smallest:.1f} points" if is_rate else f"x{reach.smallest:.2f}"
    sentence = (
        f"{reach.tasks} tasks x {reach.trials}: chance of seeing this effect"
        f" {100 * reach.power:.0f} %; smallest effect seen with {100 * assumed.target:.0f} %:"
        f" {smallest}; {reach.sessions:,} sessions {_money(reach.cost_usd)}"
    )
    open_console().print(Text(sentence.rstrip(" -")), soft_wrap=True)


def _number(value: int | None) -> str:
    return "never" if value is None else f"{value:,}"


def _money(value: float | None) -> str:
    return "-" if value is None else f"${value:,.2f}"


def switch_live(action: str, share: float | None, *, as_json: bool) -> None:
    """Set or show the share of live sessions that stay cold."""
    workspace = Workspace.open()
    if action == "on":
        write_holdout(workspace, share if share is not None else DEFAULT_HOLDOUT)
    elif action == "off":
        write_holdout(workspace, 0.0)
    holdout = read_holdout(workspace)
    if as_json:
        print_json({"schema_version": SCHEMA_VERSION, "holdout": holdout, "on": holdout > 0})
        return
    state = f"on: {100 * holdout:g} % of sessions stay cold" if holdout else "off"
    open_console().print(Text(f"live holdout {state}"))
    if holdout and action == "on":
        note("judge them with: warmstart experiment new NAME --arms cold,warm:T --observed live")
