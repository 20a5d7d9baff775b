"""A session as a readable transcript: who said what, and what became of every call.

A result stands with the call it answers, wherever the source kept it. What the harness put in and
what no longer counts is there but muted. Calls are counted from 1.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from warmstart.app import CallTally, ShownSession
from warmstart.export import export_warmstart
from warmstart.model import (
    Call,
    Compaction,
    Fate,
    Kind,
    Message,
    Outcome,
    Request,
    Result,
    Role,
    Session,
    Status,
    count_messages,
)
from warmstart.present.document import (
    Block,
    Column,
    Data,
    Document,
    Excerpt,
    Facts,
    StyledText,
    Table,
    Text,
)
from warmstart.present.json import list_skips
from warmstart.present.text import clean, local_time, one_line, percent, readable_duration
from warmstart.wire import encode_json

__all__ = [
    "SessionView",
    "describe_arguments",
    "describe_evidence",
    "describe_status",
    "session_document",
    "show_call",
]

SCHEMA_VERSION = 1
MAX_ARGUMENTS_LENGTH = 300
MAX_FACT_LENGTH = 400
SHORT_RESULT_LINES = 6
SHORT_ASIDE_LINES = 3
SHORT_TEXT_LINES = 24
LINES_AFTER_ERROR = 2
MAX_CHARACTERS_PER_LINE = 1000
"""What is looked at of a text that is shortened anyway, for each line it may have."""
MARKS = {
    Status.OK: ("✓", "good"),
    Status.ERROR: ("✗", "strong bad"),
    Status.REJECTED: ("⊘", "warn"),
    Status.CANCELLED: ("⊘", "warn"),
    Status.UNANSWERED: ("?", "warn"),
    Status.UNKNOWN: ("?", "warn"),
}
ROLE_STYLES = {Role.USER: "strong name", Role.ASSISTANT: "strong good", Role.SYSTEM: "strong"}
_COMPLAINT = re.compile(
    r"\b(?:error|fatal|fail(?:ed|ure)?|exception|denied|not found|no such|cannot|could not|unable|"
    r"invalid|unknown|timed? ?out|panic|refused|missing|unexpected)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionView:
    """What of a session to show."""

    full: bool = False
    calls_only: bool = False
    errors_only: bool = False
    shared: bool = False
    """Leave out the raw session and where it lies, for pages to be sent."""


def session_document(result: ShownSession, view: SessionView | None = None) -> Document:
    """The transcript, only its calls, or only its failures."""
    view, session = view or SessionView(), result.session
    data = Data(
        lambda: {
            "schema_version": SCHEMA_VERSION,
            "id": session.id,
            "path": session.path,
            "session": export_warmstart(session),
            "skipped": list_skips(result.log),
        }
    )
    if view.calls_only:
        body = [_list_calls(session, errors_only=view.errors_only)]
    elif view.errors_only:
        body = list(_show_errors(session, full=view.full))
    else:
        body = list(_show_transcript(session, full=view.full))
    return Document(
        title=session.id if not session.title else one_line(session.title),
        blocks=[*([] if view.shared else [data]), *_show_facts(session, shared=view.shared), *body],
        footer="Made by warmstart sessions show.",
    )


def _show_facts(session: Session, *, shared: bool) -> Iterator[Block]:
    """What is known of the session as a whole."""
    facts = _list_facts(session)
    if shared:
        facts.pop("file")
    yield Facts(
        [(name, one_line(value, MAX_FACT_LENGTH)) for name, value in facts.items() if value]
    )
    yield Text("")


def _list_facts(session: Session) -> dict[str, str]:
    return {
        "id": session.id if session.title else "",
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
    tally = CallTally.of(session.calls)
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


def _list_calls(session: Session, *, errors_only: bool) -> Block:
    calls = [c for c in session.calls if not errors_only or c.outcome.status is Status.ERROR]
    return Table(
        columns=(
            Column("#", right=True, style="muted"),
            Column("tool", max_width=20),
            Column("outcome", max_width=36),
            Column("evidence", max_width=30, style="muted"),
            Column("arguments"),
        ),
        rows=[_make_call_cells(call) for call in calls],
    )


def _make_call_cells(call: Call) -> list[str | StyledText]:
    mark, style = MARKS[call.outcome.status]
    return [
        str(call.position + 1),
        call.tool,
        StyledText(f"{mark} {describe_status(call.outcome)}", style),
        describe_evidence(call.outcome),
        describe_arguments(call.request),
    ]


def _show_errors(session: Session, *, full: bool) -> Iterator[Block]:
    """Each failed call under the last words before it."""
    failed = [call for call in session.calls if call.outcome.status is Status.ERROR]
    if not failed:
        yield Text("no call of this session failed", "muted")
    for call in failed:
        yield Text(f"call {call.position + 1}", "strong")
        yield from _show_context(session, call, full=full)
        yield from show_call(call, full=full)
        yield Text("")


def _show_context(session: Session, call: Call, *, full: bool) -> Iterator[Block]:
    for message in reversed(session.messages[: call.message + 1]):
        if message.text.strip() and not _is_aside(message):
            yield Text(f"{message.role}:", "muted", indent=2)
            yield from _show_text(message, full=full)
            return


def _show_transcript(session: Session, *, full: bool) -> Iterator[Block]:
    """The whole conversation, in the order of its source."""
    calls: dict[int, list[Call]] = {}
    for call in session.calls:
        calls.setdefault(call.message, []).append(call)
    joined = {id(call.result) for call in session.calls}
    breaks = {compaction.at: compaction for compaction in session.compactions}
    for index, message in enumerate(session.messages):
        if index in breaks:
            yield Text(_describe_compaction(breaks[index]), "muted")
            yield Text("")
        orphans = [result for result in message.results if id(result) not in joined]
        if message.text.strip() or message.reasoning.strip() or message.requests or orphans:
            yield _show_speaker(message)
            yield from _show_text(message, full=full)
            yield from _show_calls(message, calls.get(index, []), full=full)
            yield from _show_orphans(orphans, message, full=full)
            yield Text("")


def _show_speaker(message: Message) -> Block:
    marks = [
        local_time(message.timestamp, seconds_too=True) if message.timestamp is not None else "",
        message.kind if message.kind is not Kind.TURN else "",
        message.fate if message.fate is not Fate.LIVE else "",
    ]
    role = StyledText(message.role, ROLE_STYLES.get(message.role, "strong"))
    return Text([role, *(StyledText(f"  {mark}", "muted") for mark in marks if mark)])


def _show_text(message: Message, *, full: bool) -> Iterator[Block]:
    """A message's reasoning and words; asides are shortened."""
    if message.reasoning.strip():
        lines = None if full else SHORT_ASIDE_LINES
        yield _excerpt(message.reasoning, 2, lines, "muted italic")
    if message.text.strip():
        aside = _is_aside(message)
        lines = SHORT_ASIDE_LINES if aside else SHORT_TEXT_LINES
        yield _excerpt(message.text, 2, None if full else lines, "muted" if aside else "")


