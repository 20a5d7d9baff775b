"""A session as a readable transcript: who said what, and what became of every call.

A result stands with the call it answers, wherever the source kept it. What the harness put in and
what no longer counts is there but dim. All foreign text passes through ``clean`` and becomes
``rich.text.Text``, so neither escape sequences nor markup in it can act.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from rich.text import Text

from warmstart.cli._outcome import call_line, outcome_line
from warmstart.cli._text import clean, local_time
from warmstart.model import Call, Compaction, Fate, Kind, Message, Result, Role, Session

if TYPE_CHECKING:
    from rich.console import Console

MIN_TEXT_WIDTH = 20
SHORT_RESULT_LINES = 6
SHORT_ASIDE_LINES = 3
SHORT_TEXT_LINES = 24
MAX_CHARACTERS_PER_LINE = 1000
"""What is looked at of a text that is shortened anyway, for each line it may have."""
ROLE_STYLES = {Role.USER: "bold cyan", Role.ASSISTANT: "bold green", Role.SYSTEM: "bold magenta"}


class Piece(NamedTuple):
    """A text at its place in the transcript, wrapped to the screen when it is printed."""

    text: Text
    indent: int = 0
    max_lines: int | None = None
    """Lines on the screen, beyond which it is cut."""
    size: int = 0
    """Characters of the text before anything was cut."""
    hang: int = 0
    """How much further its second and later lines are indented."""


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """What of a session to show."""

    full: bool = False
    calls_only: bool = False
    errors_only: bool = False


def render_transcript(session: Session, *, full: bool = False) -> Iterator[Piece]:
    """The whole conversation, in the order of its source."""
    calls: dict[int, list[Call]] = {}
    for call in session.calls:
        calls.setdefault(call.message, []).append(call)
    joined = {id(call.result) for call in session.calls}
    breaks = {compaction.at: compaction for compaction in session.compactions}
    for index, message in enumerate(session.messages):
        if index in breaks:
            yield Piece(_compaction_line(breaks[index]))
        orphans = [result for result in message.results if id(result) not in joined]
        if message.text.strip() or message.reasoning.strip() or message.requests or orphans:
            yield Piece(_heading(message))
            yield from render_text(message, full=full)
            yield from _render_calls(message, calls.get(index, []), full=full)
            yield from _render_orphans(orphans, message, full=full)
            yield Piece(Text())


def render_text(message: Message, *, full: bool) -> Iterator[Piece]:
    """A message's reasoning and words; asides are shortened."""
    if message.reasoning.strip():
        yield _block(message.reasoning, 2, None if full else SHORT_ASIDE_LINES, "dim italic")
    if message.text.strip():
        aside = is_aside(message)
        lines = SHORT_ASIDE_LINES if aside else SHORT_TEXT_LINES
        yield _block(message.text, 2, None if full else lines, "dim" if aside else "")


def render_call(call: Call, *, full: bool) -> Iterator[Piece]:
    """A call, its outcome and its result."""
    yield Piece(call_line(call.request, full=full), 2, hang=4)
    yield Piece(outcome_line(call.outcome), 4)
    if call.result is not None:
        yield from _render_result(call.result, full=full)


def is_aside(message: Message) -> bool:
    """Whether a message is no part of what user and agent say to each other now."""
    return (
        message.kind is not Kind.TURN
        or message.fate in (Fate.REWOUND, Fate.COPIED)
        or message.role is Role.SYSTEM
    )


def _heading(message: Message) -> Text:
    heading = Text(message.role, style=ROLE_STYLES.get(message.role, "bold"))
    marks = [
        local_time(message.timestamp, seconds_too=True) if message.timestamp is not None else "",
        message.kind if message.kind is not Kind.TURN else "",
        message.fate if message.fate is not Fate.LIVE else "",
    ]
    for mark in filter(None, marks):
        heading.append(f"  {mark}", style="dim not bold")
    return heading


def _render_calls(message: Message, calls: list[Call], *, full: bool) -> Iterator[Piece]:
    if message.counts:
        for call in calls:
            yield from render_call(call, full=full)
        return
    for request in message.requests:
        yield Piece(call_line(request, full=full), 2, hang=4)
        yield Piece(Text(f"not counted ({_why_uncounted(message)})", style="dim"), 4)


def _why_uncounted(message: Message) -> str:
    return message.kind if message.kind is Kind.WARMUP else message.fate


def _render_orphans(results: list[Result], message: Message, *, full: bool) -> Iterator[Piece]:
    for result in results:
        why = "result without a call" if message.counts else f"result ({_why_uncounted(message)})"
        yield Piece(Text(why, style="dim"), 2)
        yield from _render_result(result, full=full)


def _render_result(result: Result, *, full: bool) -> Iterator[Piece]:
    if result.text.strip():
        yield _block(result.text, 4, None if full else SHORT_RESULT_LINES, "dim")


def _compaction_line(compaction: Compaction) -> Text:
    before, after = compaction.tokens_before, compaction.tokens_after
    sizes = "" if before is None else f", {before:,} tokens before"
    sizes += "" if after is None else f", {after:,} after"
    trigger = f" ({clean(compaction.trigger)})" if compaction.trigger else ""
    return Text(f"── compacted{trigger}{sizes} ──\n", style="dim")


def _block(text: str, indent: int, max_lines: int | None, style: str) -> Piece:
    """Foreign text, ready to print."""
    limit = None if max_lines is None else max_lines * MAX_CHARACTERS_PER_LINE
    shown = Text(clean(text[:limit].strip("\n")).rstrip(), style=style)
    return Piece(shown, indent, max_lines, len(text))


def print_pieces(console: Console, pieces: Iterable[Piece]) -> None:
    """Print a transcript; lines are wrapped under their indent and end without spaces."""
    for piece in pieces:
        indent = " " * piece.indent
        width = console.width - piece.indent - piece.hang
        lines = piece.text.wrap(console, max(width, MIN_TEXT_WIDTH))
        shown = lines[: piece.max_lines]
        for number, line in enumerate(shown or [Text()]):
            line.rstrip()
            start = indent + " " * (piece.hang if number else 0)
            console.print(Text(start).append_text(line) if line else line, soft_wrap=True)
        if len(shown) < len(lines):
            rest = Text(f"{indent}… {piece.size:,} characters in all (--full)", "dim italic")
            console.print(rest, soft_wrap=True)
