"""``sessions show``: one session, found by its id, as a transcript, as its calls or as JSON.

JSON is one object: ``schema_version``, ``id``, ``path``, ``session`` (the warmstart export format)
and ``skipped``.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from rich.text import Text

from warmstart.app import Workspace
from warmstart.cli._listing import Tally, percent
from warmstart.cli._outcome import MARKS, describe_arguments, describe_evidence, describe_status
from warmstart.cli._output import (
    Column,
    list_skips,
    open_console,
    print_json,
    print_table,
    report_skips,
)
from warmstart.cli._text import clean, local_time, one_line, readable_duration
from warmstart.cli._transcript import (
    Piece,
    View,
    is_aside,
    print_pieces,
    render_call,
    render_text,
    render_transcript,
)
from warmstart.export import export_warmstart
from warmstart.model import Call, Selection, Session, Status, count_messages
from warmstart.sources import ReadLog

if TYPE_CHECKING:
    from rich.console import Console

SCHEMA_VERSION = 1
MAX_FACT_LENGTH = 400


def print_session(
    wanted: str, selection: Selection, view: View, *, as_json: bool, quiet: bool
) -> None:
    """Find the session and print it."""
    log = ReadLog()
    session = Workspace.open().get_session(wanted, selection, log)
    if as_json:
        print_json(
            {
                "schema_version": SCHEMA_VERSION,
                "id": session.id,
                "path": session.path,
                "session": export_warmstart(session),
                "skipped": list_skips(log),
            }
        )
    else:
        _print(open_console(), session, view)
    report_skips(log, quiet=quiet)


def _print(console: Console, session: Session, view: View) -> None:
    for line in render_header(session):
        console.print(line, soft_wrap=True)
    if view.calls_only:
        _print_calls(console, session, errors_only=view.errors_only)
        return
    render = _render_errors if view.errors_only else render_transcript
    print_pieces(console, render(session, full=view.full))


def render_header(session: Session) -> Iterator[Text]:
    """What is known of the session as a whole."""
    yield Text(clean(session.id), style="bold")
    for name, value in _facts(session).items():
        if value:
            fact = Text(f"{name:<10}", style="dim")
            yield fact.append(one_line(value, MAX_FACT_LENGTH), style="not dim")
    yield Text()


def _facts(session: Session) -> dict[str, str]:
    return {
        "title": session.title or "",
        "agent": _join(session.agent, session.agent_version, session.model),
        "project": _join(session.project, session.git_branch),
        "when": _describe_time(session),
        "messages": f"{count_messages(session):,}",
        "calls": _describe_calls(session),
        "tokens": _describe_tokens(session),
        "parent": f"{session.parent.id} ({session.parent.link})" if session.parent else "",
        "task": session.task or "",
        "reward": "" if session.reward is None else f"{session.reward:g}",
        "ended by": session.end_reason or "",
        "file": session.path or "",
    }


def _join(*parts: str | None) -> str:
    return ", ".join(part for part in parts if part)


def _describe_time(session: Session) -> str:
    if session.started_at is None:
        return ""
    text = local_time(session.started_at)
    if session.ended_at is not None and session.ended_at > session.started_at:
        text += f", {readable_duration(session.ended_at - session.started_at)}"
    return text


def _describe_calls(session: Session) -> str:
    tally = Tally.of(session.calls)
    parts = [f"{tally.statuses[status]:,} {status}" for status in Status if tally.statuses[status]]
    rate = f"; {percent(tally.rate)} of the {tally.judged:,} judged failed" if tally.errors else ""
    return f"{tally.calls:,}" + (f" ({', '.join(parts)}{rate})" if parts else "")


def _describe_tokens(session: Session) -> str:
    tokens = session.tokens
    counts = {
        "input": tokens.input,
        "output": tokens.output,
        "cache read": tokens.cache_read,
        "cache written": tokens.cache_write,
    }
    parts = [f"{number:,} {name}" for name, number in counts.items() if number]
    cost = "" if session.cost_usd is None else f"${session.cost_usd:.2f}"
    return _join(*parts, cost)


def _print_calls(console: Console, session: Session, *, errors_only: bool) -> None:
    columns = (
        Column(name="#", right=True, style="dim"),
        Column(name="TOOL", max_width=20),
        Column(name="OUTCOME", max_width=36),
        Column(name="EVIDENCE", max_width=30, style="dim"),
        Column(name="ARGUMENTS"),
    )
    shown = [c for c in session.calls if not errors_only or c.outcome.status is Status.ERROR]
    print_table(console, columns, [_call_cells(call) for call in shown])


def _call_cells(call: Call) -> list[Text]:
    mark, style = MARKS[call.outcome.status]
    return [
        Text(str(call.position)),
        Text(one_line(call.tool)),
        Text(f"{mark} {describe_status(call.outcome)}", style=style),
        Text(describe_evidence(call.outcome)),
        Text(describe_arguments(call.request)),
    ]


def _render_errors(session: Session, *, full: bool) -> Iterator[Piece]:
    """Each failed call under the last words before it."""
    failed = [call for call in session.calls if call.outcome.status is Status.ERROR]
    if not failed:
        yield Piece(Text("no call of this session failed", style="dim"))
    for call in failed:
        yield Piece(Text(f"call {call.position}", style="bold"))
        yield from _render_context(session, call, full=full)
        yield from render_call(call, full=full)
        yield Piece(Text())


def _render_context(session: Session, call: Call, *, full: bool) -> Iterator[Piece]:
    for message in reversed(session.messages[: call.message + 1]):
        if message.text.strip() and not is_aside(message):
            yield Piece(Text(f"{message.role}:", style="dim"), 2)
            yield from render_text(message, full=full)
            return
