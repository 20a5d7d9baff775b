"""One document, four writers: nothing is lost, nothing foreign acts."""

from __future__ import annotations

import io
import json
import sys
from functools import partial
from html.parser import HTMLParser
from typing import TYPE_CHECKING

from hypothesis import given
from hypothesis import strategies as st

from warmstart.present import (
    Callout,
    Column,
    Data,
    Details,
    Document,
    Excerpt,
    Facts,
    Figure,
    Figures,
    Heading,
    Listing,
    NextSteps,
    Plot,
    StyledText,
    Table,
    Text,
    list_more,
    write_document,
    write_html,
    write_json,
    write_markdown,
)
from warmstart.present.plots import PlotMark, draw_forest
from warmstart.present.terminal import DRAWN, MORE_DETAILS, lay_out

if TYPE_CHECKING:
    import pytest

HOSTILE = (
    "</style></svg><script>alert(1)</script><img src=x onerror=alert(1)>\"'&\u202e\x00\x1b[31m"
)


class Tags(HTMLParser):
    """Collects the elements of a page, its text, and whatever would load something."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.loads: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        for name, value in attrs:
            if name in ("src", "href", "srcset", "data", "action") or name.startswith("on"):
                self.loads.append(f"{name}={value}")


def parse(page: str) -> Tags:
    tags = Tags()
    tags.feed(page)
    tags.close()
    return tags


def make(text: str) -> Document:
    mark = PlotMark(label=text, value=0.1, low=0.05, high=0.2, note=text)
    table = Table(columns=(Column(text), Column("N", right=True)), rows=[(text, "1")], more=text)
    return Document(
        title=text,
        about=[text],
        footer=text,
        blocks=[
            Figures([Figure(text, text, text)]),
            Heading(text, text),
            Facts([(text, text)]),
            Text([text, StyledText(text, "strong"), StyledText(text, "code")]),
            Excerpt(text, indent=2, max_lines=3),
            table,
            Plot(draw=partial(draw_forest, [mark], text), caption=text, fallback=text),
            Callout(tone="warn", label=text, content=text),
            Listing([text, StyledText(text, "muted")]),
            Details(summary=text, blocks=[Text(text), table]),
            NextSteps([(text, text)]),
            Data(lambda: {"text": text}),
        ],
    )


def lines(document: Document, width: int = 60, *, details: bool = False) -> list[str]:
    made = lay_out(document, width, details=details)
    return ["".join(span.text for span in line) for line in made]


def test_hostile_text_never_becomes_markup() -> None:
    tags = parse(write_html(make(HOSTILE)))
    assert not {"script", "img", "iframe", "link"} & set(tags.tags)
    assert tags.loads == []
    assert tags.tags.count("style") == 1


@given(st.text(min_size=1, max_size=40))
def test_any_text_leaves_the_structure_of_a_page_as_it_is(text: str) -> None:
    page = write_html(make(text))
    assert parse(page).tags == parse(write_html(make("plain"))).tags
    page.encode("utf-8")


def test_a_page_asks_for_nothing_from_elsewhere() -> None:
    page = write_html(make("plain"))
    assert "default-src 'none'" in page
    assert "http://" not in page.replace("http://www.w3.org/2000/svg", "")
    assert "https://" not in page


def test_a_plot_is_drawn_for_pages_and_for_phones() -> None:
    page = write_html(make("plain"))
    assert 'viewBox="0 0 960 ' in page
    assert 'viewBox="0 0 400 ' in page


@given(st.text(max_size=60), st.integers(20, 120))
def test_no_line_of_text_is_wider_than_the_terminal(text: str, width: int) -> None:
    document = Document(title="", blocks=[Text(text), Excerpt(text, indent=4), Listing([text])])
    assert all(sum(_cells(c) for c in line) <= width for line in lines(document, width))


def _cells(character: str) -> int:
    from warmstart.present.terminal import measure

    return measure(character)


def test_wrapping_loses_no_word() -> None:
    words = " ".join(f"word{number}" for number in range(60))
    made = lines(Document(title="", blocks=[Text(words)]), 33)
    assert " ".join(made).split() == words.split()


def test_nothing_on_a_terminal_obeys_foreign_text() -> None:
    shown = "\n".join(lines(make(HOSTILE), details=True))
    assert "\x1b" not in shown
    assert "\x00" not in shown
    assert "\u202e" not in shown


def test_details_are_shown_when_asked_for() -> None:
    document = Document(title="", blocks=[Details(summary="How", blocks=[Text("by counting")])])
    assert lines(document)[-1] == MORE_DETAILS
    assert lines(document, details=True)[-1] == "by counting"
    assert "by counting" in write_html(document)
    assert "by counting" in write_markdown(document)


def test_an_excerpt_that_is_cut_says_how_long_it_is() -> None:
    document = Document(title="", blocks=[Excerpt("a\nb\nc\nd", max_lines=2, size=4000)])
    assert lines(document) == ["a", "b", "… 4,000 characters in all (--full)"]


def test_narrow_terminals_drop_the_columns_that_matter_least() -> None:
    table = Table(
        columns=(Column("NAME"), Column("A", right=True, priority=1),
                 Column("B", right=True, priority=2)),
        rows=[("x" * 12, "1" * 10, "2" * 10)],
    )  # fmt: skip
    document = Document(title="", blocks=[table])
    assert lines(document, 40)[0].split() == ["NAME", "A", "B"]
    assert lines(document, 30)[0].split() == ["NAME", "A"]
    assert lines(document, 20)[0].split() == ["NAME"]


def test_a_table_says_what_it_leaves_out() -> None:
    assert list_more(12, 16, "week") == "and 4 more weeks (--json)"
    assert list_more(12, 13, "week") == "and 1 more week (--json)"
    assert list_more(12, 12) == ""


def test_markdown_keeps_a_table_in_its_cells() -> None:
    document = Document(
        title="T", blocks=[Table(columns=(Column("a|b"), Column("n", right=True)),
                                 rows=[("x|*y*\nz", "1")])])  # fmt: skip
    table = write_markdown(document).splitlines()[2:5]
    assert table == ["| a\\|b | n |", "| --- | ---: |", "| x\\|\\*y\\* z | 1 |"]


def test_json_is_what_the_data_blocks_hold() -> None:
    document = Document(title="", blocks=[Data(lambda: {"b": 2})], data={"schema_version": 1})
    assert json.loads(write_json(document)) == {"schema_version": 1, "b": 2}


def test_a_pipe_gets_plain_text_and_a_terminal_colors(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    document = Document(title="", blocks=[Callout(tone="good", label="better")])
    for name in (*DRAWN, "NO_COLOR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TERM", "xterm")
    shown = []
    for stream in (io.StringIO(), Terminal()):
        monkeypatch.setattr(sys, "stdout", stream)
        write_document(document)
        shown.append(stream.getvalue())
    assert shown == ["better\n", "\x1b[1;32mbetter\x1b[0m\n"]