def show_call(call: Call, *, full: bool) -> Iterator[Block]:
    """A call, its outcome and its result; of a failure, the lines around the complaint."""
    yield _show_request(call.request, full=full)
    mark, style = MARKS[call.outcome.status]
    status = StyledText(f"{mark} {describe_status(call.outcome)}", style)
    yield Text([status, StyledText(f"  [{describe_evidence(call.outcome)}]", "muted")], indent=4)
    if call.result is not None:
        failed = call.outcome.status is Status.ERROR
        yield from _show_result(call.result, full=full, failed=failed)


def _show_request(request: Request, *, full: bool) -> Block:
    return Text(
        [
            StyledText("→ ", "muted"),
            StyledText(request.tool, "strong"),
            f" {describe_arguments(request, full=full)}",
        ],
        indent=2,
        hang=4,
    )


def _show_calls(message: Message, calls: list[Call], *, full: bool) -> Iterator[Block]:
    if message.counts:
        for call in calls:
            yield from show_call(call, full=full)
        return
    for request in message.requests:
        yield _show_request(request, full=full)
        yield Text(f"not counted ({_explain_uncounted(message)})", "muted", indent=4)


def _explain_uncounted(message: Message) -> str:
    return message.kind if message.kind is Kind.WARMUP else message.fate


def _show_orphans(results: list[Result], message: Message, *, full: bool) -> Iterator[Block]:
    for result in results:
        why = f"result ({_explain_uncounted(message)})"
        yield Text("result without a call" if message.counts else why, "muted", indent=2)
        yield from _show_result(result, full=full)


def _show_result(result: Result, *, full: bool, failed: bool = False) -> Iterator[Block]:
    text = result.text
    if not text.strip():
        return
    if failed and not full:
        text = _choose_lines(text)
    yield _excerpt(text, 4, None if full else SHORT_RESULT_LINES, "muted", len(result.text))


def _choose_lines(text: str) -> str:
    """The lines of a failed result that say what went wrong: around the last complaint."""
    lines = clean(text.strip("\n")).splitlines()
    if len(lines) <= SHORT_RESULT_LINES:
        return text
    found = [number for number, line in enumerate(lines) if _COMPLAINT.search(line)]
    end = min((found[-1] if found else len(lines)) + LINES_AFTER_ERROR, len(lines))
    start = max(end - SHORT_RESULT_LINES + 2, 0)
    parts = ["…"] if start else []
    parts += [line[:MAX_CHARACTERS_PER_LINE] for line in lines[start:end]]
    return "\n".join([*parts, "…"] if end < len(lines) else parts)


def _is_aside(message: Message) -> bool:
    """Whether a message is outside the conversation of user and agent as it stands now."""
    return (
        message.kind is not Kind.TURN
        or message.fate in (Fate.REWOUND, Fate.COPIED)
        or message.role is Role.SYSTEM
    )


def _describe_compaction(compaction: Compaction) -> str:
    before, after = compaction.tokens_before, compaction.tokens_after
    sizes = "" if before is None else f", {before:,} tokens before"
    sizes += "" if after is None else f", {after:,} after"
    trigger = f" ({compaction.trigger})" if compaction.trigger else ""
    return f"── compacted{trigger}{sizes} ──"


def _excerpt(text: str, indent: int, max_lines: int | None, style: str, size: int = 0) -> Excerpt:
    limit = None if max_lines is None else max_lines * MAX_CHARACTERS_PER_LINE
    return Excerpt(text[:limit], style, indent, max_lines, size or len(text))


def describe_arguments(request: Request, *, full: bool = False) -> str:
    """Arguments as ``name=value``, or as they were written where they are not an object."""
    if request.raw is not None:
        text = request.raw
    else:
        text = " ".join(f"{name}={_write(value)}" for name, value in request.arguments.items())
    return text if full else one_line(text, MAX_ARGUMENTS_LENGTH)


def _write(value: Any) -> str:
    return encode_json(value).decode()


def describe_status(outcome: Outcome) -> str:
    """Such as ``error: not_found, exit 2`` or ``ok, exit 1 (no match)``."""
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
    """Whether the agent's framework reports something other than was judged."""
    judged = {Status.OK: False, Status.ERROR: True}.get(outcome.status)
    return None not in (judged, outcome.harness_error) and judged != outcome.harness_error
