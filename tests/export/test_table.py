from __future__ import annotations

import csv
import io
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from warmstart.export import format_csv, protect_cell

FORMULAS = ["=1+1", "+1+1", "-1+1", "@SUM(A1)", "\t=1", "\n=1", "  =1", "'=1", '"=1', "' =1",
            "\tx", "\N{FULLWIDTH EQUALS SIGN}1", "\N{NO-BREAK SPACE}=1", "-", "--x", "=", "-1 apple"]  # fmt: skip
PLAIN = ["", "x", "a=1", "warm:x", "'quoted'", '"quoted"', " x", "-1", "+1.5", "-1e-5", "1"]


def _read(data: bytes) -> list[str]:
    return [row["x"] for row in csv.DictReader(io.StringIO(data.decode(), newline=""))]


@pytest.mark.parametrize("text", FORMULAS)
def test_text_that_a_spreadsheet_would_run_is_text(text: str) -> None:
    assert protect_cell(text) == f"'{text}"


@pytest.mark.parametrize("value", [*PLAIN, -1, -1.5, None, True, 10**30])
def test_numbers_and_other_text_stay_what_they_are(value: Any) -> None:
    assert protect_cell(value) == value


def test_a_return_in_a_cell_does_not_end_its_row() -> None:
    data = format_csv(["x", "y"], [{"x": "a\r=1", "y": "b\r\nc"}])
    assert data == b'x,y\n"a\n=1","b\nc"\n'
    assert protect_cell("\r=1") == "'\n=1"


def test_a_table_has_its_columns_and_no_others() -> None:
    rows = [{"b": -2, "a": "=x", "c": 1}, {"a": "two\nlines"}]
    assert format_csv(["a", "b"], rows) == b'a,b\n\'=x,-2\n"two\nlines",\n'


@given(st.lists(st.text(st.characters(codec="utf-8", exclude_characters="\0")), min_size=1))
def test_what_was_protected_can_be_told(values: list[str]) -> None:
    cells = _read(format_csv(["x", "y"], [{"x": value, "y": 1} for value in values]))
    told = [cell[1:] if cell[:1] == "'" and protect_cell(cell[1:]) == cell else cell
            for cell in cells]  # fmt: skip
    assert told == [value.replace("\r\n", "\n").replace("\r", "\n") for value in values]
