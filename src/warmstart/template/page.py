"""A template as a page that a person reads before approving it.

Everything that would be sent is on it, shortened where it is long, with the counts it rests on.
The text is as foreign as the sessions it came from: the caller cleans it before printing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from warmstart.model import Example, Recovery, Template, ToolArguments
from warmstart.template.canonical import encode_canonical

MAX_LINE = 160
FULL = 10_000_000
"""In effect no limit."""
MAX_ARGUMENTS = 6
MAX_SHAPES = 3
MAX_TEXT_LINES = 4


class Section(NamedTuple):
    """A heading and what stands under it."""

    title: str
    lines: tuple[str, ...]


def write_page(template: Template, *, full: bool = False) -> list[Section]:
    """The page; sections with nothing in them are left out, long texts are cut unless ``full``."""
    cut = _Cut(FULL, FULL) if full else _Cut(MAX_LINE, MAX_TEXT_LINES)
    sections = [
        ("What it says first", cut.lines(template.system_context)),
        (f"Advice ({len(template.guidance)})", _guidance(template)),
        (f"Examples ({len(template.examples)})", _examples(template, cut)),
        (f"Repairs ({len(template.recoveries)})", _recoveries(template, cut)),
        ("Arguments that tools are called with", _arguments(template)),
        ("The user and the surroundings", _surroundings(template, cut)),
        ("Where it is from", _provenance(template, cut)),
        ("Taken out by redaction", _redactions(template)),
    ]
    made = [Section(title, tuple(lines)) for title, lines in sections]
    return [section for section in made if section.lines]


@dataclass(frozen=True, slots=True)
class _Cut:
    """How much of a text is shown."""

    width: int
    most: int

    def line(self, text: str) -> str:
        """A text as one line."""
        flat = " ".join(text[: 4 * self.width].split())
        return flat if len(flat) <= self.width else flat[: self.width - 1] + "…"

    def lines(self, text: str) -> list[str]:
        """The first lines of a text, each cut to the width of a page."""
        every = [line.rstrip() for line in text.strip().splitlines()]
        kept = [line if len(line) <= self.width else self.line(line) for line in every[: self.most]]
        more = len(every) - len(kept)
        return [*kept, f"… {more:,} more {'line' if more == 1 else 'lines'}"] if more else kept


def _guidance(template: Template) -> Iterator[str]:
    for line in template.guidance:
        # Advice made from statistics contains its counts.
        is_said = not line.calls or f"of {line.calls:,})" in line.text
        seen = "" if is_said else f"  ({line.errors:,} of {line.calls:,} calls failed)"
        yield f"{line.tool}: {line.text}{seen}"


def _examples(template: Template, cut: _Cut) -> Iterator[str]:
    for number, example in enumerate(template.examples, 1):
        yield from _example(number, example, cut)


def _example(number: int, example: Example, cut: _Cut) -> Iterator[str]:
    yield (
        f"{number}. {example.tool}  [{example.pattern_type}, success is {example.certainty},"
        f" {_times(example.count)} in {_sessions(example.sessions)}]"
    )
    if example.intent:
        yield f"   user:   {cut.line(example.intent)}"
    yield f"   call:   {cut.line(_json(example.arguments))}"
    for position, line in enumerate(cut.lines(example.result)):
        yield f"   {'result:' if position == 0 else '       '} {line}"
    if example.closing:
        yield f"   agent:  {cut.line(example.closing)}"


def _recoveries(template: Template, cut: _Cut) -> Iterator[str]:
    for number, recovery in enumerate(template.recoveries, 1):
        yield from _recovery(number, recovery, cut)


def _recovery(number: int, recovery: Recovery, cut: _Cut) -> Iterator[str]:
    yield (
        f"{number}. {recovery.tool} fails ({recovery.error_class}): {cut.line(recovery.signature)}"
        f"  [worked {recovery.count:,} of {recovery.tries:,} times,"
        f" {_sessions(recovery.sessions)}]"
    )
    yield f"   tried:  {cut.line(_json(recovery.failed_arguments))}"
    yield f"   error:  {cut.line(recovery.error)}"
    yield f"   repair: {recovery.repaired_by} {cut.line(_json(recovery.arguments))}"
    if recovery.change:
        yield f"   change: {cut.line(recovery.change)}"


def _arguments(template: Template) -> Iterator[str]:
    for tool in template.arguments:
        yield f"{tool.tool} ({tool.calls:,} calls): {', '.join(_argument_uses(tool))}"


def _argument_uses(tool: ToolArguments) -> Iterator[str]:
    for use in tool.arguments[:MAX_ARGUMENTS]:
        top = sorted(use.shapes.items(), key=lambda item: (-item[1], item[0]))[:MAX_SHAPES]
        shapes = "/".join(shape for shape, _ in top)
        share = f" {use.uses / tool.calls:.0%}" if tool.calls else ""
        yield f"{use.name}{share}{f' ({shapes})' if shapes else ''}"


def _surroundings(template: Template, cut: _Cut) -> Iterator[str]:
    user = template.user
    if user.style or user.feedback:
        parts = [
            f"writes {user.style}" if user.style else "",
            f"gives feedback {user.feedback}" if user.feedback else "",
        ]
        yield f"user: {', '.join(part for part in parts if part)} ({_sessions(user.sessions)})"
    if template.preferred_tools:
        yield f"tools: {', '.join(template.preferred_tools)}"
    if template.domains:
        yield f"domains: {', '.join(template.domains)}"
    for marker in template.markers:
        yield f"{marker.kind}: {cut.line(marker.value)} ({_times(marker.uses)})"


def _provenance(template: Template, cut: _Cut) -> Iterator[str]:
    origin = template.provenance
    if origin.sessions or origin.calls:
        yield (
            f"{_sessions(origin.sessions)}, {origin.messages:,} messages, {origin.calls:,} calls,"
            f" {origin.errors:,} errors"
        )
    if origin.agents:
        yield f"agents: {_counts(origin.agents)}"
    if origin.models:
        yield f"models: {_counts(origin.models)}"
    if origin.tasks:
        yield f"tasks: {cut.line(', '.join(origin.tasks))}"
    yield from (f"rule: {rule}" for rule in origin.rules)


def _redactions(template: Template) -> Iterator[str]:
    if template.provenance.redactions:
        yield _counts(template.provenance.redactions)


def _counts(counts: Mapping[str, int]) -> str:
    ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    return ", ".join(f"{name} {number:,}" for name, number in ordered)


def _json(value: Mapping[str, object]) -> str:
    return encode_canonical(value).decode()


def _times(number: int) -> str:
    return "once" if number == 1 else f"{number:,} times"


def _sessions(number: int) -> str:
    return "1 session" if number == 1 else f"{number:,} sessions"
