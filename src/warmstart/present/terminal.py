"""Documents on a terminal or into a pipe.

A document is first laid out as lines of styled spans. A terminal gets them with colors through
rich (which honors ``NO_COLOR``); a pipe gets plain text and rich is not loaded. A table never
wraps: on a terminal, or with ``COLUMNS`` set, columns are dropped by priority and texts are cut to
fit; into a pipe it is as wide as it needs to be. All text is cleaned here.
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterable, Iterator, Sequence
from functools import singledispatch
from typing import TYPE_CHECKING, NamedTuple

from warmstart.present.document import (
    Block,
    Callout,
    Column,
    Data,
    Details,
    Document,
    Excerpt,
    Facts,
    Figures,
    Heading,
    Inline,
    Listing,
    NextSteps,
    Plot,
    StyledText,
    Table,
    Text,
)
from warmstart.present.text import clean, one_line

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["find_width", "lay_out", "open_console", "write_document"]

Line = Sequence[StyledText]
GAP = "  "
PIPE_WIDTH = 120
MIN_WRAP_WIDTH = 20
MIN_WIDTH = 8
"""Texts of a table are not cut below this."""
LEAST_TEXT_WIDTH = 12
"""A column is dropped before the texts of the others are cut below this."""
LEAST_WHOLE = 30
"""A column is dropped before names that should stay whole are cut below this."""
MAX_CELL = 1000
DRAWN = ("COLUMNS", "FORCE_COLOR", "TTY_COMPATIBLE", "TTY_INTERACTIVE")
"""With one of these in the environment, a pipe is treated as a terminal or cut to a width."""
STYLES = {
    "strong": "bold",
    "muted": "dim",
    "code": "cyan",
    "name": "cyan",
    "good": "green",
    "bad": "red",
    "warn": "yellow",
    "neutral": "",
}
"""How a style of the document looks; words that are not here are passed to rich."""
CUT_NAMES = "names that end in … are cut: use a wider terminal, a pipe or --json"
MORE_DETAILS = "--details shows how these figures are computed"


class Paper(NamedTuple):
    """The room there is: for texts, and for tables, which may have no limit."""

    width: int
    room: int | None


def write_document(document: Document, *, details: bool = False) -> None:
    """Print a document on stdout; ``details`` unfolds what explains the figures."""
    width = find_width()
    fits = _is_drawn()
    _print_lines(lay_out(document, width, details=details, fits=fits))


def open_console(*, stderr: bool = False) -> Console:
    """A console that never interprets what it prints; loads rich."""
    from rich.console import Console  # noqa: PLC0415 - only where something is drawn

    class Plain(Console):
        """Leaves a closed pipe to the command, which knows the exit code for it."""

        def on_broken_pipe(self) -> None:
            raise BrokenPipeError

    stream = sys.stderr if stderr else sys.stdout
    wide = None if stream.isatty() or os.environ.get("COLUMNS") else PIPE_WIDTH
    return Plain(file=stream, width=wide, markup=False, highlight=False, emoji=False)


def _is_drawn() -> bool:
    return sys.stdout.isatty() or not os.environ.keys().isdisjoint(DRAWN)


def find_width() -> int:
    """How wide text may be on stdout."""
    if sys.stdout.isatty() or os.environ.get("COLUMNS"):
        return max(shutil.get_terminal_size((PIPE_WIDTH, 24)).columns, MIN_WRAP_WIDTH)
    return PIPE_WIDTH


def _print_lines(lines: Iterable[Line]) -> None:
    if not _is_drawn():
        for line in lines:
            sys.stdout.write("".join(span.text for span in line).rstrip() + "\n")
        return
    from rich.text import Text as Drawn  # noqa: PLC0415 - only where its colors are seen

    console = open_console()
    for line in lines:
        drawn = Drawn(no_wrap=True, end="")
        for text, style, _ in line:
            drawn.append(text, style=" ".join(STYLES.get(word, word) for word in style.split()))
        drawn.rstrip()
        console.print(drawn, soft_wrap=True)


def lay_out(
    document: Document, width: int, *, details: bool = False, fits: bool = True
) -> Iterator[Line]:
    """The lines of a document; ``fits`` cuts tables to the width as well."""
    if document.title:
        yield from _wrap(_spans(document.title, "strong"), width)
    for line in document.about:
        yield from _wrap(_spans(line, "muted"), width)
    hidden = False
    paper = Paper(width, width if fits else None)
    for block in document.blocks:
        if isinstance(block, Details) and not details:
            hidden = True
        else:
            yield from _lay(block, paper)
    if hidden:
        yield ()
        yield (StyledText(MORE_DETAILS, "muted"),)


@singledispatch
def _lay(block: Block, paper: Paper) -> Iterator[Line]:
    """The lines of one block."""
    del paper
    raise TypeError(f"no terminal form of {type(block).__name__}")


@_lay.register
def _(block: Heading, paper: Paper) -> Iterator[Line]:
    yield ()
    heading = _spans(block.text, "strong")
    if block.detail and len(block.text) + len(GAP) + len(block.detail) <= paper.width:
        yield (*heading, StyledText(GAP), *_spans(block.detail, "muted"))
        return
    yield from _wrap(heading, paper.width)
    if block.detail:
        yield from _wrap(_spans(block.detail, "muted"), paper.width)


@_lay.register
def _(block: Text, paper: Paper) -> Iterator[Line]:
    spans = _spans(block.content, block.style)
    if block.whole:
        return _indent([spans], block.indent)
    lines = _wrap(spans, paper.width - block.indent, hang=block.hang)
    return _indent(lines, block.indent, block.hang)


@_lay.register
def _(block: Excerpt, paper: Paper) -> Iterator[Line]:
    text = clean(block.text.strip("\n")).rstrip()
    shown = list(
        _indent(_wrap([StyledText(text, block.style)], paper.width - block.indent), block.indent)
    )
    yield from shown[: block.max_lines]
    if block.max_lines is not None and len(shown) > block.max_lines:
        size = block.size or len(block.text)
        rest = f"{' ' * block.indent}… {size:,} characters in all (--full)"
        yield (StyledText(rest, "muted italic"),)


@_lay.register
def _(block: Table, paper: Paper) -> Iterator[Line]:
    yield from _lay_table(block, paper.room)
    for remark in filter(None, (block.more, block.caption)):
        yield from _wrap(_spans(remark, "muted"), paper.width)


@_lay.register
def _(block: Figures, paper: Paper) -> Iterator[Line]:
    for value, label, detail, tone in block.items:
        parts = [StyledText(value, f"strong {tone}"), StyledText(f" {label}")]
        if detail:
            parts.append(StyledText(f"{GAP}{detail}", "muted"))
        yield from _wrap(
            [StyledText(clean(text), style) for text, style, _ in parts], paper.width, hang=2
        )


@_lay.register
def _(block: Facts, paper: Paper) -> Iterator[Line]:
    del paper
    longest = max((len(name) for name, _ in block.items), default=0)
    for name, value in block.items:
        yield (StyledText(f"{clean(name):<{longest}}{GAP}", "muted"), *_spans(value))


@_lay.register
def _(block: Plot, paper: Paper) -> Iterator[Line]:
    if block.fallback:
        yield from _wrap(_spans(block.fallback), paper.width)


@_lay.register
def _(block: Callout, paper: Paper) -> Iterator[Line]:
    yield from _wrap(_spans(block.label, f"strong {block.tone}"), paper.width)
    if block.content:
        yield from _wrap(_spans(block.content), paper.width)


@_lay.register
def _(block: Listing, paper: Paper) -> Iterator[Line]:
    for item in block.items:
        lines = _wrap([StyledText("- "), *_spans(item)], paper.width, hang=2)
        yield from _indent(lines, 0, 2)


@_lay.register
def _(block: Details, paper: Paper) -> Iterator[Line]:
    yield from _lay(Heading(block.summary), paper)
    for inner in block.blocks:
        yield from _lay(inner, paper)


@_lay.register
def _(block: NextSteps, paper: Paper) -> Iterator[Line]:
    yield ()
    yield (StyledText("Next", "strong"),)
    longest = max((len(command) for command, _ in block.commands), default=0)
    for command, why in block.commands:
        if longest + len(why) + 4 <= paper.width:
            yield (
                StyledText(f"{GAP}{clean(command):<{longest}}", "code"),
                StyledText(f"{GAP}{why}", "muted"),
            )
            continue
        yield (StyledText(GAP + clean(command), "code"),)
        yield from _indent(_wrap(_spans(why, "muted"), paper.width - 6), 6)


@_lay.register
def _(block: Data, paper: Paper) -> Iterator[Line]:
    del block, paper
    return iter(())


def _spans(content: Inline, style: str = "") -> list[StyledText]:
    """Clean spans of an inline text; ``style`` is what they are drawn in by default."""
    parts = [content] if isinstance(content, str | StyledText) else content
    made = []
    for part in parts:
        span = part if isinstance(part, StyledText) else StyledText(part)
        made.append(StyledText(clean(span.text), f"{style} {span.style}".strip(), span.link))
    return made


def _indent(lines: Iterable[Line], indent: int, hang: int = 0) -> Iterator[Line]:
    for number, line in enumerate(lines):
        space = " " * (indent + (hang if number else 0))
        yield (StyledText(space), *line) if space and line else line


def _wrap(spans: Sequence[StyledText], width: int, *, hang: int = 0) -> Iterator[Line]:
    """Spans as lines of at most a width, broken at spaces where there are any."""
    width = max(width, MIN_WRAP_WIDTH)
    spans = [span._replace(text=span.text.expandtabs(8)) for span in spans]
    text = "".join(span.text for span in spans)
    start = 0
    for number, line in enumerate(text.split("\n")):
        for begin, end in _break(line, width, width - hang if number else width, hang):
            yield _slice(spans, start + begin, start + end)
        start += len(line) + 1


def _break(text: str, width: int, first: int, hang: int) -> Iterator[tuple[int, int]]:
    """Where each line of a text begins and ends."""
    if not text.strip():
        yield 0, 0
        return
    start, room = 0, first
    while start < len(text):
        end = _fit(text, start, room)
        if end < len(text) and not text[end].isspace():
            space = text.rfind(" ", start, end)
            if text[start : max(space, start)].strip():
                end = space
        yield start, start + len(text[start:end].rstrip())
        start = end
        while start < len(text) and text[start] == " ":
            start += 1
        room = width - hang


def _fit(text: str, start: int, room: int) -> int:
    """The end of the longest stretch of a text that is not wider than the room."""
    rest = text[start : start + room]
    if rest.isascii():
        return start + len(rest)
    used = 0
    for index, character in enumerate(rest):
        used += measure(character)
        if used > room:
            return start + max(index, 1)
    return start + len(rest)


def _slice(spans: Sequence[StyledText], begin: int, end: int) -> Line:
    """The part of some spans between two places of their joined text."""
    made, at = [], 0
    for span in spans:
        piece = span.text[max(begin - at, 0) : max(end - at, 0)]
        if piece:
            made.append(span._replace(text=piece))
        at += len(span.text)
    return made


def measure(text: str) -> int:
    """How many columns of a terminal a text takes."""
    if text.isascii():
        return len(text)
    from rich.cells import cell_len  # noqa: PLC0415 - only for wide characters

    return cell_len(text)


def _lay_table(table: Table, room: int | None) -> Iterator[Line]:
    columns = table.columns
    header = [StyledText(column.name.upper(), "strong") for column in columns]
    grid = [header, *(list(map(_clean_cell, row)) for row in table.rows)]
    natural = [max(measure(cell.text) for cell in column) for column in zip(*grid, strict=True)]
    widths = list(natural)
    kept = _fit_table(columns, widths, room)
    for row in grid:
        yield _lay_row([(row[i], columns[i], widths[i]) for i in kept])
    if any(columns[i].whole and natural[i] > widths[i] for i in kept):
        yield (StyledText(CUT_NAMES, "muted"),)


def _lay_row(cells: Sequence[tuple[StyledText, Column, int]]) -> Line:
    line: list[StyledText] = []
    for cell, column, width in cells:
        line += [StyledText(GAP)] if line else []
        line += _pad(cell, column, width)
    return line


def _fit_table(columns: Sequence[Column], widths: list[int], room: int | None) -> list[int]:
    """Make columns narrower until the table fits; returns those that stay."""
    if room is None:
        return list(range(len(columns)))
    for index, column in enumerate(columns):
        widths[index] = min(widths[index], column.max_width or widths[index])
    kept = _choose_columns(columns, widths, room)
    _cut_texts(columns, widths, kept, room)
    return kept


def _clean_cell(cell: str | StyledText) -> StyledText:
    span = cell if isinstance(cell, StyledText) else StyledText(cell)
    return span._replace(text=one_line(span.text, MAX_CELL))


def _pad(cell: StyledText, column: Column, width: int) -> list[StyledText]:
    text = cell.text
    if measure(text) > width:
        text = text[: _fit(text, 0, max(width - 1, 1))] + "…"
    style = f"{column.style} {cell.style}".strip()
    space = StyledText(" " * (width - measure(text)))
    parts = [StyledText(text, style, cell.link), space]
    return parts[::-1] if column.right else parts


def _total(widths: Sequence[int], kept: Sequence[int]) -> int:
    return sum(widths[i] for i in kept) + len(GAP) * (len(kept) - 1)


def _choose_columns(columns: Sequence[Column], widths: Sequence[int], room: int) -> list[int]:
    """The columns there is room for if texts are cut as far as they may be."""
    least = [
        width if column.right else min(width, LEAST_WHOLE if column.whole else LEAST_TEXT_WIDTH)
        for width, column in zip(widths, columns, strict=True)
    ]
    kept = list(range(len(columns)))
    optional = [i for i in kept if columns[i].priority]
    for index in sorted(optional, key=lambda i: columns[i].priority, reverse=True):
        if _total(least, kept) <= room:
            break
        kept.remove(index)
    return kept


def _cut_texts(
    columns: Sequence[Column], widths: list[int], kept: Sequence[int], room: int
) -> None:
    """Make texts narrower until the table fits: the last column first, then the widest."""
    texts = [i for i in kept if not (columns[i].right or columns[i].whole)]
    last = kept[-1]
    if last in texts:
        missing = _total(widths, kept) - room
        widths[last] -= max(0, min(missing, widths[last] - LEAST_TEXT_WIDTH))
    for group in (texts, [i for i in kept if columns[i].whole]):
        while group and _total(widths, kept) > room:
            widest = max(group, key=widths.__getitem__)
            if widths[widest] <= MIN_WIDTH:
                break
            widths[widest] -= 1
