"""One table, on a terminal and into a pipe."""

from __future__ import annotations

import io
import sys

import pytest

from warmstart.present import Column, Document, StyledText, Table, write_document
from warmstart.present.terminal import DRAWN

COLUMNS = (
    Column(name="NAME", style="cyan", max_width=12),
    Column(name="N", right=True),
    Column(name="LAST"),
)


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def draw(rows: list[list[StyledText]], stream: io.StringIO, **environ: str) -> str:
    with pytest.MonkeyPatch.context() as patch:
        for name in DRAWN:
            patch.delenv(name, raising=False)
        for name, value in environ.items():
            patch.setenv(name, value)
        patch.setattr(sys, "stdout", stream)
        write_document(Document(title="", blocks=[Table(columns=COLUMNS, rows=rows)]))
    return stream.getvalue()


def test_wide_characters_keep_the_columns_in_line() -> None:
    rows = [
        [StyledText("表"), StyledText("1"), StyledText("x")],
        [StyledText("ab"), StyledText("22"), StyledText("y")],
    ]
    assert draw(rows, io.StringIO()).splitlines() == [
        "NAME   N  LAST",
        "表     1  x",
        "ab    22  y",
    ]


def test_a_terminal_gets_colours_and_a_width_cuts() -> None:
    rows = [[StyledText("a" * 30), StyledText("1", style="red"), StyledText("b" * 90)]]
    assert "\x1b[31m" in draw(rows, Terminal(), TERM="xterm", COLUMNS="40")
    assert "…" in draw(rows, io.StringIO(), COLUMNS="40")
    assert "\x1b[" in draw(rows, io.StringIO(), FORCE_COLOR="1", TERM="xterm")
