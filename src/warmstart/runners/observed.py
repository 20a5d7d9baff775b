"""Trials that were only observed: sessions already recorded, with the arm they were started in.

Whether a session belongs to an arm is known from how it was started or from a file of labels,
never from what is in it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from warmstart.errors import UsageError
from warmstart.experiment import Trial, TrialCall
from warmstart.model import Kind, Role, Session
from warmstart.runners.scoring import list_calls


class SessionLabel(NamedTuple):
    """The arm, task and success of a session, known from outside it."""

    session: str
    arm: str
    task: str = ""
    """"" where every session is a task of its own."""
    success: bool | None = None


class SessionCounts(NamedTuple):
    """Calls and errors of a session that can no longer be read."""

    calls: int
    errors: int


def parse_labels(lines: Iterable[str]) -> Iterator[SessionLabel]:
    """Labels from JSONL: ``{"session": …, "arm": …, "task": …, "success": …}``.

    Raises:
        UsageError: a line is not a label.
    """
    for number, line in enumerate(lines, 1):
        if line.strip():
            yield _parse_label(line, number)


def _parse_label(line: str, number: int) -> SessionLabel:
    try:
        data: Any = json.loads(line)
    except ValueError:
        data = None
    texts = (
        [data.get(name, "") for name in SessionLabel._fields[:3]] if isinstance(data, dict) else []
    )
    success = data.get("success") if isinstance(data, dict) else None
    sound = all(isinstance(text, str) for text in texts) and isinstance(success, bool | None)
    if not texts or not sound or not (texts[0] and texts[1]):
        raise UsageError(
            f"line {number} of the labels is not a label",
            hint='{"session": "ID", "arm": "cold", "task": "name"}',
        )
    return SessionLabel(texts[0], texts[1], texts[2], success)


def observe_session(experiment: str, label: SessionLabel, number: int, session: Session) -> Trial:
    """The trial of a recorded session."""
    own = [message for message in session.messages if message.counts]
    warmup = [message for message in session.messages if message.kind is Kind.WARMUP]
    lasted = 0.0
    if session.started_at is not None and session.ended_at is not None:
        lasted = max(session.ended_at - session.started_at, 0.0)
    return Trial(
        experiment=experiment,
        task=label.task or session.id,
        arm=label.arm,
        number=number,
        order=number,
        success=_success(label, session),
        calls=list_calls(session.calls),
        turns=sum(message.role is Role.ASSISTANT for message in own),
        tokens=session.tokens.total,
        seconds=round(lasted, 3),
        cost_usd=session.cost_usd,
        session=session.id,
        model=session.model or "",
        warmup_calls=sum(len(message.requests) for message in warmup),
    )


def observe_counts(
    experiment: str, label: SessionLabel, number: int, counts: SessionCounts
) -> Trial:
    """A trial of a session of which only counts are left, in no known order."""
    calls = [TrialCall("", error=True, retry=False)] * counts.errors
    calls += [TrialCall("", error=False, retry=False)] * max(counts.calls - counts.errors, 0)
    return Trial(
        experiment=experiment,
        task=label.task or label.session,
        arm=label.arm,
        number=number,
        order=number,
        success=label.success,
        calls=tuple(calls),
        session=label.session,
    )


def _success(label: SessionLabel, session: Session) -> bool | None:
    if label.success is not None or session.reward is None:
        return label.success
    return session.reward > 0
