"""Rows as CSV that a spreadsheet opens without running anything.

A spreadsheet takes a cell for a formula by its first character, also behind spaces and quotes. Text
of that kind gets a single quote in front, which tells a spreadsheet that it is text; numbers never
do. To read such a file by program, take one quote off a cell whose rest would have got one.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

_FORMULA = re.compile(r"""[\s'"]*?[\t\n=+\-@\uFF1D\uFF0B\uFF0D\uFF20]""")
_NUMBER = re.compile(r"[-+]?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?")


def format_csv(columns: Sequence[str], rows: Iterable[Mapping[str, Any]]) -> bytes:
    """The columns of the rows, with a header; other fields of a row are left out."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows([protect_cell(row.get(name)) for name in columns] for row in rows)
    return text.getvalue().encode("utf-8", "replace")


def protect_cell(value: Any) -> Any:
    """A value that no spreadsheet takes for a formula, and that stays in its cell."""
    if not isinstance(value, str):
        return value
    # A return alone is not quoted by every Python, and would end the row.
    text = value.replace("\r\n", "\n").replace("\r", "\n")
    return f"'{text}" if _FORMULA.match(text) and not _NUMBER.fullmatch(text) else text
