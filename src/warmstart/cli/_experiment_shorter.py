"""What ``experiment ablate`` and ``compaction`` do: find the arms, then write an ordinary plan."""

from __future__ import annotations

from typing import Any

from warmstart.app import Workspace
from warmstart.app.ablation import (
    Ablation,
    Arms,
    Compaction,
    plan_ablation,
    plan_compaction,
)
from warmstart.cli._experiment import create, read_runner
from warmstart.cli._output import note
from warmstart.errors import UsageError

FIXED = {"rule": "fixed", "observed": None}
"""Not being inferior is asked once, at the end."""


def ablate(wanted: dict[str, Any], *, as_json: bool, quiet: bool) -> None:
    """A template with parts left out."""
    request = Ablation(
        template=wanted.pop("template"),
        budget=wanted["budget"],
        budgets=_numbers(wanted.pop("budgets"), "--budgets"),
        examples=_numbers(wanted.pop("examples"), "--examples"),
        parts=_words(wanted.pop("without")),
        with_cold=wanted.pop("cold"),
        unreviewed=wanted["unreviewed"],
    )
    arms = plan_ablation(Workspace.open(), request)
    _create(wanted, arms, as_json=as_json, quiet=quiet)


def compact(wanted: dict[str, Any], *, as_json: bool, quiet: bool) -> None:
    """A template or a session, shortened in several ways."""
    template, session = wanted.pop("template"), wanted.pop("session")
    if bool(template) == bool(session):
        raise UsageError("say what to shorten", hint="--template NAME, or --session ID")
    request = Compaction(
        name=wanted["name"],
        budget=wanted["budget"],
        template=template,
        session=session,
        strategies=_words(wanted.pop("strategies")),
        with_cold=wanted.pop("cold"),
        unreviewed=wanted["unreviewed"],
    )
    runner = read_runner({**wanted, **FIXED})
    arms = plan_compaction(Workspace.open(), request, runner)
    _create(wanted, arms, as_json=as_json, quiet=quiet)


def _create(wanted: dict[str, Any], arms: Arms, *, as_json: bool, quiet: bool) -> None:
    for variant, reason in arms.skipped:
        note(f"no arm for {variant}: {reason}", quiet=quiet)
    for line in arms.notes:
        note(line, quiet=quiet)
    plan = {**wanted, **FIXED, "arms": ",".join(arms.names), "control": arms.names[0]}
    create(plan, as_json=as_json, quiet=quiet)


def _words(text: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(word.strip() for word in text.split(",") if word.strip()))


def _numbers(text: str, option: str) -> tuple[int, ...]:
    try:
        numbers = tuple(int(word) for word in _words(text))
    except ValueError as error:
        raise UsageError(f"{option} {text!r}: whole numbers are needed", hint="300,600") from error
    if any(number < 1 for number in numbers):
        raise UsageError(f"{option} {text!r}: numbers begin at 1", hint="300,600")
    return numbers
