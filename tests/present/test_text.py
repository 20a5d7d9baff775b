"""Foreign text cannot act on a terminal; numbers read well."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from warmstart.present import (
    clean,
    count,
    iso_time,
    local_time,
    one_line,
    readable_duration,
    readable_size,
)


@given(text=st.text() | st.text(alphabet="\x1b[]0;31mHJ\x07\x9b\\P\r\n\t\u202e"))
def test_nothing_is_left_that_a_terminal_obeys(text: str) -> None:
    left = {char for char in clean(text) if char not in "\n\t"}
    assert not [c for c in left if unicodedata.category(c) == "Cc"]
    assert not left & set("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u200f")


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain", "plain"),
        ("\x1b[31mred\x1b[0m", "red"),
        ("\x1b]0;title\x07after", "after"),
        ("\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\", "link"),
        ("\x1b]0;never ends\nnext", "0;never ends\nnext"),
        ("a\x00b\x07", "a\\x00b\\x07"),
        ("one\r\ntwo\rthree", "one\ntwo\nthree"),
        ("abc\u202edef", "abc\\u202edef"),
        ("\x9b31mred", "red"),
        ("[red]markup[/red] :smile:", "[red]markup[/red] :smile:"),
    ],
)
def test_text_stays_readable(text: str, shown: str) -> None:
    assert clean(text) == shown


def test_one_line_is_one_line_and_short() -> None:
    assert one_line("  a\n\n b\tc ") == "a b c"
    assert one_line("x" * 500, 10) == "x" * 9 + "…"


def test_times_that_are_none_or_nonsense_show_as_a_dash() -> None:
    assert local_time(None) == local_time(1e300) == "-"
    assert iso_time(float("inf")) is None
    assert iso_time(0.0) == "1970-01-01T00:00:00Z"


@pytest.mark.parametrize(
    ("size", "shown"),
    [(0, "0 B"), (999, "999 B"), (1500, "1.5 kB"), (15_000_000, "15 MB"), (3 * 10**12, "3.0 TB")],
)
def test_sizes_have_three_digits_at_most(size: int, shown: str) -> None:
    assert readable_size(size) == shown


@pytest.mark.parametrize(
    ("seconds", "shown"),
    [(4.2, "4 s"), (75, "1 min 15 s"), (3700, "1 h 1 min"), (200_000, "2 d 7 h")],
)
def test_durations_have_two_units(seconds: float, shown: str) -> None:
    assert readable_duration(seconds) == shown


def test_one_is_singular() -> None:
    assert (count(1, "call"), count(1000, "call")) == ("1 call", "1,000 calls")
