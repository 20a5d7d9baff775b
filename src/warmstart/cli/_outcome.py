"""One call in words: what was asked, how it ended, and what that judgement rests on."""

from __future__ import annotations

from rich.text import Text

from warmstart.cli._text import clean, one_line
from warmstart.model import Outcome, Request, Status
from warmstart.wire import encode_json

MAX_ARGUMENTS_LENGTH = 300
MARKS = {
    Status.OK: ("✓", "green"),
    Status.ERROR: ("✗", "bold red"),
    Status.REJECTED: ("⊘", "yellow"),
    Status.CANCELLED: ("⊘", "yellow"),
    Status.UNANSWERED: ("?", "yellow"),
    Status.UNKNOWN: ("?", "yellow"),
}


def call_line(request: Request, *, full: bool = False) -> Text:
    """The tool and its arguments."""
    line = Text("→ ", style="dim")
    line.append(clean(request.tool), style="bold not dim")
    line.append(" ")
    line.append(describe_arguments(request, full=full), style="not dim")
    return line


def describe_arguments(request: Request, *, full: bool = False) -> str:
    """Arguments as ``name=value``, or as they were written where they are no object."""
    if request.raw is not None:
        text = request.raw
    else:
        text = " ".join(f"{name}={_value(value)}" for name, value in request.arguments.items())
    return clean(text) if full else one_line(text, MAX_ARGUMENTS_LENGTH)


def _value(value: object) -> str:
    return encode_json(value).decode()


def outcome_line(outcome: Outcome) -> Text:
    """Status first, then what is known, then the evidence."""
    mark, style = MARKS[outcome.status]
    line = Text(f"{mark} {describe_status(outcome)}", style=style)
    line.append(f"  [{describe_evidence(outcome)}]", style="dim not bold")
    return line


def describe_status(outcome: Outcome) -> str:
    """Such as ``error: not_found, exit 2`` or ``ok, exit 1: no match``."""
    text = str(outcome.status)
    if outcome.error_class is not None:
        text += f": {outcome.error_class}"
    if outcome.exit_code is not None:
        text += f", exit {outcome.exit_code}"
    if outcome.reason:
        text += f" ({one_line(outcome.reason)})"
    return text


def describe_evidence(outcome: Outcome) -> str:
    """The kind of evidence and the rule, with what weakens it."""
    parts = [f"{outcome.certainty}: {one_line(outcome.evidence)}"]
    if _is_disputed(outcome):
        parts.append(f"harness says {'error' if outcome.harness_error else 'ok'}")
    if outcome.masked:
        parts.append("exit code masked")
    return ", ".join(parts)


def _is_disputed(outcome: Outcome) -> bool:
    """Whether the agent's framework said something else than was judged."""
    judged = {Status.OK: False, Status.ERROR: True}.get(outcome.status)
    return None not in (judged, outcome.harness_error) and judged != outcome.harness_error
