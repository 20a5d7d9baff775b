"""What there is to say about a result, as a list of blocks that every writer understands.

A document is built once per result and then written as terminal text, HTML, Markdown or JSON.
Blocks hold words and figures that are already formatted (``present.text``), never markup: text is
cleaned or escaped by the writer, so foreign text may stand anywhere.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

from warmstart.present.text import plural

__all__ = [
    "Block",
    "Callout",
    "Column",
    "Data",
    "Details",
    "Document",
    "Excerpt",
    "Facts",
    "Figure",
    "Figures",
    "Heading",
    "Inline",
    "Listing",
    "NextSteps",
    "Plot",
    "StyledText",
    "Table",
    "Text",
    "Tone",
    "list_more",
    "read_data",
]

Tone = Literal["good", "bad", "warn", "neutral"]


class StyledText(NamedTuple):
    """A stretch of text in one style."""

    text: str
    style: str = ""
    """``strong``, ``muted``, ``code``, ``good``, ``bad``, ``warn``, ``name``, several words, or
    none."""
    link: str = ""


Inline = str | StyledText | Sequence[str | StyledText]
"""Text inside a block: a string, a span, or several of both."""


@dataclass(frozen=True, slots=True)
class Heading:
    """A line above what follows; the detail is a remark beside it."""

    text: str
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Text:
    """A paragraph, wrapped to the width there is."""

    content: Inline
    style: str = ""
    indent: int = 0
    hang: int = 0
    """How much further the second and later lines are indented."""
    whole: bool = False
    """Never broken into lines, so that a path or a command can be copied."""


@dataclass(frozen=True, slots=True)
class Excerpt:
    """Text of somebody else with its own line breaks; terminals cut it after ``max_lines``."""

    text: str
    style: str = ""
    indent: int = 0
    max_lines: int | None = None
    size: int = 0
    """Characters before anything was cut; 0 where it is whole."""


class Column(NamedTuple):
    """A column of a table; numbers stand on the right and are never cut."""

    name: str
    max_width: int | None = None
    """Cells are cut here on a terminal; no limit where it is None."""
    right: bool = False
    style: str = ""
    priority: int = 0
    """On a narrow terminal the column with the highest goes first; 0 always stays."""
    whole: bool = False
    """Cut last of all, such as an id that has to be typed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """Rows under a header."""

    columns: Sequence[Column]
    rows: Sequence[Sequence[str | StyledText]]
    caption: str = ""
    """How to read it, below the table."""
    more: str = ""
    """What is left out of it, such as "and 4 more tools (--json)"."""


class Figure(NamedTuple):
    """A key figure: its value, what it is, and one line of detail."""

    value: str
    label: str
    detail: str = ""
    tone: Tone = "neutral"


@dataclass(frozen=True, slots=True)
class Figures:
    """The few numbers a first reader needs: cards on a page, lines on a terminal."""

    items: Sequence[Figure]


@dataclass(frozen=True, slots=True)
class Facts:
    """What is known of a thing: names with their values, one under the other."""

    items: Sequence[tuple[str, Inline]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Plot:
    """A drawing for pages and the words or blocks that stand for it on a terminal."""

    draw: Callable[..., str]
    """Draws SVG when called with a ``width``: one of ``present.plots``, called only for pages."""
    caption: str = ""
    fallback: str = ""
    legend: Sequence[str] = ()
    """Names of the series, in the order of their colors."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Callout:
    """The answer to a question: a word and the sentence it stands for."""

    tone: Tone
    label: str
    content: Inline = ""


@dataclass(frozen=True, slots=True)
class Listing:
    """Points one under the other."""

    items: Sequence[Inline]


@dataclass(frozen=True, slots=True, kw_only=True)
class Details:
    """How we know: folded on a page, shown on a terminal only when details are asked for."""

    summary: str
    blocks: Sequence[Block]


@dataclass(frozen=True, slots=True)
class NextSteps:
    """Commands to run next, each with what it is for."""

    commands: Sequence[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class Data:
    """Fields of the JSON form; nothing of them is shown. Made only where JSON is written."""

    make: Callable[[], Mapping[str, Any]]


Block = (
    Heading
    | Text
    | Excerpt
    | Table
    | Figures
    | Facts
    | Plot
    | Callout
    | Listing
    | Details
    | NextSteps
    | Data
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """A title, what it is about, and blocks in reading order."""

    title: str
    blocks: Sequence[Block]
    about: Sequence[str] = ()
    """Lines under the title of a page: whose sessions, when, how many."""
    footer: str = ""
    """Small print at the end of a page."""
    data: Mapping[str, Any] = field(default_factory=dict)
    """Fields that are cheap to make; ``Data`` blocks hold the others."""


def read_data(document: Document) -> dict[str, Any]:
    """The JSON form of a document: its own fields and those of its ``Data`` blocks."""
    fields = dict(document.data)
    for block in document.blocks:
        if isinstance(block, Data):
            fields.update(block.make())
    return fields


def list_more(shown: int, found: int, noun: str = "") -> str:
    """What a table leaves out, or nothing: "and 4 more tools (--json)"."""
    rest = found - shown
    if rest <= 0:
        return ""
    words = f" {plural(rest, noun)}" if noun else ""
    return f"and {rest:,} more{words} (--json)"
