"""A table into a pipe, with and without rich: the same lines."""

from __future__ import annotations

import io
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.text import Text

from warmstart.cli._output import Column, open_console, print_table
from warmstart.cli._table import DRAWN, Cell, print_cells
from warmstart.cli._text import one_line

COLUMNS = (
    Column(name="NAME", style="cyan", max_width=12),
    Column(name="N", right=True),
    Column(name="LAST"),
)
WORDS = st.text(max_size=24).map(one_line)


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def draw(rows: list[list[Cell]], stream: io.StringIO, **environ: str) -> str:
    with pytest.MonkeyPatch.context() as patch:
        for name in DRAWN:
            patch.delenv(name, raising=False)
        for name, value in environ.items():
            patch.setenv(name, value)
        patch.setattr(sys, "stdout", stream)
        print_cells(COLUMNS, rows)
    return stream.getvalue()


def draw_with_rich(rows: list[list[Cell]]) -> str:
    stream = io.StringIO()
    with pytest.MonkeyPatch.context() as patch:
        for name in DRAWN:
            patch.delenv(name, raising=False)
        patch.setattr(sys, "stdout", stream)
        texts = [[Text(cell.text, style=cell.style) for cell in row] for row in rows]
        print_table(open_console(), COLUMNS, texts)
    return stream.getvalue()


@given(st.lists(st.tuples(WORDS, WORDS, WORDS), max_size=4))
def test_a_pipe_gets_the_lines_that_rich_would_write(words: list[tuple[str, str, str]]) -> None:
    rows = [[Cell(word, style="red") for word in row] for row in words]
    assert draw(rows, io.StringIO()) == draw_with_rich(rows)


def test_wide_characters_keep_the_columns_in_line() -> None:
    rows = [[Cell("表"), Cell("1"), Cell("x")], [Cell("ab"), Cell("22"), Cell("y")]]
    assert draw(rows, io.StringIO()).splitlines() == [
        "NAME   N  LAST",
        "表     1  x",
        "ab    22  y",
    ]


def test_a_terminal_gets_colours_and_a_width_cuts() -> None:
    rows = [[Cell("a" * 30), Cell("1", style="red"), Cell("b" * 90)]]
    assert "\x1b[31m" in draw(rows, Terminal(), TERM="xterm", COLUMNS="40")
    assert "…" in draw(rows, io.StringIO(), COLUMNS="40")
    assert "\x1b[" in draw(rows, io.StringIO(), FORCE_COLOR="1", TERM="xterm")
